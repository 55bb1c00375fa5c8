"""Structured logs: one JSON object for each line of standard error."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from typing import Self

from services.kit.telemetry import trace

_ORDINARY = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


# The fields of a request that say what a line is about; what is no id is left out, whatever a client has put there.
_IDS = ("table_id", "round_id")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


class AboutCall:
    """Gives every line inside the player of the call, and the table and round that the call is about."""

    __slots__ = ("_before", "ended", "player_id", "request")

    def __init__(self, player_id: str | None = None) -> None:
        self.player_id = player_id
        self.request: object = None
        """The request, once it is read."""
        self.ended = False

    def __enter__(self) -> Self:
        self._before: Token[AboutCall | None] = _about.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        # Tasks that the call has started may outlive it with a copy of its context: they are not about it any more.
        self.ended = True
        _about.reset(self._before)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Returns the ids; they are read when a line is written, for most calls write none."""
        if self.player_id:
            yield "player_id", self.player_id
        for name in _IDS:
            value = getattr(self.request, name, None)
            if isinstance(value, str) and _ID.fullmatch(value):
                yield name, value


_about: ContextVar[AboutCall | None] = ContextVar("about", default=None)


def note_player(player_id: str | None) -> None:
    """Says whose call it is that is being worked on, where that is known only now."""
    if (about := _about.get()) is not None:
        about.player_id = player_id


class JsonLines(logging.Formatter):
    """Writes time with offset, level, logger, message, the trace and the ids of the call, and `extra` fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if trace_id := trace.trace_id():
            line["trace_id"] = trace_id
        if (about := _about.get()) is not None and not about.ended:
            line.update(about.facts())
        line.update({key: value for key, value in record.__dict__.items() if key not in _ORDINARY})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def log_to_stderr(level: str) -> None:
    """Writes all logs to standard error, from this level up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)

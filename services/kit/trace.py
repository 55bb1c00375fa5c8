"""W3C trace context of the call that is being worked on, so that one id leads through all logs."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

_WELL_FORMED = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_CHARACTERS_LIMIT = 256
_SAMPLED = "01"


class Trace:
    """One call's place in a trace; as a context manager it is the current one inside."""

    __slots__ = ("_before", "ended", "flags", "span_id", "trace_id")

    def __init__(self, trace_id: str, span_id: str, flags: str) -> None:
        self.trace_id = trace_id
        self.span_id = span_id
        self.flags = flags
        self.ended = False
        self._before: Token[Trace | None] | None = None

    @property
    def header(self) -> str:
        """The `traceparent` header to send on."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    def __enter__(self) -> Self:
        self._before = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Tasks that the call has started may outlive it with a copy of its context: they do not belong to it any more.
        self.ended = True
        if self._before is not None:
            _current.reset(self._before)


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def parse(header: str) -> Trace | None:
    """Reads a `traceparent` header; None if it is not well formed."""
    if len(header) > _CHARACTERS_LIMIT:
        return None
    match = _WELL_FORMED.fullmatch(header)
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    return None if more is not None and version == "00" else Trace(trace_id, span_id, flags)


def start_span(header: str = "") -> Trace:
    """Returns a new span in the client's trace, or in a new trace if the client sent none."""
    given, span_id = parse(header), secrets.token_hex(8)
    if given is None:
        return Trace(secrets.token_hex(16), span_id, _SAMPLED)
    return Trace(given.trace_id, span_id, given.flags)


def current() -> Trace | None:
    """Returns the trace of the call that is being worked on."""
    trace = _current.get()
    return None if trace is None or trace.ended else trace


def traceparent() -> str:
    """Returns the header of the current call; empty if there is none."""
    trace = current()
    return "" if trace is None else trace.header


def trace_id() -> str:
    """Returns the id of the current call's trace; empty if there is none."""
    trace = current()
    return "" if trace is None else trace.trace_id

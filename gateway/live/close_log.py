"""How connections ended: one line in the log for each, with who, from where, at which tables, his sessions, and why.

Lost connections and time-outs have to be on record (`903-B/2015:6.3.6.7`). Players' sessions that end for inactivity
are not here: the wallet keeps those, with their causes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from prometheus_client import Counter

from gateway.access.principals import Principal
from gateway.live.close_codes import CloseCode
from gateway.live.feeds import Watcher

# Beside the names of `CloseCode`, in small letters.
CLOSED, LOST, MALFORMED = "closed", "lost", "malformed"
"""By the client as agreed; without a word; because what he sent could not be understood."""

_ENDED = Counter("feltro_edge_connections_ended", "Connections that have ended", ["kind", "cause"])
_log = logging.getLogger(__name__)


def cause_of_code(code: int) -> str:
    """The cause that a close code of ours stands for."""
    return CloseCode(code).name.lower() if code in CloseCode.__members__.values() else MALFORMED


def log_close(kind: str, principal: Principal, address: str, watchers: Iterable[Watcher], cause: str) -> None:
    """Once for each connection; `kind` is `websocket` or `stream`."""
    _ENDED.labels(kind, cause).inc()
    subject = "" if principal.caller is None else principal.caller.subject
    # His own session at each table where he has one. It is not asked for: what passed on the connection told it.
    sessions = {watcher.feed.table_id: watcher.session_id for watcher in watchers}
    said = {"kind": kind, "subject": subject, "address": address, "tables": sorted(sessions), "cause": cause}
    own = {table_id: session_id for table_id, session_id in sorted(sessions.items()) if session_id}
    _log.info("a connection has ended", extra={**said, "sessions": own})

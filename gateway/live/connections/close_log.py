"""Logs the end of each connection: the subject, address, tables, sessions, and the cause.

Lost connections and time-outs have to be on record (`903-B/2015:6.3.6.7`). Sessions that end for inactivity are not
here: the wallet keeps those, with their causes.
"""

from __future__ import annotations

import logging

from prometheus_client import Counter

from gateway.live.close_codes import CloseCode
from gateway.live.feeds import ClientConnection

# Causes beside the names of `CloseCode` in lower case: closed by the client, lost without a close, ended for malformed
# frames.
CLOSED, LOST, MALFORMED = "closed", "lost", "malformed"

_ENDED = Counter("feltro_edge_connections_ended", "Connections that have ended", ["kind", "cause"])
_log = logging.getLogger(__name__)


def cause_of_code(code: int) -> str:
    """Returns the cause that a close code stands for."""
    return CloseCode(code).name.lower() if code in CloseCode.__members__.values() else MALFORMED


def log_close(kind: str, connection: ClientConnection, address: str, cause: str) -> None:
    """Logs and counts the end of one connection; `kind` is `websocket` or `stream`."""
    _ENDED.labels(kind, cause).inc()
    caller = connection.principal.caller
    subject = "" if caller is None else caller.subject
    # The player's session at each watched table, as far as facts on this connection have said it.
    sessions = {table_id: watcher.session_id for table_id, watcher in connection.watchers.items()}
    facts = {"kind": kind, "subject": subject, "address": address, "tables": sorted(sessions), "cause": cause}
    own_sessions = {table_id: session_id for table_id, session_id in sorted(sessions.items()) if session_id}
    _log.info("a connection has ended", extra={**facts, "sessions": own_sessions})

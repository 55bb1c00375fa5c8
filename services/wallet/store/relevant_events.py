"""Stores relevant events with the transfer they belong to, and lists them (`903-B/2015:6.3.6.6`).

A row holds only what the ledger does not hold elsewhere, above all the limit in force; the rest is joined by its
transfer. Devices that two accounts share belong to no transfer: `store/shared_devices.py` records them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from prometheus_client import Counter
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.database.filters import where
from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import Book
from services.wallet.model.state import RelevantKind

_RECORDED = Counter(
    "feltro_wallet_relevant_events", "Large prizes, deposits and withdrawals recorded, and shared devices", ["kind"]
)
SHARED_DEVICES_RECORDED = _RECORDED.labels("shared_device")
_INSERT = """
INSERT INTO relevant_events (at, kind, transfer_no, account_no, session_no, amount_cents, staked_cents, limit_cents)
SELECT $1, new.*
FROM unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]) AS new
"""
_EVENTS = """
SELECT e.event_no, e.kind, e.at, a.player_id, a.account_id::text, e.amount_cents, e.limit_cents, e.transfer_no,
    t.request_id, q.caller, t.reference, e.staked_cents, r.round_id, b.table_id, b.game, s.session_id::text,
    NULL AS device_kind, NULL AS device_agent, NULL AS device_address, NULL AS device_fingerprint,
    NULL AS other_player_id, NULL AS other_session_id
FROM relevant_events e
JOIN accounts a USING (account_no)
JOIN transfers t USING (transfer_no)
JOIN requests q USING (request_id)
LEFT JOIN sessions s ON s.session_no = e.session_no
LEFT JOIN rounds r ON r.round_no = t.round_no
-- A transfer of a tournament (12) is of no round: its reference is the tournament.
LEFT JOIN tables b ON b.table_no = coalesce(
    r.table_no, (SELECT x.table_no FROM tables x WHERE t.kind = 12 AND x.table_id = t.reference))
"""
_SHARED_DEVICES = f"""
SELECT e.event_no, e.kind, e.at, a.player_id, a.account_id::text, 0, 0, 0,
    e.request_id, q.caller, NULL, 0, NULL, b.table_id, b.game, s.session_id::text,
    e.device_kind, e.device_agent, e.device_address, e.device_fingerprint,
    other.player_id, other.session_id::text
FROM (SELECT *, {RelevantKind.SHARED_DEVICE.value} AS kind FROM shared_devices) e
JOIN accounts a ON a.account_no = e.account_no
JOIN requests q USING (request_id)
JOIN tables b ON b.table_no = e.table_no
JOIN sessions other ON other.session_no = e.other_session_no
LEFT JOIN sessions s ON s.session_no = e.session_no
"""
_CONDITIONS = {
    "kind": "e.kind = :kind",
    "since": "e.at >= :since",
    "until": "e.at < :until",
    "before_no": "e.event_no < :before_no",
}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Selects events; a field that is None selects all."""

    kind: RelevantKind | None = None
    since: datetime | None = None
    until: datetime | None = None
    before_no: int | None = None


async def insert(connection: DirectConnection, book: Book) -> None:
    """Inserts the relevant events of a book, in the transaction that moves the money."""
    rows = [
        (e.kind, e.transfer_no, e.account_no, e.session_no, e.amount_cents, e.staked_cents, e.limit_cents)
        for e in book.relevant_events
    ]
    await connection.fetch(_INSERT, book.now, *zip(*rows, strict=True))


def count_metrics(book: Book) -> None:
    """Counts the relevant events of a book; call it once they are durable."""
    for event in book.relevant_events:
        _RECORDED.labels(event.kind.name.lower()).inc()


async def page(connection: AsyncConnection, wanted: EventFilter, size: int) -> Sequence[Row[Any]]:
    """Returns events, newest first."""
    condition, values = where(_CONDITIONS, {name: getattr(wanted, name) for name in _CONDITIONS})
    newest = f"WHERE {condition} ORDER BY e.event_no DESC LIMIT :size"
    statement = text(f"({_EVENTS} {newest}) UNION ALL ({_SHARED_DEVICES} {newest}) ORDER BY event_no DESC LIMIT :size")
    return (await connection.execute(statement, values | {"size": size})).all()

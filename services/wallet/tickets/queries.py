"""Reads tickets and their changes for players, operators and games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.database.filters import where
from services.wallet.model import ids
from services.wallet.model.state import OPEN_TICKETS

_TICKETS = """
SELECT tickets.ticket_no, tickets.ticket_id::text, accounts.account_id::text, accounts.player_id,
       tournament.table_id AS tournament_id, tournament.game, tournament.mode, tickets.value_cents,
       tickets.from_freeroll, tickets.won, tickets.state, awarding.table_id AS awarded_by_id,
       replaced.ticket_id::text AS replaced_id, tickets.issued_at, tickets.changed_at
FROM tickets
JOIN accounts ON accounts.account_no = tickets.account_no
JOIN tables AS tournament ON tournament.table_no = tickets.table_no
JOIN tables AS awarding ON awarding.table_no = tickets.awarded_by_no
LEFT JOIN tickets AS replaced ON replaced.ticket_no = tickets.replaced_no
"""
_BY_ID = text(f"{_TICKETS} WHERE tickets.ticket_id = CAST(:ticket_id AS uuid)")
_CONDITIONS = {
    "account_no": "tickets.account_no = :account_no",
    "table_no": "tickets.table_no = :table_no",
    "after": "tickets.ticket_no > :after",
}
_OPEN = f"tickets.state IN ({', '.join(str(state.value) for state in sorted(OPEN_TICKETS))})"
_CHANGES = text("""
SELECT changed.number, changed.state, changed.transfer_no, transfers.request_id, changed.at
FROM ticket_changes AS changed JOIN transfers USING (transfer_no)
WHERE changed.ticket_no = :ticket_no AND changed.number > :after ORDER BY changed.number LIMIT :rows
""")
_SUMS = text("""
SELECT state, count(*), sum(value_cents)::bigint FROM tickets
WHERE table_no = :table_no AND (CAST(:account_no AS bigint) IS NULL OR account_no = :account_no)
GROUP BY state ORDER BY state
""")


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Selects tickets; a field that is None selects all."""

    account_no: int | None = None
    table_no: int | None = None
    after: int | None = None
    open_only: bool = False


async def page(connection: AsyncConnection, wanted: TicketFilter, rows: int) -> Sequence[Row[Any]]:
    """Returns tickets, oldest first."""
    condition, values = where(_CONDITIONS, {name: getattr(wanted, name) for name in _CONDITIONS})
    if wanted.open_only:
        condition = f"{condition} AND {_OPEN}"
    statement = text(f"{_TICKETS} WHERE {condition} ORDER BY tickets.ticket_no LIMIT :rows")
    return (await connection.execute(statement, values | {"rows": rows})).all()


async def find(connection: AsyncConnection, ticket_id: str) -> Row[Any] | None:
    """Returns a ticket; None if there is none of this id."""
    if not ids.is_wallet_id(ticket_id):
        return None
    return (await connection.execute(_BY_ID, {"ticket_id": ticket_id})).one_or_none()


async def changes(connection: AsyncConnection, ticket_no: int, after: int, rows: int) -> Sequence[Row[Any]]:
    """Returns the changes of a ticket after one of them, oldest first."""
    return (await connection.execute(_CHANGES, {"ticket_no": ticket_no, "after": after, "rows": rows})).all()


async def sums(connection: AsyncConnection, table_no: int, account_no: int | None) -> Sequence[Row[Any]]:
    """Returns how many tickets to a tournament are in each state, and their values."""
    return (await connection.execute(_SUMS, {"table_no": table_no, "account_no": account_no})).all()

"""Reads the ledger: transactions of an account, a session or a round, and rounds with their stakes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.batching import BatchLimits, first_batch
from services.wallet.model.state import AccountKind, TransferKind

# Stakes on a page, and about how many bytes they may take with what was taken back of them: a page ends before either
# limit, but never without a stake (G11).
STAKES_PAGE_SIZE = 500
PAGE_BYTES_LIMIT = 3 * 1024 * 1024

_MOVEMENT = """
SELECT entries.transfer_no, transfers.kind, transfers.at, transfers.request_id, rounds.round_id,
       sessions.session_id::text,
       COALESCE(owner.account_id, CASE WHEN account.kind = 1 THEN account.account_id END)::text,
       tables.table_id, entries.account_no, entries.pocket, entries.before_cents, entries.amount_cents,
       entries.after_cents, CASE WHEN transfers.kind BETWEEN 11 AND 14 THEN transfers.reference END
FROM picked
JOIN entries ON entries.account_no = picked.account_no AND entries.version = picked.version
JOIN transfers ON transfers.transfer_no = entries.transfer_no
JOIN accounts account ON account.account_no = entries.account_no
LEFT JOIN accounts owner ON owner.account_no = account.owner_no AND account.kind = 4
LEFT JOIN tables ON tables.table_no = account.table_no AND account.kind = 4
LEFT JOIN rounds ON rounds.round_no = transfers.round_no
LEFT JOIN sessions ON sessions.session_no = entries.session_no
ORDER BY entries.transfer_no DESC, account.kind, entries.account_no, entries.leg
"""
# Without these conditions no transfer has to be read to find the entries of an account or a session.
_OF_KIND_AND_TIME = """
      AND (CAST(:kind AS smallint) IS NULL OR transfers.kind = :kind)
      AND (CAST(:since AS timestamptz) IS NULL OR transfers.at >= :since)
      AND (CAST(:until AS timestamptz) IS NULL OR transfers.at < :until)"""
_WITH_TRANSFERS = "JOIN transfers ON transfers.transfer_no = entries.transfer_no"
# A page holds whole transfers, below the last number of the page before.
_OF_ACCOUNT = (
    """
WITH mine AS (SELECT account_no FROM accounts WHERE account_no = :mine OR (kind = 4 AND owner_no = :mine)),
found AS (
    SELECT DISTINCT last.transfer_no FROM mine CROSS JOIN LATERAL (
        SELECT entries.transfer_no FROM entries {with_transfers}
        WHERE entries.account_no = mine.account_no AND entries.transfer_no < :before {of_kind_and_time}
        ORDER BY version DESC LIMIT :rows
    ) AS last ORDER BY last.transfer_no DESC LIMIT :transfers
),
picked AS (
    SELECT DISTINCT entries.account_no, entries.version FROM found
    JOIN entries ON entries.transfer_no = found.transfer_no JOIN mine ON mine.account_no = entries.account_no
)"""
    + _MOVEMENT
)
_OF_SESSION = (
    """
WITH session AS (
    SELECT session_no, account_no, table_no, started_version, ended_version FROM sessions
    WHERE session_no = :session AND (CAST(:mine AS bigint) IS NULL OR account_no = :mine)
),
mine AS (
    SELECT account_no, started_version AS after_version, ended_version AS last_version FROM session
    UNION ALL
    SELECT cave.account_no, 0, NULL FROM session
    JOIN accounts cave ON cave.kind = 4 AND cave.owner_no = session.account_no AND cave.table_no = session.table_no
),
found AS (
    SELECT DISTINCT last.transfer_no FROM mine CROSS JOIN LATERAL (
        SELECT entries.transfer_no FROM entries {with_transfers}
        WHERE entries.account_no = mine.account_no AND version > mine.after_version
          AND version <= COALESCE(mine.last_version, 9223372036854775807)
          AND session_no = :session AND entries.transfer_no < :before {of_kind_and_time}
        ORDER BY version DESC LIMIT :rows
    ) AS last ORDER BY last.transfer_no DESC LIMIT :transfers
),
picked AS (
    SELECT DISTINCT entries.account_no, entries.version FROM found
    JOIN entries ON entries.transfer_no = found.transfer_no AND entries.session_no = :session
)"""
    + _MOVEMENT
)
# A transfer without an entry that is wanted is none of those on the page: it must not take their place.
_WANTED_OF_ROUND = """
    (CAST(:mine AS bigint) IS NULL OR accounts.account_no = :mine OR (accounts.kind = 4 AND accounts.owner_no = :mine))
    AND (CAST(:session AS bigint) IS NULL OR entries.session_no = :session)"""
_OF_ROUND = (
    """
WITH found AS (
    SELECT transfers.transfer_no FROM transfers
    WHERE transfers.round_no = :round AND transfers.transfer_no < :before {of_kind_and_time}
      AND (CAST(:mine AS bigint) IS NULL AND CAST(:session AS bigint) IS NULL OR EXISTS (
          SELECT 1 FROM entries JOIN accounts ON accounts.account_no = entries.account_no
          WHERE entries.transfer_no = transfers.transfer_no AND"""
    + _WANTED_OF_ROUND
    + """))
    ORDER BY transfers.transfer_no DESC LIMIT :transfers
),
picked AS (
    SELECT DISTINCT entries.account_no, entries.version FROM found
    JOIN entries ON entries.transfer_no = found.transfer_no JOIN accounts ON accounts.account_no = entries.account_no
    WHERE"""
    + _WANTED_OF_ROUND
    + """
)"""
    + _MOVEMENT
)
_ROUND = """
SELECT rounds.round_no, rounds.round_id, tables.table_id, tables.game, tables.mode, rounds.state, rounds.opened_at,
       rounds.ended_at, rounds.void_reason, rounds.outcome
FROM rounds JOIN tables ON tables.table_no = rounds.table_no
"""
_TOOK_PART = text("""
SELECT EXISTS (SELECT FROM stakes WHERE round_no = :round_no AND account_no = :account_no)
    OR EXISTS (
        SELECT FROM transfers JOIN entries USING (transfer_no) JOIN accounts AS cave USING (account_no)
        WHERE transfers.round_no = :round_no AND transfers.kind = :hand
          AND cave.kind = :cave AND cave.owner_no = :account_no)
""")
_ROUND_BY_ID = text(_ROUND + "WHERE rounds.round_id = :round_id")
_OPEN_AT_TABLE = text(_ROUND + "WHERE tables.table_id = :table_id AND rounds.state = 1 ORDER BY rounds.round_no")
_OPEN_OF_ACCOUNT = text(
    _ROUND
    + """
WHERE rounds.state = 1 AND EXISTS (
    SELECT 1 FROM stakes
    WHERE stakes.round_no = rounds.round_no AND stakes.account_no = :account_no AND stakes.state = 1)
  AND (CAST(:table_id AS text) IS NULL OR tables.table_id = :table_id)
ORDER BY rounds.round_no
"""
)
# What is in play of a stake: the rest that its last partial cancellation has left, or all that was placed.
_STAKES = text("""
SELECT stakes.stake_no, stakes.round_no, stakes.stake_id, accounts.account_id::text, sessions.session_id::text,
       stakes.placed_cents, stakes.cancelled_cents, stakes.payout_cents, stakes.state,
       COALESCE(left_in_play.detail, stakes.detail), stakes.placed_at, payment.at
FROM stakes
JOIN accounts ON accounts.account_no = stakes.account_no
JOIN sessions ON sessions.session_no = stakes.session_no
LEFT JOIN LATERAL (
    SELECT remaining_detail AS detail FROM stake_cancellations AS cancelled
    WHERE cancelled.stake_no = stakes.stake_no AND remaining_detail IS NOT NULL
    ORDER BY cancelled.transfer_no DESC LIMIT 1
) AS left_in_play ON stakes.cancelled_cents > 0
LEFT JOIN transfers AS payment ON payment.transfer_no = stakes.paid_transfer_no
WHERE stakes.round_no = ANY(:round_nos) AND (CAST(:mine AS bigint) IS NULL OR stakes.account_no = :mine)
  AND (stakes.round_no, stakes.stake_no) > (
      COALESCE((SELECT last.round_no FROM stakes AS last WHERE last.stake_no = :after), 0), :after)
ORDER BY stakes.round_no, stakes.stake_no LIMIT :stakes
""")
_CANCELLATIONS = text("""
SELECT stake_no, transfer_no, at, amount_cents, cancelled_detail
FROM stake_cancellations WHERE stake_no = ANY(:stake_nos) ORDER BY stake_no, transfer_no
""")
_HIGHEST = 2**63 - 1
# A transfer writes at most four entries for one account.
_ENTRIES_PER_TRANSFER = 4


@dataclass(frozen=True, slots=True)
class TransactionPage:
    """Transactions, and the transfer below which the next page begins."""

    transactions: list[types_pb2.Transaction]
    next_before: int | None


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """Which transactions are wanted: those that fit everything that is given. Account, session or round is given."""

    account_no: int | None = None
    """The account, whose caves belong to it."""
    session_no: int | None = None
    round_no: int | None = None
    kind: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def statement(self) -> TextClause:
        """The statement that reads the fewest rows for what is given."""
        if self.round_no is not None:
            return _transactions(_OF_ROUND, by_kind_or_time=True)
        by_kind_or_time = any(given is not None for given in (self.kind, self.since, self.until))
        return _transactions(_OF_ACCOUNT if self.session_no is None else _OF_SESSION, by_kind_or_time=by_kind_or_time)

    @property
    def values(self) -> dict[str, object]:
        """The values of the statement's parameters."""
        values = {
            "mine": self.account_no,
            "session": self.session_no,
            "round": self.round_no,
            "kind": self.kind,
            "since": self.since,
            "until": self.until,
        }
        return {name: value for name, value in values.items() if f":{name}" in self.statement.text}


@cache
def _transactions(statement: str, *, by_kind_or_time: bool) -> TextClause:
    return text(
        statement.format(
            with_transfers=_WITH_TRANSFERS if by_kind_or_time else "",
            of_kind_and_time=_OF_KIND_AND_TIME if by_kind_or_time else "",
        )
    )


async def transaction_page(
    connection: AsyncConnection, wanted: TransactionFilter, before: int | None, size: int
) -> TransactionPage:
    """Returns a page of transactions, newest first."""
    statement = wanted.statement
    values = wanted.values | {"before": before or _HIGHEST, "transfers": size + 1}
    if ":rows" in statement.text:
        values["rows"] = (size + 1) * _ENTRIES_PER_TRANSFER
    transactions: list[types_pb2.Transaction] = []
    last: tuple[int, int] | None = None
    transfers: list[int] = []
    for row in await connection.execute(statement, values):
        if row[0] not in transfers[-1:]:
            transfers.append(row[0])
        if len(transfers) > size:
            return TransactionPage(transactions, transfers[size - 1])
        if (row[0], row[8]) != last:
            last = (row[0], row[8])
            transactions.append(_transaction(row))
        transactions[-1].entries.add(
            balance_part=row[9], before_cents=row[10], amount_cents=row[11], after_cents=row[12]
        )
    return TransactionPage(transactions, None)


def _transaction(row: Sequence[Any]) -> types_pb2.Transaction:
    transfer_no, kind, at, request_id, round_id, session_id, account_id, table_id, *_, tournament_id = row
    transaction = types_pb2.Transaction(
        transfer_id=transfer_no,
        kind=kind,
        request_id=request_id,
        account_id=account_id or "",
        cave_table_id=table_id or "",
        round_id=round_id or "",
        session_id=session_id or "",
        tournament_id=tournament_id or "",
    )
    transaction.at.FromDatetime(at)
    return transaction


async def took_part(connection: AsyncConnection, account_no: int, round_no: int) -> bool:
    """Whether the account has a stake in the round, or its cave an entry in the hand."""
    wanted = {"account_no": account_no, "round_no": round_no}
    wanted |= {"hand": TransferKind.HAND.value, "cave": AccountKind.CAVE.value}
    return bool((await connection.execute(_TOOK_PART, wanted)).scalar_one())


async def find_round(connection: AsyncConnection, round_id: str) -> tuple[int, wallet_pb2.Round] | None:
    row = (await connection.execute(_ROUND_BY_ID, {"round_id": round_id})).one_or_none()
    return None if row is None else (row[0], _round(row))


async def open_rounds_at_table(connection: AsyncConnection, table_id: str) -> list[tuple[int, wallet_pb2.Round]]:
    return [(row[0], _round(row)) for row in await connection.execute(_OPEN_AT_TABLE, {"table_id": table_id})]


async def open_rounds_of_account(
    connection: AsyncConnection, account_no: int, table_id: str | None
) -> list[tuple[int, wallet_pb2.Round]]:
    rows = await connection.execute(_OPEN_OF_ACCOUNT, {"account_no": account_no, "table_id": table_id})
    return [(row[0], _round(row)) for row in rows]


async def add_stakes(
    connection: AsyncConnection,
    rounds: list[tuple[int, wallet_pb2.Round]],
    own_account_no: int | None,
    after: int | None,
    size: int,
) -> int | None:
    """Fills in a page of stakes, all or one account's; returns the one after which the next page begins."""
    by_no = dict(rounds)
    values = {"round_nos": list(by_no), "mine": own_account_no, "after": after or 0, "stakes": size + 1}
    rows = (await connection.execute(_STAKES, values)).all()
    cancellations = await _cancellations(connection, [row[0] for row in rows if row[6]])
    found = [(row[0], row[1], _stake(row, cancellations.get(row[0], ()))) for row in rows]
    count = first_batch(found, lambda each: each[2].ByteSize(), BatchLimits(items=size, weight=PAGE_BYTES_LIMIT))
    for _, round_no, stake in found[:count]:
        by_no[round_no].stakes.append(stake)
    return found[count - 1][0] if count < len(found) else None


async def _cancellations(connection: AsyncConnection, stake_nos: list[int]) -> dict[int, list[Sequence[Any]]]:
    """Reads what was taken back of stakes, by their numbers."""
    found: dict[int, list[Sequence[Any]]] = {}
    if stake_nos:
        for row in await connection.execute(_CANCELLATIONS, {"stake_nos": stake_nos}):
            found.setdefault(row[0], []).append(row)
    return found


def _stake(row: Sequence[Any], cancellations: Iterable[Sequence[Any]]) -> types_pb2.Stake:
    _, _, stake_id, account_id, session_id, placed, cancelled, payout, state, detail, at, paid_at = row
    stake = types_pb2.Stake(
        stake_id=stake_id,
        account_id=account_id,
        session_id=session_id,
        placed_cents=placed,
        cancelled_cents=cancelled,
        payout_cents=payout,
        state=state,
        detail=detail,
    )
    stake.placed_at.FromDatetime(at)
    if paid_at is not None:
        stake.paid_at.FromDatetime(paid_at)
    for _, transfer_no, cancelled_at, cents, cancelled_detail in cancellations:
        # All that was left of the stake then is what it still says.
        bets = detail if cancelled_detail is None else cancelled_detail
        taken_back = stake.cancellations.add(transfer_id=transfer_no, amount_cents=cents, detail=bets)
        taken_back.cancelled_at.FromDatetime(cancelled_at)
    return stake


def _round(row: Sequence[Any]) -> wallet_pb2.Round:
    _, round_id, table_id, game, mode, state, opened_at, ended_at, void_reason, outcome = row
    found = wallet_pb2.Round(
        round_id=round_id, table_id=table_id, game=game, mode=mode, state=state,
        void_reason=void_reason or "", outcome=outcome or b"",
    )  # fmt: skip
    found.opened_at.FromDatetime(opened_at)
    if ended_at is not None:
        found.ended_at.FromDatetime(ended_at)
    return found

"""Writes stakes that were decided before anything was locked: one statement locks, verifies, and writes.

The statement is a transaction of its own: when it returns, the stakes are durable (G5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.database.postgresql import DirectConnection
from services.kit.round_limits import DETAIL_BYTES_LIMIT, STAKES_LIMIT
from services.wallet.ledger.book import Book
from services.wallet.store.ledger_rows import AnswerRow, balances, columns, fact_rows, new_rounds, round_additions

# The locks are those of the store, in its order. PostgreSQL rechecks a row that was changed since the statement began
# when its lock is granted, which is why rounds and sessions are locked, too; a round or an answer added since then is
# found by its unique index. Returns new numbers, or none if the state is not as expected.
_WRITE_IF_UNCHANGED = """
WITH locked_tables AS MATERIALIZED (
    SELECT FROM tables
    JOIN unnest($1::bigint[], $2::bigint[]) AS seen(no, epoch) ON tables.table_no = seen.no
    WHERE tables.epoch = seen.epoch
    ORDER BY tables.table_no FOR NO KEY UPDATE OF tables
), locked_accounts AS MATERIALIZED (
    SELECT FROM accounts
    JOIN unnest($3::bigint[], $4::bigint[]) AS seen(no, version) ON accounts.account_no = seen.no
    WHERE accounts.version = seen.version AND NOT accounts.blocked
      AND (SELECT count(*) FROM locked_tables) = cardinality($1)
    ORDER BY accounts.account_no FOR NO KEY UPDATE OF accounts
), locked_rounds AS MATERIALIZED (
    SELECT round_no, stakes_placed, detail_bytes FROM rounds
    WHERE round_no = ANY($5::bigint[]) AND state = 1 AND (SELECT count(*) FROM locked_accounts) = cardinality($3)
    FOR NO KEY UPDATE
), locked_sessions AS MATERIALIZED (
    SELECT FROM sessions
    WHERE session_no = ANY($7::bigint[]) AND state = 1 AND (SELECT count(*) FROM locked_rounds) = cardinality($5)
    FOR NO KEY UPDATE
), so AS MATERIALIZED (
    SELECT WHERE (SELECT count(*) FROM locked_tables) = cardinality($1)
      AND (SELECT count(*) FROM locked_accounts) = cardinality($3)
      AND (SELECT count(*) FROM locked_rounds) = cardinality($5)
      AND (SELECT count(*) FROM locked_sessions) = cardinality($7)
      AND NOT EXISTS (SELECT FROM rounds WHERE round_id = ANY($6::text[]))
      AND NOT EXISTS (SELECT FROM requests WHERE request_id = ANY($10))
      -- Stakes placed by others meanwhile matter only if they leave too little room.
      AND NOT EXISTS (
          SELECT FROM locked_rounds
          JOIN unnest($29::bigint[], $30::integer[], $31::bigint[]) AS added(no, stakes, detail_bytes)
            ON locked_rounds.round_no = added.no
          WHERE locked_rounds.stakes_placed + added.stakes > $37
             OR locked_rounds.detail_bytes + added.detail_bytes > $38)
), answered AS MATERIALIZED (
    SELECT new.* FROM so CROSS JOIN unnest(
        $10::text[], $11::bytea[], $12::bytea[], $13::text[], $14::bigint[], $15::smallint[], $16::bigint[],
        $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bytea[],
        $39::bigint[]
    ) AS new(request_id, digest, answer, caller, no, mode, round_no,
             account_no, version, session_no, free_cents, locked_cents, amount_cents, detail, largest_payout_cents)
), written_requests AS (
    INSERT INTO requests (request_id, digest, refused, answer, transfer_no, caller, at)
    SELECT request_id, digest, no IS NULL, answer, no, caller, $9 FROM answered
), placed AS MATERIALIZED (
    SELECT * FROM answered WHERE no IS NOT NULL
), written_transfers AS (
    INSERT INTO transfers (transfer_no, kind, mode, at, request_id, round_no)
    SELECT no, 3, mode, $9, request_id, round_no FROM placed
), written_entries AS (
    INSERT INTO entries
        (transfer_no, account_no, version, leg, pocket, session_no, before_cents, amount_cents, after_cents)
    SELECT no, account_no, version, leg, pocket, session_no, before, amount, before + amount
    FROM placed CROSS JOIN LATERAL (VALUES (1, 1, free_cents, -amount_cents), (2, 2, locked_cents, amount_cents))
        AS entry(leg, pocket, before, amount)
), written_stakes AS (
    INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, detail,
                        largest_payout_cents, placed_at)
    SELECT no, request_id, round_no, account_no, session_no, amount_cents, detail, largest_payout_cents, $9 FROM placed
), written_rounds AS (
    INSERT INTO rounds (round_no, round_id, table_no, state, opened_at, stakes_placed, detail_bytes)
    SELECT new.no, new.round_id, new.table_no, 1, $9, new.stakes_placed, new.detail_bytes
    FROM so CROSS JOIN unnest($24::bigint[], $25::text[], $26::bigint[], $27::integer[], $28::bigint[])
        AS new(no, round_id, table_no, stakes_placed, detail_bytes)
), filled_rounds AS (
    UPDATE rounds SET stakes_placed = rounds.stakes_placed + added.stakes,
                      detail_bytes = rounds.detail_bytes + added.detail_bytes
    FROM so CROSS JOIN unnest($29::bigint[], $30::integer[], $31::bigint[]) AS added(no, stakes, detail_bytes)
    WHERE rounds.round_no = added.no
), written_facts AS (
    INSERT INTO outbox (at, facts, traces)
    SELECT $9, new.* FROM so CROSS JOIN unnest($32::bytea[], $40::text[]) AS new(facts, traces)
), written_balances AS (
    UPDATE accounts SET free_cents = new.free_cents, locked_cents = new.locked_cents, version = new.version
    FROM so CROSS JOIN unnest($33::bigint[], $34::bigint[], $35::bigint[], $36::bigint[])
        AS new(no, free_cents, locked_cents, version)
    WHERE accounts.account_no = new.no
)
SELECT nextval('ledger_no') FROM so CROSS JOIN generate_series(1, $8::integer)
"""
_NOT_PLACED = (None,) * 11


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """The cached state that must still hold for a group to be written."""

    # Number and epoch.
    tables: Sequence[tuple[int, int]]
    # Number and version; none of them is blocked.
    accounts: Sequence[tuple[int, int]]
    # Rounds that are open.
    open_round_nos: Sequence[int]
    # Rounds that do not exist yet.
    new_round_ids: Sequence[str]
    # Sessions that are active.
    active_session_nos: Sequence[int]


async def write_if_unchanged(
    connection: DirectConnection,
    book: Book,
    answered: Sequence[AnswerRow],
    expected: ExpectedState,
    numbers_to_draw: int,
) -> list[int]:
    """Writes a book of nothing but stakes and returns new numbers, if the state is as expected.

    Otherwise nothing is written, and it returns no numbers or raises `UniqueViolationError`.
    """
    *answered_columns, largest_payouts = columns(_rows(book, answered), 15)
    packed, traces = fact_rows(book)
    rows = await connection.fetch(
        _WRITE_IF_UNCHANGED,
        *columns(expected.tables, 2),
        *columns(expected.accounts, 2),
        expected.open_round_nos,
        expected.new_round_ids,
        expected.active_session_nos,
        numbers_to_draw,
        book.now,
        *answered_columns,
        *new_rounds(book),
        *round_additions(book),
        packed,
        *balances(book),
        STAKES_LIMIT,
        DETAIL_BYTES_LIMIT,
        largest_payouts,
        traces,
    )
    return [number for (number,) in rows]


def _rows(book: Book, answered: Sequence[AnswerRow]) -> list[tuple[object, ...]]:
    """Returns each answer with the stake and the posting that placed it, if there is one."""
    placed = zip(book.postings, book.new_stakes, strict=True)
    rows: list[tuple[object, ...]] = []
    for request_id, digest, _, answer, caller, no, _, mode, round_no, _ in answered:
        if no is None:
            rows.append((request_id, digest, answer, caller, *_NOT_PLACED))
            continue
        posting, (stake, detail) = next(placed)
        _, account_no, version, _, session_no, free_cents, _, locked_cents, amount_cents = posting
        rows.append(
            (
                *(request_id, digest, answer, caller, no, mode, round_no),
                *(account_no, version, session_no, free_cents, locked_cents, amount_cents, detail),
                stake.largest_payout_cents,
            )
        )
    return rows

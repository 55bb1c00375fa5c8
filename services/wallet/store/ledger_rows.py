"""Writes a group's answers, transfers, entries, stakes, rounds and facts by one set-based statement."""

from collections.abc import Sequence

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import Book
from services.wallet.outbox import facts
from services.wallet.store import ledger_facts

_WRITE = """
WITH answered AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::bytea[], $4::boolean[], $5::bytea[], $6::text[], $7::bigint[], $8::smallint[],
                         $9::smallint[], $10::bigint[], $11::text[])
        AS new(request_id, digest, refused, answer, caller, transfer_no, kind, mode, round_no, reference)
), written_requests AS (
    INSERT INTO requests (request_id, digest, refused, answer, transfer_no, caller, at)
    SELECT request_id, digest, refused, answer, transfer_no, caller, $1 FROM answered
), written_transfers AS (
    INSERT INTO transfers (transfer_no, kind, mode, at, request_id, round_no, reference)
    SELECT transfer_no, kind, mode, $1, request_id, round_no, reference FROM answered WHERE transfer_no IS NOT NULL
), written_entries AS (
    INSERT INTO entries
        (transfer_no, account_no, version, leg, pocket, session_no, before_cents, amount_cents, after_cents)
    SELECT transfer_no, account_no, version, first_leg + step, pocket, session_no,
           before_cents, amount_cents, before_cents + amount_cents
    FROM unnest($12::bigint[], $13::bigint[], $14::bigint[], $15::smallint[], $16::bigint[],
                $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[])
        AS posted(transfer_no, account_no, version, first_leg, session_no, free_before, free, locked_before, locked)
    CROSS JOIN LATERAL (VALUES (0, 1, free_before, free), (1, 2, locked_before, locked))
        AS entry(step, pocket, before_cents, amount_cents)
    WHERE amount_cents <> 0
), written_stakes AS (
    INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, detail,
                        largest_payout_cents, placed_at)
    SELECT new.*, $1
    FROM unnest($21::bigint[], $22::text[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bytea[],
                $41::bigint[])
        AS new
), written_rounds AS (
    INSERT INTO rounds (round_no, round_id, table_no, state, opened_at, stakes_placed, detail_bytes)
    SELECT no, round_id, table_no, 1, $1, stakes_placed, detail_bytes
    FROM unnest($28::bigint[], $29::text[], $30::bigint[], $31::integer[], $32::bigint[])
        AS new(no, round_id, table_no, stakes_placed, detail_bytes)
), filled_rounds AS (
    UPDATE rounds SET stakes_placed = rounds.stakes_placed + added.stakes,
                      detail_bytes = rounds.detail_bytes + added.detail_bytes
    FROM unnest($33::bigint[], $34::integer[], $35::bigint[]) AS added(no, stakes, detail_bytes)
    WHERE rounds.round_no = added.no
), written_facts AS (
    INSERT INTO outbox (at, facts, traces)
    SELECT $1, new.* FROM unnest($36::bytea[], $42::text[]) AS new(facts, traces)
)
UPDATE accounts SET free_cents = new.free_cents, locked_cents = new.locked_cents, version = new.version
FROM unnest($37::bigint[], $38::bigint[], $39::bigint[], $40::bigint[]) AS new(no, free_cents, locked_cents, version)
WHERE accounts.account_no = new.no
"""
# request_id, digest, refused, answer, caller, transfer_no, kind, mode, round_no, reference
AnswerRow = tuple[str, bytes, bool, bytes, str, int | None, int | None, int | None, int | None, str | None]


async def write(connection: DirectConnection, book: Book, answered: Sequence[AnswerRow]) -> None:
    """Writes a book, under the locks that the caller holds."""
    new_stakes = [
        (s.no, s.stake_id, s.round_no, s.account_no, s.session_no, s.placed_cents, detail)
        for s, detail in book.new_stakes
    ]
    largest_payouts = [stake.largest_payout_cents for stake, _ in book.new_stakes]
    packed, traces = fact_rows(book)
    await connection.fetch(
        _WRITE,
        book.now,
        *columns(answered, 10),
        *columns(book.postings, 9),
        *columns(new_stakes, 7),
        *new_rounds(book),
        *round_additions(book),
        packed,
        *balances(book),
        largest_payouts,
        traces,
    )


def new_rounds(book: Book) -> list[Sequence[object]]:
    """Returns new rounds by columns: number, id, table, stakes placed and bytes of their details."""
    rows = [(r.no, r.round_id, r.table_no, r.stakes_placed, r.detail_bytes) for r in book.new_rounds.values()]
    return columns(rows, 5)


def round_additions(book: Book) -> list[Sequence[object]]:
    """Returns additions to existing rounds by columns: number, added stakes and bytes of their details."""
    return columns([(no, *more) for no, more in book.round_growth.items() if no not in book.new_rounds], 3)


def fact_rows(book: Book) -> tuple[list[bytes], list[str | None]]:
    """Returns the row for the outbox, or none, by columns: facts and their traces."""
    found = ledger_facts.facts_of_book(book)
    return ([facts.pack(found)], [facts.pack_traces(found) if book.traces else None]) if found else ([], [])


def balances(book: Book) -> list[Sequence[object]]:
    """Returns the changed accounts by columns: number, free cents, locked cents, version."""
    accounts = {movement.account.no: movement.account for movement in book.movements}.values()
    return columns([(a.no, a.free_cents, a.locked_cents, a.version) for a in accounts], 4)


def columns(rows: Sequence[tuple[object, ...]], width: int) -> list[Sequence[object]]:
    """Returns the rows as one array for each column."""
    return list(zip(*rows, strict=True)) if rows else [()] * width

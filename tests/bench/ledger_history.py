"""Fills a ledger with many old rounds, each stake placed and returned, in rows that the audit accepts."""

from __future__ import annotations

from tests.processes.databases import connect_asyncpg

# Four entries a stake: placed and returned, with two balance parts each.
ENTRIES_PER_STAKE = 4
STAKES_PER_ROUND = 100
# Rows in one transaction.
SLICE_STAKES = 50_000

_SLICE = """
WITH seats AS (
    SELECT row_number() OVER (ORDER BY sessions.session_no) - 1 AS place, count(*) OVER () AS seats,
           sessions.session_no, sessions.account_no, sessions.table_no, accounts.free_cents, accounts.locked_cents,
           accounts.version, tables.mode
    FROM sessions JOIN accounts USING (account_no) JOIN tables ON tables.table_no = sessions.table_no
    WHERE sessions.table_no = (SELECT min(table_no) FROM tables)
), base AS (
    SELECT nextval('ledger_no') AS no
), history AS MATERIALIZED (
    SELECT seats.*, i, i / seats.seats AS turn,
           base.no + 3 * i AS stake_no, base.no + 3 * i + 1 AS void_no,
           base.no + 3 * (i - i % $2) + 2 AS round_no
    FROM base, generate_series(0, $1 - 1) AS i JOIN seats ON seats.place = i % (SELECT max(seats.seats) FROM seats)
), new_rounds AS (
    INSERT INTO rounds (round_no, round_id, table_no, state, opened_at, ended_at, end_transfer_no, void_reason)
    SELECT DISTINCT ON (round_no) round_no, 'past-' || round_no, table_no, 3, now(), now(), void_no, 'history'
    FROM history ORDER BY round_no, void_no
), new_stakes AS (
    INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, state, placed_at, detail)
    SELECT stake_no, 'past-' || stake_no, round_no, account_no, session_no, 100, 4, now(), 'red' FROM history
), new_transfers AS (
    INSERT INTO transfers (transfer_no, kind, mode, at, request_id, round_no)
    SELECT stake_no, 3, mode, now(), 'past-' || stake_no, round_no FROM history
    UNION ALL
    SELECT void_no, 6, mode, now(), 'past-' || void_no, round_no FROM history
), new_requests AS (
    INSERT INTO requests (request_id, digest, refused, answer, transfer_no, caller, at)
    SELECT 'past-' || no, decode(md5(no::text), 'hex'), false, decode(md5(no::text) || md5(no::text), 'hex'),
           no, 'past', now()
    FROM (SELECT stake_no AS no FROM history UNION ALL SELECT void_no FROM history) AS both_transfers
), new_entries AS (
    INSERT INTO entries
        (transfer_no, account_no, version, leg, pocket, session_no, before_cents, amount_cents, after_cents)
    SELECT stake_no, account_no, version + 2 * turn + 1, 1, 1, session_no,
           free_cents, -100, free_cents - 100
    FROM history
    UNION ALL
    SELECT stake_no, account_no, version + 2 * turn + 1, 2, 2, session_no,
           locked_cents, 100, locked_cents + 100
    FROM history
    UNION ALL
    SELECT void_no, account_no, version + 2 * turn + 2, 1, 2, session_no,
           locked_cents + 100, -100, locked_cents
    FROM history
    UNION ALL
    SELECT void_no, account_no, version + 2 * turn + 2, 2, 1, session_no,
           free_cents - 100, 100, free_cents
    FROM history
), turns AS (
    SELECT account_no, count(*) AS turns FROM history GROUP BY account_no
)
UPDATE accounts SET version = version + 2 * turns FROM turns WHERE accounts.account_no = turns.account_no
"""


async def fill(owner_url: str, entries: int) -> None:
    """Adds about so many entries at the first table, shared among its players."""
    connection = await connect_asyncpg(owner_url)
    try:
        left = max(0, entries) // ENTRIES_PER_STAKE
        while left > 0:
            stakes = min(left, SLICE_STAKES)
            async with connection.transaction():
                await connection.execute(_SLICE, stakes, STAKES_PER_ROUND)
                await connection.execute(
                    "SELECT setval('ledger_no', nextval('ledger_no') + $1)", 3 * (stakes + STAKES_PER_ROUND)
                )
            left -= stakes
            print(f"\r  history: {entries - left * ENTRIES_PER_STAKE:>9} entries", end="", flush=True)
        print()
        await connection.execute("VACUUM (ANALYZE) accounts, entries, transfers, requests, stakes, rounds")
    finally:
        await connection.close()


async def count(owner_url: str) -> int:
    """The number of entries in the ledger."""
    connection = await connect_asyncpg(owner_url)
    try:
        entries: int = await connection.fetchval("SELECT count(*) FROM entries")
        return entries
    finally:
        await connection.close()

"""The round journal in PostgreSQL: entries that arrive while a transaction is under way are written by the next one.

All tables of a process share one writer, so a busy process writes few large groups and an idle one answers at once. A
transaction looks first and then writes: one statement takes a share lock on every house concerned, which nobody can
take over before the commit (G8), and reads how each round stands; what the entries add to that is decided entry by
entry in the order of arrival (`journal_rows`), and one more statement writes it. An entry that is there already adds
nothing, so a group whose commit nobody saw is simply written again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
from prometheus_client import Counter, Histogram
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.kit.table.journal import cancelled_stakes
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ended, JournalStake, Opened, UnfinishedRound
from services.kit.table.journal.rows import (
    READ_STATES,
    WRITE_ROWS,
    Entry,
    EntryRefusal,
    JournalContradiction,
    RowBatch,
    add_entry,
    recorded_state,
    row_count,
)
from services.kit.table.refusals import TableRefused

# For the engine that writes. Statements are planned once and find every row by an index, however large the tables have
# become since. A writer that is cut off must not hold a house against its next owner for long (G8, G11).
WRITER_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "idle_in_transaction_session_timeout": "10s",
}
# Entries that may wait; whoever comes then waits for room, for an entry is never refused for want of it (G11).
WAITING_LIMIT = 10_000
# Rows in one transaction, unless a single entry has more (G11).
GROUP_ROWS_LIMIT = 5_000
# The longest pause between two attempts while the database is away. They go on until it is back (G5, G11).
LONGEST_PAUSE_S = 1.0
FIRST_PAUSE_S = 0.01
# How often a group is written again because of rows that an earlier attempt may have written unseen (G11).
UNIQUE_RETRIES_LIMIT = 3

_log = logging.getLogger(__name__)
_GROUPS = Histogram(
    "feltro_journal_group_entries", "Journal entries per transaction", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500)
)
_RETRIES = Counter("feltro_journal_group_retries", "Groups of journal entries written again", ["cause"])

_UNIQUE_VIOLATION = "23505"
# What an entry itself brings about: data that cannot be, a constraint, a statement the database does not know. All
# else is the database's own trouble, and passes.
_OF_THE_ENTRY = frozenset({"22", "23", "42"})

_TAKE = text(
    "INSERT INTO placements (placement_id, epoch) VALUES (:placement_id, 1)"
    " ON CONFLICT (placement_id) DO UPDATE SET epoch = placements.epoch + 1 RETURNING epoch"
)
_UNFINISHED = text("""
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at,
       draws.closed_at, draws.drawn_at, draws.entropy, draws.outcome, draws.session_ids, draws.draw_trigger,
       draws.cancelled_stakes
FROM open_rounds
JOIN rounds ON rounds.round_no = open_rounds.round_no
LEFT JOIN draws ON draws.round_no = open_rounds.round_no
WHERE open_rounds.placement_id = :placement_id ORDER BY open_rounds.round_no
""")
_STAKES = text("""
SELECT round_no, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents, bets, placed_at
FROM stakes WHERE round_no = ANY(:round_nos) ORDER BY round_no, position
""")
_PLACED = text("""
SELECT stake_id, request_id, player_id, account_id, session_id, seat, amount_cents, bets, placed_at
FROM stakes
WHERE round_no = (SELECT round_no FROM rounds WHERE round_id = :round_id)
  AND player_id = :player_id AND request_id = :request_id
ORDER BY position LIMIT 1
""")
_PAST = text("""
SELECT rounds.round_id, draws.drawn_at, draws.outcome
FROM rounds
JOIN draws ON draws.round_no = rounds.round_no
JOIN endings ON endings.round_no = rounds.round_no AND endings.ending = 2
WHERE rounds.table_id = :table_id ORDER BY rounds.number DESC LIMIT :count
""")
_LATEST = text("SELECT COALESCE(max(number), 0) FROM rounds WHERE table_id = :table_id")
_LAST_BETS = text("""
SELECT bets FROM stakes
WHERE player_id = :player_id AND round_no = (
    SELECT results.round_no FROM player_results AS results
    JOIN endings ON endings.round_no = results.round_no AND endings.ending = 2
    WHERE results.player_id = :player_id AND results.table_id = :table_id AND results.staked_cents > 0
    ORDER BY results.round_no DESC LIMIT 1
) ORDER BY position
""")


@dataclass(slots=True)
class _Submission:
    epoch: int
    entry: Entry
    answer: asyncio.Future[None]


class PostgresJournal:
    """The journal of one process. `run` writes; without it nothing is answered.

    `writing` has `SESSION_SETTINGS`, and one connection is enough for it; `reading` is a small pool.
    """

    def __init__(self, writing: AsyncEngine, reading: AsyncEngine) -> None:
        self._writing = writing
        self._reading = reading
        self._waiting: asyncio.Queue[_Submission] = asyncio.Queue(WAITING_LIMIT)
        self._connection: DirectConnection | None = None
        self._stopped = False

    # -- writing -----------------------------------------------------------------------------------------------------

    async def take_ownership(self, placement_id: str) -> int:
        async with self._reading.begin() as connection:
            return int((await connection.execute(_TAKE, {"placement_id": placement_id})).scalar_one())

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        await self._submit(epoch, entry)

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        await self._submit(epoch, entry)

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        await self._submit(epoch, entry)

    async def _submit(self, epoch: int, entry: Entry) -> None:
        """Returns when the entry is durable (G5)."""
        submission = _Submission(epoch, entry, asyncio.get_running_loop().create_future())
        await self._waiting.put(submission)
        if self._stopped:
            self._fail_waiting()
        await submission.answer

    async def run(self) -> None:
        """Writes group after group until it is cancelled."""
        try:
            while True:
                await self._carry_out(await self._next_group())
        finally:
            self._stopped = True
            self._fail_waiting()
            await self._disconnect()

    def _fail_waiting(self) -> None:
        while not self._waiting.empty():
            _fail([self._waiting.get_nowait()], _stopping())

    async def _next_group(self) -> list[_Submission]:
        """What waits, but nothing that its caller has given up and that was never tried."""
        group: list[_Submission] = []
        rows = 0
        while not group or (rows < GROUP_ROWS_LIMIT and not self._waiting.empty()):
            submission = self._waiting.get_nowait() if group else await self._waiting.get()
            if not submission.answer.done():
                group.append(submission)
                rows += row_count(submission.entry)
        return group

    async def _carry_out(self, group: list[_Submission]) -> None:
        _GROUPS.observe(len(group))
        try:
            answers = await self._write_until_written(group)
        except asyncio.CancelledError:
            _fail(group, _stopping())
            raise
        except Exception as failed:  # noqa: BLE001  # whatever it is, it must not reach the neighbours
            if len(group) == 1:
                _log.exception("an entry cannot be written", extra={"round_id": group[0].entry.round_id})
                _fail(group, _contradiction(group[0].entry, failed))
                return
            for submission in group:
                await self._carry_out([submission])
        else:
            for submission, answer in zip(group, answers, strict=True):
                if submission.answer.done():
                    continue
                if answer is None:
                    submission.answer.set_result(None)
                else:
                    submission.answer.set_exception(answer)

    async def _write_until_written(self, group: Sequence[_Submission]) -> list[EntryRefusal]:
        """Tries again for as long as it takes, unless the fault is in the entries themselves."""
        pause_s, crossings = FIRST_PAUSE_S, 0
        while True:
            try:
                return await self._write(await self._connect(), group)
            except DATABASE_FAILURES as failed:
                await self._disconnect()
                crossed = _state(failed) == _UNIQUE_VIOLATION
                crossings += crossed
                if _of_the_entries(failed) and not (crossed and crossings <= UNIQUE_RETRIES_LIMIT):
                    raise
                _RETRIES.labels("crossed" if crossed else "database").inc()
                _log.warning("a group of journal entries is written again", extra={"error": str(failed)[:300]})
            except BaseException:
                await self._disconnect()
                raise
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _write(self, connection: DirectConnection, submissions: Sequence[_Submission]) -> list[EntryRefusal]:
        asked: dict[str, str | None] = {}
        for submission in submissions:
            entry = submission.entry
            if isinstance(entry, Opened):
                asked[entry.round_id] = entry.placement_id
            else:
                asked.setdefault(entry.round_id, None)
        group = RowBatch()
        async with connection.transaction():
            rows = await connection.fetch(READ_STATES, list(asked), list(asked.values()))
            standings = {row[0]: recorded_state(row) for row in rows}
            answers = [add_entry(group, standings.get(one.entry.round_id), one.epoch, one.entry) for one in submissions]
            if not group.is_empty:
                await connection.fetch(WRITE_ROWS, *group.values())
        return answers

    async def _connect(self) -> DirectConnection:
        if self._connection is None:
            try:
                self._connection = await DirectConnection.open(self._writing)
            except DATABASE_FAILURES as failed:
                # A refused password or a missing database is no fault of the entries either.
                raise ConnectionError(f"the database cannot be reached: {failed}") from failed
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.discard()

    # -- reading -----------------------------------------------------------------------------------------------------

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        async with self._reading.connect() as connection:
            rounds = (await connection.execute(_UNFINISHED, {"placement_id": placement_id})).all()
            stakes: dict[int, list[JournalStake]] = {row[0]: [] for row in rounds if row[8] is not None}
            for row in await connection.execute(_STAKES, {"round_nos": list(stakes)}):
                stakes[row[0]].append(JournalStake(*row[1:]))
        return [
            UnfinishedRound(Opened(*row[1:8]), None if row[8] is None else _drawn(row, stakes[row[0]]))
            for row in rounds
        ]

    async def past_outcomes(self, table_id: str, count: int) -> list[tuple[str, datetime, bytes]]:
        async with self._reading.connect() as connection:
            rows = await connection.execute(_PAST, {"table_id": table_id, "count": count})
            return [(row[0], row[1], row[2]) for row in rows]

    async def last_round_number(self, table_id: str) -> int:
        async with self._reading.connect() as connection:
            return int((await connection.execute(_LATEST, {"table_id": table_id})).scalar_one())

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        async with self._reading.connect() as connection:
            rows = await connection.execute(_LAST_BETS, {"table_id": table_id, "player_id": player_id})
            return [row[0] for row in rows]

    async def find_stake(self, round_id: str, player_id: str, request_id: str) -> JournalStake | None:
        command = {"round_id": round_id, "player_id": player_id, "request_id": request_id}
        async with self._reading.connect() as connection:
            row = (await connection.execute(_PLACED, command)).one_or_none()
        return None if row is None else JournalStake(*row)


def _drawn(row: Sequence[Any], stakes: list[JournalStake]) -> Drawn:
    closed_at, drawn_at, entropy, outcome, session_ids, launch, taken = row[8:]
    return Drawn(
        row[1],
        closed_at,
        drawn_at,
        entropy,
        outcome,
        stakes,
        session_ids,
        DrawTrigger(launch),
        cancelled_stakes.decode(taken),
    )


# -- what can go wrong ----------------------------------------------------------------------------------------------


def _state(failed: Exception) -> str:
    return str(getattr(failed, "sqlstate", None) or "")


def _of_the_entries(failed: Exception) -> bool:
    if isinstance(failed, asyncpg.InterfaceError):
        # The driver was given what it cannot take: no repetition mends that.
        return "closed" not in str(failed)
    return _state(failed)[:2] in _OF_THE_ENTRY


def _contradiction(entry: Entry, failed: Exception) -> Exception:
    """What the database has refused is there already, or contradicts what is there."""
    if _state(failed)[:2] != "23":
        return failed
    contradiction = JournalContradiction(f"{entry.round_id}: {failed}")
    contradiction.__cause__ = failed
    return contradiction


def _stopping() -> TableRefused:
    return TableRefused("UNAVAILABLE", "The journal is stopping: whether the entry was written is not known.")


def _fail(group: Sequence[_Submission], error: Exception) -> None:
    for submission in group:
        if not submission.answer.done():
            submission.answer.set_exception(error)

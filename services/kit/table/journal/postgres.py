"""The round journal in PostgreSQL: entries that arrive while a transaction is under way are written by the next one.

All tables of a process share one writer, so a busy process writes few large groups and an idle one answers at once. A
group is written by one statement, which is its own transaction: it takes a share lock on the placements of all entries,
so that nobody takes one over before the commit, and writes nothing if one has another owner already (G8). What is
recorded of each round is cached from its last entry, or read first; `entry_rows.py` makes rows of the entries by it, in
the order of arrival. An entry that is there already adds nothing, so a group whose commit was not acknowledged is
written again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import asyncpg
from prometheus_client import Counter, Histogram
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.batching import Batcher, BatchLimits
from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.kit.table.journal.decisions import read_moves, read_paid
from services.kit.table.journal.entries import (
    Drawn,
    DrawnOutcome,
    Ended,
    Ending,
    JournalStake,
    LatestDeal,
    Moved,
    Opened,
    Paid,
    UnfinishedRound,
)
from services.kit.table.journal.rows.batch import RecordedState, RowBatch
from services.kit.table.journal.rows.entry_rows import (
    Entry,
    EntryRefusal,
    JournalContradiction,
    add_entry,
    command_of,
    read_drawn,
    read_opened,
    recorded_states,
    row_count,
)
from services.kit.table.journal.rows.statements import (
    JOIN_SHOE,
    READ_STATES,
    SELECT_OPENED_AND_DRAWN,
    SELECT_USED_COMMANDS,
)
from services.kit.table.journal.rows.write_cache import WriteCache
from services.kit.table.journal.sealing import NO_KEYS, CannotUnseal, EntropyKeys
from services.kit.table.refusals import TableRefused

# Entries that may wait; a caller beyond waits for room, because no entry is refused for want of it (G11).
WAITING_LIMIT = 10_000
# Rows in one transaction, unless a single entry has more (G11).
GROUP_ROWS_LIMIT = 5_000
# The longest pause between two attempts while the database cannot be reached. They never end (G5, G11).
LONGEST_PAUSE_S = 1.0
FIRST_PAUSE_S = 0.01
# How often a group is written again because an earlier attempt may have written its rows without an answer (G11).
UNIQUE_RETRIES_LIMIT = 3

_log = logging.getLogger(__name__)
_GROUPS = Histogram(
    "feltro_journal_group_entries", "Journal entries per transaction", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500)
)
_RETRIES = Counter("feltro_journal_group_retries", "Groups of journal entries written again", ["cause"])

_UNIQUE_VIOLATION = "23505"
# Classes of errors that the entry itself causes: invalid data, a constraint, an invalid statement. Any other error is
# the database's, and passes.
_ENTRY_ERROR_CLASSES = frozenset({"22", "23", "42"})

_TAKE = text(
    "INSERT INTO placements (placement_id, epoch) VALUES (:placement_id, 1)"
    " ON CONFLICT (placement_id) DO UPDATE SET epoch = placements.epoch + 1 RETURNING epoch"
)
_RAISE = text(
    "UPDATE placements SET epoch = :known_epoch"
    " WHERE placement_id = :placement_id AND epoch = :epoch AND epoch < :known_epoch"
)
_UNFINISHED = text(
    SELECT_OPENED_AND_DRAWN
    + """
FROM open_rounds
JOIN rounds ON rounds.round_no = open_rounds.round_no
LEFT JOIN draws ON draws.round_no = open_rounds.round_no
"""
    + JOIN_SHOE
    + """WHERE open_rounds.placement_id = :placement_id ORDER BY open_rounds.round_no
"""
)
_LATEST_DEAL = text(
    SELECT_OPENED_AND_DRAWN
    + """, endings.ending, COALESCE(endings.outcome, draws.outcome)
FROM rounds
JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
"""
    + JOIN_SHOE
    + "WHERE rounds.table_id = :table_id ORDER BY rounds.number DESC LIMIT 1"
)
_ROUNDS_SINCE = text("SELECT count(*) FROM rounds WHERE table_id = :table_id AND number > :number")
_STAKES = text("""
SELECT round_no, stake_id, request_id, player_id, account_id, session_id, seat, amount_cents, bets, placed_at
FROM stakes WHERE round_no = ANY(:round_nos) ORDER BY round_no, position
""")
_PAST = text("""
SELECT rounds.round_id, draws.drawn_at, COALESCE(endings.outcome, draws.outcome), rounds.configuration_version
FROM rounds
JOIN draws ON draws.round_no = rounds.round_no
JOIN endings ON endings.round_no = rounds.round_no AND endings.ending = 2
WHERE rounds.table_id = :table_id ORDER BY rounds.number DESC LIMIT :count
""")
# Whatever it was for. Hot: it is asked before every decision that costs something.
_HAS_COMMAND = """
SELECT EXISTS (SELECT FROM moves WHERE moves.request_id = $1 AND moves.request_id <> '')
    OR EXISTS (SELECT FROM stakes WHERE stakes.stake_id = $1)
"""
_LATEST = text("SELECT COALESCE(max(number), 0) FROM rounds WHERE table_id = :table_id")
# The stakes of decisions come after those of the draw: they belong to their cards.
_LAST_BETS = text("""
SELECT bets FROM stakes
JOIN draws ON draws.round_no = stakes.round_no AND (draws.stake_count IS NULL OR stakes.position < draws.stake_count)
WHERE stakes.player_id = :player_id AND stakes.round_no = (
    SELECT results.round_no FROM player_results AS results
    JOIN endings ON endings.round_no = results.round_no AND endings.ending = 2
    WHERE results.player_id = :player_id AND results.table_id = :table_id AND results.staked_cents > 0
    ORDER BY results.round_no DESC LIMIT 1
) ORDER BY stakes.position
""")


class _Submission(NamedTuple):
    epoch: int
    entry: Entry


class PostgresJournal:
    """The journal of one process. `run` holds the writer's connection and ends the journal when it is cancelled.

    `writing` has the settings `PLANNED_ONCE` and needs one connection; `reading` is a small pool.
    """

    def __init__(self, writing: AsyncEngine, reading: AsyncEngine, entropy_keys: EntropyKeys = NO_KEYS) -> None:
        self._writing = writing
        self._reading = reading
        self._entropy_keys = entropy_keys
        self._connection: DirectConnection | None = None
        self._cache = WriteCache()
        self._failed = asyncio.Event()
        self._batcher: Batcher[_Submission, None] = Batcher(
            self._write_group,
            BatchLimits(items=GROUP_ROWS_LIMIT, weight=GROUP_ROWS_LIMIT, waiting_items=WAITING_LIMIT),
            weight=lambda submission: row_count(submission.entry),
            isolates_failures=True,
            on_failure=lambda _: self._failed.set(),
        )

    # -- writing -----------------------------------------------------------------------------------------------------

    async def take_ownership(self, placement_id: str) -> int:
        async with self._reading.begin() as connection:
            return int((await connection.execute(_TAKE, {"placement_id": placement_id})).scalar_one())

    async def raise_epoch(self, placement_id: str, epoch: int, known_epoch: int) -> None:
        values = {"placement_id": placement_id, "epoch": epoch, "known_epoch": known_epoch}
        async with self._reading.begin() as connection:
            await connection.execute(_RAISE, values)

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        await self._submit(epoch, entry)

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        """Raises `CannotSeal`, and writes nothing, for cards to hide without a key."""
        await self._submit(epoch, self._entropy_keys.seal(entry))

    async def write_moved(self, epoch: int, entry: Moved) -> None:
        await self._submit(epoch, entry)

    async def write_paid(self, epoch: int, entry: Paid) -> None:
        await self._submit(epoch, entry)

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        await self._submit(epoch, entry)

    async def _submit(self, epoch: int, entry: Entry) -> None:
        """Returns when the entry is durable (G5)."""
        await self._batcher.submit_when_room(_Submission(epoch, entry))

    async def run(self) -> None:
        """Runs until it is cancelled; then every entry without an answer fails."""
        try:
            await self._failed.wait()
            await self._batcher.wait_until_answered()
        finally:
            await self._batcher.close(
                TableRefused("UNAVAILABLE", "The journal is stopping: whether the entry was written is not known.")
            )
            await self._disconnect()

    async def _write_group(self, group: Sequence[_Submission]) -> list[EntryRefusal]:
        _GROUPS.observe(len(group))
        try:
            return await self._write_until_written(group)
        except Exception as failed:
            if len(group) > 1:
                # The batcher tries each alone, so that only the culprit fails.
                raise
            entry = group[0].entry
            _log.exception("an entry cannot be written", extra={"round_id": entry.round_id})
            if _sqlstate(failed)[:2] == "23":
                # A constraint of the database: the entry contradicts what is recorded.
                raise JournalContradiction(f"{entry.round_id}: {failed}") from failed
            raise

    async def _write_until_written(self, group: Sequence[_Submission]) -> list[EntryRefusal]:
        """Tries again for as long as it takes, unless the fault is in the entries themselves."""
        pause_s, unique_violations = FIRST_PAUSE_S, 0
        while True:
            try:
                return await self._write(await self._connect(), group)
            except DATABASE_FAILURES as failed:
                await self._disconnect()
                # Another attempt at the same rows may have committed after this one had looked.
                crossed = _sqlstate(failed) == _UNIQUE_VIOLATION
                unique_violations += crossed
                if _is_entry_error(failed) and not (crossed and unique_violations <= UNIQUE_RETRIES_LIMIT):
                    raise
                _RETRIES.labels("crossed" if crossed else "database").inc()
                _log.warning("a group of journal entries is written again", extra={"error": str(failed)[:300]})
            except BaseException:
                await self._disconnect()
                raise
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _write(self, connection: DirectConnection, group: Sequence[_Submission]) -> list[EntryRefusal]:
        cached, used = self._take_cached(group), frozenset[str]()
        while True:
            states = cached | await _read_states(connection, group, cached)
            batch = RowBatch()
            answers = [
                add_entry(batch, states.get(each.entry.round_id), each.epoch, each.entry, used) for each in group
            ]
            owners = {
                (states[each.entry.round_id].placement_id, each.epoch)
                for each, refusal in zip(group, answers, strict=True)
                if refusal is None
            }
            # Only what was read refuses an entry: what is cached may be out of date.
            is_final = not cached or not any(answers)
            if is_final and (not owners or await _write_rows(connection, batch, owners)):
                self._cache.keep(states)
                return answers
            # Everything is read now: the cache was out of date, a placement has been taken over meanwhile, or a command
            # was used before.
            cached, used = {}, await _used_commands(connection, group)

    def _take_cached(self, group: Sequence[_Submission]) -> dict[str, RecordedState]:
        """Takes the rounds of a group out of the cache, as far as they are in it."""
        cached: dict[str, RecordedState] = {}
        for epoch, entry in group:
            if entry.round_id not in cached and (state := self._cache.take(entry.round_id, epoch)) is not None:
                cached[entry.round_id] = state
        return cached

    async def _connect(self) -> DirectConnection:
        if self._connection is None:
            try:
                self._connection = await DirectConnection.open(self._writing)
            except DATABASE_FAILURES as failed:
                # A refused password or a missing database is not the entries' fault, whatever its class says.
                raise ConnectionError(f"the database cannot be reached: {failed}") from failed
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._cache.clear()
        if connection is not None:
            await connection.discard()

    # -- reading -----------------------------------------------------------------------------------------------------

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        async with self._reading.connect() as connection:
            rounds = (await connection.execute(_UNFINISHED, {"placement_id": placement_id})).all()
            stakes: dict[int, list[JournalStake]] = {row[0]: [] for row in rounds if row[8] is not None}
            for row in await connection.execute(_STAKES, {"round_nos": list(stakes)}):
                stakes[row[0]].append(JournalStake(*row[1:]))
            # Only a draw without an outcome has decisions.
            dealt = {row[0]: row[1] for row in rounds if row[8] is not None and row[11] is None}
            moves, paid = await read_moves(connection, dealt), await read_paid(connection, dealt)
        return [
            UnfinishedRound(
                read_opened(row),
                self._unsealed(read_drawn(row, stakes.get(row[0], []))),
                moves.get(row[0], []),
                paid.get(row[0], []),
            )
            for row in rounds
        ]

    def _unsealed(self, drawn: Drawn | None) -> Drawn | None:
        """Returns a draw that can be read; as it is, sealed, without its key: the round stays as it is until then."""
        try:
            return None if drawn is None else self._entropy_keys.unseal(drawn)
        except CannotUnseal:
            # Who reads it knows how often that was logged.
            return drawn

    async def has_command(self, command_id: str) -> bool:
        """Tries again for as long as it takes, as writing does: a decision waits for both."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async with DirectConnection.borrow(self._reading) as connection:
                    ((known,),) = await connection.fetch(_HAS_COMMAND, command_id)
                    return bool(known)
            except DATABASE_FAILURES as failed:
                _log.warning("commands cannot be read", extra={"error": str(failed)[:300]})
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def past_outcomes(self, table_id: str, count: int) -> list[DrawnOutcome]:
        async with self._reading.connect() as connection:
            rows = await connection.execute(_PAST, {"table_id": table_id, "count": count})
            return [DrawnOutcome(*row) for row in rows]

    async def last_round_number(self, table_id: str) -> int:
        async with self._reading.connect() as connection:
            return int((await connection.execute(_LATEST, {"table_id": table_id})).scalar_one())

    async def latest_deal(self, table_id: str) -> LatestDeal | None:
        async with self._reading.connect() as connection:
            row = (await connection.execute(_LATEST_DEAL, {"table_id": table_id})).one_or_none()
            if row is None:
                return None
            stakes = [JournalStake(*stake[1:]) for stake in await connection.execute(_STAKES, {"round_nos": [row[0]]})]
            moves = (await read_moves(connection, {row[0]: row[1]}))[row[0]]
            opened = read_opened(row)
            since = await connection.execute(_ROUNDS_SINCE, {"table_id": table_id, "number": opened.number})
            rounds_since = int(since.scalar_one())
        drawn = self._unsealed(read_drawn(row, stakes))
        assert drawn is not None  # noqa: S101 - it is joined with its draw
        ending, outcome = row[-2:]
        return LatestDeal(opened, drawn, moves, None if ending is None else Ending(ending), outcome, rounds_since)

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        async with self._reading.connect() as connection:
            rows = await connection.execute(_LAST_BETS, {"table_id": table_id, "player_id": player_id})
            return [row[0] for row in rows]


async def _read_states(
    connection: DirectConnection, group: Sequence[_Submission], cached: Mapping[str, RecordedState]
) -> dict[str, RecordedState]:
    """Reads what is recorded of the other rounds of a group."""
    placements: dict[str, str | None] = {}
    for _, entry in group:
        if entry.round_id in cached:
            continue
        if isinstance(entry, Opened):
            placements[entry.round_id] = entry.placement_id
        else:
            placements.setdefault(entry.round_id, None)
    if not placements:
        return {}
    return recorded_states(await connection.fetch(READ_STATES, list(placements), list(placements.values())))


async def _used_commands(connection: DirectConnection, group: Sequence[_Submission]) -> frozenset[str]:
    """Reads which commands of the group's decisions have been used: by these very entries, or by others."""
    commands = [command for _, entry in group if (command := command_of(entry))]
    rows = await connection.fetch(SELECT_USED_COMMANDS, commands) if commands else ()
    return frozenset(row[0] for row in rows)


async def _write_rows(connection: DirectConnection, batch: RowBatch, owners: Collection[tuple[str, int]]) -> bool:
    """Writes rows durably, or none of them if an owner has lost its placement, or a command was used (G3, G5, G8)."""
    statement, values = batch.statement(owners)
    ((written,),) = await connection.fetch(statement, *values)
    return bool(written)


# -- failures --------------------------------------------------------------------------------------------------------


def _sqlstate(failed: Exception) -> str:
    return str(getattr(failed, "sqlstate", None) or "")


def _is_entry_error(failed: Exception) -> bool:
    if isinstance(failed, asyncpg.InterfaceError):
        # The driver cannot encode the entry: repeating it does not help.
        return "closed" not in str(failed)
    return _sqlstate(failed)[:2] in _ENTRY_ERROR_CLASSES

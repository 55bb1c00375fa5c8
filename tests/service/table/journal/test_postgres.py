"""The journal on a real PostgreSQL: fenced, idempotent, written in groups, and guarded by the database itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database import postgresql
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal import postgres
from services.kit.table.journal.entries import DrawTrigger, Ended, Ending
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.rows.entry_rows import JournalContradiction
from services.kit.table.journal.rows.statements import READ_STATES
from services.kit.table.refusals import TableRefused
from tests.processes.databases import GameDatabase
from tests.service.table.conftest import running_journal
from tests.service.table.entries import AT, drawn, opened, settled, stakes, void, write_round

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

pytestmark = pytest.mark.usefixtures("cached_or_read")

TABLES = ("rounds", "draws", "stakes", "endings", "payouts", "player_results")


async def row_counts(connection: Connection) -> dict[str, int]:
    return {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in TABLES}  # noqa: S608


async def wait_for_lock(connection: Connection, sessions: int = 1) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while await connection.fetchval(waiting) < sessions:
        await asyncio.sleep(0)


@asynccontextmanager
async def placement_locked(connection: Connection, placement_id: str) -> AsyncIterator[None]:
    """Holds the lock of a takeover that has not committed yet: entries sent meanwhile gather behind it."""
    async with connection.transaction():
        await connection.execute("SELECT 1 FROM placements WHERE placement_id = $1 FOR UPDATE", placement_id)
        yield


@asynccontextmanager
async def writer_held_up(
    journal: PostgresJournal,
    service_connection: Connection,
    owner_connection: Connection,
    placement_id: str = "held",
) -> AsyncIterator[asyncio.Task[None]]:
    """The journal's writer waits with one entry, which is returned: what is written meanwhile gathers behind it."""
    async with placement_locked(owner_connection, placement_id):
        first = asyncio.create_task(journal.write_opened(1, opened(placement_id, 1)))
        await wait_for_lock(service_connection)
        yield first


# When the connection of the writer dies.
MOMENTS = ("before the statement", "before the commit", "after the commit")


def kill_writer_once(
    monkeypatch: pytest.MonkeyPatch, connection: Connection, moment: str, is_meant: Callable[[], bool] = lambda: True
) -> list[int]:
    """Kills the writer's connection at this moment of the next group, once it is meant; fills the list when it does."""
    killed: list[int] = []
    fetch = postgresql.DirectConnection.fetch
    kill = "SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'test journal'"

    async def kill_writer() -> None:
        killed.extend(row[0] for row in await connection.fetch(kill))

    async def interrupted(writer: postgresql.DirectConnection, statement: str, *values: object) -> Sequence[Any]:
        if killed or statement == READ_STATES or not is_meant():
            return await fetch(writer, statement, *values)
        if moment == "before the statement":
            await kill_writer()
            return await fetch(writer, statement, *values)
        if moment == "before the commit":
            async with writer.transaction():
                await fetch(writer, statement, *values)
                await kill_writer()
        await fetch(writer, statement, *values)
        await kill_writer()
        raise asyncpg.ConnectionDoesNotExistError("the answer was lost")

    monkeypatch.setattr(postgresql.DirectConnection, "fetch", interrupted)
    return killed


async def assert_refused(writing: Awaitable[object], reason: type[BaseException], match: str | None = None) -> None:
    with pytest.raises(reason, match=match):
        await writing


# -- entries ---------------------------------------------------------------------------------------------------------


async def test_a_round_is_written_in_three_entries_and_read_back(journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    entry, draw = opened("t1", 1), drawn("t1.1", ("ana", "rui", "ana"))
    assert await journal.last_round_number("t1") == 0
    await journal.write_opened(epoch, entry)
    assert [(found.opened, found.drawn) for found in await journal.unfinished_rounds("t1")] == [(entry, None)]
    await journal.write_drawn(epoch, draw)
    assert [(found.opened, found.drawn) for found in await journal.unfinished_rounds("t1")] == [(entry, draw)]
    assert await journal.past_outcomes("t1", 5) == []
    assert await journal.last_bets("t1", "ana") == []

    await journal.write_ended(epoch, settled(draw))
    assert await journal.unfinished_rounds("t1") == []
    assert await journal.past_outcomes("t1", 5) == [("t1.1", draw.drawn_at, b"17", entry.configuration_version)]
    assert await journal.last_round_number("t1") == 1
    assert await journal.last_bets("t1", "ana") == [b"bets 0", b"bets 2"]
    assert await journal.last_bets("t2", "ana") == []


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
async def test_launch_and_cancelled_stakes_are_part_of_the_drawn_entry(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    draw = replace(drawn("t1.1"), draw_trigger=DrawTrigger.SESSION_ENDED)
    assert draw.cancelled_stakes
    await journal.write_drawn(epoch, draw)
    # As the next owner finds it.
    (left,) = await journal.unfinished_rounds("t1")
    assert left.drawn == draw
    await journal.write_ended(epoch, settled(draw))
    assert await row_counts(service_connection) == {
        "rounds": 1,
        "draws": 1,
        "stakes": 2,
        "endings": 1,
        "payouts": 2,
        "player_results": 2,
    }
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2"))
    assert void("t1.2").cancelled_stakes
    assert (await row_counts(service_connection))["endings"] == 2
    assert (await row_counts(service_connection))["stakes"] == 2


async def test_void_rounds_give_no_outcome_and_no_bets_to_repeat(journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"], outcome=b"1")
    await write_round(journal, epoch, opened("t1", 2), ["ana"], outcome=b"2")
    await journal.write_opened(epoch, opened("t1", 3))
    await journal.write_ended(epoch, void("t1.3", ["ana", "rui"]))
    assert [(past.round_id, past.outcome) for past in await journal.past_outcomes("t1", 5)] == [
        ("t1.2", b"2"),
        ("t1.1", b"1"),
    ]
    assert len(await journal.past_outcomes("t1", 1)) == 1
    assert await journal.last_round_number("t1") == 3
    assert await journal.last_bets("t1", "ana") == [b"bets 0"]
    assert await journal.last_bets("t1", "rui") == []


async def test_rounds_of_individual_tables_belong_to_their_placement(journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("solo")
    entries = [opened(f"solo-{player}", 1, placement_id="solo") for player in ("ana", "rui", "eva")]
    for entry in entries:
        await journal.write_opened(epoch, entry)
    await journal.write_drawn(epoch, drawn("solo-rui.1", ["rui"]))
    await journal.write_ended(epoch, void("solo-eva.1"))
    assert [found.opened for found in await journal.unfinished_rounds("solo")] == entries[:2]
    assert await journal.last_round_number("solo-ana") == 1
    assert await journal.last_round_number("solo") == 0


# -- epochs (G8) -----------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G8")
async def test_g8_each_owner_has_a_higher_epoch(journal: PostgresJournal) -> None:
    epochs = [await journal.take_ownership("t1") for _ in range(3)]
    assert epochs == [1, 2, 3]
    assert await journal.take_ownership("t2") == 1


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_writes_nothing_while_its_neighbours_do(
    journal: PostgresJournal,
    game_database: GameDatabase,
    engine: AsyncEngine,
    service_connection: Connection,
    owner_connection: Connection,
) -> None:
    """All of their entries are in one transaction, which gathers behind a first entry that is held up."""
    for placement_id in ("held", "t1", "t2"):
        await journal.take_ownership(placement_id)
    for table in ("t1", "t2"):
        await journal.write_opened(1, opened(table, 1))
        await journal.write_opened(1, opened(table, 2))
    await journal.write_drawn(1, drawn("t1.2"))
    before = await row_counts(service_connection)
    async with running_journal(game_database.url, engine) as successor:
        assert await successor.take_ownership("t1") == 2
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        entries = [
            journal.write_opened(1, opened("t1", 3)),
            journal.write_drawn(1, drawn("t1.1")),
            journal.write_ended(1, settled(drawn("t1.2"))),
            journal.write_opened(1, opened("t2", 3)),
            journal.write_drawn(1, drawn("t2.1")),
            journal.write_ended(1, void("t2.2")),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(answer) for answer in answers[1:4]] == [StaleOwner] * 3
    assert answers[4:] == [None] * 3
    added = {table: number - before[table] for table, number in (await row_counts(service_connection)).items()}
    assert added == {"rounds": 2, "draws": 1, "stakes": 2, "endings": 1, "payouts": 0, "player_results": 0}
    transactions = await service_connection.fetch(
        "SELECT xmin::text FROM rounds WHERE round_id = 't2.3' UNION SELECT xmin::text FROM endings"
        " UNION SELECT max(xmin::text::bigint)::text FROM draws"
    )
    assert len(transactions) == 1


@pytest.mark.guarantee("G8")
async def test_g8_a_writer_that_waits_during_a_takeover_is_stale(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    async with owner_connection.transaction():
        await owner_connection.execute("UPDATE placements SET epoch = epoch + 1 WHERE placement_id = 't1'")
        late = asyncio.create_task(journal.write_drawn(epoch, drawn("t1.1")))
        await wait_for_lock(service_connection)
    await assert_refused(late, StaleOwner)
    assert (await row_counts(service_connection))["draws"] == 0


@pytest.mark.guarantee("G8")
async def test_g8_a_takeover_waits_for_the_owners_write(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    """The next owner finds what the owner had begun to write."""
    await journal.take_ownership("t1")
    # The writer has looked at the owner, and waits for a row of the same round that may still go away.
    in_the_way = owner_connection.transaction()
    await in_the_way.start()
    await owner_connection.execute("INSERT INTO rounds VALUES (0, 't1.1', 't1', 't1', 1, 1, 1, $1, NULL)", AT)
    writing = asyncio.create_task(journal.write_opened(1, opened("t1", 1)))
    await wait_for_lock(service_connection)
    taking = asyncio.create_task(journal.take_ownership("t1"))
    await wait_for_lock(service_connection, 2)
    assert not taking.done()
    await in_the_way.rollback()
    assert await taking == 2
    assert [found.opened.round_id for found in await journal.unfinished_rounds("t1")] == ["t1.1"]
    await writing


@pytest.mark.guarantee("G8")
async def test_g8_nobody_writes_to_a_placement_without_an_owner(journal: PostgresJournal) -> None:
    await assert_refused(journal.write_opened(1, opened("t1", 1)), StaleOwner)
    await journal.take_ownership("t1")
    await assert_refused(journal.write_opened(2, opened("t1", 1)), StaleOwner)


@pytest.mark.guarantee("G8")
async def test_g8_an_epoch_only_rises(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    for _ in range(3):
        await journal.take_ownership("t1")
    for connection in (service_connection, owner_connection):
        for epoch in (1, 3):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G8"):
                await connection.execute("UPDATE placements SET epoch = $1", epoch)
    for statement in ("DELETE FROM placements", "TRUNCATE placements"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service_connection.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="placements is append-only"):
            await owner_connection.execute(statement)


@pytest.mark.guarantee("G8")
async def test_g8_only_its_owner_raises_an_epoch_to_one_that_is_known_elsewhere(journal: PostgresJournal) -> None:
    first = await journal.take_ownership("t1")
    await journal.raise_epoch("t1", first, 9)
    # From now on this owner is stale, and the next one begins above.
    await assert_refused(journal.write_opened(first, opened("t1", 1)), StaleOwner)
    second = await journal.take_ownership("t1")
    assert second == 10
    for epoch, known_epoch in ((first, 20), (second, 5), (second, second)):
        await journal.raise_epoch("t1", epoch, known_epoch)
        await journal.write_opened(second, opened("t1", 1))
    assert await journal.take_ownership("t1") == 11


# -- every entry once (G3, G4, G6) -----------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_entry_changes_nothing(journal: PostgresJournal, service_connection: Connection) -> None:
    epoch = await journal.take_ownership("t1")
    draw = drawn("t1.1")
    await write_round(journal, epoch, opened("t1", 1), ["ana", "rui"])
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2", ["ana"]))
    before = await row_counts(service_connection)
    await journal.write_opened(epoch, opened("t1", 1))
    await journal.write_drawn(epoch, draw)
    await journal.write_ended(epoch, settled(draw))
    await journal.write_ended(epoch, void("t1.2", ["ana"]))
    successor = await journal.take_ownership("t1")
    await journal.write_ended(successor, void("t1.2"))
    assert await row_counts(service_connection) == before


@pytest.mark.guarantee("G3")
async def test_g3_entries_repeated_in_one_transaction_are_written_once(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    await journal.take_ownership("held")
    epoch = await journal.take_ownership("t1")
    draw = drawn("t1.1")
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        rest = [
            asyncio.create_task(entry)
            for _ in range(2)
            for entry in (
                journal.write_opened(epoch, opened("t1", 1)),
                journal.write_drawn(epoch, draw),
                journal.write_ended(epoch, settled(draw)),
            )
        ]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert await row_counts(service_connection) == {
        "rounds": 2,
        "draws": 1,
        "stakes": 2,
        "endings": 1,
        "payouts": 2,
        "player_results": 2,
    }
    assert [
        found.opened.round_id
        for placement_id in ("held", "t1")
        for found in await journal.unfinished_rounds(placement_id)
    ] == ["held.1"]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_ends_once(journal: PostgresJournal, service_connection: Connection) -> None:
    epoch = await journal.take_ownership("t1")
    draw = drawn("t1.1")
    await journal.write_opened(epoch, opened("t1", 1))
    await assert_refused(journal.write_ended(epoch, settled(draw)), JournalContradiction, "has no outcome")
    await journal.write_drawn(epoch, draw)
    await assert_refused(journal.write_ended(epoch, void("t1.1")), JournalContradiction, "cannot be void")
    await journal.write_ended(epoch, settled(draw))
    await assert_refused(
        journal.write_ended(epoch, void("t1.1")), JournalContradiction, "G4: t1.1 has ended as SETTLED"
    )
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2"))
    await assert_refused(
        journal.write_ended(epoch, settled(drawn("t1.2"))), JournalContradiction, "G4: t1.2 has ended as VOID"
    )
    assert [row[0] for row in await service_connection.fetch("SELECT ending FROM endings ORDER BY round_no")] == [2, 3]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_id_and_a_number_are_used_once(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    for placement_id in ("t1", "t2"):
        await journal.take_ownership(placement_id)
    await journal.write_opened(1, opened("t1", 1))
    same_id = opened("t1", 2)
    for changed in (
        opened("t1", 1, version=2),
        opened("t1", 1, placement_id="t2"),
        type(same_id)("t1.1", "t1", "t1", 2, 1, same_id.opened_at, same_id.closes_at),
        type(same_id)("another", "t1", "t1", 1, 1, same_id.opened_at, same_id.closes_at),
    ):
        await assert_refused(journal.write_opened(1, changed), JournalContradiction)
    await assert_refused(journal.write_drawn(1, drawn("nowhere")), JournalContradiction, "never opened")
    await assert_refused(journal.write_ended(1, void("nowhere")), JournalContradiction, "never opened")
    assert (await row_counts(service_connection))["rounds"] == 1


@pytest.mark.guarantee("G6")
async def test_g6_a_drawn_round_is_not_drawn_again(journal: PostgresJournal, service_connection: Connection) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    await journal.write_drawn(epoch, drawn("t1.1", outcome=b"17"))
    await assert_refused(journal.write_drawn(epoch, drawn("t1.1", outcome=b"18")), JournalContradiction, "G6")
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2"))
    await assert_refused(journal.write_drawn(epoch, drawn("t1.2")), JournalContradiction, "G6")
    assert [row[0] for row in await service_connection.fetch("SELECT outcome FROM draws")] == [b"17"]


@pytest.mark.guarantee("G6")
async def test_g6_a_contradiction_in_one_transaction_harms_no_neighbour(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    for placement_id in ("held", "t1", "t2"):
        await journal.take_ownership(placement_id)
    await journal.write_opened(1, opened("t1", 1))
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        entries = [
            journal.write_drawn(1, drawn("t1.1", outcome=b"17")),
            journal.write_drawn(1, drawn("t1.1", outcome=b"18")),
            journal.write_ended(1, void("t1.1")),
            journal.write_opened(1, opened("t2", 1)),
            # The stake is another round's, which only the database can find out.
            journal.write_opened(1, opened("t2", 2)),
            journal.write_ended(1, Ended("t2.2", Ending.VOID, AT, "", [], [], stakes("t1.1", ["ana"]))),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    kinds = [None if answer is None else type(answer) for answer in answers]
    assert kinds == [
        None, None, JournalContradiction, JournalContradiction, None, None, JournalContradiction,
    ]  # fmt: skip
    assert await row_counts(service_connection) == {
        "rounds": 4,
        "draws": 1,
        "stakes": 2,
        "endings": 0,
        "payouts": 0,
        "player_results": 0,
    }


# -- groups, and a database that cannot be reached -------------------------------------------------------------------


async def test_entries_that_arrive_together_share_one_transaction(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    tables = [f"t{number}" for number in range(20)]
    for placement_id in ("held", *tables):
        await journal.take_ownership(placement_id)
    for table in tables:
        await journal.write_opened(1, opened(table, 1))
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        players = [f"player-{number}" for number in range(50)]
        rest = [asyncio.create_task(journal.write_drawn(1, drawn(f"{table}.1", players))) for table in tables]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert await service_connection.fetchval("SELECT count(DISTINCT xmin::text) FROM draws") == 1
    assert await service_connection.fetchval("SELECT count(DISTINCT xmin::text) FROM stakes") == 1
    assert await service_connection.fetchval("SELECT count(*) FROM stakes") == 1000


@pytest.mark.guarantee("G11")
async def test_g11_a_group_has_a_limit(
    game_database: GameDatabase,
    engine: AsyncEngine,
    service_connection: Connection,
    owner_connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two entries of four rows fit.
    monkeypatch.setattr(postgres, "GROUP_ROWS_LIMIT", 8)
    async with running_journal(game_database.url, engine) as journal:
        for placement_id in ("held", "t1", "t2", "t3"):
            await journal.take_ownership(placement_id)
        for table in ("t1", "t2", "t3"):
            await journal.write_opened(1, opened(table, 1))
        async with writer_held_up(journal, service_connection, owner_connection) as first:
            rest = [asyncio.create_task(journal.write_drawn(1, drawn(f"{table}.1"))) for table in ("t1", "t2", "t3")]
            await asyncio.sleep(0)
        await asyncio.gather(first, *rest)
    assert await service_connection.fetchval("SELECT count(DISTINCT xmin::text) FROM draws") == 2


@pytest.mark.guarantee("G11")
async def test_g11_a_writer_waits_while_the_queue_is_full(
    game_database: GameDatabase,
    engine: AsyncEngine,
    service_connection: Connection,
    owner_connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres, "WAITING_LIMIT", 2)
    async with running_journal(game_database.url, engine) as journal:
        await journal.take_ownership("t1")
        async with writer_held_up(journal, service_connection, owner_connection, "t1") as first:
            rest = [asyncio.create_task(journal.write_opened(1, opened("t1", number))) for number in range(2, 7)]
            await asyncio.sleep(0)
            assert journal._batcher.waiting_weight == 2
        await asyncio.gather(first, *rest)
        assert await journal.last_round_number("t1") == 6


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("moment", MOMENTS)
async def test_g5_a_connection_killed_while_it_writes_loses_nothing(
    journal: PostgresJournal,
    service_connection: Connection,
    owner_connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    """The entries of several tables in one group are all written, once, at whichever moment the connection dies."""
    for placement_id in ("held", "t1", "t2"):
        await journal.take_ownership(placement_id)
    for table in ("t1", "t2"):
        await journal.write_opened(1, opened(table, 1))
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        killed = kill_writer_once(monkeypatch, service_connection, moment)
        draw = drawn("t2.1")
        entries = [
            journal.write_drawn(1, drawn("t1.1")),
            journal.write_drawn(1, draw),
            journal.write_ended(1, settled(draw)),
            journal.write_opened(1, opened("t1", 2)),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert len(killed) == 1
    assert await row_counts(service_connection) == {
        "rounds": 4,
        "draws": 2,
        "stakes": 4,
        "endings": 1,
        "payouts": 2,
        "player_results": 2,
    }


@pytest.mark.guarantee("G5")
async def test_g5_an_entry_survives_the_server_ending_the_connection_that_waits(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    await journal.take_ownership("t1")
    async with placement_locked(owner_connection, "t1"):
        entry = asyncio.create_task(journal.write_opened(1, opened("t1", 1)))
        await wait_for_lock(service_connection)
        await service_connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test journal'"
        )
    await entry
    assert await journal.last_round_number("t1") == 1


async def test_an_entry_that_the_database_cannot_take_fails_alone(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    for placement_id in ("held", "t1", "t2"):
        await journal.take_ownership(placement_id)
    await journal.write_opened(1, opened("t1", 1))
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        impossible = Ended("t1.1", Ending.VOID, AT, "a zero byte: \x00", [], [])
        rest = [
            asyncio.create_task(entry)
            for entry in (journal.write_ended(1, impossible), journal.write_opened(1, opened("t2", 1)))
        ]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(answer) for answer in answers] == [type(None), asyncpg.CharacterNotInRepertoireError, type(None)]
    assert await row_counts(service_connection) == {
        "rounds": 3,
        "draws": 0,
        "stakes": 0,
        "endings": 0,
        "payouts": 0,
        "player_results": 0,
    }


@pytest.mark.guarantee("G3")
async def test_g3_rows_that_appear_between_read_and_write_are_read_again(
    journal: PostgresJournal,
    owner_connection: Connection,
    service_connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An earlier attempt that was given up may still be about to commit in the server."""
    await journal.take_ownership("t1")
    await journal.write_opened(1, opened("t1", 1))
    fetch = postgresql.DirectConnection.fetch
    written: list[str] = []

    async def fetch_late(connection: postgresql.DirectConnection, statement: str, *values: object) -> Sequence[Any]:
        if statement != READ_STATES:
            if not written:
                await owner_connection.execute(
                    "INSERT INTO draws SELECT round_no, 1, $1, $1, 'entropy', '17', '{}' FROM rounds", AT
                )
            written.append(statement)
        return await fetch(connection, statement, *values)

    monkeypatch.setattr(postgresql.DirectConnection, "fetch", fetch_late)
    await journal.write_drawn(1, drawn("t1.1"))
    assert (await row_counts(service_connection))["draws"] == 1
    assert len(written) == 2


async def test_a_caller_that_gives_up_before_its_turn_writes_nothing(
    journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    for placement_id in ("held", "t1"):
        await journal.take_ownership(placement_id)
    async with writer_held_up(journal, service_connection, owner_connection) as first:
        given_up = asyncio.create_task(journal.write_opened(1, opened("t1", 1)))
        await asyncio.sleep(0)
        given_up.cancel()
        await assert_refused(given_up, asyncio.CancelledError)
    await first
    await journal.write_opened(1, opened("t1", 2))
    assert [row[0] for row in await service_connection.fetch("SELECT round_id FROM rounds ORDER BY 1")] == [
        "held.1",
        "t1.2",
    ]


async def test_a_journal_that_stops_leaves_nobody_waiting(
    game_database: GameDatabase, engine: AsyncEngine, service_connection: Connection, owner_connection: Connection
) -> None:
    writing = postgresql.connect(game_database.url, "test journal", 1)
    journal = PostgresJournal(writing, engine)
    running = asyncio.create_task(journal.run())
    await journal.take_ownership("t1")
    async with placement_locked(owner_connection, "t1"):
        written = asyncio.create_task(journal.write_opened(1, opened("t1", 1)))
        await wait_for_lock(service_connection)
        waits = asyncio.create_task(journal.write_opened(1, opened("t1", 2)))
        await asyncio.sleep(0)
        await background.cancel_and_wait([running])
    for entry in (written, waits, journal.write_opened(1, opened("t1", 3))):
        await assert_refused(entry, TableRefused, "stopping")
    await writing.dispose()


# -- changes that the database refuses -------------------------------------------------------------------------------


@pytest.mark.guarantee("G10")
@pytest.mark.parametrize("table", [*TABLES, "configurations", "switches"])
async def test_g10_written_rows_stay(
    table: str, journal: PostgresJournal, service_connection: Connection, owner_connection: Connection
) -> None:
    """The service has no privilege to change them; the schema's owner has, and is refused by a trigger."""
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    column = await owner_connection.fetchval(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum = 2", table
    )
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table}"):  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service_connection.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"{table} is append-only"):
            await owner_connection.execute(statement)


async def test_the_service_touches_neither_the_open_rounds_nor_the_schema(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    for statement in (
        "DELETE FROM open_rounds",
        "INSERT INTO open_rounds VALUES (77, 't1')",
        "UPDATE open_rounds SET placement_id = 't2'",
        "ALTER TABLE stakes DISABLE TRIGGER ALL",
        "DROP TRIGGER endings_checked ON endings",
        "CREATE TABLE other (number integer)",
        "SET session_replication_role = replica",
        "UPDATE alembic_version SET version_num = 'none'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service_connection.execute(statement)


STAKE = "INSERT INTO stakes SELECT round_no, 9, 'late', '', 'eva', 'a', 's', 1, 100, '', now() FROM rounds"
DRAW = "INSERT INTO draws SELECT round_no, 1, now(), now(), 'e', '18', '{}' FROM rounds WHERE round_id = $1"
ENDING = "INSERT INTO endings SELECT round_no, 1, $2, now(), '' FROM rounds WHERE round_id = $1"
PAYOUT = "INSERT INTO payouts SELECT round_no, 'late', 3600 FROM rounds"
PLAYER_RESULT = "INSERT INTO player_results SELECT round_no, 'eva', table_id, 's', 0, 3600, 0, 3600 FROM rounds"


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G6")
async def test_the_database_keeps_the_order_of_a_round(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2"))
    await journal.write_opened(epoch, opened("t1", 3))
    await journal.write_drawn(epoch, drawn("t1.3"))
    await journal.write_opened(epoch, opened("t1", 4))
    unique, refused_by_rule = asyncpg.UniqueViolationError, asyncpg.IntegrityConstraintViolationError
    for statement, values, error, match in (
        (DRAW, ["t1.1"], unique, "draws_pkey"),
        (DRAW, ["t1.2"], refused_by_rule, "G6: round . is drawn after it has ended"),
        (ENDING, ["t1.1", 3], unique, "endings_pkey"),
        (ENDING, ["t1.1", 2], unique, "endings_pkey"),
        (ENDING, ["t1.2", 2], unique, "endings_pkey"),
        (ENDING, ["t1.3", 3], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
        (ENDING, ["t1.4", 2], refused_by_rule, "G6: round . is settled without an outcome or void with one"),
    ):
        with pytest.raises(error, match=match):
            await service_connection.execute(statement, *values)
    with pytest.raises(refused_by_rule, match="G6: round 777 is drawn and was never opened"):
        await service_connection.execute("INSERT INTO draws VALUES (777, 1, now(), now(), '', '', '{}')")
    with pytest.raises(refused_by_rule, match="G4: round 777 has ended and was never opened"):
        await service_connection.execute("INSERT INTO endings VALUES (777, 1, 3, now(), '')")


@pytest.mark.guarantee("G10")
async def test_g10_nothing_is_added_to_an_entry_afterwards(
    journal: PostgresJournal, service_connection: Connection
) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    for statement, match in (
        (STAKE, "a stake of round . comes without its draw"),
        (PAYOUT, "a row of payouts for round . comes without the ending"),
        (PLAYER_RESULT, "a row of player_results for round . comes without the ending"),
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"G10: {match}"):
            await service_connection.execute(statement)

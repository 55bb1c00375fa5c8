"""The journal on a real PostgreSQL: fenced, idempotent, written in groups, and what the database itself refuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background, database
from services.kit.table import postgres_journal
from services.kit.table.journal import Ended, Ending, Launch, StaleOwner
from services.kit.table.journal_rows import JournalContradiction
from services.kit.table.postgres_journal import PostgresJournal
from services.kit.table.refusals import TableRefused
from tests.service.table.conftest import GameDatabase, running_journal
from tests.service.table.rounds import AT, drawn, opened, play, settled, stakes, void

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

TABLES = ("rounds", "draws", "stakes", "endings", "payouts", "shares")


async def counted(connection: Connection) -> dict[str, int]:
    return {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in TABLES}  # noqa: S608


async def waiting_for_lock(connection: Connection, sessions: int = 1) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while await connection.fetchval(waiting) < sessions:
        await asyncio.sleep(0)


@asynccontextmanager
async def house_held(connection: Connection, house_id: str) -> AsyncIterator[None]:
    """As somebody who takes the house over and has not committed yet: what is sent meanwhile piles up behind it."""
    async with connection.transaction():
        await connection.execute("SELECT 1 FROM houses WHERE house_id = $1 FOR UPDATE", house_id)
        yield


async def refused(done: Awaitable[object], reason: type[BaseException], match: str | None = None) -> None:
    with pytest.raises(reason, match=match):
        await done


# -- what is written ------------------------------------------------------------------------------------------------


async def test_a_round_is_written_in_three_entries_and_read_back(journal: PostgresJournal) -> None:
    epoch = await journal.take("t1")
    entry, draw = opened("t1", 1), drawn("t1.1", ("ana", "rui", "ana"))
    assert await journal.rounds_of("t1") == 0
    await journal.opened(epoch, entry)
    assert [(found.opened, found.drawn) for found in await journal.unfinished("t1")] == [(entry, None)]
    await journal.drawn(epoch, draw)
    assert [(found.opened, found.drawn) for found in await journal.unfinished("t1")] == [(entry, draw)]
    assert await journal.past("t1", 5) == []
    assert await journal.last_bets("t1", "ana") == []

    await journal.ended(epoch, settled(draw))
    assert await journal.unfinished("t1") == []
    assert await journal.past("t1", 5) == [("t1.1", draw.drawn_at, b"17")]
    assert await journal.rounds_of("t1") == 1
    assert await journal.last_bets("t1", "ana") == [b"bets 0", b"bets 2"]
    assert await journal.last_bets("t2", "ana") == []
    assert await journal.placed("t1.1", "ana", "request-t1.1-2") == draw.stakes[2]
    assert await journal.placed("t1.1", "rui", "request-t1.1-2") is None


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
async def test_launch_and_what_was_taken_back_are_in_the_entries_that_are_written_anyway(
    journal: PostgresJournal, service: Connection
) -> None:
    epoch = await journal.take("t1")
    await journal.opened(epoch, opened("t1", 1))
    draw = replace(drawn("t1.1"), launch=Launch.PLATFORM_SESSION_ENDED)
    assert draw.taken_back
    await journal.drawn(epoch, draw)
    # As whoever takes the table over finds it.
    (left,) = await journal.unfinished("t1")
    assert left.drawn == draw
    await journal.ended(epoch, settled(draw))
    assert await counted(service) == {"rounds": 1, "draws": 1, "stakes": 2, "endings": 1, "payouts": 2, "shares": 2}
    await journal.opened(epoch, opened("t1", 2))
    await journal.ended(epoch, void("t1.2"))
    assert void("t1.2").taken_back
    assert (await counted(service))["endings"] == 2
    assert (await counted(service))["stakes"] == 2


async def test_void_rounds_give_no_outcome_and_no_bets_to_repeat(journal: PostgresJournal) -> None:
    epoch = await journal.take("t1")
    await play(journal, epoch, opened("t1", 1), ["ana"], outcome=b"1")
    await play(journal, epoch, opened("t1", 2), ["ana"], outcome=b"2")
    await journal.opened(epoch, opened("t1", 3))
    await journal.ended(epoch, void("t1.3", ["ana", "rui"]))
    assert [(round_id, outcome) for round_id, _, outcome in await journal.past("t1", 5)] == [
        ("t1.2", b"2"),
        ("t1.1", b"1"),
    ]
    assert len(await journal.past("t1", 1)) == 1
    assert await journal.rounds_of("t1") == 3
    assert await journal.last_bets("t1", "ana") == [b"bets 0"]
    assert await journal.last_bets("t1", "rui") == []
    assert await journal.placed("t1.3", "rui", "request-t1.3-1") == stakes("t1.3", ["ana", "rui"])[1]


async def test_the_rounds_of_players_own_tables_belong_to_the_house(journal: PostgresJournal) -> None:
    epoch = await journal.take("solo")
    entries = [opened(f"solo-{player}", 1, house_id="solo") for player in ("ana", "rui", "eva")]
    for entry in entries:
        await journal.opened(epoch, entry)
    await journal.drawn(epoch, drawn("solo-rui.1", ["rui"]))
    await journal.ended(epoch, void("solo-eva.1"))
    assert [found.opened for found in await journal.unfinished("solo")] == entries[:2]
    assert await journal.rounds_of("solo-ana") == 1
    assert await journal.rounds_of("solo") == 0


# -- the fence (G8) -------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G8")
async def test_g8_each_owner_has_a_higher_epoch(journal: PostgresJournal) -> None:
    epochs = [await journal.take("t1") for _ in range(3)]
    assert epochs == [1, 2, 3]
    assert await journal.take("t2") == 1


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_writes_nothing_while_its_neighbours_do(
    journal: PostgresJournal, game_database: GameDatabase, engine: AsyncEngine, service: Connection, owner: Connection
) -> None:
    """All of it in one transaction, behind a first entry that is held up."""
    for house in ("held", "t1", "t2"):
        await journal.take(house)
    for table in ("t1", "t2"):
        await journal.opened(1, opened(table, 1))
        await journal.opened(1, opened(table, 2))
    await journal.drawn(1, drawn("t1.2"))
    before = await counted(service)
    async with running_journal(game_database.url, engine) as successor:
        assert await successor.take("t1") == 2
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        entries = [
            journal.opened(1, opened("t1", 3)),
            journal.drawn(1, drawn("t1.1")),
            journal.ended(1, settled(drawn("t1.2"))),
            journal.opened(1, opened("t2", 3)),
            journal.drawn(1, drawn("t2.1")),
            journal.ended(1, void("t2.2")),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(answer) for answer in answers[1:4]] == [StaleOwner] * 3
    assert answers[4:] == [None] * 3
    added = {table: number - before[table] for table, number in (await counted(service)).items()}
    assert added == {"rounds": 2, "draws": 1, "stakes": 2, "endings": 1, "payouts": 0, "shares": 0}
    transactions = await service.fetch(
        "SELECT xmin::text FROM rounds WHERE round_id = 't2.3' UNION SELECT xmin::text FROM endings"
        " UNION SELECT max(xmin::text::bigint)::text FROM draws"
    )
    assert len(transactions) == 1


@pytest.mark.guarantee("G8")
async def test_g8_who_waits_while_the_house_changes_hands_finds_it_taken(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    epoch = await journal.take("t1")
    await journal.opened(epoch, opened("t1", 1))
    async with owner.transaction():
        await owner.execute("UPDATE houses SET epoch = epoch + 1 WHERE house_id = 't1'")
        late = asyncio.create_task(journal.drawn(epoch, drawn("t1.1")))
        await waiting_for_lock(service)
    await refused(late, StaleOwner)
    assert (await counted(service))["draws"] == 0


@pytest.mark.guarantee("G8")
async def test_g8_a_house_is_not_taken_while_its_owner_writes(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    """What the owner has begun to write is there when the next one looks."""
    await journal.take("t1")
    async with owner.transaction():
        # Lets the writer look, and stops it before it writes.
        await owner.execute("LOCK TABLE rounds IN EXCLUSIVE MODE")
        writing = asyncio.create_task(journal.opened(1, opened("t1", 1)))
        await waiting_for_lock(service)
        taking = asyncio.create_task(journal.take("t1"))
        await waiting_for_lock(service, 2)
        assert not taking.done()
    assert await taking == 2
    assert [found.opened.round_id for found in await journal.unfinished("t1")] == ["t1.1"]
    await writing


@pytest.mark.guarantee("G8")
async def test_g8_nobody_writes_to_a_house_that_nobody_took(journal: PostgresJournal) -> None:
    await refused(journal.opened(1, opened("t1", 1)), StaleOwner)
    await journal.take("t1")
    await refused(journal.opened(2, opened("t1", 1)), StaleOwner)


@pytest.mark.guarantee("G8")
async def test_g8_an_epoch_only_rises(journal: PostgresJournal, service: Connection, owner: Connection) -> None:
    for _ in range(3):
        await journal.take("t1")
    for connection in (service, owner):
        for epoch in (1, 3):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G8"):
                await connection.execute("UPDATE houses SET epoch = $1", epoch)
    for statement in ("DELETE FROM houses", "TRUNCATE houses"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="houses is append-only"):
            await owner.execute(statement)


# -- once (G3, G4, G6) ----------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_an_entry_that_is_there_changes_nothing(journal: PostgresJournal, service: Connection) -> None:
    epoch = await journal.take("t1")
    draw = drawn("t1.1")
    await play(journal, epoch, opened("t1", 1), ["ana", "rui"])
    await journal.opened(epoch, opened("t1", 2))
    await journal.ended(epoch, void("t1.2", ["ana"]))
    before = await counted(service)
    await journal.opened(epoch, opened("t1", 1))
    await journal.drawn(epoch, draw)
    await journal.ended(epoch, settled(draw))
    await journal.ended(epoch, void("t1.2", ["ana"]))
    successor = await journal.take("t1")
    await journal.ended(successor, void("t1.2"))
    assert await counted(service) == before


@pytest.mark.guarantee("G3")
async def test_g3_all_entries_of_a_round_twice_over_in_one_transaction(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    await journal.take("held")
    epoch = await journal.take("t1")
    draw = drawn("t1.1")
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        rest = [
            asyncio.create_task(entry)
            for _ in range(2)
            for entry in (
                journal.opened(epoch, opened("t1", 1)),
                journal.drawn(epoch, draw),
                journal.ended(epoch, settled(draw)),
            )
        ]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert await counted(service) == {"rounds": 2, "draws": 1, "stakes": 2, "endings": 1, "payouts": 2, "shares": 2}
    assert [found.opened.round_id for house in ("held", "t1") for found in await journal.unfinished(house)] == [
        "held.1"
    ]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_ends_once(journal: PostgresJournal, service: Connection) -> None:
    epoch = await journal.take("t1")
    draw = drawn("t1.1")
    await journal.opened(epoch, opened("t1", 1))
    await refused(journal.ended(epoch, settled(draw)), JournalContradiction, "has no outcome")
    await journal.drawn(epoch, draw)
    await refused(journal.ended(epoch, void("t1.1")), JournalContradiction, "cannot be void")
    await journal.ended(epoch, settled(draw))
    await refused(journal.ended(epoch, void("t1.1")), JournalContradiction, "G4: t1.1 has ended as SETTLED")
    await journal.opened(epoch, opened("t1", 2))
    await journal.ended(epoch, void("t1.2"))
    await refused(journal.ended(epoch, settled(drawn("t1.2"))), JournalContradiction, "G4: t1.2 has ended as VOID")
    assert [row[0] for row in await service.fetch("SELECT ending FROM endings ORDER BY round_no")] == [2, 3]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_id_and_a_number_are_used_once(journal: PostgresJournal, service: Connection) -> None:
    for house in ("t1", "t2"):
        await journal.take(house)
    await journal.opened(1, opened("t1", 1))
    same_id = opened("t1", 2)
    for changed in (
        opened("t1", 1, version=2),
        opened("t1", 1, house_id="t2"),
        type(same_id)("t1.1", "t1", "t1", 2, 1, same_id.opened_at, same_id.closes_at),
        type(same_id)("another", "t1", "t1", 1, 1, same_id.opened_at, same_id.closes_at),
    ):
        await refused(journal.opened(1, changed), JournalContradiction)
    await refused(journal.drawn(1, drawn("nowhere")), JournalContradiction, "never opened")
    await refused(journal.ended(1, void("nowhere")), JournalContradiction, "never opened")
    assert (await counted(service))["rounds"] == 1


@pytest.mark.guarantee("G6")
async def test_g6_what_is_drawn_is_not_drawn_again(journal: PostgresJournal, service: Connection) -> None:
    epoch = await journal.take("t1")
    await journal.opened(epoch, opened("t1", 1))
    await journal.drawn(epoch, drawn("t1.1", outcome=b"17"))
    await refused(journal.drawn(epoch, drawn("t1.1", outcome=b"18")), JournalContradiction, "G6")
    await journal.opened(epoch, opened("t1", 2))
    await journal.ended(epoch, void("t1.2"))
    await refused(journal.drawn(epoch, drawn("t1.2")), JournalContradiction, "G6")
    assert [row[0] for row in await service.fetch("SELECT outcome FROM draws")] == [b"17"]


@pytest.mark.guarantee("G6")
async def test_g6_a_contradiction_in_one_transaction_harms_no_neighbour(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    for house in ("held", "t1", "t2"):
        await journal.take(house)
    await journal.opened(1, opened("t1", 1))
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        entries = [
            journal.drawn(1, drawn("t1.1", outcome=b"17")),
            journal.drawn(1, drawn("t1.1", outcome=b"18")),
            journal.ended(1, void("t1.1")),
            journal.opened(1, opened("t2", 1)),
            # The stake of another round: only the database can know.
            journal.opened(1, opened("t2", 2)),
            journal.ended(1, Ended("t2.2", Ending.VOID, AT, "", [], [], stakes("t1.1", ["ana"]))),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    kinds = [None if answer is None else type(answer) for answer in answers]
    assert kinds == [
        None, None, JournalContradiction, JournalContradiction, None, None, JournalContradiction,
    ]  # fmt: skip
    assert await counted(service) == {"rounds": 4, "draws": 1, "stakes": 2, "endings": 0, "payouts": 0, "shares": 0}


# -- groups, and when the database goes away ------------------------------------------------------------------------


async def test_what_arrives_together_is_written_by_one_transaction(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    tables = [f"t{number}" for number in range(20)]
    for house in ("held", *tables):
        await journal.take(house)
    for table in tables:
        await journal.opened(1, opened(table, 1))
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        players = [f"player-{number}" for number in range(50)]
        rest = [asyncio.create_task(journal.drawn(1, drawn(f"{table}.1", players))) for table in tables]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert await service.fetchval("SELECT count(DISTINCT xmin::text) FROM draws") == 1
    assert await service.fetchval("SELECT count(DISTINCT xmin::text) FROM stakes") == 1
    assert await service.fetchval("SELECT count(*) FROM stakes") == 1000


@pytest.mark.guarantee("G11")
async def test_g11_a_group_has_a_limit(
    journal: PostgresJournal, service: Connection, owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_journal, "GROUP_ROWS_LIMIT", 6)
    for house in ("held", "t1", "t2", "t3"):
        await journal.take(house)
    for table in ("t1", "t2", "t3"):
        await journal.opened(1, opened(table, 1))
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        rest = [asyncio.create_task(journal.drawn(1, drawn(f"{table}.1"))) for table in ("t1", "t2", "t3")]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert await service.fetchval("SELECT count(DISTINCT xmin::text) FROM draws") == 2


@pytest.mark.guarantee("G11")
async def test_g11_whoever_finds_the_queue_full_waits(
    game_database: GameDatabase, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_journal, "WAITING_LIMIT", 2)
    writing = database.connect(game_database.url, "test journal", 1)
    journal = PostgresJournal(writing, engine)
    await journal.take("t1")
    tasks = [asyncio.create_task(journal.opened(1, opened("t1", number))) for number in range(1, 6)]
    await asyncio.sleep(0)
    assert journal._waiting.qsize() == 2
    running = asyncio.create_task(journal.run())
    await asyncio.gather(*tasks)
    assert await journal.rounds_of("t1") == 5
    await background.end([running])
    await writing.dispose()


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("moment", ["before the lock", "before the commit", "after the commit"])
async def test_g5_a_connection_that_is_killed_in_the_middle_costs_nothing(
    journal: PostgresJournal, service: Connection, owner: Connection, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Entries of several tables under way together are all there, once, whatever the server was doing when it died."""
    for house in ("held", "t1", "t2"):
        await journal.take(house)
    for table in ("t1", "t2"):
        await journal.opened(1, opened(table, 1))
    killed: list[int] = []
    kill = "SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'test journal'"

    async def kill_writer() -> None:
        killed.extend(row[0] for row in await service.fetch(kill))

    transaction = database.DirectConnection.transaction

    @asynccontextmanager
    async def interrupted(connection: database.DirectConnection) -> AsyncIterator[None]:
        if killed:
            async with transaction(connection):
                yield
            return
        if moment == "before the lock":
            await kill_writer()
        async with transaction(connection):
            yield
            if moment == "before the commit":
                await kill_writer()
        await kill_writer()
        raise asyncpg.ConnectionDoesNotExistError("the answer to COMMIT was lost")

    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        monkeypatch.setattr(database.DirectConnection, "transaction", interrupted)
        draw = drawn("t2.1")
        entries = [
            journal.drawn(1, drawn("t1.1")),
            journal.drawn(1, draw),
            journal.ended(1, settled(draw)),
            journal.opened(1, opened("t1", 2)),
        ]
        rest = [asyncio.create_task(entry) for entry in entries]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    assert len(killed) == 1
    assert await counted(service) == {"rounds": 4, "draws": 2, "stakes": 4, "endings": 1, "payouts": 2, "shares": 2}


@pytest.mark.guarantee("G5")
async def test_g5_the_server_kills_a_writer_that_waits_and_the_entry_lands(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    await journal.take("t1")
    async with house_held(owner, "t1"):
        entry = asyncio.create_task(journal.opened(1, opened("t1", 1)))
        await waiting_for_lock(service)
        await service.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test journal'"
        )
    await entry
    assert await journal.rounds_of("t1") == 1


async def test_an_entry_that_the_database_cannot_take_fails_alone(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    for house in ("held", "t1", "t2"):
        await journal.take(house)
    await journal.opened(1, opened("t1", 1))
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        impossible = Ended("t1.1", Ending.VOID, AT, "a zero byte: \x00", [], [])
        rest = [
            asyncio.create_task(entry) for entry in (journal.ended(1, impossible), journal.opened(1, opened("t2", 1)))
        ]
        await asyncio.sleep(0)
    answers = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(answer) for answer in answers] == [type(None), asyncpg.CharacterNotInRepertoireError, type(None)]
    assert await counted(service) == {"rounds": 3, "draws": 0, "stakes": 0, "endings": 0, "payouts": 0, "shares": 0}


@pytest.mark.guarantee("G3")
async def test_g3_rows_that_appear_between_look_and_write_are_looked_at_again(
    journal: PostgresJournal, owner: Connection, service: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when an earlier attempt, given up here, is still on its way to its commit in the server."""
    await journal.take("t1")
    await journal.opened(1, opened("t1", 1))
    fetch = database.DirectConnection.fetch
    looks: list[str] = []

    async def fetch_late(connection: database.DirectConnection, statement: str, *values: object) -> object:
        rows = await fetch(connection, statement, *values)
        looks.append(statement)
        if len(looks) == 1:
            await owner.execute("INSERT INTO draws SELECT round_no, 1, $1, $1, 'entropy', '17', '{}' FROM rounds", AT)
        return rows

    monkeypatch.setattr(database.DirectConnection, "fetch", fetch_late)
    await journal.drawn(1, drawn("t1.1"))
    assert (await counted(service))["draws"] == 1


async def test_whoever_gives_up_before_his_turn_writes_nothing(
    journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    for house in ("held", "t1"):
        await journal.take(house)
    async with house_held(owner, "held"):
        first = asyncio.create_task(journal.opened(1, opened("held", 1)))
        await waiting_for_lock(service)
        given_up = asyncio.create_task(journal.opened(1, opened("t1", 1)))
        await asyncio.sleep(0)
        given_up.cancel()
        await refused(given_up, asyncio.CancelledError)
    await first
    await journal.opened(1, opened("t1", 2))
    assert [row[0] for row in await service.fetch("SELECT round_id FROM rounds ORDER BY 1")] == ["held.1", "t1.2"]


async def test_a_journal_that_stops_leaves_nobody_waiting(
    game_database: GameDatabase, engine: AsyncEngine, service: Connection, owner: Connection
) -> None:
    writing = database.connect(game_database.url, "test journal", 1)
    journal = PostgresJournal(writing, engine)
    running = asyncio.create_task(journal.run())
    await journal.take("t1")
    async with house_held(owner, "t1"):
        written = asyncio.create_task(journal.opened(1, opened("t1", 1)))
        await waiting_for_lock(service)
        waits = asyncio.create_task(journal.opened(1, opened("t1", 2)))
        await asyncio.sleep(0)
        await background.end([running])
    for entry in (written, waits, journal.opened(1, opened("t1", 3))):
        await refused(entry, TableRefused, "stopping")
    await writing.dispose()


# -- what the database itself refuses -------------------------------------------------------------------------------


@pytest.mark.guarantee("G10")
@pytest.mark.parametrize("table", [*TABLES, "configurations", "switches"])
async def test_g10_what_was_written_stays(
    table: str, journal: PostgresJournal, service: Connection, owner: Connection
) -> None:
    """The service may not even try; the owner may try, and is refused by the table."""
    epoch = await journal.take("t1")
    await play(journal, epoch, opened("t1", 1), ["ana"])
    column = await owner.fetchval(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum = 2", table
    )
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table}"):  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"{table} is append-only"):
            await owner.execute(statement)


async def test_the_service_touches_neither_the_open_rounds_nor_the_schema(
    journal: PostgresJournal, service: Connection
) -> None:
    epoch = await journal.take("t1")
    await journal.opened(epoch, opened("t1", 1))
    for statement in (
        "DELETE FROM open_rounds",
        "INSERT INTO open_rounds VALUES (77, 't1')",
        "UPDATE open_rounds SET house_id = 't2'",
        "ALTER TABLE stakes DISABLE TRIGGER ALL",
        "DROP TRIGGER endings_checked ON endings",
        "CREATE TABLE mine (one integer)",
        "SET session_replication_role = replica",
        "UPDATE alembic_version SET version_num = 'none'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)


STAKE = "INSERT INTO stakes SELECT round_no, 9, 'late', '', 'eva', 'a', 's', 1, 100, '', now() FROM rounds"
DRAW = "INSERT INTO draws SELECT round_no, 1, now(), now(), 'e', '18', '{}' FROM rounds WHERE round_id = $1"
ENDING = "INSERT INTO endings SELECT round_no, 1, $2, now(), '' FROM rounds WHERE round_id = $1"
PAYOUT = "INSERT INTO payouts SELECT round_no, 'late', 3600 FROM rounds"
SHARE = "INSERT INTO shares SELECT round_no, 'eva', table_id, 's', 0, 3600, 0, 3600 FROM rounds"


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G6")
async def test_the_database_keeps_the_order_of_a_round(journal: PostgresJournal, service: Connection) -> None:
    epoch = await journal.take("t1")
    await play(journal, epoch, opened("t1", 1), ["ana"])
    await journal.opened(epoch, opened("t1", 2))
    await journal.ended(epoch, void("t1.2"))
    await journal.opened(epoch, opened("t1", 3))
    await journal.drawn(epoch, drawn("t1.3"))
    await journal.opened(epoch, opened("t1", 4))
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
            await service.execute(statement, *values)
    with pytest.raises(refused_by_rule, match="G6: round 777 is drawn and was never opened"):
        await service.execute("INSERT INTO draws VALUES (777, 1, now(), now(), '', '', '{}')")
    with pytest.raises(refused_by_rule, match="G4: round 777 has ended and was never opened"):
        await service.execute("INSERT INTO endings VALUES (777, 1, 3, now(), '')")


@pytest.mark.guarantee("G10")
async def test_g10_nothing_is_added_to_an_entry_afterwards(journal: PostgresJournal, service: Connection) -> None:
    epoch = await journal.take("t1")
    await play(journal, epoch, opened("t1", 1), ["ana"])
    for statement, match in (
        (STAKE, "a stake of round . comes without its draw"),
        (PAYOUT, "a row of payouts for round . comes without the ending"),
        (SHARE, "a row of shares for round . comes without the ending"),
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"G10: {match}"):
            await service.execute(statement)

"""The entropy of dealt rounds in PostgreSQL is sealed: the database alone shows no card (G7)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.sealing import KEY_BYTES, NO_KEYS, CannotSeal, EntropyKey, EntropyKeys
from tests.processes.databases import GameDatabase
from tests.service.table.conftest import running_journal
from tests.service.table.entries import dealt, drawn, moved, opened, settled, void

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

ENTROPY = hashlib.sha256(b"the order of the whole shoe").digest()
NEW_KEYS = EntropyKeys([EntropyKey("2", b"n" * KEY_BYTES), EntropyKey("1", b"k" * KEY_BYTES)])
# Every row of every table of the journal as text, in which bytes are hexadecimal digits.
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


async def deal(journal: PostgresJournal, number: int, *, epoch: int = 1, entropy: bytes = ENTROPY) -> None:
    await journal.write_opened(epoch, opened("t1", number))
    await journal.write_drawn(epoch, replace(dealt(f"t1.{number}"), entropy=entropy))


async def everything(connection: Connection) -> str:
    tables = [row[0] for row in await connection.fetch(TABLES)]
    return "\n".join([
        row[0] for table in tables for row in await connection.fetch(f'SELECT t::text FROM "{table}" AS t')  # noqa: S608
    ])  # fmt: skip


@pytest.mark.guarantee("G7")
async def test_g7_the_database_holds_no_entropy_of_a_dealt_round(
    journal: PostgresJournal, service_connection: Connection, engine: AsyncEngine
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal, 1)
    await journal.write_moved(epoch, moved("t1.1", 1))
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_drawn(epoch, replace(drawn("t1.2"), entropy=b"public"))
    for _ in range(2):
        rows = await everything(service_connection)
        assert b"public".hex() in rows
        for at in range(len(ENTROPY) - 3):
            assert ENTROPY[at : at + 4].hex() not in rows
        await journal.write_ended(epoch, replace(settled(dealt("t1.1")), outcome=b"17"))
    keys = await service_connection.fetch("SELECT entropy_key FROM draws ORDER BY round_no")
    assert [row[0] for row in keys] == ["1", ""]
    # What reads the history has no key at all.
    record = await RoundHistory(engine).round_for_replay("t1.1")
    assert record is not None
    assert record.drawn is not None
    assert record.drawn.is_sealed
    assert ENTROPY not in record.drawn.entropy


@pytest.mark.guarantee("G12")
async def test_g12_nothing_is_dealt_without_a_key(
    game_database: GameDatabase, engine: AsyncEngine, service_connection: Connection
) -> None:
    async with running_journal(game_database.url, engine, NO_KEYS) as journal:
        await journal.take_ownership("t1")
        await journal.write_opened(1, opened("t1", 1))
        with pytest.raises(CannotSeal):
            await journal.write_drawn(1, dealt("t1.1"))
        # Nothing was dealt, so the round can be void.
        await journal.write_ended(1, void("t1.1", ["ana"]))
    assert await service_connection.fetchval("SELECT count(*) FROM draws") == 0


async def test_the_next_owner_reads_the_very_same_cards_after_a_rotation(
    journal: PostgresJournal, game_database: GameDatabase, engine: AsyncEngine
) -> None:
    epoch = await journal.take_ownership("t1")
    await deal(journal, 1)
    # Written again, as by an owner that had no answer.
    await deal(journal, 1)
    async with running_journal(game_database.url, engine, NEW_KEYS) as successor:
        epoch = await successor.take_ownership("t1")
        await deal(successor, 2, epoch=epoch, entropy=b"another order")
        drawn = [found.drawn for found in await successor.unfinished_rounds("t1")]
    assert drawn == [
        replace(dealt("t1.1"), entropy=ENTROPY),
        replace(dealt("t1.2"), entropy=b"another order"),
    ]


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    "keys", [NO_KEYS, EntropyKeys([EntropyKey("1", b"wrong" + bytes(27))])], ids=["missing", "wrong"]
)
async def test_a_round_whose_key_is_not_there_stays_open_and_sealed(
    journal: PostgresJournal,
    game_database: GameDatabase,
    engine: AsyncEngine,
    keys: EntropyKeys,
) -> None:
    """It is neither void nor settled, so that it goes on once the key is there; its neighbours are not harmed."""
    epoch = await journal.take_ownership("t1")
    await deal(journal, 1)
    await journal.write_moved(epoch, moved("t1.1", 1))
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_drawn(epoch, drawn("t1.2"))
    async with running_journal(game_database.url, engine, keys) as successor:
        hidden, public = await successor.unfinished_rounds("t1")
    assert hidden.drawn is not None
    assert (hidden.drawn.is_sealed, hidden.drawn.sealed_with, len(hidden.moves)) == (True, "1", 1)
    assert public.drawn == drawn("t1.2")
    (again, _) = await journal.unfinished_rounds("t1")
    assert again.drawn == replace(dealt("t1.1"), entropy=ENTROPY)


@pytest.mark.guarantee("G7")
async def test_g7_entropy_that_was_moved_to_another_round_is_not_read(
    journal: PostgresJournal, owner_connection: Connection
) -> None:
    await journal.take_ownership("t1")
    await deal(journal, 1)
    await deal(journal, 2)
    await owner_connection.execute("ALTER TABLE draws DISABLE TRIGGER draws_append_only")
    await owner_connection.execute(
        "UPDATE draws SET entropy = (SELECT entropy FROM draws ORDER BY round_no LIMIT 1)"
        " WHERE round_no = (SELECT max(round_no) FROM draws)"
    )
    first, second = await journal.unfinished_rounds("t1")
    assert first.drawn == replace(dealt("t1.1"), entropy=ENTROPY)
    assert second.drawn is not None
    assert second.drawn.is_sealed

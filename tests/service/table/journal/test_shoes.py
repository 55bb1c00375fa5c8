"""Shoes that go on in PostgreSQL: their entropy is on record once, sealed, and no card of them comes twice (G6, G7)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.table.journal.entries import Drawn, Ending, LatestDeal, ShoePosition, UnfinishedRound
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.rows.entry_rows import JournalContradiction
from services.kit.table.journal.sealing import NO_KEYS
from tests.processes.databases import GameDatabase
from tests.service.table.conftest import ENTROPY_KEYS, running_journal
from tests.service.table.entries import dealt, drawn, moved, opened, settled, void

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

ENTROPY = hashlib.sha256(b"the order of the whole shoe").digest()


def draw(number: int, taken: int, *, first: int = 1, decided: bool = False) -> Drawn:
    """A draw from the shoe that was shuffled for a round, after so many of its cards."""
    round_id = f"t1.{number}"
    entry = drawn(round_id) if decided else dealt(round_id)
    return replace(entry, entropy=ENTROPY, hides_cards=True, shoe=ShoePosition(f"t1.{first}", taken))


async def play(journal: PostgresJournal, entry: Drawn, *, version: int = 1) -> None:
    """Writes a whole round, which is dealt like that."""
    await journal.write_opened(1, opened("t1", int(entry.round_id[3:]), version=version))
    await journal.write_drawn(1, entry)
    outcome = None if entry.outcome is not None else b"17"
    await journal.write_ended(1, replace(settled(entry), outcome=outcome))


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.parametrize("decided", [True, False], ids=["decided by the deal", "with decisions"])
async def test_g7_the_order_of_a_shoe_is_on_record_once_and_sealed(
    journal: PostgresJournal, service_connection: Connection, *, decided: bool
) -> None:
    await journal.take_ownership("t1")
    for number, taken in ((1, 0), (2, 5), (3, 11)):
        await play(journal, draw(number, taken, decided=decided))
    rows = await service_connection.fetch(
        "SELECT shoe_round_id, cards_taken, entropy, entropy_key FROM draws ORDER BY round_no"
    )
    assert [(row[0], row[1], row[2] == b"", row[3]) for row in rows] == [
        ("t1.1", 0, False, "1"), ("t1.1", 5, True, ""), ("t1.1", 11, True, "")
    ]  # fmt: skip
    assert ENTROPY not in rows[0][2]


@pytest.mark.guarantee("G6", "G8")
async def test_g6_the_next_owner_reads_the_shoe_of_a_round_and_where_it_began(journal: PostgresJournal) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0))
    await journal.write_opened(1, opened("t1", 2))
    await journal.write_drawn(1, draw(2, 5))
    # Written again, as by an owner that had no answer.
    await journal.write_drawn(1, draw(2, 5))
    await journal.write_moved(1, moved("t1.2", 1))
    await journal.take_ownership("t1")
    assert await journal.unfinished_rounds("t1") == [
        UnfinishedRound(opened("t1", 2), draw(2, 5), [moved("t1.2", 1)], [])
    ]
    assert await journal.latest_deal("t1") == LatestDeal(
        opened("t1", 2), draw(2, 5), [moved("t1.2", 1)], None, None, rounds_since=0
    )
    assert await journal.latest_deal("t2") is None


async def test_the_latest_deal_is_known_with_the_rounds_that_were_void_since(journal: PostgresJournal) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0, decided=True))
    await play(journal, draw(2, 6, decided=True))
    for number in (3, 4):
        await journal.write_opened(1, opened("t1", number))
        await journal.write_ended(1, void(f"t1.{number}", ["ana"]))
    assert await journal.latest_deal("t1") == LatestDeal(
        opened("t1", 2), draw(2, 6, decided=True), [], Ending.SETTLED, b"17", rounds_since=2
    )


@pytest.mark.guarantee("G7", "G12")
async def test_g12_without_its_key_the_shoe_of_a_later_round_cannot_be_read(
    journal: PostgresJournal, game_database: GameDatabase, engine: AsyncEngine
) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0))
    await play(journal, draw(2, 5))
    async with running_journal(game_database.url, engine, NO_KEYS) as keyless:
        latest = await keyless.latest_deal("t1")
    assert latest is not None
    assert latest.drawn.is_sealed
    assert latest.drawn.entropy != ENTROPY


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.parametrize(
    ("entry", "version"),
    [
        pytest.param(draw(3, 5), 1, id="the cards of the round before come again"),
        pytest.param(draw(3, 4), 1, id="earlier cards come again"),
        pytest.param(draw(3, 9, first=2), 1, id="the shoe of a round that has none"),
        pytest.param(draw(3, 9, first=7), 1, id="the shoe of no round"),
        pytest.param(draw(3, 9), 2, id="under other rules"),
        pytest.param(draw(3, 9, first=3), 1, id="a new shoe without its first cards"),
        pytest.param(draw(3, 0), 1, id="an old shoe from its first card"),
    ],
)
async def test_g6_a_shoe_goes_on_as_the_round_before_has_left_it(
    journal: PostgresJournal, service_connection: Connection, entry: Drawn, version: int
) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0))
    await play(journal, draw(2, 5))
    await journal.write_opened(1, opened("t1", 3, version=version))
    with pytest.raises(JournalContradiction):
        await journal.write_drawn(1, entry)
    assert await service_connection.fetchval("SELECT count(*) FROM draws") == 2


@pytest.mark.guarantee("G6")
async def test_g6_a_shoe_that_was_replaced_never_comes_back(journal: PostgresJournal) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0))
    await play(journal, draw(2, 0, first=2))
    await journal.write_opened(1, opened("t1", 3))
    with pytest.raises(JournalContradiction):
        await journal.write_drawn(1, draw(3, 5))
    await journal.write_drawn(1, draw(3, 5, first=2))
    with pytest.raises(JournalContradiction):
        # Another place in the shoe is another draw.
        await journal.write_drawn(1, draw(3, 6, first=2))


@pytest.mark.guarantee("G7", "G10")
async def test_g10_a_round_is_read_with_the_one_that_left_its_shoe_and_whether_that_goes_on(
    journal: PostgresJournal, engine: AsyncEngine
) -> None:
    await journal.take_ownership("t1")
    await play(journal, draw(1, 0))
    await play(journal, draw(2, 5))
    await journal.write_opened(1, opened("t1", 3))
    await journal.write_ended(1, void("t1.3", ["ana"]))
    await play(journal, draw(4, 9))
    history = RoundHistory(engine)

    async def read(number: int) -> tuple[str | None, bool, bytes]:
        record = await history.round_for_replay(f"t1.{number}")
        assert record is not None
        assert record.drawn is not None
        assert record.seals_entropy == record.shoe_goes_on
        unsealed = record.unsealed(ENTROPY_KEYS).drawn
        assert unsealed is not None
        before = None if record.before is None else record.before.opened.round_id
        return before, record.shoe_goes_on, unsealed.entropy

    assert [await read(number) for number in (1, 2, 4)] == [
        (None, True, ENTROPY), ("t1.1", True, ENTROPY), ("t1.2", True, ENTROPY)
    ]  # fmt: skip
    await play(journal, replace(drawn("t1.5"), entropy=b"of this round alone"))
    assert [(await read(number))[1] for number in (1, 2, 4, 5)] == [False] * 4

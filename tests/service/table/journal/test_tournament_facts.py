"""Facts of tournaments: each written once, by the owner alone, and what players asked and lists show as well."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.paging import PageRequest
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.tournament_entries import JournalledFact, JournalledRequest, KeptSummary
from services.kit.table.journal.tournament_facts import FactsDiffer, PostgresFacts
from services.kit.table.paging import page_request
from tests.service.table.entries import AT

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

FACT = JournalledFact(1, 1_000, b"fact", b"entropy", "ana", "enter", b"answer")
REQUEST = JournalledRequest("ana", "enter", b"digest", "account", "t1:in:1", b"fact")
SUMMARY = KeptSummary(1, 2, False, b"summary", AT)  # noqa: FBT003 - of a row


@pytest.fixture
def facts(engine: AsyncEngine) -> PostgresFacts:
    return PostgresFacts(engine)


@pytest.mark.guarantee("G3", "G10")
async def test_a_fact_is_written_once_and_in_its_order(facts: PostgresFacts, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    second = dataclasses.replace(FACT, number=2, player_id="", request_id="", answer=b"")
    for fact in (FACT, FACT, second, FACT):
        await facts.write_fact("t1", epoch, fact)
    assert await facts.facts("t1") == [FACT, second]
    assert await facts.facts("t2") == []
    with pytest.raises(FactsDiffer):
        await facts.write_fact("t1", epoch, dataclasses.replace(second, fact=b"other"))
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G10"):
        await facts.write_fact("t1", epoch, dataclasses.replace(second, number=4))
    # A command of a player becomes one fact.
    with pytest.raises(asyncpg.UniqueViolationError):
        await facts.write_fact("t1", epoch, dataclasses.replace(FACT, number=3))
    assert await facts.facts("t1") == [FACT, second]


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_writes_nothing(facts: PostgresFacts, journal: PostgresJournal) -> None:
    former = await journal.take_ownership("t1")
    await facts.write_fact("t1", former, FACT)
    epoch = await journal.take_ownership("t1")
    second = dataclasses.replace(FACT, number=2, request_id="other")
    for refused in (
        # What is there already as well: whether it is the former owner's is not asked.
        facts.write_fact("t1", former, FACT),
        facts.write_fact("t1", former, second),
        facts.write_request("t1", former, REQUEST, AT),
        facts.keep_summary("t1", former, SUMMARY),
        facts.write_fact("never owned", 1, FACT),
    ):
        with pytest.raises(StaleOwner):
            await refused
    assert await facts.facts("t1") == [FACT]
    assert await facts.requests("t1") == []
    await facts.write_fact("t1", epoch, FACT)
    await facts.write_fact("t1", epoch, second)
    assert await facts.facts("t1") == [FACT, second]


@pytest.mark.guarantee("G3")
async def test_the_first_request_of_a_name_stays(facts: PostgresFacts, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    assert await facts.write_request("t1", epoch, REQUEST, AT) == REQUEST
    other = dataclasses.replace(REQUEST, command_digest=b"other", pay_in_id="t1:in:2")
    assert await facts.write_request("t1", epoch, other, AT) == REQUEST
    assert await facts.requests("t1") == [REQUEST]


async def test_a_summary_is_replaced(facts: PostgresFacts, journal: PostgresJournal) -> None:
    epoch = await journal.take_ownership("t1")
    await facts.keep_summary("t1", epoch, SUMMARY)
    assert await facts.closed_summary("t1") is None
    await facts.keep_summary("t1", epoch, dataclasses.replace(SUMMARY, closed=True, summary=b"over"))
    assert await facts.closed_summary("t1") == b"over"
    assert set(await facts.closed()) == {"t1"}


async def test_tournaments_are_listed_newest_first_by_mode_phase_and_player_in_pages(
    facts: PostgresFacts, journal: PostgresJournal
) -> None:
    for number, (mode, phase) in enumerate([(1, 2), (1, 3), (2, 2), (1, 2)], start=1):
        tournament_id = f"t{number}"
        epoch = await journal.take_ownership(tournament_id)
        await facts.keep_summary(tournament_id, epoch, KeptSummary(mode, phase, False, tournament_id.encode(), AT))  # noqa: FBT003 - of a row
        if number in {1, 2}:
            await facts.write_fact(tournament_id, epoch, FACT)

    async def listed(mode: int = 0, phase: int = 0, player_id: str = "") -> list[bytes]:
        return list((await facts.summaries(mode, phase, player_id, PageRequest())).items)

    assert await listed() == [b"t4", b"t3", b"t2", b"t1"]
    assert await listed(mode=1) == [b"t4", b"t2", b"t1"]
    assert await listed(mode=1, phase=2) == [b"t4", b"t1"]
    assert await listed(player_id="ana") == [b"t2", b"t1"]
    assert await listed(player_id="ana", phase=3) == [b"t2"]
    assert await listed(player_id="rui") == []
    first = await facts.summaries(0, 0, "", page_request(3, ""))
    rest = await facts.summaries(0, 0, "", page_request(3, first.next_page_token))
    assert (list(first.items), list(rest.items), rest.next_page_token) == ([b"t4", b"t3", b"t2"], [b"t1"], "")


@pytest.mark.guarantee("G5")
async def test_g5_a_fact_is_written_when_the_database_is_well_again(
    facts: PostgresFacts, journal: PostgresJournal, owner_connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    epoch = await journal.take_ownership("t1")
    await owner_connection.execute("ALTER TABLE tournament_facts RENAME TO away")
    writing = asyncio.create_task(facts.write_fact("t1", epoch, FACT))
    async with asyncio.timeout(60):
        while caplog.text.count("a fact of a tournament is written again") < 2:
            await asyncio.sleep(0.001)
    assert not writing.done()
    await owner_connection.execute("ALTER TABLE away RENAME TO tournament_facts")
    await writing
    assert await facts.facts("t1") == [FACT]

"""Looking rounds up: those of a table, those of a player, and everything about one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.paging import DEFAULT_PAGE_SIZE, PAGE_SIZE_LIMIT, Page, PageRequest
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.journal.history import PlayerRound, RecordedRound, RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.paging import page_request
from services.kit.table.refusals import TableRefused
from tests.service.table.entries import cancelled_stakes, drawn, opened, settled, stakes, void, write_round


@pytest.fixture
def history(engine: AsyncEngine) -> RoundHistory:
    return RoundHistory(engine)


def round_ids(page: Page[RecordedRound]) -> list[str]:
    return [found.round_id for found in page.items]


def player_round_ids(page: Page[PlayerRound]) -> list[str]:
    return [found.round.round_id for found in page.items]


async def all_pages(list_rounds: Callable[[PageRequest], Awaitable[Page[PlayerRound]]], size: int) -> list[list[str]]:
    pages, token = [], ""
    while True:
        page = await list_rounds(page_request(size, token))
        pages.append(player_round_ids(page))
        token = page.next_page_token
        if not token:
            return pages


async def test_rounds_of_a_table_are_listed_newest_first(journal: PostgresJournal, history: RoundHistory) -> None:
    for placement_id in ("t1", "t2"):
        await journal.take_ownership(placement_id)
    await write_round(journal, 1, opened("t1", 1, version=3), ["ana"], outcome=b"17")
    await write_round(journal, 1, opened("t2", 1), ["ana"])
    await journal.write_opened(1, opened("t1", 2))
    await journal.write_ended(1, void("t1.2"))
    await journal.write_opened(1, opened("t1", 3))
    await journal.write_drawn(1, drawn("t1.3", outcome=b"5"))
    await journal.write_opened(1, opened("t1", 4))
    page = await history.list_table_rounds("t1", PageRequest())
    assert page.next_page_token == ""
    assert [(found.round_id, found.ending, found.outcome, found.void_reason) for found in page.items] == [
        ("t1.4", None, None, ""),
        ("t1.3", None, b"5", ""),
        ("t1.2", Ending.VOID, None, "a fault"),
        ("t1.1", Ending.SETTLED, b"17", ""),
    ]
    entry, draw = opened("t1", 1, version=3), drawn("t1.1")
    assert page.items[-1] == RecordedRound(
        "t1.1", "t1", "t1", 1, 3, entry.opened_at, entry.closes_at, draw.closed_at, draw.drawn_at, b"17",
        DrawTrigger.CLOCK, Ending.SETTLED, settled(draw).ended_at, "",
    )  # fmt: skip
    first = await history.list_table_rounds("t1", page_request(3, ""))
    second = await history.list_table_rounds("t1", page_request(3, first.next_page_token))
    assert (round_ids(first), round_ids(second), second.next_page_token) == (["t1.4", "t1.3", "t1.2"], ["t1.1"], "")


@pytest.mark.rule("804/2015:24")
async def test_the_last_round_of_a_player_has_bets_and_balances(
    journal: PostgresJournal, history: RoundHistory
) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    await write_round(journal, epoch, opened("t1", 2), ["ana", "rui", "ana"])
    await write_round(journal, epoch, opened("t1", 3), ["rui"])
    last = (await history.list_player_rounds("ana", page_request(1, ""))).items[0]
    draw = drawn("t1.2", ["ana", "rui", "ana"])
    assert last.round.round_id == "t1.2"
    assert [(found.stake, found.payout_cents) for found in last.stakes] == [(draw.stakes[0], 0), (draw.stakes[2], 0)]
    assert last.result == settled(draw).player_results[0]


async def test_rounds_of_a_player_come_in_pages(journal: PostgresJournal, history: RoundHistory) -> None:
    for placement_id in ("t1", "t2"):
        await journal.take_ownership(placement_id)
    for number in range(1, 6):
        await write_round(journal, 1, opened("t1", number), ["ana", "ana", "rui"])
        await write_round(journal, 1, opened("t2", number), ["rui" if number % 2 else "ana"])
    await journal.write_opened(1, opened("t1", 6))
    await journal.write_drawn(1, drawn("t1.6", ["ana"]))
    await journal.write_opened(1, opened("t2", 6))
    await journal.write_ended(1, void("t2.6", ["ana", "rui"]))

    async def at_all_tables(page: PageRequest) -> Page[PlayerRound]:
        return await history.list_player_rounds("ana", page)

    async def at_t1(page: PageRequest) -> Page[PlayerRound]:
        return await history.list_player_rounds("ana", page, table_id="t1")

    async def at_t2(page: PageRequest) -> Page[PlayerRound]:
        return await history.list_player_rounds("ana", page, table_id="t2")

    assert await all_pages(at_all_tables, 4) == [
        ["t2.6", "t1.6", "t1.5", "t2.4"], ["t1.4", "t1.3", "t2.2", "t1.2"], ["t1.1"],
    ]  # fmt: skip
    assert await all_pages(at_t1, 3) == [["t1.6", "t1.5", "t1.4"], ["t1.3", "t1.2", "t1.1"]]
    assert await all_pages(at_t2, 2) == [["t2.6", "t2.4"], ["t2.2"]]
    assert player_round_ids(await history.list_player_rounds("eva", PageRequest())) == []


async def test_incomplete_rounds_are_those_with_locked_stakes(journal: PostgresJournal, history: RoundHistory) -> None:
    for placement_id in ("t1", "t2", "t3"):
        await journal.take_ownership(placement_id)
    await write_round(journal, 1, opened("t1", 1), ["ana"])
    for table in ("t1", "t2"):
        await journal.write_opened(1, opened(table, 2))
        await journal.write_drawn(1, drawn(f"{table}.2", ["ana", "rui"]))
    # Bets may be on this felt, but the journal has no stake before betting closes.
    await journal.write_opened(1, opened("t3", 1))

    incomplete = await history.list_player_rounds("ana", PageRequest(), open_only=True)
    assert player_round_ids(incomplete) == ["t2.2", "t1.2"]
    assert all(found.result is None and found.stakes[0].payout_cents is None for found in incomplete.items)
    at_t1 = await history.list_player_rounds("ana", PageRequest(), table_id="t1", open_only=True)
    assert player_round_ids(at_t1) == ["t1.2"]
    first = await history.list_player_rounds("ana", page_request(1, ""), open_only=True)
    second = await history.list_player_rounds("ana", page_request(1, first.next_page_token), open_only=True)
    assert (player_round_ids(first), player_round_ids(second), second.next_page_token) == (["t2.2"], ["t1.2"], "")

    await journal.write_ended(1, settled(drawn("t2.2", ["ana", "rui"])))
    assert player_round_ids(await history.list_player_rounds("ana", PageRequest(), open_only=True)) == ["t1.2"]


@pytest.mark.guarantee("G10")
async def test_g10_a_record_holds_everything_about_a_round(journal: PostgresJournal, history: RoundHistory) -> None:
    epoch = await journal.take_ownership("t1")
    entry, draw = opened("t1", 1, version=7), drawn("t1.1", ["ana", "rui", "ana"])
    assert await history.round_for_replay("t1.1") is None
    await journal.write_opened(epoch, entry)
    record = await history.round_for_replay("t1.1")
    assert record is not None
    assert (record.opened, record.drawn, record.ended, record.stakes) == (entry, None, None, ())
    await journal.write_drawn(epoch, draw)
    record = await history.round_for_replay("t1.1")
    assert record is not None
    assert (record.drawn, record.ended, record.stakes) == (draw, None, draw.stakes)
    await journal.write_ended(epoch, settled(draw))
    record = await history.round_for_replay("t1.1")
    assert record is not None
    assert (record.opened, record.drawn, record.ended) == (entry, draw, settled(draw))


@pytest.mark.guarantee("G10")
async def test_g10_a_record_holds_everything_about_a_void_round(
    journal: PostgresJournal, history: RoundHistory
) -> None:
    epoch = await journal.take_ownership("t1")
    await journal.write_opened(epoch, opened("t1", 1))
    await journal.write_ended(epoch, void("t1.1", ["ana", "rui"]))
    record = await history.round_for_replay("t1.1")
    assert record is not None
    assert (record.drawn, record.ended) == (None, void("t1.1", ["ana", "rui"]))
    assert record.stakes == stakes("t1.1", ["ana", "rui"])


@pytest.mark.rule("GLI-19 2.8.2")
async def test_cancelled_stakes_are_shown_to_their_player_only(journal: PostgresJournal, history: RoundHistory) -> None:
    """Eva cancels a bet in every round (`entries.cancelled_stakes`); here she has another one that stays."""
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["eva", "rui"])
    await journal.write_opened(epoch, opened("t1", 2))
    await journal.write_ended(epoch, void("t1.2", ["eva", "rui"]))
    of_eva = (await history.list_player_rounds("eva", PageRequest())).items
    assert [found.cancelled_stakes for found in of_eva] == [[*cancelled_stakes("t1.2")], [*cancelled_stakes("t1.1")]]
    assert [(found.round.draw_trigger, found.round.closed_at) for found in of_eva] == [
        (DrawTrigger.UNKNOWN, void("t1.2").closed_at),
        (DrawTrigger.CLOCK, drawn("t1.1").closed_at),
    ]
    of_rui = (await history.list_player_rounds("rui", PageRequest())).items
    assert [found.cancelled_stakes for found in of_rui] == [[], []]


@pytest.mark.rule("GLI-19 2.8.2")
async def test_undrawn_rounds_may_still_take_bets(journal: PostgresJournal, history: RoundHistory) -> None:
    epoch = await journal.take_ownership("t1")
    await write_round(journal, epoch, opened("t1", 1), ["ana"])
    for number in (2, 3, 4, 5):
        await journal.write_opened(epoch, opened("t1", number))
    await journal.write_drawn(epoch, drawn("t1.2"))
    await journal.write_ended(epoch, void("t1.3"))
    undrawn = await history.list_undrawn_rounds([f"t1.{number}" for number in range(1, 7)])
    assert [(found.round_id, found.opened_at, found.closed_at, found.ending) for found in undrawn] == [
        ("t1.5", opened("t1", 5).opened_at, None, None),
        ("t1.4", opened("t1", 4).opened_at, None, None),
    ]
    assert [found.round_id for found in await history.list_undrawn_rounds(["t1.4"])] == ["t1.4"]


@pytest.mark.guarantee("G11")
def test_g11_pages_have_a_limit() -> None:
    assert page_request(0, "").size == DEFAULT_PAGE_SIZE
    assert page_request(PAGE_SIZE_LIMIT, "").size == PAGE_SIZE_LIMIT
    for size in (-1, PAGE_SIZE_LIMIT + 1):
        with pytest.raises(TableRefused, match="page_size"):
            page_request(size, "")
    for token in ("MA", "x", "é", "LTE", "OTIyMzM3MjAzNjg1NDc3NTgwOA"):
        with pytest.raises(TableRefused, match="page_token"):
            page_request(0, token)

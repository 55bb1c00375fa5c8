"""What anybody may read without playing: the list of tables, their rules and their layouts."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.engine.roulette import reference
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    wait_until,
)

WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}


async def rules(driver: RouletteDriver, table_id: str, language: str = "") -> table_pb2.GetRulesResponse:
    request = table_pb2.GetRulesRequest(table_id=table_id, language=language)
    # Without a token.
    return await driver.roulette.tables.GetRules(request)


@pytest.mark.rule("804/2015:P.4", "804/2015:25", "807/2015:P.4", "807/2015:27", "903-B/2015:6.1.6")
async def test_anybody_reads_the_rules_in_portuguese_and_english(driver: RouletteDriver, regulation: str) -> None:
    portuguese, english = (
        await rules(driver, INDIVIDUAL_TABLES[regulation], "pt"),
        await rules(driver, INDIVIDUAL_TABLES[regulation], "en"),
    )

    assert (portuguese.language, english.language) == ("pt", "en")
    assert portuguese.configuration_version == english.configuration_version >= 1
    for text in (portuguese.text, english.text):
        assert f"{regulation}/2015" in text
        assert "35" in text
    assert portuguese.text != english.text
    assert "aposta" in portuguese.text
    assert "bet" in english.text


@pytest.mark.rule("903-B/2015:6.1.6")
async def test_rules_are_in_portuguese_unless_english_is_asked_for(driver: RouletteDriver, regulation: str) -> None:
    for language in ("", "fr"):
        assert await rules(driver, INDIVIDUAL_TABLES[regulation], language) == await rules(
            driver, INDIVIDUAL_TABLES[regulation], "pt"
        )


async def test_an_individual_table_has_the_rules_of_its_configured_table(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    assert await rules(driver, seated_player.table_id) == await rules(driver, INDIVIDUAL_TABLES[regulation])


@pytest.mark.rule("804/2015:4", "807/2015:4")
async def test_individual_and_multi_player_tables_are_listed(driver: RouletteDriver, regulation: str) -> None:
    multi_player = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    request = table_pb2.ListTablesRequest(game="roulette", page_size=500)

    listed = (await driver.roulette.tables.ListTables(request)).tables

    by_id = {table.table_id: table for table in listed}
    assert list(by_id) == sorted(by_id)
    assert by_id[multi_player].configuration.play != INDIVIDUAL
    assert by_id[INDIVIDUAL_TABLES[regulation]].configuration.play == INDIVIDUAL
    assert {by_id[each].configuration.regulation for each in (multi_player, INDIVIDUAL_TABLES[regulation])} == {
        f"{regulation}/2015"
    }
    assert by_id[multi_player].enabled


async def test_tables_are_listed_in_pages_of_one_mode(driver: RouletteDriver) -> None:
    await driver.new_table()
    for mode in (wallet_types.MODE_UNSPECIFIED, wallet_types.MODE_REAL, wallet_types.MODE_DEMO):
        request = table_pb2.ListTablesRequest(game="roulette", mode=mode, page_size=500)
        whole = await driver.roulette.tables.ListTables(request)
        assert whole.next_page_token == ""
        assert not mode or {table.configuration.mode for table in whole.tables} <= {mode}
        paged: list[str] = []
        request.page_size = 1
        while True:
            page = await driver.roulette.tables.ListTables(request)
            paged += [table.table_id for table in page.tables]
            assert len(page.tables) <= 1
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        assert paged == [table.table_id for table in whole.tables]
    for wrong, field in (
        (table_pb2.ListTablesRequest(game="roulette", page_size=501), "page_size"),
        (table_pb2.ListTablesRequest(game="roulette", page_token="?"), "page_token"),  # noqa: S106 - a place in a list
        (table_pb2.ListTablesRequest(game="roulette", mode=9), "mode"),  # type: ignore[arg-type]
    ):
        refused = await refusal(driver.roulette.tables.ListTables(wrong))
        assert (refused.reason, refused.facts) == ("INVALID", {"field": field})


async def test_a_list_says_how_many_players_sit_at_each_table(driver: RouletteDriver) -> None:
    """As every process of the game says, whichever of them runs the table."""
    shared, individual = await driver.new_table(), await driver.new_table(play=INDIVIDUAL)

    async def seated() -> list[int]:
        request = table_pb2.ListTablesRequest(game="roulette", page_size=500)
        by_id = {table.table_id: table.seated for table in (await driver.roulette.tables.ListTables(request)).tables}
        return [by_id[shared], by_id[individual]]

    assert await seated() == [0, 0]
    await driver.seat_new_player(individual)
    first = await driver.seat_new_player(shared)
    for _ in range(2):
        await driver.seat_new_player(shared)
    assert await seated() == [3, 1]
    await driver.leave(first)

    async def one_has_left() -> bool:
        return await seated() == [2, 1]

    await wait_until(one_has_left)


@pytest.mark.rule("903-B/2015:6.2.2")
async def test_the_layout_shows_limits_and_prizes(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    request = roulette_pb2.GetLayoutRequest(table_id=seated_player.table_id)
    layout = await driver.roulette.roulette.GetLayout(request, metadata=driver.metadata_of(seated_player))
    before_entering = await driver.roulette.roulette.GetLayout(
        roulette_pb2.GetLayoutRequest(table_id=INDIVIDUAL_TABLES[regulation])
    )

    assert layout == before_entering
    assert layout.wheel == WHEEL_BY_REGULATION[regulation]
    assert layout.pockets[0].number == "0"
    assert {pocket.number for pocket in layout.pockets} == set(reference.numbers_of(WHEELS[regulation]))
    assert layout.largest_prize_per_unit == 35
    assert bool(layout.call_bets) == (regulation == "807")
    for place in layout.places:
        assert place.prize_halves == 2 * reference.prize(place.place)
        assert set(place.numbers) == {
            number for number in reference.numbers_of(WHEELS[regulation]) if reference.wins(place.place, number)
        }
        assert place.minimum_cents <= 100 + place.even_cents_only
        assert place.maximum_cents == 100 * 30 * len(place.numbers)


@pytest.mark.rule("903-B/2015:6.1.6")
async def test_a_player_sees_the_name_of_the_table(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    table = (await driver.get_table(seated_player)).table
    assert table.configuration.name == types_pb2.LocalizedText(pt="Mesa", en="Table")
    assert table.configuration.game == "roulette"

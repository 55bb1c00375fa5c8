"""What everybody may read without playing: which tables there are, their rules and their boards."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from tests.engine.roulette import reference
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    SeatedPlayer,
)

WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}


async def rules(driver: RouletteDriver, table_id: str, language: str = "") -> table_pb2.GetRulesResponse:
    request = table_pb2.GetRulesRequest(table_id=table_id, language=language)
    # Whoever reads the rules need not be anybody.
    return await driver.roulette.tables.GetRules(request)


@pytest.mark.rule("804/2015:P.4", "804/2015:25", "807/2015:P.4", "807/2015:27", "903-B/2015:6.1.6")
async def test_the_rules_are_there_for_everybody_in_portuguese_and_english(
    driver: RouletteDriver, regulation: str
) -> None:
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
async def test_portuguese_comes_first(driver: RouletteDriver, regulation: str) -> None:
    for language in ("", "fr"):
        assert await rules(driver, INDIVIDUAL_TABLES[regulation], language) == await rules(
            driver, INDIVIDUAL_TABLES[regulation], "pt"
        )


async def test_a_players_own_table_has_the_rules_of_its_house(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    assert await rules(driver, seated_player.table_id) == await rules(driver, INDIVIDUAL_TABLES[regulation])


@pytest.mark.rule("804/2015:4", "807/2015:4")
async def test_tables_for_one_and_for_many_are_listed(driver: RouletteDriver, regulation: str) -> None:
    many = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    request = table_pb2.ListTablesRequest(game="roulette")

    listed = (await driver.roulette.tables.ListTables(request)).tables

    by_id = {table.table_id: table for table in listed}
    assert list(by_id) == sorted(by_id)
    assert by_id[many].configuration.play != INDIVIDUAL
    assert by_id[INDIVIDUAL_TABLES[regulation]].configuration.play == INDIVIDUAL
    assert {by_id[each].configuration.regulation for each in (many, INDIVIDUAL_TABLES[regulation])} == {
        f"{regulation}/2015"
    }
    assert by_id[many].enabled


@pytest.mark.rule("903-B/2015:6.2.2")
async def test_the_board_tells_limits_and_prizes(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    request = roulette_pb2.GetLayoutRequest(table_id=seated_player.table_id)
    board = await driver.roulette.roulette.GetLayout(request, metadata=driver.metadata_of(seated_player))
    before_entering = await driver.roulette.roulette.GetLayout(
        roulette_pb2.GetLayoutRequest(table_id=INDIVIDUAL_TABLES[regulation])
    )

    assert board == before_entering
    assert board.wheel == WHEEL_BY_REGULATION[regulation]
    assert board.pockets[0].number == "0"
    assert {pocket.number for pocket in board.pockets} == set(reference.numbers_of(WHEELS[regulation]))
    assert board.largest_prize_per_unit == 35
    assert bool(board.call_bets) == (regulation == "807")
    for place in board.places:
        assert place.prize_halves == 2 * reference.prize(place.place)
        assert set(place.numbers) == {
            number for number in reference.numbers_of(WHEELS[regulation]) if reference.wins(place.place, number)
        }
        assert place.minimum_cents <= 100 + place.even_cents_only
        assert place.maximum_cents == 100 * 30 * len(place.numbers)


@pytest.mark.rule("903-B/2015:6.1.6")
async def test_the_tables_name_is_there_when_one_bets(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    seen = (await driver.get_table(seated_player)).table
    assert seen.configuration.name == types_pb2.LocalizedText(pt="Mesa", en="Table")
    assert seen.configuration.game == "roulette"

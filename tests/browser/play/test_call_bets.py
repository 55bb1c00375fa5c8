"""Call bets: the racetrack shows beforehand what a click will place, and the platform takes exactly that."""

from __future__ import annotations

import pytest

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.player import Player
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import TablePage, cents_in
from tests.system.platform import Platform

UNIT = 200
CALLED = ["voisins", "tiers", "orphelins", "neighbours-0-2", "neighbours-26-4", "neighbours-17-6", "final-0", "final-7"]


@pytest.mark.rule("807/2015:9", "903-B/2015:6.2.2")
def test_call_bets_put_their_components_down(
    new_context: NewContext, screenshot: Screenshot, platform: Platform
) -> None:
    page = new_context().new_page()
    table = TablePage(page, "french-solo-demo").open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(table.listed_id)
    layout = player.layout(own_table)
    places = {place["place"]: place for place in layout["places"]}
    offered = {bet["place"]: bet for bet in layout["call_bets"]}
    assert set(CALLED) <= set(offered)
    table.choose_chip(UNIT)
    for called in CALLED:
        bet: Json = offered[called]
        if called.startswith("neighbours"):
            table.part(f"neighbours-{called[-1]}").click()
        button = table.part(f"call-{called}")
        # The middle of an oval's part may lie outside of it: its words, or its number, do not.
        words = button.locator("text")
        target = words if words.count() else button
        target.hover()
        prizes = _prizes(bet, places)
        lit, told = table.highlight()
        assert {cell for cell in lit if cell.isdecimal()} == set(prizes)
        # Before anything is bet: every number, what it costs, what it may bring, and how much a chip may be.
        numbers = ", ".join(sorted(prizes, key=int))
        least, most = min(prizes.values()), max(prizes.values())
        span = (
            f"{least // 100} a {most // 100} créditos, conforme o número" if least < most else f"{most // 100} créditos"
        )
        chip = min(
            int(places[part["place"]]["maximum_cents"]) // int(part["amount_cents"]) for part in bet["components"]
        )
        terms = [f"{bet['units']} fichas", f"prémio de {span}", f"de 1 a {chip // 100} créditos por ficha"]
        heard = button.get_attribute("aria-label") or ""
        for said in (numbers, *terms):
            assert said in told.replace("\u00a0", " "), told
            assert said in heard.replace("\u00a0", " "), heard
        assert cents_in(told)[:2] == [UNIT, UNIT * bet["units"]], told
        if called == "voisins":
            screenshot(page, "call-bet-pointed-at")
        target.click()
        expected = {part["place"]: UNIT * int(part["amount_cents"]) for part in bet["components"]}
        table.expect_confirmed_chips(expected)
        assert player.on_felt(own_table) == expected
        if called == "voisins":
            screenshot(page, "call-bet-placed")
        # One click was one placement.
        table.press("undo")
        table.expect_confirmed_chips({})


def _prizes(bet: Json, places: dict[str, Json]) -> dict[str, int]:
    """What each number that a call bet covers brings beyond the stakes that won, with a chip of `UNIT`."""
    prizes: dict[str, int] = {}
    for part in bet["components"]:
        place = places[part["place"]]
        prize = UNIT * int(part["amount_cents"]) * place["prize_halves"] // 2
        for number in place["numbers"]:
            prizes[number] = prizes.get(number, 0) + prize
    return prizes

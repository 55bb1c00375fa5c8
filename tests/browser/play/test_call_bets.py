"""Call bets: the racetrack shows beforehand what a click will place, and the platform takes exactly that."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

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


@pytest.mark.rule("807/2015:9")
def test_every_call_bet_has_its_button(new_context: NewContext, screenshot: Screenshot, platform: Platform) -> None:
    page = new_context("portrait").new_page()
    table = TablePage(page, "french-solo-demo").open()
    layout = Player.demo_player_of(platform, page).layout("french-solo-demo")
    expect(table.part("racetrack")).to_be_hidden()
    table.part("turn-track").click()
    expect(table.part("racetrack")).to_be_visible()
    screenshot(page, "racetrack-portrait")
    found = set()
    for neighbours in (2, 4, 6):
        table.part(f"neighbours-{neighbours}").click()
        found |= set(
            table.part("racetrack").evaluate(
                "(track) => [...track.querySelectorAll('[data-call]')].map((button) => button.dataset.call)"
            )
        )
    assert found == {bet["place"] for bet in layout["call_bets"]}
    table.part("call-final-7").tap()
    # The racetrack shows the chips too.
    expect(table.page.locator("[data-covered]")).to_have_count(3)
    rings = table.part("racetrack").locator("[data-covered]").all()
    assert {ring.get_attribute("data-covered") for ring in rings} == {"7", "17", "27"}
    screenshot(page, "racetrack-covered-portrait")
    table.part("turn-track").click()
    table.expect_confirmed_chips({"7": 100, "17": 100, "27": 100})


def test_american_tables_have_no_racetrack(new_context: NewContext) -> None:
    table = TablePage(new_context().new_page(), "american-00-solo-demo").open()
    expect(table.part("racetrack")).to_have_count(0)
    expect(table.part("turn-track")).to_have_count(0)


def _prizes(bet: Json, places: dict[str, Json]) -> dict[str, int]:
    """What each number that a call bet covers brings beyond the stakes that won, with a chip of `UNIT`."""
    prizes: dict[str, int] = {}
    for part in bet["components"]:
        place = places[part["place"]]
        prize = UNIT * int(part["amount_cents"]) * place["prize_halves"] // 2
        for number in place["numbers"]:
            prizes[number] = prizes.get(number, 0) + prize
    return prizes

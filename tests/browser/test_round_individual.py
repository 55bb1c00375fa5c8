"""A whole round at a table for one: the player launches the ball, sees where it comes to rest, and what he gets."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import round_shown, witness
from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.player import Player
from tests.browser.table_page import TablePage, cents_in
from tests.browser.visitor import new_name
from tests.system.platform import Platform

SCREEN = ("903-B/2015:6.1.2", "903-B/2015:6.2.1", "903-B/2015:6.2.2", "903-B/2015:6.2.3")
AMERICAN = pytest.mark.rule(*(f"804/2015:{rule}" for rule in ("2", "6", "6.e", "8", "15", "16", "17", "24")), *SCREEN)
FRENCH = pytest.mark.rule(*(f"807/2015:{rule}" for rule in ("2", "6", "6.e", "9", "17", "18", "19", "26")), *SCREEN)


@pytest.mark.parametrize(
    ("listed_id", "device"),
    [
        pytest.param("french-solo", "desktop", marks=FRENCH),
        pytest.param("american-solo", "portrait", marks=AMERICAN),
        pytest.param("american-00-solo", "landscape", marks=AMERICAN),
        pytest.param("french-solo-demo", "portrait", marks=FRENCH),
    ],
)
def test_a_round_alone(
    new_context: NewContext, log_in: LogIn, screenshot: Screenshot, platform: Platform, listed_id: str, device: str
) -> None:
    context = new_context(device)
    witness.call_witness(context)
    name = new_name("rita")
    demo = listed_id.endswith("-demo")
    if not demo:
        log_in(context, name)
    table = TablePage(context.new_page(), listed_id).open()
    page, mode = table.page, "MODE_DEMO" if demo else "MODE_REAL"
    player = Player.guest_of(platform, page) if demo else Player.known_as(platform, name)
    own_table = player.own_table(listed_id)
    had = player.balance(mode)[0]
    _tells_where_he_is(table, had)
    # There is nothing to launch for yet, and the button says so.
    table.spin()
    expect(table.part("message")).to_contain_text("Ainda não tem fichas na mesa")
    screenshot(page, f"alone-{listed_id}-{device}-1-empty")

    bets = round_shown.hedged(listed_id)
    for place, cents in bets.items():
        table.put(place, cents // 100)
    table.chips_count(bets)
    staked = sum(bets.values())
    assert player.on_felt(own_table) == bets
    expect(table.balance).to_have_attribute("data-cents", str(had - staked))
    assert cents_in(table.balance.locator("strong").inner_text()) == [had - staked]
    expect(table.part("staked")).to_have_attribute("data-cents", str(staked))
    assert cents_in(table.part("unit").inner_text()) == [100]
    screenshot(page, f"alone-{listed_id}-{device}-2-bets")

    table.spin()
    # The witness has seen all of it, however late anybody looks.
    table.stage_is("rolling", "marked", "collected", "paid")
    screenshot(page, f"alone-{listed_id}-{device}-3-rolling")
    table.stage_is("paid")
    screenshot(page, f"alone-{listed_id}-{device}-4-paid")
    (played,) = player.rounds(own_table)
    number = round_shown.number_of(played)
    expect(table.balance).to_have_attribute("data-cents", str(player.balance(mode)[0]))
    assert player.balance(mode) == (had - staked + int(played["payout_cents"]), 0)
    round_shown.ball_lies_in(table, number)
    story = witness.story(page)
    round_shown.nothing_was_told_early(story, played)
    round_shown.told_in_order(story, played)
    round_shown.called_truly(story, played)
    round_shown.last_round_tells(table, played)
    # It stays until he goes on, and is gone when he does.
    table.bets_are_taken()
    expect(table.part("marker")).to_have_attribute("data-number", number)
    expect(table.part("outcome-called")).to_contain_text(number)
    table.put("red")
    table.chips_count({"red": 100})
    expect(table.part("marker")).to_be_hidden()
    expect(table.part("outcome-called")).to_be_empty()


def _tells_where_he_is(table: TablePage, had: int) -> None:
    """The game's name, its limits, what he has, for how long he has played, and that he may bet."""
    expect(table.balance).to_have_attribute("data-cents", str(had))
    assert cents_in(table.balance.locator("strong").inner_text()) == [had]
    heading = table.page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(re.compile("Roleta (francesa|americana)"))
    expect(table.page.locator(".table-bar")).to_contain_text(re.compile(r"1(\s€)? – 720\s(€|créditos)"))
    expect(table.part("played")).to_contain_text(re.compile(r"\d:\d\d"))
    expect(table.phase).to_contain_text("Façam as vossas apostas")

"""A whole round at a table for one: the player launches the ball, sees where it comes to rest, and is paid."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver import recording, round_checks
from tests.browser.driver.navigation import new_name
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage, cents_in
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
    recording.record_pages(context)
    name = new_name("rita")
    demo = listed_id.endswith("-demo")
    if not demo:
        log_in(context, name)
    table = TablePage(context.new_page(), listed_id).open()
    page, mode = table.page, "MODE_DEMO" if demo else "MODE_REAL"
    player = Player.demo_player_of(platform, page) if demo else Player.with_account(platform, name)
    own_table = player.own_table(listed_id)
    had = player.balance(mode)[0]
    _verify_page(table, had)
    # There is nothing to launch for yet, and the button says so.
    table.spin()
    expect(table.part("message")).to_contain_text("Ainda não tem fichas na mesa")
    screenshot(page, f"alone-{listed_id}-{device}-1-empty")

    bets = round_checks.mixed_bets(listed_id)
    table.place_bets(bets)
    staked = sum(bets.values())
    assert player.on_felt(own_table) == bets
    expect(table.balance).to_have_attribute("data-cents", str(had - staked))
    assert cents_in(table.balance.locator("strong").inner_text()) == [had - staked]
    expect(table.part("staked")).to_have_attribute("data-cents", str(staked))
    assert cents_in(table.part("unit").inner_text()) == [100]
    screenshot(page, f"alone-{listed_id}-{device}-2-bets")

    table.spin()
    # The recording holds all of it, however late the test looks.
    table.expect_stage("rolling", "marked", "collected", "paid")
    screenshot(page, f"alone-{listed_id}-{device}-3-rolling")
    table.expect_stage("paid")
    screenshot(page, f"alone-{listed_id}-{device}-4-paid")
    (played,) = player.rounds(own_table)
    number = round_checks.drawn_number(played)
    expect(table.balance).to_have_attribute("data-cents", str(player.balance(mode)[0]))
    assert player.balance(mode) == (had - staked + int(played["payout_cents"]), 0)
    round_checks.verify_ball_position(table, number)
    story = recording.recording_of(page)
    round_checks.verify_nothing_revealed_early(story, played)
    round_checks.verify_order(story, played)
    round_checks.verify_announced_result(story, played)
    round_checks.verify_last_round_dialog(table, played)
    # It stays until the next bet.
    table.wait_for_betting()
    expect(table.part("marker")).to_have_attribute("data-number", number)
    expect(table.part("outcome-called")).to_contain_text(number)
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    expect(table.part("marker")).to_be_hidden()
    expect(table.part("outcome-called")).to_be_empty()


def _verify_page(table: TablePage, had: int) -> None:
    """Checks the game's name, its limits, the balance, the time played, and that bets are taken."""
    expect(table.balance).to_have_attribute("data-cents", str(had))
    assert cents_in(table.balance.locator("strong").inner_text()) == [had]
    heading = table.page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(re.compile("Roleta (francesa|americana)"))
    expect(table.page.locator(".table-bar")).to_contain_text(re.compile(r"1(\s€)? – 720\s(€|créditos)"))
    expect(table.part("played")).to_contain_text(re.compile(r"\d:\d\d"))
    expect(table.phase).to_contain_text("Façam as vossas apostas")

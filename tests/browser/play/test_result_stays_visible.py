"""A result stays readable into the next window, as long as the rules say and on every device."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import round_checks
from tests.browser.driver.back_office import UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

# How long a result is read by the rules; the test ends it at the table as soon as every page has paid it.
READ_S = 50
TIMES = {**UNHURRIED, "result_shown_ms": READ_S * 1000}
DEVICES: dict[str, dict[str, object]] = {
    "desktop": {},
    "portrait": {},
    "small": {"viewport": {"width": 360, "height": 640}},
    "landscape": {},
}


@pytest.mark.rule("903-B/2015:6.2.3", "804/2015:25", "807/2015:27")
def test_a_result_stays_while_the_next_round_takes_bets(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    name = ("Roleta francesa para ler (demonstração)", "French roulette to read (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("read-demo", "french-demo", name, **TIMES)
    seats: dict[str, TablePage] = {}
    for device, more in DEVICES.items():
        page = new_context("portrait" if device == "small" else device, **more).new_page()
        if device == "portrait":
            page.clock.install()
        seats[device] = TablePage(page, listed).open()
    players = {device: Player.demo_player_of(platform, table.page) for device, table in seats.items()}
    rules = players["desktop"].rules(listed, "pt")
    assert f"pelo menos {READ_S} segundos desde o pagamento" in rules
    bets = round_checks.mixed_bets(listed)
    seats["desktop"].wait_for_betting()
    round_id = players["desktop"].table(listed)["table"]["round"]["round_id"]
    for table in seats.values():
        table.place_bets(bets)
    office.advance_tables(WINDOW_S)
    for table in seats.values():
        table.expect_stage("paid")
    office.advance_tables(READ_S)
    # The next round takes bets, and nothing of this one is in their way.
    for table in seats.values():
        table.wait_for_betting()
    for device, table in seats.items():
        (played,) = [one for one in players[device].rounds() if one["round"]["round_id"] == round_id]
        expect(table.page.locator("[data-own]")).to_have_count(0)
        table.page.mouse.move(1, 1)
        _reads(table.page, device, played)
        screenshot(table.page, f"read-{device}")
    # A player who bets again keeps it until its time is over, and no longer.
    table = seats["portrait"]
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    assert table.part("outcome-called").get_attribute("data-verdict")
    table.page.clock.fast_forward(READ_S * 1000)
    expect(table.part("outcome-called")).to_be_empty()
    for device in ("desktop", "small", "landscape"):
        assert seats[device].part("outcome-called").get_attribute("data-verdict"), "the player has not bet again yet"
    office.advance_tables(WINDOW_S)
    seats["desktop"].expect_stage("rolling")
    for device, table in seats.items():
        expect(table.part("last-result")).to_have_count(0)
        players[device].leave()


def _reads(page: Page, device: str, played: dict[str, object]) -> None:
    """Checks the number and the result: in the plaque where it has a place of its own, else below the board."""
    net = int(str(played["payout_cents"])) - int(str(played["staked_cents"]))
    words = "Ganhou" if net > 0 else "Perdeu" if net else "Recuperou"
    shown = page.get_by_test_id("outcome-called" if device == "desktop" else "last-result")
    expect(shown).to_be_visible()
    expect(shown).to_contain_text(re.compile(rf"{round_checks.drawn_number(played)}[\s\S]*{words}"))
    board, result = page.get_by_test_id("board").bounding_box(), shown.bounding_box()
    assert board is not None
    assert result is not None
    if device == "desktop":
        assert result["x"] + result["width"] <= board["x"]
    else:
        assert page.get_by_test_id("outcome-called").is_hidden()
        assert result["y"] >= board["y"] + board["height"] - 1
        assert result["y"] + result["height"] <= page.viewport_size["height"]  # type: ignore[index]

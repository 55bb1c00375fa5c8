"""Beside the wheel the player finds the rounds just played, and the details of each."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Screenshot
from tests.browser.driver.back_office import BackOffice, quick_demo_table
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform


def test_rounds_that_were_played_are_one_click_away(desktop: Page, platform: Platform, screenshot: Screenshot) -> None:
    listed = quick_demo_table(BackOffice(platform))
    table = TablePage(desktop, listed).open()
    rounds = table.part("own-round")
    expect(table.part("own-rounds")).to_contain_text("As suas jogadas ficam aqui")
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    table.expect_stage("paid")
    # The result is shown in its place, until the next bet.
    expect(table.part("own-rounds")).to_have_count(0)
    table.wait_for_betting()
    # The result is still on show, and nothing is staked in the next round.
    expect(table.part("staked")).to_have_attribute("data-cents", "0")
    table.place_chips("black")
    table.expect_confirmed_chips({"black": 100})
    (played,) = Player.demo_player_of(platform, desktop).rounds()
    number = played["round"]["outcome"]["number"]
    expect(rounds).to_have_count(1)
    _tells(table, number, won=bool(int(played["payout_cents"])))
    screenshot(desktop, "own-rounds")

    rounds.first.click()
    told = desktop.get_by_test_id("own-round-told")
    expect(told.get_by_test_id("round-told")).to_have_attribute("data-number", number)
    desktop.keyboard.press("Escape")
    expect(told).to_have_count(0)
    expect(rounds.first).to_be_focused()
    desktop.reload()
    table.wait_until_playable()
    _tells(table, number, won=bool(int(played["payout_cents"])))


def _tells(table: TablePage, number: str, *, won: bool) -> None:
    first = table.part("own-round").first
    expect(first.locator(".own-round-number > [aria-hidden]")).to_have_text(number)
    expect(first).to_contain_text("Ganhou 1 crédito" if won else "Perdeu 1 crédito")

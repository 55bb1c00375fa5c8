"""After the payment at a table for one: the felt is empty for the next round, and the buttons follow."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


def test_paid_chips_go_to_the_player(each_device_page: Page, screenshot: Screenshot) -> None:
    """One of the bets wins, but for a zero; afterwards nothing on the felt looks like a bet."""
    table = TablePage(each_device_page, TABLE).open()
    for place in ("red", "black", "0"):
        table.place_chips(place)
    table.expect_confirmed_chips({"red": 100, "black": 100, "0": 100})
    table.spin()
    table.expect_stage("paid")
    expect(table.part("staked")).to_have_attribute("data-cents", "0")
    expect(table.page.locator("[data-own]:not(.gone)")).to_have_count(0)
    expect(table.page.locator("[data-prize]:not(.gone)")).to_have_count(0)
    screenshot(each_device_page, "after-payment-swept")
    # The result stays, and no place says that a bet lies on it.
    expect(table.part("outcome-called")).not_to_be_empty()
    if not _is_desktop(each_device_page):
        # On a phone it would lie over the clock or the board: the line below them shows it, and hides nothing.
        expect(table.part("outcome-called")).to_be_hidden()
        expect(table.part("last-result")).to_be_visible()
        expect(table.part("open-list")).to_be_in_viewport()
        screenshot(each_device_page, "after-payment-aside")
        # All of it is one tap away.
        table.part("last-result").tap()
        expect(table.part("last-round-told")).to_contain_text("As suas apostas, em créditos")
        each_device_page.keyboard.press("Escape")
        expect(table.part("last-round-told")).to_have_count(0)
    for place in ("red", "black", "0"):
        assert "na mesa" not in (table.spot(place).get_attribute("aria-label") or "")
    table.wait_for_betting()
    table.press("repeat")
    table.expect_confirmed_chips({"red": 100, "black": 100, "0": 100})
    expect(table.part("staked")).to_have_attribute("data-cents", "300")


def _is_desktop(page: Page) -> bool:
    size = page.viewport_size
    assert size is not None
    return size["width"] > 1000


def test_there_is_nothing_to_repeat_until_a_round_is_over(desktop: Page) -> None:
    table = TablePage(desktop, TABLE).open()
    repeat = table.part("repeat")
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    expect(repeat).to_have_attribute("aria-disabled", "true")
    table.press("clear")
    table.expect_confirmed_chips({})
    expect(repeat).to_have_attribute("aria-disabled", "true")
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    table.expect_stage("paid")
    table.wait_for_betting()
    expect(repeat).to_have_attribute("aria-disabled", "false")

"""A screen reader announces the player's chips as they change (WCAG 4.1.3)."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


def test_each_change_of_the_bets_is_announced(desktop: Page) -> None:
    table = TablePage(desktop, TABLE).open()
    announced = table.part("said")
    expect(announced).to_have_role("status")
    expect(announced).to_be_empty()
    table.spot("17").focus()
    desktop.keyboard.press("Enter")
    expect(announced).to_have_text("Pleno 17: 1 crédito; na mesa 1 crédito")
    table.spot("red").focus()
    desktop.keyboard.press("Space")
    expect(announced).to_have_text("Encarnado: 1 crédito; na mesa 2 créditos")
    desktop.keyboard.press("d")
    expect(announced).to_have_text("na mesa 4 créditos")
    desktop.keyboard.press("Delete")
    expect(announced).to_have_text("Encarnado: 1 crédito; na mesa 3 créditos")
    desktop.keyboard.press("Backspace")
    table.part("clear").focus()
    desktop.keyboard.press("Enter")
    expect(announced).to_have_text("na mesa 0 créditos")
    # The result announces itself.
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    expect(announced).to_be_empty()
    table.expect_stage("paid")
    table.wait_for_betting()
    expect(announced).to_be_empty()

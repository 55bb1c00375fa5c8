"""Who plays by keyboard, without seeing the board, hears what lies there (WCAG 4.1.3)."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


def test_each_change_of_his_bets_is_told(desktop: Page) -> None:
    table = TablePage(desktop, TABLE).open()
    said = table.part("said")
    expect(said).to_have_role("status")
    expect(said).to_be_empty()
    table.spot("17").focus()
    desktop.keyboard.press("Enter")
    expect(said).to_have_text("Pleno 17: 1 crédito; na mesa 1 crédito")
    table.spot("red").focus()
    desktop.keyboard.press("Space")
    expect(said).to_have_text("Encarnado: 1 crédito; na mesa 2 créditos")
    desktop.keyboard.press("d")
    expect(said).to_have_text("na mesa 4 créditos")
    desktop.keyboard.press("Delete")
    expect(said).to_have_text("Encarnado: 1 crédito; na mesa 3 créditos")
    desktop.keyboard.press("Backspace")
    table.part("clear").focus()
    desktop.keyboard.press("Enter")
    expect(said).to_have_text("na mesa 0 créditos")
    # What is told of a result is told by the result.
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    expect(said).to_be_empty()
    table.expect_stage("paid")
    table.wait_for_betting()
    expect(said).to_be_empty()

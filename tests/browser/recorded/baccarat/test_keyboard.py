"""A keyboard is enough for a round: chips, chances, dealing and the result."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.recorded.baccarat import TABLE

_TABS_LIMIT = 60


def test_a_round_by_keys(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    _tab_to(desktop, "chance-tie")
    desktop.keyboard.press("Enter")
    table.expect_chips({"tie": 100})
    desktop.keyboard.press("Space")
    table.expect_chips({"tie": 200})
    desktop.keyboard.press("Delete")
    table.expect_chips({"tie": 100})
    desktop.keyboard.press("d")
    table.expect_chips({"tie": 200})
    desktop.keyboard.press("Backspace")
    table.expect_chips({"tie": 100})
    desktop.keyboard.press("c")
    table.expect_stage("paid")
    expect(table.part("outcome-called")).to_have_attribute("data-verdict", re.compile("won|lost"))
    desktop.keyboard.press("r")
    table.expect_chips({"tie": 100})
    assert desktop.evaluate("() => document.activeElement.dataset.testid") == "chance-tie"


def test_single_letters_can_be_switched_off(desktop: Page) -> None:
    """A player who dictates has no cards dealt by a word (WCAG 2.1.4)."""
    table = BaccaratPage(desktop, TABLE).open()
    desktop.get_by_test_id("account-menu").click()
    desktop.get_by_test_id("letter-keys").click()
    desktop.keyboard.press("Escape")
    table.bet({"ponto": 100})
    table.chance("ponto").focus()
    for letter in "drc":
        desktop.keyboard.press(letter)
    # Enter is no letter; its bet follows all that the letters did.
    desktop.keyboard.press("Enter")
    table.expect_chips({"ponto": 200})
    expect(table.table).to_have_attribute("data-stage", "quiet")


def _tab_to(page: Page, test_id: str) -> None:
    for _ in range(_TABS_LIMIT):
        page.keyboard.press("Tab")
        at = "() => [document.activeElement.dataset.testid, document.activeElement.matches(':focus-visible')]"
        on, seen = page.evaluate(at)
        assert seen
        if on == test_id:
            return
    raise AssertionError(f"no tab leads to {test_id}")

"""With the player's own colours (forced colours) the cloth stays readable, and a choice visible."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


def test_cloth_and_choices_are_visible(new_context: NewContext, screenshot: Screenshot) -> None:
    page = new_context(forced_colors="active").new_page()
    table = TablePage(page, TABLE).open()
    screenshot(page, "forced-colours")
    # Its lines are drawn for the green behind them.
    assert "gradient" in _style(page.locator(".roulette-felt"), "backgroundImage")
    chosen, other = (table.part(f"neighbours-{count}") for count in (2, 4))
    expect(chosen).to_have_attribute("aria-pressed", "true")
    assert _style(chosen, "backgroundColor") != _style(other, "backgroundColor")


def _style(part: Locator, name: str) -> str:
    found: str = part.evaluate("(part, name) => getComputedStyle(part)[name]", name)
    return found

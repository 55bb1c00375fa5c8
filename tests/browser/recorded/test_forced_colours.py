"""Where somebody reads with colours of his own, the cloth can still be read, and what is chosen is seen to be."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE


def test_cloth_and_choices_are_seen(new_context: NewContext, screenshot: Screenshot) -> None:
    page = new_context(forced_colors="active").new_page()
    table = TablePage(page, TABLE).open()
    screenshot(page, "forced-colours")
    # Its lines are drawn for the green that they lie on.
    assert "gradient" in _style(page.locator(".roulette-felt"), "backgroundImage")
    chosen, other = (table.part(f"neighbours-{count}") for count in (2, 4))
    expect(chosen).to_have_attribute("aria-pressed", "true")
    assert _style(chosen, "backgroundColor") != _style(other, "backgroundColor")


def _style(part: Locator, name: str) -> str:
    found: str = part.evaluate("(part, name) => getComputedStyle(part)[name]", name)
    return found

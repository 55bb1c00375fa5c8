"""Several tables in tabs: switching between them, and the mark of the one whose turn it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driver.navigation import choose_language
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.platform import Directed, PokerPlatform
from tests.browser.recorded.poker.test_acting import demo_table, violations
from tools import web

CALL = "data-call"


def at_two_tables(page: Page, platform: PokerPlatform) -> tuple[FeltPage, FeltPage]:
    """Sits down at two tables; the second one is on the screen."""
    first, second = (FeltPage(page, demo_table(platform)) for _ in range(2))
    first.open()
    expect(first.part("table-tabs")).to_have_count(0)
    page.evaluate("address => { location.hash = address; }", f"#/table/{second.table.table_id}")
    expect(tab(second, first.table)).to_be_visible()
    return first, second


def tab(felt: FeltPage, table: Directed) -> Locator:
    """The tab of a table."""
    return felt.page.locator(f'[data-testid="table-tab"][data-table="{table.table_id}"]')


@pytest.mark.rule("806/2015:9")
def test_the_tab_of_the_table_whose_turn_it_is_is_marked(desktop: Page, platform: PokerPlatform) -> None:
    first, second = at_two_tables(desktop, platform)
    expect(tab(second, second.table)).to_have_attribute("aria-current", "page")
    first.table.do(lambda at: at.deal())
    expect(tab(second, first.table)).to_have_attribute(CALL, "")
    first.play("c c c c")
    expect(tab(second, first.table)).to_have_attribute(CALL, "turn")
    expect(tab(second, first.table)).to_contain_text("é a sua vez")
    expect(second.part("tabs-said")).to_have_text("É a sua vez: Mesa de ensaio")
    # There the question waits, and the mark has gone.
    tab(second, first.table).click()
    expect(first.part("asked")).to_be_visible()
    expect(tab(first, first.table)).to_have_attribute(CALL, "")
    expect(tab(first, first.table)).to_have_attribute("aria-current", "page")
    first.part("act-call").click()
    expect(first.part("asked")).to_have_count(0)
    # The other table goes on, and calls in its turn.
    second.table.do(lambda at: at.deal())
    second.play("c c c c")
    expect(tab(first, second.table)).to_have_attribute(CALL, "turn")
    second.table.do(lambda at: at.act("t"))
    expect(tab(first, second.table)).to_have_attribute(CALL, "")


def test_by_keyboard_and_with_the_lobby_between(desktop: Page, platform: PokerPlatform) -> None:
    first, second = at_two_tables(desktop, platform)
    tab(second, first.table).focus()
    desktop.keyboard.press("Enter")
    expect(tab(first, first.table)).to_have_attribute("aria-current", "page")
    expect(desktop.locator("h1")).to_be_focused()
    first.part("to-lobby").first.click()
    expect(desktop.get_by_test_id("table-tabs")).to_have_count(0)
    desktop.go_back()
    expect(tab(first, second.table)).to_be_visible()


@pytest.mark.parametrize("language", ["PT", "EN"])
@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
def test_the_tabs_are_whole_and_accessible(
    desktop_open: Page, platform: PokerPlatform, language: str, size: tuple[int, int]
) -> None:
    page = desktop_open
    page.set_viewport_size({"width": size[0], "height": size[1]})
    first, second = at_two_tables(page, platform)
    choose_language(page, language)
    first.table.do(lambda at: at.deal())
    first.play("c c c c")
    expect(tab(second, first.table)).to_contain_text("é a sua vez" if language == "PT" else "your turn")
    page.add_script_tag(path=web.PACKAGES / "axe-core" / "axe.min.js")
    assert violations(page) == []
    for one in (first.table, second.table):
        box = tab(second, one).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["x"] + box["width"] <= size[0]
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")

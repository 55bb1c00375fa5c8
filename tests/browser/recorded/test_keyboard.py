"""A keyboard is enough from the lobby to a result, and into and out of every dialog; the focus is always visible."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import DRAWN, TABLE

_TABS_LIMIT = 80
# Where the focus is, and whether it is visible: on the element itself, or on its picture.
_FOCUS = """
() => {
  const at = document.activeElement;
  if (!at || at === document.body) return { on: "", seen: false };
  const drawn = [at, at.closest("label"), at.querySelector("path")].filter(Boolean);
  const outlined = drawn.some((one) => {
    const { outlineStyle, outlineWidth, stroke } = getComputedStyle(one);
    const line = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    // What belongs to a picture is not outlined but drawn in the colour of focus.
    return line || (one instanceof SVGElement && stroke === "rgb(255, 224, 138)");
  });
  const box = (at.closest("label") ?? at).getBoundingClientRect();
  const there = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { on: at.dataset.testid ?? at.tagName, seen: at.matches(":focus-visible") && outlined && there };
}
"""


def test_a_round_from_the_lobby_to_its_result(desktop: Page, screenshot: Screenshot) -> None:
    page = desktop
    page.goto("/")
    expect(page.get_by_test_id("play-now")).to_be_visible()
    _tab_to(page, "play-now")
    page.keyboard.press("Enter")
    table = TablePage(page, "")
    table.wait_until_playable()
    _tab_to(page, "chip-100")
    page.keyboard.press("ArrowRight")
    assert _focus(page) == "chip-200"
    expect(table.part("unit")).to_have_text("2 créditos")
    _tab_to(page, "place-", backwards=True)
    _go_to(page, "place-17")
    screenshot(page, "keyboard-on-the-board")
    expect(table.part("pointed")).to_contain_text("Pleno 17")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    table.expect_confirmed_chips({"17": 400})
    page.keyboard.press("Delete")
    table.expect_confirmed_chips({"17": 200})
    assert _focus(page) == "place-17"
    _tab_to(page, "spin")
    page.keyboard.press("Enter")
    called = table.part("outcome-called")
    expect(called).to_have_attribute("data-verdict", re.compile("won|lost"))
    expect(called).to_have_role("status")
    expect(called).to_contain_text(DRAWN)
    assert _focus(page) == "spin"


@pytest.mark.parametrize("what", ["rules", "last", "history", "complaint", "leave"])
def test_a_dialog_keeps_the_focus_and_gives_it_back(desktop: Page, what: str) -> None:
    page = desktop
    TablePage(page, TABLE).open()
    opener = "leave" if what == "leave" else f"open-{what}"
    page.get_by_test_id(opener).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        # Between the last and the first element the browser's own bar has its turn.
        assert page.evaluate(
            "() => document.activeElement.closest('dialog') || document.activeElement === document.body"
        )
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_test_id(opener)).to_be_focused()
    assert _focus(page) == opener


def test_a_menu_closes_on_escape_and_gives_the_focus_back(portrait: Page) -> None:
    page = portrait
    TablePage(page, TABLE).open()
    more = page.get_by_test_id("table-more")
    more.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("menu-rules")).to_be_visible()
    _tab_to(page, "menu-rules")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("menu-rules")).to_have_count(0)
    expect(more).to_be_focused()
    assert _focus(page) == "table-more"
    # A dialog that a menu opened gives it back to the menu's button.
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("menu-rules")).to_be_visible()
    _tab_to(page, "menu-rules")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("rules")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("rules")).to_have_count(0)
    expect(more).to_be_focused()
    assert _focus(page) == "table-more"


@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_single_letters_can_be_switched_off_and_stay_off(
    new_context: NewContext, screenshot: Screenshot, device: str
) -> None:
    """A player who dictates launches no ball by a word (WCAG 2.1.4)."""
    page = new_context(device).new_page()
    table = TablePage(page, TABLE).open()
    menu = page.get_by_test_id("account-menu" if device == "desktop" else "table-more")
    menu.click()
    switch = page.get_by_test_id("letter-keys")
    expect(switch).to_have_role("switch")
    expect(switch).to_be_checked()
    switch.click()
    expect(switch).not_to_be_checked()
    screenshot(page, f"letter-keys-{device}")
    page.keyboard.press("Escape")
    page.reload()
    table.wait_until_playable()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spot("red").focus()
    for letter in "drl":
        page.keyboard.press(letter)
    # Enter is no letter; its bet follows all that the letters did.
    page.keyboard.press("Enter")
    table.expect_confirmed_chips({"red": 200})
    expect(table.roulette).to_have_attribute("data-stage", "quiet")
    menu.click()
    switch.click()
    page.keyboard.press("Escape")
    table.spot("red").focus()
    page.keyboard.press("d")
    table.expect_confirmed_chips({"red": 400})


def test_the_content_can_be_reached_at_once(desktop: Page) -> None:
    desktop.goto("/")
    expect(desktop.get_by_test_id("play-now")).to_be_visible()
    desktop.keyboard.press("Tab")
    expect(desktop.get_by_role("link", name="Saltar para o conteúdo")).to_be_focused()
    desktop.keyboard.press("Enter")
    desktop.keyboard.press("Tab")
    expect(desktop.get_by_test_id("play-now")).to_be_focused()


def _focus(page: Page) -> str:
    """Returns where the focus is, which has to be visible."""
    found = page.evaluate(_FOCUS)
    assert found["seen"], found
    on: str = found["on"]
    return on


def _tab_to(page: Page, test_id: str, *, backwards: bool = False) -> None:
    """Moves by the tab key alone; the focus is never lost on the way."""
    for _ in range(_TABS_LIMIT):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        if _focus(page).startswith(test_id):
            return
    raise AssertionError(f"no tab leads to {test_id}")


def _go_to(page: Page, place: str) -> None:
    """Moves on the board by the arrow keys: along, then across."""
    for key in ["ArrowRight"] * 30 + ["ArrowUp"] * 8 + ["ArrowDown"] * 8:
        if _focus(page) == place:
            return
        page.keyboard.press(key)
    assert _focus(page) == place

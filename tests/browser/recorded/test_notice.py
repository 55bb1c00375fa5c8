"""The notice over the board takes every tap on itself, closes by a tap, and hides places only while it is read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE

CHIP = 2500
SMALL = {"width": 360, "height": 640}
TOO_MUCH = "O máximo nesta posição é de 30 créditos"


def _refused(table: TablePage, place: str = "17") -> None:
    """A chip on a number, and a second one there, which would be above its maximum; other places would take it."""
    table.choose_chip(CHIP)
    table.place_chips(place)
    table.expect_confirmed_chips({place: CHIP})
    table.place_chips(place)
    expect(table.part("message")).to_contain_text(TOO_MUCH)


def _keep_open(table: TablePage) -> None:
    """Keeps the notice for as long as the test looks: what has the focus does not close by itself."""
    table.part("message-close").focus()


def _hidden(table: TablePage) -> dict[str, tuple[float, float]]:
    """The places whose chips lie beneath the notice."""
    box = table.part("message").locator(".notice").bounding_box()
    assert box is not None
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return {
        place: (x, y)
        for place, (x, y) in table.chip_positions().items()
        if box["x"] < x < right and box["y"] < y < bottom
    }


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (844, 390), (667, 375)])
def test_a_tap_on_it_closes_it_and_bets_nothing(
    new_context: NewContext, screenshot: Screenshot, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}).new_page()
    table = TablePage(page, TABLE).open()
    _refused(table)
    _keep_open(table)
    screenshot(page, f"notice-{width}x{height}")
    box = table.part("message").locator(".notice").bounding_box()
    assert box is not None
    # Where a place is hidden, if one is; else in the middle of its words.
    x, y = next(iter(_hidden(table).values()), (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    page.touchscreen.tap(x, y)
    expect(table.part("message")).to_be_empty()
    assert table.chips() == {"17": CHIP}
    table.expect_confirmed_chips({"17": CHIP})


def test_a_place_that_it_hid_takes_a_bet_once_it_is_closed(new_context: NewContext, screenshot: Screenshot) -> None:
    """The chip that was chosen could be paid for where the tap falls: nothing but the notice keeps it from counting."""
    page = new_context("portrait", viewport=SMALL).new_page()
    table = TablePage(page, TABLE).open()
    table.choose_chip(10_000)
    table.place_chips("red", 4)
    table.place_chips("even", 4)
    felt = {"red": 40_000, "even": 40_000}
    table.expect_confirmed_chips(felt)
    table.choose_chip(CHIP)
    table.part("turn-track").tap()
    table.part("call-voisins").locator("text").tap()
    expect(table.part("message")).to_contain_text(
        "O saldo não chega: precisa de 225 créditos e tem 200 créditos livres"
    )
    # By keyboard: the notice lies over the button too.
    table.part("turn-track").focus()
    page.keyboard.press("Enter")
    _keep_open(table)
    screenshot(page, "notice-over-places")
    x, y = _hidden(table)["column-2"]
    page.touchscreen.tap(x, y)
    expect(table.part("message")).to_be_empty()
    assert table.chips() == felt
    page.touchscreen.tap(x, y)
    table.expect_confirmed_chips({**felt, "column-2": CHIP})


def test_the_tap_that_brings_it_up_does_not_close_it(new_context: NewContext) -> None:
    """The refused place lies where the notice comes up, beneath the finger."""
    page = new_context("portrait", viewport=SMALL).new_page()
    table = TablePage(page, TABLE).open()
    table.choose_chip(50_000)
    table.place_chips("red")
    table.place_chips("black")
    table.expect_confirmed_chips({"red": 50_000, "black": 50_000})
    table.choose_chip(100)
    page.touchscreen.tap(*table.chip_positions()["column-2"])
    # Playwright has waited for the tap: had its click closed the notice, there would be none.
    _keep_open(table)
    assert "O saldo não chega" in table.part("message").inner_text()
    assert "column-2" in _hidden(table)
    assert table.chips() == {"red": 50_000, "black": 50_000}


def test_choosing_a_chip_closes_it(portrait: Page) -> None:
    table = TablePage(portrait, TABLE).open()
    _refused(table)
    # It lasts for seconds without the choice, which closes it at once, however late the test looks.
    _keep_open(table)
    table.choose_chip(500)
    assert table.part("message").inner_text() == ""
    assert table.chips() == {"17": CHIP}


def test_by_keyboard_it_is_reached_and_closed_and_leads_back(desktop: Page) -> None:
    table = TablePage(desktop, TABLE).open()
    _refused(table)
    table.part("open-list").focus()
    desktop.keyboard.press("Tab")
    close = table.part("message-close")
    expect(close).to_be_focused()
    expect(close).to_have_accessible_name("Fechar este aviso")
    desktop.keyboard.press("Enter")
    expect(table.part("message")).to_be_empty()
    expect(table.part("open-list")).to_be_focused()
    table.place_chips("17")
    expect(table.part("message")).to_contain_text(TOO_MUCH)
    desktop.keyboard.press("Escape")
    expect(table.part("message")).to_be_empty()
    assert table.chips() == {"17": CHIP}

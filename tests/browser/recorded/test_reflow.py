"""Enlarged four times, and on a screen of 320 × 256, the table stacks up and scrolls one way only (WCAG 1.4.10)."""

from __future__ import annotations

from itertools import combinations

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE

PARTS = ("phase", "wheel", "board", "turn-track", "open-list", "pointed", "staked", "undo", "repeat", "spin")


@pytest.mark.parametrize(("width", "height"), [(360, 225), (320, 256), (480, 270)])
def test_a_round_on_an_enlarged_screen(
    new_context: NewContext, screenshot: Screenshot, width: int, height: int
) -> None:
    page = new_context(viewport={"width": width, "height": height}).new_page()
    table = TablePage(page, TABLE).open()
    _scrolls_one_way(page, width)
    _parts_stand_apart(page)
    # A chip is put where the finger is: all of the board is large enough for it, once it is in view.
    spot = table.spot("red")
    spot.scroll_into_view_if_needed()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    table.expect_stage("paid")
    called = table.part("outcome-called")
    expect(called).not_to_be_empty()
    _apart(page, "outcome-called", "board")
    _apart(page, "outcome-called", "tray")
    _scrolls_one_way(page, width)
    called.scroll_into_view_if_needed()
    screenshot(page, f"reflow-{width}-{height}")
    for address in ("/#/", "/#/account/rounds"):
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        _scrolls_one_way(page, width)


def _scrolls_one_way(page: Page, width: int) -> None:
    page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)


def _parts_stand_apart(page: Page) -> None:
    boxes = {part: _box(page, part) for part in PARTS}
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert not _overlap(a, b), f"{one} {a} lies over {other} {b}"
    board = boxes["board"]
    assert board["height"] > 400, "a board that is no strip"
    for part in ("turn-track", "open-list"):
        page.get_by_test_id(part).click(trial=True)


def _apart(page: Page, one: str, other: str) -> None:
    assert not _overlap(_box(page, one), _box(page, other)), f"{one} lies over {other}"


def _box(page: Page, part: str) -> FloatRect:
    box = page.get_by_test_id(part).bounding_box()
    assert box is not None, f"{part} is not to be seen"
    return box


def _overlap(a: FloatRect, b: FloatRect) -> bool:
    apart_x = a["x"] + a["width"] <= b["x"] + 0.5 or b["x"] + b["width"] <= a["x"] + 0.5
    apart_y = a["y"] + a["height"] <= b["y"] + 0.5 or b["y"] + b["height"] <= a["y"] + 0.5
    return not (apart_x or apart_y)

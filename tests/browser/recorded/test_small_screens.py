"""On small phones, either way up: the main action in sight, nothing cut, words that can be read, nothing that jumps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import TABLE

Size = tuple[int, int]
# A phone on its side, what a browser's own bars leave of it, and the smallest one that is sold second-hand.
LANDSCAPES: list[Size] = [(667, 375), (667, 331), (568, 320)]
SMALL: list[Size] = [(360, 640), (667, 375)]
BOXES = ["red", "black", "even", "odd", "low", "high", "dozen-1", "dozen-2", "dozen-3", "column-1", "column-2"]
LEAST_LETTER_PX = 8.5
# The share of a box's words that its own chip may cover.
COVERED_PART = 0.25

# Parts that can be pressed but are not wholly on the screen and within the cloth or the tray, and words cut off.
_CUT = """
() => {
  const within = (box, frame) => box.left >= frame.left - 1 && box.top >= frame.top - 1
    && box.right <= frame.right + 1 && box.bottom <= frame.bottom + 1;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const cut = [];
  const name = (part) => `${part.dataset.testid ?? part.className} ${part.textContent.trim().slice(0, 30)}`;
  for (const part of document.querySelectorAll("button, a[href], label, .track-pocket, .track-area, dd, legend")) {
    const box = part.getBoundingClientRect();
    if (!box.width || part.closest(".unseen, .skip, dialog, [data-testid=toasts]")) continue;
    const frame = part.closest(".roulette-felt, .tray")?.getBoundingClientRect() ?? screen;
    if (!within(box, screen) || !within(box, frame)) cut.push(name(part));
  }
  for (const part of document.querySelectorAll(
    ".table-bar-name > *, .roulette-pointed, .roulette-past, .roulette-clock, .tray-totals *, .tray .button"
  )) {
    if (getComputedStyle(part).display === "inline") continue;
    if (part.scrollWidth > part.clientWidth + 1) cut.push(`too wide: ${name(part)}`);
    if (part.scrollHeight > part.clientHeight + 2) cut.push(`too high: ${name(part)}`);
  }
  return cut;
}
"""
# The racetrack's areas whose name does not lie wholly within them.
_CROSSED = """
(track) => [...track.querySelectorAll(".track-area")].filter((area) => {
  const path = area.querySelector("path");
  const back = path.getScreenCTM().inverse();
  return [...area.querySelectorAll("tspan")].some((line) => {
    const count = line.getNumberOfChars();
    const text = line.textContent.trimEnd();
    const at = area.querySelector("text").getScreenCTM();
    return [...text].some((_, index) => {
      if (index >= count) return false;
      const letter = line.getExtentOfChar(index);
      // Without the room that a line has above and below its letters.
      const [top, bottom] = [letter.y + letter.height * 0.25, letter.y + letter.height * 0.8];
      return [[letter.x, top], [letter.x + letter.width, top], [letter.x, bottom], [letter.x + letter.width, bottom]]
        .some(([x, y]) => !path.isPointInFill(new DOMPoint(x, y).matrixTransform(at).matrixTransform(back)));
    });
  });
}).map((area) => area.dataset.call)
"""
_LETTERS = """
(board) => [...board.querySelectorAll(".cell-words")].map((words) =>
  [words.textContent, Number.parseFloat(getComputedStyle(words).fontSize)])
"""
# How much of its box's words a chip covers.
_COVERED = """
([board, place]) => {
  const words = board.querySelector(`[data-cell="${place}"] .cell-words`).getBoundingClientRect();
  const chip = board.querySelector(`[data-own="${place}"] .chip-body`).getBoundingClientRect();
  const overlap = (from, to, least, most) => Math.max(0, Math.min(to, most) - Math.max(from, least));
  return overlap(words.left, words.right, chip.left, chip.right)
    * overlap(words.top, words.bottom, chip.top, chip.bottom) / (words.width * words.height);
}
"""


def _phone(new_context: NewContext, size: Size, table: str = TABLE, **more: object) -> TablePage:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}, **more).new_page()
    return TablePage(page, table).open()


def _box(part: Locator) -> tuple[float, float, float, float]:
    """Left, top, right, bottom."""
    box = part.bounding_box()
    assert box is not None
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


@pytest.mark.parametrize("size", LANDSCAPES)
def test_the_ball_can_be_launched_on_the_lowest_screens(
    new_context: NewContext, screenshot: Screenshot, size: Size
) -> None:
    table = _phone(new_context, size)
    width, height = size
    for part in ["spin", "undo", "clear", "repeat", "double", *(f"chip-{cents}" for cents in (100, 1000, 50000))]:
        shown = table.part(part)
        left, top, right, bottom = _box(shown.locator("xpath=..") if part.startswith("chip") else shown)
        assert min(left, top) >= 0, part
        assert right <= width, part
        assert bottom <= height, part
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    screenshot(table.page, f"small-{width}x{height}")
    left, top, right, bottom = _box(table.part("spin"))
    assert min(left, top) >= 0
    assert right <= width
    assert bottom <= height
    assert bottom - top >= 36
    table.page.touchscreen.tap((left + right) / 2, bottom - 4)
    table.expect_stage("rolling", "marked", "collected", "paid")


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("size", [(360, 640), (390, 844), (844, 390), *LANDSCAPES])
def test_nothing_is_cut(new_context: NewContext, screenshot: Screenshot, size: Size) -> None:
    table = _phone(new_context, size)
    width, height = size
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    assert table.page.evaluate(_CUT) == []
    # The longest description there is.
    table.part("turn-track").tap()
    table.part("call-voisins").locator("text").hover()
    expect(table.part("pointed")).to_contain_text("0, 2, 3, 4, 7, 12, 15, 18, 19, 21, 22, 25, 26, 28, 29, 32, 35")
    expect(table.part("pointed")).to_contain_text("conforme o número")
    screenshot(table.page, f"small-track-{width}x{height}")
    assert table.page.evaluate(_CUT) == []
    assert table.part("racetrack").evaluate(_CROSSED) == []


@pytest.mark.parametrize("size", SMALL)
def test_the_words_of_the_cloth_can_be_read_and_chips_leave_them_free(
    new_context: NewContext, screenshot: Screenshot, size: Size
) -> None:
    table = _phone(new_context, size, "american-00-solo-demo")
    letters = table.part("board").evaluate(_LETTERS)
    assert len(letters) == 12
    assert [(words, px) for words, px in letters if px < LEAST_LETTER_PX] == []
    for place in BOXES:
        table.place_chips(place)
    table.expect_confirmed_chips(dict.fromkeys(BOXES, 100))
    screenshot(table.page, f"small-boxes-{size[0]}x{size[1]}")
    board = table.part("board").element_handle()
    covered = {place: table.page.evaluate(_COVERED, [board, place]) for place in BOXES}
    assert {place: part for place, part in covered.items() if part > COVERED_PART} == {}


@pytest.mark.parametrize("size", [(390, 844), (360, 640)])
def test_the_result_covers_the_wheel_and_the_numbers_behind_it(
    new_context: NewContext, screenshot: Screenshot, size: Size
) -> None:
    table = _phone(new_context, size, reduced_motion="reduce")
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    wheel = _box(table.wheel)
    table.spin()
    table.expect_stage("paid")
    plaque = _box(table.page.locator(".outcome-plaque"))
    screenshot(table.page, f"small-result-{size[0]}x{size[1]}")
    for behind in (wheel, _box(table.part("last-numbers").locator("li").first)):
        covers = [plaque[0] <= behind[0], plaque[1] <= behind[1], plaque[2] >= behind[2], plaque[3] >= behind[3]]
        assert all(covers), (plaque, behind)


def test_neither_the_first_bet_nor_the_first_result_moves_anything(new_context: NewContext) -> None:
    page = new_context("desktop", reduced_motion="reduce").new_page()
    table = TablePage(page, "american-solo-demo").open()
    chips = page.get_by_test_id("chip-100").locator("xpath=../..")
    before = _box(chips), _box(table.wheel), _box(table.part("board"))
    table.choose_chip(50000)
    table.place_chips("red")
    table.place_chips("black")
    table.expect_confirmed_chips({"red": 50_000, "black": 50_000})
    assert (_box(chips), _box(table.wheel), _box(table.part("board"))) == before
    table.spin()
    table.expect_stage("paid")
    assert table.last_numbers()
    assert (_box(chips), _box(table.wheel), _box(table.part("board"))) == before


def test_the_chosen_chip_is_grey_too_once_it_exceeds_the_balance(desktop: Page) -> None:
    table = TablePage(desktop, "american-solo-demo").open()
    table.choose_chip(50000)
    face = table.part("chip-50000").locator("xpath=../*[name()='svg']")
    bright = face.evaluate("(face) => getComputedStyle(face).filter")
    table.place_chips("red")
    table.place_chips("black")
    table.expect_confirmed_chips({"red": 50_000, "black": 50_000})
    expect(table.part("chip-50000")).to_be_checked()
    # The balance may be told after the chips are confirmed.
    expect(face).to_have_css("filter", re.compile("saturate"))
    grey = face.evaluate("(face) => getComputedStyle(face).filter")
    assert grey != bright
    assert grey == table.part("chip-100").locator("xpath=../*[name()='svg']").evaluate(
        "(face) => getComputedStyle(face).filter"
    )

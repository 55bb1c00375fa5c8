"""Every text of a place on the roulette table lies within its place, on any phone, in any language and typeface."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.table_page import TablePage

PHONES = [(320, 568), (360, 640), (390, 844), (414, 896)]
# Boards with one zero and with two; the first has a racetrack too.
POCKETS = 37
TABLES = ("french-solo-demo", "american-00-solo-demo")
LANDSCAPES = [(568, 320), (667, 375), (844, 390)]
# Between a text and the line around its place.
LEAST_GAP_PX = 1
# Devices bring their own letters: those of a typewriter are the widest.
TYPEFACES = ["", '"DejaVu Serif"', '"Liberation Mono", monospace']

# The texts of a board that leave their box, or come nearer to its line than the gap: by how many pixels, on each side.
_OUTSIDE_BOXES = """
(board, gap) => [...board.querySelectorAll("[data-cell]")].flatMap((cell) => {
  const ground = cell.querySelector(".cell-ground");
  const shape = ground.getBBox();
  const at = ground.getScreenCTM();
  const from = new DOMPoint(shape.x, shape.y).matrixTransform(at);
  const to = new DOMPoint(shape.x + shape.width, shape.y + shape.height).matrixTransform(at);
  const line = Number.parseFloat(getComputedStyle(ground).strokeWidth) / 2 + gap;
  return [...cell.querySelectorAll("text, tspan")].flatMap((text) => {
    const box = text.getBoundingClientRect();
    if (!box.width) return [];
    const out = {
      left: from.x + line - box.left, top: from.y - box.top, right: box.right - to.x + line, bottom: box.bottom - to.y,
    };
    return Object.values(out).some((by) => by > 0.01) ? [[cell.dataset.cell, text.textContent, out]] : [];
  });
})
"""
# The texts of the racetrack of which a letter's corner leaves its place.
_OUTSIDE_TRACK = """
(track) => [...track.querySelectorAll(".track-area, .track-pocket")].flatMap((place) => {
  const path = place.querySelector("path");
  const text = place.querySelector("text");
  const toPath = path.getScreenCTM().inverse().multiply(text.getScreenCTM());
  const lines = [...text.querySelectorAll("tspan")];
  return (lines.length ? lines : [text]).flatMap((line) => {
    const letters = [...line.textContent.trimEnd()].map((_, index) => line.getExtentOfChar(index));
    const crosses = letters.some(({ x, y, width, height }) => {
      // Without the room that a line has above and below its letters.
      const [top, bottom] = [y + height * 0.25, y + height * 0.8];
      return [[x, top], [x + width, top], [x, bottom], [x + width, bottom]]
        .some(([px, py]) => !path.isPointInFill(new DOMPoint(px, py).matrixTransform(toPath)));
    });
    return crosses ? [[place.dataset.call, line.textContent]] : [];
  });
})
"""


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("typeface", TYPEFACES, ids=["usual", "wide", "widest"])
@pytest.mark.parametrize("size", [*PHONES, *LANDSCAPES], ids=lambda size: "x".join(map(str, size)))
def test_every_text_lies_within_its_place(
    new_context: NewContext, screenshot: Screenshot, size: tuple[int, int], typeface: str
) -> None:
    width, height = size
    context = new_context("portrait", viewport={"width": width, "height": height})
    if typeface:
        context.add_init_script(
            "document.addEventListener('DOMContentLoaded', () =>"
            f" document.documentElement.style.setProperty('--serif', `{typeface}`))"
        )
    page = context.new_page()
    outside = []
    for table_id in TABLES:
        table = TablePage(page, table_id).open()
        for language in ("PT", "EN"):
            choose_language(page, language)
            name = f"{table_id}-{language}-{width}x{height}-{TYPEFACES.index(typeface)}"
            screenshot(page, f"labels-{name}")
            outside += [(name, *found) for found in table.part("board").evaluate(_OUTSIDE_BOXES, LEAST_GAP_PX)]
            if table_id == TABLES[0]:
                table.part("turn-track").tap()
                expect(page.locator(".track-pocket")).to_have_count(POCKETS)
                screenshot(page, f"labels-track-{name}")
                outside += [(name, *found) for found in table.part("racetrack").evaluate(_OUTSIDE_TRACK)]
                table.part("turn-track").tap()
    assert outside == [], "\n".join(map(str, outside))

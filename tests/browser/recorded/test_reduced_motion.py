"""With reduced motion nothing moves, and everything is still shown."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.driver.page_clock import install_stoppable_clock, stopped_clock
from tests.browser.driver.recording import record_pages, recording_of
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded.platform import DRAWN, TABLE

# Each frame of the page, from now on: what is in motion, and how the wheel stands. What only fades does not move.
_WATCH = """
() => {
  window.moved = new Set();
  window.stood = new Set();
  const FADES = new Set(["offset", "computedOffset", "easing", "composite", "opacity"]);
  const look = () => {
    for (const { effect } of document.getAnimations()) {
      const { duration, iterations } = effect.getComputedTiming();
      const moves = effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !FADES.has(name)));
      // The design's own durations become a hundredth of a millisecond.
      if (iterations === Infinity || (moves && duration > 1)) window.moved.add(effect.target.getAttribute("class"));
    }
    const rotor = document.querySelector("[data-testid=wheel] .wheel-rotor");
    if (rotor) window.stood.add(getComputedStyle(rotor).transform);
    requestAnimationFrame(look);
  };
  look();
}
"""


def test_a_round_in_which_nothing_moves(new_context: NewContext) -> None:
    context = new_context(reduced_motion="reduce")
    record_pages(context)
    install_stoppable_clock(context)
    page = context.new_page()
    page.goto("/")
    page.evaluate(_WATCH)
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    table = TablePage(page, TABLE)
    page.evaluate("(address) => { location.hash = address; }", f"#/table/{table.listed_id}")
    table.wait_until_playable()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.record_stages()
    # Without motion the ball rests after half a second: an outcome that has come later rests already.
    with stopped_clock(page):
        table.spin()
        table.expect_recorded_stage("rolling")
    called = table.part("outcome-called")
    expect(called).to_have_attribute("data-verdict", re.compile("won|lost"))
    expect(called.locator(".outcome-number")).to_have_text(DRAWN)
    expect(table.part("marker")).to_have_attribute("data-number", DRAWN)
    table.expect_stage("paid")
    assert page.evaluate("() => [...window.moved]") == []
    assert page.evaluate("() => window.stood.size") == 1
    assert recording_of(page).stages() == ["quiet", "rolling", "marked", "collected", "paid"]

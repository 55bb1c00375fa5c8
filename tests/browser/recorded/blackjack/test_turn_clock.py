"""The time to decide cannot be missed; at an individual table the hand waits, and says until when."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.driver.navigation import open_panel
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform

# The sounds that the page has begun: their oscillators' pitches.
_SOUNDS = """
() => {
  window.pitches = [];
  const plain = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...at) {
    window.pitches.push(Math.round(this.frequency.value));
    return plain.apply(this, at);
  };
}
"""


def test_the_own_turn_has_a_ring_and_its_seconds(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 5h 9d", individual=False, places=7, seat=3)
    felt = FeltPage(desktop, table).open().bet(3)
    table.do(lambda at: at.close())
    clock = felt.part("decision-clock")
    expect(clock).to_be_visible()
    first = int(clock.get_attribute("data-seconds") or 0)
    assert 0 < first <= 90
    expect(clock).not_to_have_attribute("data-seconds", str(first))
    assert int(clock.get_attribute("data-seconds") or 0) < first
    expect(felt.part("phase")).to_contain_text("É a sua vez")
    expect(felt.part("place-3").locator(".turn-ring.own")).to_be_visible()
    expect(felt.part("asked")).to_contain_text("A sua vez – lugar 3")


def test_the_own_turn_and_its_last_seconds_are_heard(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 5h 9d", individual=False, places=7, seat=3, decision_ms=8000)
    felt = FeltPage(desktop, table).open().bet(3)
    desktop.evaluate(_SOUNDS)
    table.do(lambda at: at.close())
    expect(felt.part("asked")).to_be_visible()
    assert 784 in desktop.evaluate("() => window.pitches")
    # A knock of a second that runs.
    desktop.wait_for_function("() => window.pitches.filter((pitch) => pitch === 930).length >= 2")


def test_when_the_time_is_over_the_default_is_taken_and_recorded_so(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 6h 9d", individual=False, places=7, seat=3)
    felt = FeltPage(desktop, table).open().bet(3)
    table.do(lambda at: at.close())
    expect(felt.part("asked")).to_be_visible()
    table.do(lambda at: at.run_out())
    felt.expect_stage("result")
    expect(felt.part("asked")).to_have_count(0)
    open_panel(desktop, "last")
    decisions = felt.part("told-decisions").locator("li")
    expect(decisions).to_have_count(1)
    expect(decisions).to_have_attribute("data-decision", "DECISION_STAND")
    expect(decisions).to_contain_text("ficou")
    expect(decisions).to_contain_text("pelo relógio: o tempo acabou")


def test_an_individual_hand_waits_and_says_until_when(new_context: NewContext, platform: BlackjackPlatform) -> None:
    page = new_context("portrait").new_page()
    felt = FeltPage(page, platform.table("Ts 7c 5h 9d")).open().play()
    expect(felt.part("decision-clock")).to_have_count(0)
    until = felt.part("open-until")
    expect(until).to_contain_text("Sem pressa: a mão fica aberta até")
    expect(until).to_contain_text("Depois decide-se pelas regras publicadas")

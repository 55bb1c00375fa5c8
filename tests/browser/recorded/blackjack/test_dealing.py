"""Cards are dealt one at a time, in the order of the rules, and none is in the page before it may be seen."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from feltro.table.v1 import types_pb2
from services.blackjack.engine import Decision, Move
from tests.browser.conftest import NewContext
from tests.browser.driver.recording import record_pages, recording_of
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform

# Each change of a hand, in the order in which the page shows it.
_WATCH = """
() => {
  window.hands = [];
  const before = new Map();
  const look = () => {
    for (const hand of document.querySelectorAll("[data-testid=bank], [data-testid^=hand-]")) {
      const { testid, cards } = hand.dataset;
      if (cards && before.get(testid) !== cards) window.hands.push(`${testid} ${cards}`.trim());
      before.set(testid, cards);
    }
  };
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, attributes: true, attributeFilter: ["data-cards"],
  });
}
"""
# The names of all cards that are drawn, and all that stands in the page, in attributes and texts.
_CARDS = "() => [...document.querySelectorAll('.playing-card')].map((card) => card.dataset.card).filter(Boolean)"
_MOVES = """
() => {
  window.moved = [];
  const FADES = new Set(["offset", "computedOffset", "easing", "composite", "opacity"]);
  const look = () => {
    for (const { effect } of document.getAnimations()) {
      const { duration, iterations } = effect.getComputedTiming();
      const moves = effect.getKeyframes().some((frame) =>
        Object.keys(frame).some((name) => !FADES.has(name) && frame[name] !== "none"));
      if (iterations === Infinity || (moves && duration > 1)) window.moved.push(effect.target.getAttribute("class"));
    }
    requestAnimationFrame(look);
  };
  look();
}
"""


@pytest.mark.rule("805/2015:3", "805/2015:14.a", "805/2015:14.b", "805/2015:17")
def test_cards_come_in_the_order_of_the_rules(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 9d 7c 5h 8h Qs 2d 4s", individual=False, places=7, seat=2, dealing_ms=120)
    felt = FeltPage(desktop, table).open()
    table.do(lambda at: at.stake(5, {"5": 1000}))
    felt.bet(2)
    desktop.evaluate(_WATCH)
    table.do(lambda at: at.close())
    felt.decide("DRAW")
    felt.decide("STAND")
    expect(felt.hand(5)).to_have_class(re.compile("plays"))
    table.do(lambda at: at.act(5, Move(5, Decision.STAND), types_pb2.ACTED_BY_PLAYER))
    felt.expect_stage("result")
    # Each player and the bank, each player and the bank's hidden card; then each player's own; then the bank's.
    assert desktop.evaluate("() => window.hands") == [
        "hand-2-1 Ts",
        "hand-5-1 9d",
        "bank 7c",
        "hand-2-1 Ts 5h",
        "hand-5-1 9d 8h",
        "bank 7c",
        "hand-2-1 Ts 5h 2d",
        "bank 7c Qs",
    ]


def test_the_hidden_card_is_nowhere_before_it_is_shown(new_context: NewContext, platform: BlackjackPlatform) -> None:
    context = new_context("desktop")
    record_pages(context)
    page = context.new_page()
    felt = FeltPage(page, platform.table("Ts 7c 5h Jd 4s")).open().play()
    felt.decide("DRAW")
    felt.expect_cards("Ts 5h 4s")
    felt.expect_stage("playing")
    assert sorted(page.evaluate(_CARDS)) == ["4s", "5h", "7c", "Ts"]
    received = json.dumps([entry.content for entry in recording_of(page).entries])
    assert '"4s"' in received
    assert '"Jd"' not in received
    # The head names files whose names hold any letters.
    shown = page.locator("body").inner_html()
    assert "Jd" not in shown
    assert "valete de ouros" not in shown
    felt.decide("STAND")
    felt.expect_bank("7c Jd")


def test_a_card_lies_face_down_until_it_is_turned(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 9h Jd")).open().play()
    cards = felt.part("bank").locator(".playing-card")
    expect(cards).to_have_count(2)
    expect(cards.nth(1)).to_have_class(re.compile("card-down"))
    expect(felt.part("bank")).to_have_attribute("aria-label", "Banca: 7 de paus e carta virada para baixo; 7")
    felt.decide("STAND")
    expect(cards.nth(1)).to_have_class(re.compile("card-up"))
    expect(felt.part("bank")).to_have_attribute("aria-label", "Banca: 7 de paus e valete de ouros; 17")


def test_decisions_wait_for_the_cards(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 5h 9d", dealing_ms=500)).open().bet()
    desktop.evaluate(
        """() => {
          window.early = false;
          window.stages = [];
          new MutationObserver(() => {
            const asked = document.querySelector("[data-testid=asked]");
            const stage = document.querySelector("[data-testid=blackjack]").dataset.stage;
            if (asked && stage !== "playing") window.early = true;
            if (window.stages.at(-1) !== stage) window.stages.push(stage);
          }).observe(document, { subtree: true, childList: true, attributes: true });
        }"""
    )
    felt.deal()
    felt.expect_stage("playing")
    expect(felt.part("asked")).to_be_visible()
    assert desktop.evaluate("() => window.stages.slice(-2)") == ["dealing", "playing"]
    assert desktop.evaluate("() => window.early") is False


def test_with_reduced_motion_cards_come_and_nothing_moves(new_context: NewContext, platform: BlackjackPlatform) -> None:
    page = new_context("desktop", reduced_motion="reduce").new_page()
    felt = FeltPage(page, platform.table("Ts 7c 5h 9d 9s", dealing_ms=150)).open()
    page.evaluate(_MOVES)
    page.evaluate(_WATCH)
    felt.play()
    felt.decide("DRAW")
    felt.expect_stage("result")
    page.wait_for_timeout(2200)
    assert page.evaluate("() => [...new Set(window.moved)]") == []
    hands = page.evaluate("() => window.hands")
    assert hands[:4] == ["hand-1-1 Ts", "bank 7c", "hand-1-1 Ts 5h", "bank 7c"]

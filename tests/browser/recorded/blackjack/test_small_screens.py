"""On small phones hands can be read, however often they are split, and none lies on another, a bet or an amount."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from feltro.table.v1 import types_pb2
from services.blackjack.engine import Decision, Move
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform
from tests.browser.recorded.blackjack.table import ScriptedTable

PHONES = [(320, 568), (360, 640), (390, 844)]
# Hands with their scores, bets and insured amounts that lie on one another, and cards that are too small.
_UPON = """
() => {
  const box = (part, name) => ({ name, ...part.getBoundingClientRect().toJSON() });
  const hands = [...document.querySelectorAll(".player-hand")].map((hand) => {
    const cards = box(hand.querySelector(".hand-cards"), hand.dataset.testid);
    const score = hand.querySelector(".score")?.getBoundingClientRect() ?? cards;
    return { ...cards, top: Math.min(cards.top, score.top) };
  });
  const bets = [...document.querySelectorAll(".place-circle, .felt-insured")].map((part) =>
    box(part, part.dataset.testid));
  const bank = box(document.querySelector(".felt-bank .hand-cards"), "bank");
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const found = [];
  for (const [index, hand] of hands.entries()) {
    for (const other of [...hands.slice(index + 1), ...bets, bank]) {
      if (meet(hand, other)) found.push(`${hand.name} on ${other.name}`);
    }
    if (hand.left < 0 || hand.right > innerWidth) found.push(`${hand.name} is cut`);
  }
  return found;
}
"""
_OWN_CARD_PX = """
() => Math.min(...[...document.querySelectorAll(".felt-own .hand-card")].map((card) => card.offsetWidth))
"""

_UNDER_PLAQUE = """
() => {
  const plaque = document.querySelector(".result-plaque").getBoundingClientRect();
  return [...document.querySelectorAll(".player-hand, .felt-bank .hand-cards")].filter((hand) => {
    const box = hand.getBoundingClientRect();
    return box.left < plaque.right && box.right > plaque.left
      && box.top < plaque.bottom - 1 && box.bottom > plaque.top + 1;
  }).map((hand) => hand.dataset.testid);
}
"""


def _stake_of(seat: int) -> Callable[[ScriptedTable], object]:
    """Has another player bet on the place of their seat."""
    return lambda table: table.stake(seat, {str(seat): 1000})


def _others_stand(table: ScriptedTable) -> None:
    """Has the other players stand, until it is the page's own turn or the round has ended."""
    while table.dealt is not None and table.dealt.turn is not None and table.dealt.turn.seats != (table.seat,):
        (seat,) = table.dealt.turn.seats
        table.act(seat, Move(seat, Decision.STAND), types_pb2.ACTED_BY_PLAYER)


@pytest.fixture(params=PHONES, ids=lambda size: f"{size[0]}x{size[1]}")
def phone(new_context: NewContext, request: pytest.FixtureRequest) -> Page:
    width, height = request.param
    return new_context("portrait", viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()


@pytest.fixture
def full_table(phone: Page, platform: BlackjackPlatform) -> FeltPage:
    """Seven players, of whom the page's own has a pair of eights in the middle."""
    others = (1, 2, 3, 5, 6, 7)
    shoe = "Ts 9s 8s 8c 9h 8h 7s 7c Td Kd Qd 8d Jd Th Tc 9d 8h 3d 2c 2h"
    table = platform.table(shoe, individual=False, places=7, seat=4, others=others, dealing_ms=0)
    felt = FeltPage(phone, table).open().bet(4)
    for seat in others:
        table.do(_stake_of(seat))
    table.do(lambda at: at.close())
    table.do(_others_stand)
    return felt


def test_split_hands_at_a_full_table_lie_beside_each_other(full_table: FeltPage, screenshot: Screenshot) -> None:
    felt = full_table
    problems: list[str] = []

    def look(name: str) -> None:
        width = felt.page.evaluate("() => innerWidth")
        screenshot(felt.page, f"blackjack-small-{width}-{name}")
        problems.extend(f"{name}: {found}" for found in felt.page.evaluate(_UPON))
        assert felt.page.evaluate(_OWN_CARD_PX) >= 20

    felt.expect_choices(["DRAW", "STAND", "SPLIT", "GIVE_UP"])
    look("pair")
    felt.decide("SPLIT")
    felt.expect_cards("8c 8h", place=4)
    look("two hands")
    felt.decide("SPLIT")
    felt.expect_cards("8c 3d", place=4)
    expect(felt.hand(4, 3)).to_be_visible()
    look("three hands")
    assert not problems, "\n".join(problems)


def test_the_result_covers_no_hand(full_table: FeltPage) -> None:
    felt = full_table
    felt.decide("STAND")
    expect(felt.part("asked")).to_have_count(0)
    felt.table.do(_others_stand)
    felt.expect_stage("result")
    expect(felt.part("result-headline")).to_be_visible()
    assert felt.page.evaluate(_UNDER_PLAQUE) == []

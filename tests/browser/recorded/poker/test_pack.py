"""The cards on the page are those of one pack of 52, each with its own face."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import TEN_CAVES
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.rules import both

# What each card that lies face up is called, and what is drawn on its face.
_FACES = """
() => Object.fromEntries([...document.querySelectorAll(".poker .playing-card.card-up")].map((card) =>
  [card.dataset.card, card.querySelector(".card-face").outerHTML]))
"""


@both("4.b")
@pytest.mark.parametrize(("omaha", "hole_cards"), [(False, 2), (True, 4)])
def test_every_card_of_one_pack_has_its_own_face(
    desktop: Page, platform: PokerPlatform, *, omaha: bool, hole_cards: int
) -> None:
    felt = FeltPage(desktop, platform.table(seats=10, caves=TEN_CAVES, button=10, omaha=omaha)).open()
    shown = 10 * hole_cards + 5
    faces: dict[str, str] = {}
    for first in range(0, len(PACK), shown):
        cards = [PACK[(first + at) % len(PACK)] for at in range(shown)]
        hands = [_named(cards[at : at + hole_cards]) for at in range(0, 10 * hole_cards, hole_cards)]
        felt.deal(" ".join(hands), " ".join(card.name for card in cards[-5:]), button=10)
        felt.play("c c c c c c c c c x" + 3 * " x x x x x x x x x x")
        felt.expect_stage("result")
        felt.expect_cards(10, " ".join(card.name for card in cards[9 * hole_cards : 10 * hole_cards]))
        faces |= desktop.evaluate(_FACES)
    assert set(faces) == {f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "shdc"}
    assert len(set(faces.values())) == len(faces) == 52


def _named(cards: list[Card]) -> str:
    return "".join(card.name for card in cards)

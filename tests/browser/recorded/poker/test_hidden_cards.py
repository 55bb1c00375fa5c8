"""No card is on the page before it may be seen: others' cards, folded ones, common cards that are still dealt."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import BOARD, SIX, to_flop, to_river
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.rules import both
from tests.browser.recorded.poker.table import ScriptedTable

OTHERS = {"Qh", "Qd", "7c", "7d", "9h", "8h", "Jc", "Tc", "2s", "2d"}
# Every card that the page has drawn or named, seen or not.
_CARDS = """
() => [...document.querySelectorAll("[data-card], [data-cards]")]
  .flatMap((part) => [...(part.dataset.card ?? "").split(" "), ...(part.dataset.cards ?? "").split(" ")])
  .filter(Boolean)
"""


def _cards(page: Page) -> set[str]:
    found: list[str] = page.evaluate(_CARDS)
    return set(found)


@both("2.d", "11.d")
def test_others_cards_are_backs_until_they_are_turned_up(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open()
    # A record of every card that was ever on the page.
    desktop.evaluate(
        f"""() => {{
          window.seen = new Set();
          const look = () => ({_CARDS})().forEach((card) => window.seen.add(card));
          new MutationObserver(look).observe(document.body, {{ subtree: true, childList: true, attributes: true }});
        }}"""
    )
    to_river(felt)
    seen = set(desktop.evaluate("() => [...window.seen]"))
    assert seen == {"As", "Ks", *BOARD.split()}
    expect(felt.seat(3).locator(".card-down")).to_have_count(2)
    assert not re.search(r"dama de (copas|ouros)", felt.seat(2).inner_text())


@both("34.a", "36")
def test_folded_cards_and_those_of_a_winner_whom_nobody_called_are_never_shown(
    desktop: Page, platform: PokerPlatform
) -> None:
    felt = FeltPage(desktop, platform.table()).open().deal(SIX, BOARD, button=5)
    felt.play("r300 f f f f f")
    felt.expect_stage("result")
    expect(felt.part("result")).to_contain_text("Lugar 2 ganha")
    assert _cards(desktop) == {"As", "Ks"}
    for seat in range(2, 7):
        felt.expect_cards(seat, "")


@both("34.a")
def test_folded_cards_stay_hidden_when_others_show_theirs(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_river(FeltPage(desktop, platform.table()).open()).play("x x x")
    felt.expect_stage("result")
    felt.expect_cards(3, "7c 7d")
    for seat in (2, 5, 6):
        felt.expect_cards(seat, "")
    assert _cards(desktop) == {"As", "Ks", "7c", "7d", "9h", "8h", *BOARD.split()}


# Longer than any test takes: cards that are dealt so slowly do not come while it looks.
NOT_NOW_MS = 600_000


def _slowly(table: ScriptedTable) -> None:
    table.pace_ms = NOT_NOW_MS


def test_common_cards_are_not_on_the_page_before_the_platform_deals_them(
    desktop: Page, platform: PokerPlatform
) -> None:
    felt = FeltPage(desktop, platform.table()).open().deal(SIX, BOARD, button=5)
    felt.play("f r300 c f f")
    felt.table.do(_slowly)
    felt.play("c")
    expect(felt.part("pot-0")).to_be_visible()
    felt.expect_stage("dealing")
    felt.expect_board("")
    assert _cards(desktop) == {"As", "Ks"}
    # Nobody is asked, and no clock runs, before the cards lie.
    expect(felt.part("turn-clock")).to_have_count(0)


@both("59")
def test_cards_that_are_dealt_out_after_an_all_in_tell_no_result_before_the_last_lies(
    desktop: Page, platform: PokerPlatform
) -> None:
    felt = FeltPage(desktop, platform.table(seats=2, caves={1: 1_000, 2: 1_000}, button=2)).open()
    felt.deal("AsKs QhQd", BOARD).play("r1000")
    felt.table.do(_slowly)
    felt.play("c")
    # Nobody decides any more, so cards are turned up, and the common ones follow.
    felt.expect_cards(2, "Qh Qd")
    felt.expect_stage("showing")
    felt.expect_board("")
    expect(felt.part("result")).to_have_count(0)
    expect(felt.part("last-hands")).to_have_count(0)
    expect(desktop.locator(".poker-card.marked")).to_have_count(0)
    felt.expect_cave(2, 0)
    assert _cards(desktop) == {"As", "Ks", "Qh", "Qd"}


@both("59")
def test_the_common_cards_after_an_all_in_come_street_by_street(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(seats=2, caves={1: 1_000, 2: 3_000}, button=2)).open()
    felt.deal("AsKs QhQd", BOARD).play("r1000")
    felt.table.do(lambda table: setattr(table, "hold_streets", True))
    felt.play("c")
    felt.expect_cards(2, "Qh Qd")
    felt.expect_stage("showing")
    expect(felt.part("turn-clock")).to_have_count(0)
    expect(felt.part("pot-0")).to_have_attribute("data-cents", "2000")
    cards = BOARD.split()
    for street in (3, 4, 5):
        assert set(cards[street - 1 :]).isdisjoint(_cards(desktop))
        felt.table.do(lambda table: table.show_street())
        felt.expect_board(" ".join(cards[:street]))
        # What the last card decides is said with the result.
        felt.expect_cave(2, 2_000)
        expect(felt.part("result")).to_have_count(0)
        expect(desktop.locator(".poker-card.marked")).to_have_count(0)
    felt.table.do(lambda table: table.end())
    felt.expect_stage("result")
    felt.expect_cave(2, 3_900)


def test_the_result_follows_when_the_last_card_lies(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(seats=2, caves={1: 1_000, 2: 1_000}, button=2)).open()
    felt.deal("AsKs QhQd", BOARD).play("r1000 c")
    felt.expect_stage("result")
    felt.expect_board(BOARD)
    felt.expect_cave(2, 1_900)


def test_own_cards_stay_through_every_turn_and_come_back_with_the_page(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_flop(FeltPage(desktop, platform.table()).open())
    felt.expect_cards(1, "As Ks")
    desktop.reload()
    felt.expect_stage("playing")
    felt.expect_cards(1, "As Ks")
    felt.expect_board("Js Qc Kd")
    felt.expect_cave(3, 9_700)

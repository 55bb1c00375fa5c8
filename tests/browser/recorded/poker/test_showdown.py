"""The end of a hand: cards are compared, the best are marked and named, pots go to the winners, and it can be read."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.driver.navigation import open_panel
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import BOARD, TEN_CAVES, three_all_in, to_flop, to_result, to_river
from tests.browser.recorded.poker.platform import PokerPlatform
from tests.browser.recorded.poker.rules import both

EURO = "\u00a0€"


# Notes whose prize is shown with which marked cards, each time that it is another's: it changes while the test looks.
_NOTE_MARKS = """
() => {
  const noted = (window.marks = []);
  new MutationObserver(() => {
    const seat = document.querySelector("[data-testid=result] li.shown")?.dataset.seat;
    if (!seat || noted.at(-1)?.[0] === seat) return;
    const cards = [...document.querySelectorAll(".poker-card.marked .playing-card")];
    noted.push([seat, cards.map(({ dataset }) => dataset.card)]);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}
"""


def _marked(page: Page) -> set[str]:
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.poker-card.marked .playing-card')].map((card) => card.dataset.card)"
    )
    return set(found)


@both("59")
def test_the_cards_of_all_who_have_not_folded_are_shown(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_river(FeltPage(desktop, platform.table()).open())
    felt.expect_cards(3, "")
    felt.play("x x x")
    felt.expect_cards(3, "7c 7d")
    felt.expect_cards(4, "9h 8h")
    felt.expect_cards(1, "As Ks")


@both("61")
def test_the_winning_combination_is_marked_and_named(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_result(FeltPage(desktop, platform.table()).open())
    assert _marked(desktop) == {"As", "Ks", "Kd", "Qc", "Js"}
    expect(felt.part("result")).to_contain_text(f"Ganhou 9,03{EURO}")
    expect(felt.part("result")).to_contain_text("Par de reis")
    expect(felt.seat(1).locator(".poker-combination")).to_have_text("Par de reis")
    # The five stand out from the others by more than their colour.
    shadow = "(card) => getComputedStyle(card).boxShadow"
    assert desktop.locator(".poker-card.marked .playing-card").first.evaluate(shadow) != "none"
    assert desktop.locator(".poker-card.unmarked .playing-card").first.evaluate(shadow) == "none"
    expect(felt.part("hand-said")).to_have_text(f"Ganhou 9,03{EURO}: Par de reis.")


@both("61")
def test_each_pot_has_its_winner_whose_combination_is_marked_in_turn(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table(seats=10, caves=TEN_CAVES, button=4)).open()
    desktop.evaluate(_NOTE_MARKS)
    three_all_in(felt)
    felt.expect_stage("result")
    lines = felt.part("result").locator("li")
    expect(lines.nth(0)).to_have_text(re.compile("^Lugar 2 ganha 188,22.*Pote principal.*Trio de damas$"))
    expect(lines.nth(1)).to_have_text(re.compile("^Lugar 3 ganha 14,77.*Pote lateral 1.*Par de 7$"))
    expect(lines.nth(2)).to_have_text(f"Comissão: 10,67{EURO}")
    desktop.wait_for_function("() => window.marks.length >= 2")
    (first, queens), (second, sevens) = desktop.evaluate("() => window.marks")[:2]
    assert (first, second) == ("2", "3")
    assert {"Qh", "Qd", "Qc"} < set(queens)
    assert {"7c", "7d"} < set(sevens)


@both("4.e")
def test_the_pot_goes_to_the_winner_and_the_caves_say_so(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_result(FeltPage(desktop, platform.table()).open())
    felt.expect_cave(1, 10_603)
    felt.expect_cave(3, 9_700)
    felt.expect_cave(6, 9_950)
    expect(felt.part("pot-0")).to_have_count(0)
    expect(felt.part("last-hands")).to_contain_text("9,5")


def test_chips_move_to_the_pot_and_to_the_winner(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open()
    desktop.evaluate(
        """() => {
          window.flights = 0;
          new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => {
            if (node.classList?.contains("poker-flight")) window.flights += 1;
          }))).observe(document.body, { subtree: true, childList: true });
        }"""
    )
    to_flop(felt)
    # The bets of 1, 3 and 4, and the small blind of 6.
    assert desktop.evaluate("() => window.flights") == 4
    felt.play("x r500 f f")
    felt.expect_stage("result")
    felt.expect_cave(3, 10_603)
    # The last bet, and the prize.
    expect(felt.part("moving")).to_be_empty()
    assert desktop.evaluate("() => window.flights") >= 5


def test_nothing_moves_for_players_who_prefer_reduced_motion(new_context: NewContext, platform: PokerPlatform) -> None:
    page = new_context("desktop", reduced_motion="reduce").new_page()
    felt = FeltPage(page, platform.table(dealing_ms=100)).open()
    page.evaluate(
        """() => {
          window.moved = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (frames, options) {
            if ([...frames].some(({ transform }) => transform && transform !== "none")) {
              window.moved.push(this.className);
            }
            return animate.call(this, frames, options);
          };
        }"""
    )
    to_result(felt)
    assert page.evaluate("() => window.moved") == []
    expect(page.locator(".poker-flight")).to_have_count(0)
    felt.expect_cave(1, 10_603)


@both("65")
def test_the_last_hand_can_be_read_with_its_result_and_its_amounts(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_result(FeltPage(desktop, platform.table()).open())
    open_panel(desktop, "last")
    told = felt.part("round-told")
    expect(told.locator(".past-poker-board [data-cards]")).to_have_attribute("data-cards", BOARD)
    row = told.locator("tr[data-seat='1']")
    expect(row).to_contain_text("Par de reis")
    expect(row.locator("td").nth(1)).to_have_text(f"3,00{EURO}")
    expect(row.locator("td").nth(2)).to_have_text(f"9,03{EURO}")
    expect(row.locator("td").nth(3)).to_have_text(f"+6,03{EURO}")
    # Who has folded shows nothing here either.
    expect(told.locator("tr[data-seat='2']")).to_contain_text("Desistiu")
    expect(told.locator("tr[data-seat='2'] .playing-card")).to_have_count(0)
    expect(told).to_contain_text(f"Pote: lugar 1, 9,03{EURO}")
    stepper = felt.part("hand-stepper")
    expect(stepper.get_by_test_id("seat-1")).to_be_visible()
    felt.part("step-last").click()
    expect(felt.part("step-text")).to_contain_text("9,03")
    stepper.get_by_test_id("board")
    expect(stepper.get_by_test_id("board")).to_have_attribute("data-cards", BOARD)


@both("66")
def test_rules_amounts_and_the_way_to_complain_are_always_at_hand(desktop: Page, platform: PokerPlatform) -> None:
    felt = to_flop(FeltPage(desktop, platform.table()).open())
    expect(felt.part("own-cave")).to_have_text(f"97,00{EURO}")
    open_panel(desktop, "rules")
    expect(felt.part("rules")).to_be_visible()
    desktop.keyboard.press("Escape")
    open_panel(desktop, "complaint")
    expect(desktop.get_by_role("dialog")).to_contain_text("Fazer uma reclamação")
    desktop.keyboard.press("Escape")
    open_panel(desktop, "history")
    expect(desktop.get_by_role("dialog")).to_be_visible()

"""Cards are dealt, turned and laid apart as the regulation says, and decide nothing before they lie on the table."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.recorded.baccarat import TABLE
from tests.browser.recorded.games import BANCA, BANCA_SCORE, PONTO, PONTO_SCORE

SIZES = [(1440, 900), (390, 844), (320, 568), (844, 390)]


@pytest.mark.rule("812/2015:3", "812/2015:16", "812/2015:17", "812/2015:18", "812/2015:20")
@pytest.mark.usefixtures("slow_deal")
def test_four_cards_face_down_in_turn_then_ponto_is_turned_then_banca(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.bet({"banca": 200, "tie": 100})
    table.note_cards()
    table.deal()
    table.expect_stage("paid")
    noted = table.noted_cards()
    dealt = [(place, card) for place, what, card in noted if what == "dealt"]
    assert dealt == [(place, "") for place in ("ponto 1", "banca 1", "ponto 2", "banca 2", "ponto 3", "banca 3")]
    turned = [(place, card) for place, what, card in noted if what == "turned"]
    first = [("ponto 1", PONTO[0]), ("ponto 2", PONTO[1]), ("banca 1", BANCA[0]), ("banca 2", BANCA[1])]
    assert turned == [*first, ("ponto 3", PONTO[2]), ("banca 3", BANCA[2])]
    # Nothing is turned before the four cards lie, and no additional card comes before both sides are open.
    order = [(place, what) for place, what, _ in noted]
    assert order.index(("banca 2", "dealt")) < order.index(("ponto 1", "turned"))
    assert order.index(("banca 2", "turned")) < order.index(("ponto 3", "dealt"))
    assert order.index(("ponto 3", "turned")) < order.index(("banca 3", "dealt"))
    expect(table.hand("ponto")).to_have_attribute("data-score", str(PONTO_SCORE))
    expect(table.hand("banca")).to_have_attribute("data-score", str(BANCA_SCORE))


@pytest.mark.rule("812/2015:21")
@pytest.mark.parametrize("size", SIZES)
def test_an_additional_card_lies_across_and_apart(
    new_context: NewContext, screenshot: Screenshot, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_context("desktop", viewport={"width": width, "height": height}).new_page()
    table = BaccaratPage(page, TABLE).open()
    table.bet({"ponto": 100})
    table.deal()
    table.expect_stage("paid")
    screenshot(page, f"baccarat-cards-{width}x{height}")
    for side in ("ponto", "banca"):
        first, second, third = (_face(card) for card in table.cards(side).all())
        assert first[3] - first[1] > first[2] - first[0]
        assert third[2] - third[0] > third[3] - third[1]
        assert not _overlap(first, third)
        assert not _overlap(second, third)
        for left, top, right, bottom in (first, second, third):
            assert left >= 0
            assert top >= 0
            assert right <= width
            assert bottom <= height


@pytest.mark.usefixtures("slow_deal")
def test_nothing_tells_the_result_before_the_cards_lie_on_the_table(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.bet({"banca": 200})
    balance = table.part("balance").inner_text()
    desktop.evaluate(
        """
        () => {
          const told = (window.told = []);
          const read = (name) => document.querySelector(`[data-testid=${name}]`)?.textContent ?? "";
          const look = () => {
            const stage = document.querySelector("[data-testid=baccarat]").dataset.stage;
            if (stage === "dealing") told.push([read("outcome-called"), read("balance"), read("bead-road")]);
          };
          new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
        }
        """
    )
    table.deal()
    table.expect_stage("paid")
    told = desktop.evaluate("() => window.told")
    assert told
    assert {tuple(each) for each in told} == {("", told[0][1], "")}
    assert told[0][1] in balance.replace("\n", "")
    expect(table.part("outcome-called")).to_have_attribute("data-verdict", "won")
    expect(table.part("bead-road").locator("[data-round]")).to_have_count(1)


def test_nothing_moves_for_players_who_prefer_reduced_motion(new_context: NewContext) -> None:
    page = new_context("desktop", reduced_motion="reduce").new_page()
    table = BaccaratPage(page, TABLE).open()
    table.bet({"ponto": 100})
    page.evaluate(
        """
        () => {
          const places = (window.places = new Map());
          const look = () => {
            document.querySelectorAll("[data-testid=dealt-card]").forEach((card, index) => {
              const { x, y } = card.getBoundingClientRect();
              const side = card.closest("[data-testid]:not([data-testid=dealt-card])").dataset.testid;
              const key = `${side} ${[...card.parentElement.children].indexOf(card)}`;
              places.set(key, (places.get(key) ?? new Set()).add(`${Math.round(x)} ${Math.round(y)}`));
            });
            if (document.querySelector("[data-stage=paid]")) return;
            requestAnimationFrame(look);
          };
          look();
        }
        """
    )
    table.deal()
    table.expect_stage("paid")
    places = page.evaluate("() => [...window.places].map(([key, seen]) => [key, seen.size])")
    assert len(places) == len(PONTO) + len(BANCA)
    assert {count for _, count in places} == {1}


def _face(card: Locator) -> tuple[float, float, float, float]:
    """Returns where the face of a card is: left, top, right, bottom."""
    box = card.locator(".card-face").bounding_box()
    assert box is not None
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

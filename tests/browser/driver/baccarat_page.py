"""A baccarat table as a player sees and uses it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.driver.player import Bets

CHANCES = ("ponto", "banca", "tie", "ponto-pair", "banca-pair")
SOON_MS = 60_000

_CHIPS = """
(chances) => Object.fromEntries([...chances.querySelectorAll("[data-own]")]
  .map((space) => [space.dataset.testid.slice("chance-".length), Number(space.dataset.own)]))
"""
# Notes each card as it appears and as it is turned, with what is shown of the result at that moment.
_NOTE_CARDS = """
(hands) => {
  const seen = new Map();
  const noted = (window.dealt = []);
  const look = () => {
    for (const side of ["ponto", "banca"]) {
      const cards = hands.querySelectorAll(`[data-testid=hand-${side}] [data-testid=dealt-card]`);
      cards.forEach((card, index) => {
        const name = card.querySelector("[data-card]").dataset.card;
        const key = `${side} ${index + 1}`;
        if (!seen.has(key)) noted.push([key, "dealt", name]);
        if (name && seen.get(key) !== name) noted.push([key, "turned", name]);
        seen.set(key, name);
      });
    }
  };
  new MutationObserver(look).observe(hands, { childList: true, subtree: true, attributes: true });
}
"""


@dataclass(frozen=True, slots=True)
class BaccaratPage:
    """The page of one table."""

    page: Page
    listed_id: str

    def open(self) -> BaccaratPage:
        """Opens the page and sits down."""
        self.page.goto(f"/#/table/{self.listed_id}")
        expect(self.chance("ponto")).to_be_visible(timeout=SOON_MS)
        expect(self.part("balance")).to_be_visible(timeout=SOON_MS)
        return self

    # -- what it shows ------------------------------------------------------------------------------------------------

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    @property
    def table(self) -> Locator:
        """The game; `data-stage` is the stage of the result being shown."""
        return self.part("baccarat")

    def chance(self, chance: str) -> Locator:
        return self.part(f"chance-{chance}")

    def hand(self, side: str) -> Locator:
        return self.part(f"hand-{side}")

    def cards(self, side: str) -> Locator:
        return self.hand(side).get_by_test_id("dealt-card")

    def expect_stage(self, *stages: str) -> None:
        """Waits for one of the stages."""
        expect(
            self.table.and_(self.page.locator(", ".join(f'[data-stage="{stage}"]' for stage in stages)))
        ).to_be_visible()

    def wait_for_betting(self) -> None:
        """Waits until a round takes bets."""
        expect(self.part("phase")).to_have_attribute("data-stage", "bets")

    def expect_chips(self, bets: Bets) -> None:
        """Waits until these chips are confirmed, and no others lie there."""
        for chance in CHANCES:
            space = self.chance(chance)
            if space.count() == 0:
                continue
            if chance in bets:
                expect(space).to_have_attribute("data-own", str(bets[chance]))
            expect(self.page.locator(f'[data-testid="chance-{chance}"][data-pending]')).to_have_count(0)
        assert self.part("chances").evaluate(_CHIPS) == bets

    # -- what the player does ----------------------------------------------------------------------------------------

    def choose_chip(self, cents: int) -> None:
        self.part(f"chip-{cents}").locator("xpath=..").click()

    def bet(self, bets: Bets) -> None:
        """Places bets in chips of 100 cents, and waits until they count."""
        for chance, cents in bets.items():
            for _ in range(cents // 100):
                self.chance(chance).click()
        self.expect_chips(bets)

    def note_cards(self) -> None:
        """Notes from now on what `noted_cards` returns."""
        self.part("hands").evaluate(_NOTE_CARDS)

    def noted_cards(self) -> list[tuple[str, str, str]]:
        """Returns each card that was dealt or turned, in order: side and position, what happened, and the card."""
        noted: list[list[str]] = self.page.evaluate("() => window.dealt")
        return [(place, what, card) for place, what, card in noted]

    def deal(self) -> None:
        """Has the cards dealt."""
        self.part("deal").click()

"""A roulette table as a player sees and uses it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.driver.player import Bets

# A round at a table for many: its window, its result, and the window of the round after it.
ROUND_MS = 120_000
SOON_MS = 60_000
# How often a page is looked at: not with each frame, of which a page in the background draws none.
LOOKS_EVERY_MS = 100

_CHIPS = """
(page) => {
  const of = (name) => Object.fromEntries(
    [...page.querySelectorAll(`[data-${name}]`)].map((pile) => [pile.dataset[name], Number(pile.dataset.cents)]));
  return [of("own"), of("pending")];
}
"""
_HAS_CHIPS = """
(felt) => {
  const chips = {};
  for (const pile of document.querySelectorAll("[data-testid=board] :is([data-own], [data-pending])")) {
    const place = pile.dataset.own ?? pile.dataset.pending;
    chips[place] = (chips[place] ?? 0) + Number(pile.dataset.cents);
  }
  const same = (one, other) => Object.keys(one).every((place) => one[place] === other[place]);
  return same(chips, felt) && same(felt, chips);
}
"""
_POINTED = """
(page) => [
  [...page.querySelectorAll(".board .cell.lit")].map((cell) => cell.dataset.cell),
  page.querySelector("[data-testid=pointed]").innerText,
]
"""
_NOTE_STAGES = """
(roulette) => {
  const stages = (window.stages = []);
  const note = () => stages.push(roulette.dataset.stage);
  new MutationObserver(note).observe(roulette, { attributeFilter: ["data-stage"] });
}
"""
_SPOTS = """
(board) => Object.fromEntries([...board.querySelectorAll("[data-place]")].map((spot) => {
  const box = spot.getBoundingClientRect();
  return [spot.dataset.place, [box.x + box.width / 2, box.y + box.height / 2]];
}))
"""


@dataclass(frozen=True, slots=True)
class TablePage:
    """The page of one table."""

    page: Page
    listed_id: str

    def open(self) -> TablePage:
        """Opens the page and sits down."""
        self.page.goto(f"/#/table/{self.listed_id}")
        self.wait_until_playable()
        return self

    def wait_until_playable(self) -> None:
        """Waits until bets can be placed."""
        expect(self.spot("red")).to_be_visible(timeout=SOON_MS)
        expect(self.balance).to_be_visible(timeout=SOON_MS)

    # -- what it shows ------------------------------------------------------------------------------------------------

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    @property
    def roulette(self) -> Locator:
        """The game; `data-stage` is the stage of the result being shown."""
        return self.part("roulette")

    @property
    def phase(self) -> Locator:
        return self.part("phase")

    @property
    def balance(self) -> Locator:
        return self.part("balance")

    @property
    def wheel(self) -> Locator:
        return self.part("wheel")

    def spot(self, place: str) -> Locator:
        return self.part(f"place-{place}")

    def cell(self, place: str) -> Locator:
        return self.page.locator(f'.board [data-cell="{place}"]')

    def chips(self) -> Bets:
        """The player's chips, those not confirmed yet included."""
        own, pending = self.confirmed_and_pending_chips()
        return {place: own.get(place, 0) + pending.get(place, 0) for place in {*own, *pending}}

    def expect_chips(self, felt: Bets) -> None:
        """Waits until exactly these chips are there, those not confirmed yet included."""
        try:
            self.page.wait_for_function(_HAS_CHIPS, arg=felt)
        except Error as never:
            raise AssertionError(f"{self.chips()} lie there, and not {felt}") from never

    def confirmed_and_pending_chips(self) -> tuple[Bets, Bets]:
        """The chips that count, and those not confirmed yet."""
        own, pending = self.part("board").evaluate(_CHIPS)
        return own, pending

    def highlight(self) -> tuple[list[str], str]:
        """Returns the numbers and boxes that are lit for the place under the pointer, and its description."""
        lit, said = self.roulette.evaluate(_POINTED)
        return lit, said

    def last_numbers(self) -> list[str]:
        items = self.part("last-numbers").locator("li").all()
        return [item.get_attribute("data-number") or "" for item in items]

    # -- what the player does ----------------------------------------------------------------------------------------

    def place_chips(self, place: str, times: int = 1) -> None:
        """Places chips of the chosen kind, a click each, on the spot of the place."""
        for _ in range(times):
            self.page.mouse.click(*self.chip_positions()[place])

    def place_bets(self, bets: Bets) -> None:
        """Places bets in chips of 100 cents, and waits until they count."""
        for place, cents in bets.items():
            self.place_chips(place, cents // 100)
        self.expect_confirmed_chips(bets)

    def chip_positions(self) -> dict[str, tuple[float, float]]:
        """The spot of every place."""
        spots: dict[str, tuple[float, float]] = self.part("board").evaluate(_SPOTS)
        return spots

    def choose_chip(self, cents: int) -> None:
        self.part(f"chip-{cents}").check(force=True)

    def press(self, action: str) -> None:
        """Presses `undo`, `clear`, `repeat`, `double` or `spin`; a blocked one explains why."""
        self.part(action).click(force=True)

    def spin(self) -> None:
        self.press("spin")

    # -- what a test waits for ---------------------------------------------------------------------------------------

    def wait_for_betting(self) -> None:
        """Waits until a round takes bets and the result of the one before has been shown."""
        expect(self.phase).to_have_attribute("data-stage", "bets", timeout=ROUND_MS)
        expect(self.roulette).to_have_attribute("data-stage", re.compile("quiet|paid"), timeout=SOON_MS)

    def expect_confirmed_chips(self, felt: Bets) -> None:
        """Waits until exactly these chips are there and count."""
        for place, cents in felt.items():
            pile = self.page.locator(f'[data-own="{place}"]')
            expect(pile).to_have_attribute("data-cents", str(cents), timeout=SOON_MS)
        expect(self.page.locator("[data-own]")).to_have_count(len(felt), timeout=SOON_MS)
        expect(self.page.locator("[data-pending]")).to_have_count(0, timeout=SOON_MS)

    def record_stages(self) -> None:
        """Records each stage from now on: the page may have left it before the test looks."""
        self.roulette.evaluate(_NOTE_STAGES)

    def expect_recorded_stage(self, stage: str) -> None:
        """Waits until a stage has been recorded: one that is soon over may have gone before the test looks."""
        recorded = "(stage) => window.stages.includes(stage)"
        self.page.wait_for_function(recorded, arg=stage, polling=LOOKS_EVERY_MS, timeout=ROUND_MS)

    def recorded_stages(self) -> list[str]:
        stages: list[str] = self.page.evaluate("() => window.stages")
        return stages

    def expect_stage(self, *stages: str, within_ms: int = ROUND_MS) -> None:
        expect(self.roulette).to_have_attribute("data-stage", re.compile("|".join(stages)), timeout=within_ms)


def cents_in(text: str) -> list[int]:
    """Returns the amounts in a text, as Portuguese writes them: `1 234,50 €`, `12 créditos`."""
    found = re.findall(r"(\d[\d\s\u00a0\u202f.]*)(?:,(\d{1,2}))?[\s\u00a0]*(?:€|crédito)", text)
    return [int(re.sub(r"\D", "", whole)) * 100 + int(part.ljust(2, "0") or 0) for whole, part in found]

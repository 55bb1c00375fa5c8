"""A blackjack table as a player sees and uses it, on a platform or on recorded answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from playwright.sync_api import Locator, Page, expect

STAGE = "data-stage"


@dataclass(frozen=True, slots=True)
class BlackjackPage:
    """The page of one table."""

    page: Page

    # -- what it shows ------------------------------------------------------------------------------------------------

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def hand(self, place: int = 1, number: int = 1) -> Locator:
        return self.part(f"hand-{place}-{number}")

    def expect_stage(self, *stages: str) -> None:
        expect(self.part("blackjack")).to_have_attribute(STAGE, _one_of(stages))

    def expect_bet(self, place: int, cents: int) -> None:
        circle = self.part(f"circle-{place}")
        expect(circle).to_have_attribute("data-cents", str(cents))
        expect(circle).to_have_attribute("data-pending", "false")

    def expect_cards(self, cards: str, place: int = 1, number: int = 1) -> None:
        expect(self.hand(place, number)).to_have_attribute("data-cards", cards)

    def expect_bank(self, cards: str) -> None:
        """A card that lies face down has no name."""
        expect(self.part("bank")).to_have_attribute("data-cards", cards)

    def expect_choices(self, decisions: list[str]) -> None:
        """Waits until just these decisions are on the buttons, in this order."""
        buttons = self.part("asked").locator(".choice")
        expect(buttons).to_have_count(len(decisions))
        for button, decision in zip(buttons.all(), decisions, strict=True):
            expect(button).to_have_attribute("data-testid", f"DECISION_{decision}")

    # -- what the player does -----------------------------------------------------------------------------------------

    def bet(self, place: int = 1, times: int = 1) -> Self:
        """Bets chips of 5 on a place, and waits until they count."""
        before = int(self.part(f"circle-{place}").get_attribute("data-cents") or 0)
        for _ in range(times):
            self.part(f"circle-{place}").click()
        self.expect_bet(place, before + 500 * times)
        return self

    def deal(self) -> Self:
        """Has the cards dealt at an individual table."""
        self.part("deal").click()
        return self

    def play(self, place: int = 1, times: int = 2) -> Self:
        """Bets, has the cards dealt, and waits for what comes of them."""
        self.bet(place, times).deal()
        self.expect_stage("playing", "result")
        return self

    def decide(self, decision: str) -> Self:
        self.part(f"DECISION_{decision}").click()
        return self


def _one_of(stages: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("^(" + "|".join(stages) + ")$")

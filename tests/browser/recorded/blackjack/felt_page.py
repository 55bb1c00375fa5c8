"""The page of a blackjack table as a player sees and uses it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from playwright.sync_api import Locator, Page, expect

from tests.browser.driver.rest import Json
from tests.browser.recorded.blackjack.platform import Directed

STAGE = "data-stage"


@dataclass(frozen=True, slots=True)
class FeltPage:
    """The page of one table."""

    page: Page
    table: Directed

    def open(self) -> FeltPage:
        """Opens the page of a player who has a seat, or needs to choose none."""
        self.page.goto(f"/#/table/{self.table.table_id}")
        return self.expect_seated()

    def open_to_choose(self) -> FeltPage:
        """Opens the page of a player who has to choose a seat."""
        self.page.goto(f"/#/table/{self.table.table_id}")
        expect(self.part("seat-picker")).to_be_visible()
        return self

    def expect_seated(self) -> FeltPage:
        expect(self.part("blackjack")).to_have_attribute(STAGE, "betting")
        expect(self.part("balance").first).to_be_attached()
        return self

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def bet(self, place: int = 1, times: int = 1) -> FeltPage:
        """Bets chips of 5 on a place, and waits until they count."""
        before = int(self.part(f"circle-{place}").get_attribute("data-cents") or 0)
        for _ in range(times):
            self.part(f"circle-{place}").click()
        self.expect_bet(place, before + 500 * times)
        return self

    def expect_bet(self, place: int, cents: int) -> None:
        circle = self.part(f"circle-{place}")
        expect(circle).to_have_attribute("data-cents", str(cents))
        expect(circle).to_have_attribute("data-pending", "false")

    def deal(self) -> FeltPage:
        """Has the cards dealt at an individual table."""
        self.part("deal").click()
        return self

    def play(self, place: int = 1, times: int = 2) -> FeltPage:
        """Bets, has the cards dealt, and waits for what comes of them."""
        self.bet(place, times).deal()
        self.expect_stage("playing", "result")
        return self

    def expect_stage(self, *stages: str) -> None:
        expect(self.part("blackjack")).to_have_attribute(STAGE, _one_of(stages))

    def hand(self, place: int = 1, number: int = 1) -> Locator:
        return self.part(f"hand-{place}-{number}")

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

    def decide(self, decision: str) -> FeltPage:
        self.part(f"DECISION_{decision}").click()
        return self

    def decide_all(self, decision: str) -> FeltPage:
        """Decides the same on every hand, until there is a result."""
        self.expect_stage("playing")
        while self.table.do(lambda table: table.own_view() is not None):
            asked = self.part("asked").get_attribute("data-key")
            self.decide(decision)
            expect(self.page.locator(f'[data-key="{asked}"]')).to_have_count(0)
        return self

    def sent(self, method: str) -> list[Json]:
        """What the page has asked the platform with a method."""
        return [cast("Json", params) for asked, params in self.table.table.asked if asked == method]


def _one_of(stages: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("^(" + "|".join(stages) + ")$")

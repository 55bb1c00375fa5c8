"""The page of a blackjack table that a test directs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, cast

from playwright.sync_api import expect

from tests.browser.driver.blackjack_page import STAGE, BlackjackPage
from tests.browser.driver.rest import Json
from tests.browser.recorded.blackjack.platform import Directed


@dataclass(frozen=True, slots=True)
class FeltPage(BlackjackPage):
    """The page, and the table that it shows."""

    table: Directed

    def open(self) -> Self:
        """Opens the page of a player who has a seat, or needs to choose none."""
        self.page.goto(f"/#/table/{self.table.table_id}")
        return self.expect_seated()

    def open_to_choose(self) -> Self:
        """Opens the page of a player who has to choose a seat."""
        self.page.goto(f"/#/table/{self.table.table_id}")
        expect(self.part("seat-picker")).to_be_visible()
        return self

    def expect_seated(self) -> Self:
        expect(self.part("blackjack")).to_have_attribute(STAGE, "betting")
        expect(self.part("balance").first).to_be_attached()
        return self

    def decide_all(self, decision: str) -> Self:
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

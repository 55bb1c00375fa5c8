"""The page of a poker table as a player sees and uses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from playwright.sync_api import Locator, Page, expect

from tests.browser.driver.rest import Json
from tests.browser.recorded.poker.platform import Directed


@dataclass(frozen=True, slots=True)
class FeltPage:
    """The page of one table."""

    page: Page
    table: Directed

    def open(self) -> FeltPage:
        """Opens the page of a player who has a seat."""
        self.page.goto(f"/#/table/{self.table.table_id}")
        expect(self.part("poker")).to_be_visible()
        expect(self.part("balance").first).to_be_attached()
        return self

    def part(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def deal(self, holes: str = "", board: str = "", *, button: int = 0) -> FeltPage:
        """Deals a hand, and waits until its cards lie."""
        self.table.do(lambda table: table.deal(holes, board, button=button))
        self.expect_stage("playing")
        return self

    def play(self, script: str) -> FeltPage:
        """Has those in turn act one after the other: `r300 c f`."""
        self.table.do(lambda table: table.play(script))
        return self

    def expect_stage(self, stage: str) -> None:
        expect(self.part("poker")).to_have_attribute("data-stage", stage)

    def seat(self, seat: int) -> Locator:
        return self.part(f"seat-{seat}")

    def expect_cave(self, seat: int, cents: int) -> None:
        expect(self.seat(seat)).to_have_attribute("data-cents", str(cents))

    def expect_cards(self, seat: int, cards: str) -> None:
        """Cards that lie face down have no name."""
        expect(self.seat(seat)).to_have_attribute("data-cards", cards)

    def expect_board(self, cards: str) -> None:
        expect(self.part("board")).to_have_attribute("data-cards", cards)

    def asked(self, method: str) -> Json:
        """Waits until the page asks the platform with a method, and returns what it has asked first."""
        return cast("Json", self.table.wait(lambda table: table.wait_until_asked(method)))

    def sent(self, method: str) -> list[Json]:
        """What the page has asked the platform with a method, until now."""
        return [cast("Json", params) for asked, params in self.table.table.asked if asked == method]

"""Serves blackjack tables that a test directs, to guests of a demonstration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.browser.driver.rest import Json
from tests.browser.driver.served import served
from tests.browser.recorded.blackjack.table import Options, ScriptedTable, bets_in
from tests.browser.recorded.directed import platform
from tests.browser.recorded.directed.messages import json_of
from tests.browser.recorded.directed.page import Answers, Page
from tests.browser.recorded.directed.platform import DirectedPlatform

Directed = platform.Directed[ScriptedTable]


class _BlackjackPage(Page[ScriptedTable]):
    def login(self) -> Json:
        return {"subject": "demo-guest", "scopes": ["demo"]}

    def answers(self) -> Answers:
        return {
            "BlackjackService.PlaceBets": lambda params: json_of(self.table_of(params).place(bets_in(params["bets"]))),
            "BlackjackService.CancelBets": lambda params: json_of(
                self.table_of(params).cancel(bets_in(params["bets"]))
            ),
            "BlackjackService.Deal": self._deal,
        }

    def _deal(self, params: Json) -> object:
        table = self.table_of(params)
        staked = sum(sum(stake.bets.values()) for stake in table.own_stakes())
        table.close()
        return {"round_id": params["round_id"], "staked_cents": str(staked), "void_reason": ""}


class BlackjackPlatform(DirectedPlatform[ScriptedTable]):
    """Tables that tests make, and one guest for each page."""

    def new_page(self) -> Page[ScriptedTable]:
        return _BlackjackPage(self.tables)

    def table(self, shoe: str = "", **options: object) -> Directed:
        """Makes a table that deals these cards first: `Ts 7c 5h 9d`."""
        configured = Options(**options)  # type: ignore[arg-type]
        return self.add_table(
            lambda table_id, notify: ScriptedTable(table_id=table_id, notify=notify, options=configured, shoe=shoe)
        )


@contextmanager
def blackjack_platform() -> Iterator[BlackjackPlatform]:
    """Serves in a thread of its own until the end."""
    platform = BlackjackPlatform()
    with served(platform.application(), platform.socket):
        yield platform

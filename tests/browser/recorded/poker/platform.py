"""Serves poker tables that a test directs, to a player who is logged in at the operator's: caves are in euros."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from services.poker import specific_rules_message
from tests.browser.driver.rest import Json
from tests.browser.driver.served import served
from tests.browser.recorded.directed import platform
from tests.browser.recorded.directed.messages import json_of
from tests.browser.recorded.directed.page import Answers, Page
from tests.browser.recorded.directed.platform import DirectedPlatform
from tests.browser.recorded.poker.table import Options, ScriptedTable

Directed = platform.Directed[ScriptedTable]

STANDINGS = {
    "PRESENCE_PLAYING": types_pb2.CAVE_STANDING_WAITING,
    "PRESENCE_AWAY": types_pb2.CAVE_STANDING_AWAY,
    "PRESENCE_RESTING": types_pb2.CAVE_STANDING_RESTING,
}


class PokerPage(Page[ScriptedTable]):
    def login(self) -> Json:
        return {"subject": "player", "scopes": ["play"]}

    def answers(self) -> Answers:
        return {
            "PokerService.GetLayout": self._layout,
            "PokerService.BuyIn": self._buy_in,
            "PokerService.SetPresence": self._set_presence,
            "PokerService.JoinWaitingList": self._join_list,
            "PokerService.LeaveWaitingList": lambda _: json_of(poker_pb2.LeaveWaitingListResponse()),
            "PokerService.ExportHand": self._export,
            "PokerService.GetPeriodRegistration": self._registration,
            "PokerService.RegisterForPeriod": lambda params: self._register(params, registered=True),
            "PokerService.CancelPeriodRegistration": lambda params: self._register(params, registered=False),
        }

    def _layout(self, params: Json) -> object:
        table = self.table_of(params)
        rules = specific_rules_message.message_of(table.engine.specific_rules)
        return json_of(
            poker_pb2.GetLayoutResponse(
                regulation=table.configuration().regulation,
                seats=table.options.seats,
                rules=rules,
                decision_ms=table.options.decision_ms,
            )
        )

    def _buy_in(self, params: Json) -> object:
        table = self.table_of(params)
        table.refuse_if_told()
        return json_of(table.buy_in(int(params["amount_cents"])))

    def _set_presence(self, params: Json) -> object:
        table = self.table_of(params)
        table.refuse_if_told()
        cave = table.stand(table.seat, STANDINGS[params["presence"]])
        return json_of(poker_pb2.SetPresenceResponse(cave=cave))

    def _join_list(self, params: Json) -> object:
        table = self.table_of(params)
        table.refuse_if_told()
        return json_of(poker_pb2.JoinWaitingListResponse(position=1, seat=table.kept))

    def _registration(self, params: Json) -> object:
        registration = self.table_of(params).registration
        return json_of(poker_pb2.GetPeriodRegistrationResponse(registration=registration))

    def _register(self, params: Json, *, registered: bool) -> object:
        table = self.table_of(params)
        table.refuse_if_told()
        return json_of(poker_pb2.RegisterForPeriodResponse(registration=table.register(registered=registered)))

    def _export(self, params: Json) -> object:
        return json_of(poker_pb2.ExportHandResponse(phh=self.table_of(params).exported()))


class PokerPlatform(DirectedPlatform[ScriptedTable]):
    """Tables that tests make, and one player for each page."""

    def new_page(self) -> Page[ScriptedTable]:
        return PokerPage(self.tables)

    def logged_in(self) -> Json:
        return {"token": "player", "player_id": "player", "expires_at": "2099-01-01T00:00:00Z"}

    def table(self, **options: object) -> Directed:
        """Makes a table."""
        configured = Options(**options)  # type: ignore[arg-type]
        return self.add_table(
            lambda table_id, notify: ScriptedTable(table_id=table_id, notify=notify, options=configured)
        )


@contextmanager
def poker_platform() -> Iterator[PokerPlatform]:
    """Serves in a thread of its own until the end."""
    platform = PokerPlatform()
    with served(platform.application(), platform.socket):
        yield platform

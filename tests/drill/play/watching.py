"""Watches a table over the WebSocket of either gateway, resumes after each loss, and checks all that it is sent."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import aiohttp

from tests.drill.checks.feed import (
    FeedOrder,
    Json,
    PrivateCards,
    RoundStory,
    SameContent,
    others_facts,
    public_leaks,
)
from tests.drill.checks.findings import Check
from tests.drill.play.calls import Calls
from tests.drill.play.games import DrillGame
from tests.drill.recorder import Recorder

CONNECT_WITHIN_S = 5.0
HEARTBEAT_S = 5.0
PAUSE_S = 0.3


@dataclass
class Audience:
    """What all clients together find in what they are sent."""

    recorder: Recorder
    order: Check = field(
        default_factory=lambda: Check(
            "no client sees an event twice, or a gap or the end of a round untold", "G5", unit="events"
        )
    )
    hidden: Check = field(
        default_factory=lambda: Check("nobody is sent a hidden card, or what is another's", "G7", unit="messages")
    )
    same: Check = field(
        default_factory=lambda: Check("an event is the same for every client", "G8", unit="events compared")
    )
    ends: dict[str, float] = field(default_factory=dict)
    """When the first client learnt that a round had ended."""
    connections: Counter[str] = field(default_factory=Counter)
    content: SameContent = field(default_factory=SameContent)
    private_cards: PrivateCards = field(default_factory=PrivateCards)

    def finish(self, told_gaps: int) -> list[Check]:
        """Returns the three checks."""
        self.order.note = (
            f"{told_gaps} gaps told, {self.connections['lost']} connections lost, {self.connections['resumed']} resumed"
        )
        self.same.looked_at = self.content.compared
        return [self.order, self.same, self.hidden]


class Watcher:
    """One client's view of one table, kept up to date by events alone."""

    def __init__(self, calls: Calls, game: DrillGame, player_id: str, account_id: str, audience: Audience) -> None:
        self.order = FeedOrder()
        self._story = RoundStory()
        self.phase = ""
        self.round_id = ""
        self.turn: Json = {}
        self.caves: dict[int, Json] = {}
        """What clients see of each cave at the table, by seat."""
        self.own_view: tuple[str, int, Json] = ("", 0, {})
        """The round and the turn that it belongs to, and what the player may decide in it."""
        self.changed = asyncio.Event()
        self._calls = calls
        self._game = game
        self._player_id = player_id
        self._account_id = account_id
        self._audience = audience
        self._table_id = ""

    async def watch(self, table_id: str) -> None:
        """Watches until cancelled."""
        if table_id != self._table_id:
            self._table_id, self.order = table_id, FeedOrder()
        while True:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                await self._connect()
            self._audience.connections["lost"] += 1
            self._calls.other_gateway()
            await asyncio.sleep(PAUSE_S)

    async def _connect(self) -> None:
        url = f"{self._calls.gateway()}/v1/ws"
        # The timeout is for connecting alone.
        async with asyncio.timeout(CONNECT_WITHIN_S) as limit:
            async with self._calls.session.ws_connect(
                url, headers=self._calls.headers, heartbeat=HEARTBEAT_S
            ) as socket:
                subscription = {"table_id": self._table_id}
                if self.order.last is not None:
                    subscription["from_seq"] = str(self.order.last)
                await socket.send_json({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": subscription})
                limit.reschedule(None)
                async for message in socket:
                    if message.type is not aiohttp.WSMsgType.TEXT or not self._receive(message.json()):
                        return

    def _receive(self, message: Json) -> bool:
        """Takes a message; False where the connection is of no more use."""
        if "error" in message:
            return False
        if "result" in message:
            return self._subscribed(message["result"])
        name, params = message["method"], message["params"]
        if name == "table":
            return self._event(params)
        if name == "snapshot":
            return self._snapshot(params, resumed=False)
        private = self._player_id, self._account_id
        self._found(self._audience.hidden, others_facts(params, *private), params)
        self._audience.hidden.looked_at += 1
        if name == "own_view" and params.get("table_id") == self._table_id:
            self.own_view = (params.get("round_id", ""), int(params.get("turn") or 0), params.get("own_view") or {})
            self._look_at_own(params)
            self.changed.set()
        return name != "notice" or params.get("kind") not in {"draining", "unsubscribed"}

    def _subscribed(self, result: Json) -> bool:
        resumed = bool(result.get("resumed"))
        self._audience.connections["resumed"] += resumed
        return self._snapshot(result, resumed=resumed)

    def _snapshot(self, result: Json, *, resumed: bool) -> bool:
        seq = int(result.get("seq") or result["table"]["seq"])
        self._record("resumed" if resumed else "snapshot", seq)
        wrong = self.order.subscribed(seq, resumed=resumed)
        if not resumed:
            self._story.snapshot()
        self._found(self._audience.order, [wrong] if wrong else [], result)
        self._look_for_hidden(result)
        if result.get("table"):
            self._show(result["table"])
            own_view = (result.get("own_seat") or {}).get("own_view") or {}
            self.own_view = (self.round_id, int(self.turn.get("turn") or 0), own_view)
            self._look_at_own(result)
        return not wrong

    def _event(self, event: Json) -> bool:
        seq, name = int(event["seq"]), next((key for key in event if key not in {"table_id", "seq", "at"}), "")
        self._record(name, seq)
        self._audience.order.looked_at += 1
        wrong = self.order.event(seq, is_snapshot=name == "snapshot_published")
        self._found(self._audience.order, [wrong] if wrong else [], event)
        two = self._audience.content.event(self._table_id, seq, event)
        self._found(self._audience.same, [two] if two else [], event)
        if name == "snapshot_published":
            self._story.snapshot()
        untold = self._story.event(event)
        self._found(self._audience.order, [untold] if untold else [], event)
        self._look_for_hidden(event)
        self._apply(name, event.get(name) or {})
        return not wrong

    def _apply(self, name: str, facts: Json) -> None:
        following: dict[str, Callable[[], None]] = {
            "snapshot_published": lambda: self._show(facts["snapshot"]),
            "round_opened": lambda: self._move("PHASE_BETTING", facts["round"]["round_id"]),
            "betting_closed": lambda: self._move("PHASE_CLOSED"),
            "round_dealt": lambda: self._move("PHASE_PLAYING", facts["round_id"], facts.get("turn")),
            "move_made": lambda: self._move("PHASE_PLAYING", facts["round_id"], facts.get("turn")),
            "outcome_drawn": lambda: self._move("PHASE_DRAWN"),
            "caves_changed": lambda: self._show_caves(facts),
            "round_settled": lambda: self._end(facts["round_id"]),
            "round_voided": lambda: self._end(facts["round_id"]),
        }
        if name in following:
            following[name]()

    def _show_caves(self, facts: Json) -> None:
        self.caves = {int(cave["seat"]): cave for cave in facts.get("caves") or []}
        self.changed.set()

    def _show(self, table: Json) -> None:
        self._show_caves(table)
        round_ = table.get("round") or {}
        self._move(table.get("phase", ""), round_.get("round_id", ""), round_.get("turn"))

    def _move(self, phase: str, round_id: str = "", turn: Json | None = None) -> None:
        self.phase, self.turn = phase, turn or {}
        self.round_id = round_id or self.round_id
        self.changed.set()

    def _end(self, round_id: str) -> None:
        self._audience.ends.setdefault(round_id, time.time())
        self._move("PHASE_RESULT_SHOWN")

    def _look_for_hidden(self, message: Json) -> None:
        self._audience.hidden.looked_at += 1
        public = {name: value for name, value in message.items() if name != "own_seat"}
        leaks = public_leaks(public) + self._game.leaks(public)
        self._found(self._audience.hidden, leaks + others_facts(message, self._player_id, self._account_id), message)

    def _look_at_own(self, message: Json) -> None:
        round_id, _, own_view = self.own_view
        cards = self._game.own_cards(own_view)
        self._found(
            self._audience.hidden, self._audience.private_cards.shown(round_id, self._player_id, cards), message
        )

    def _found(self, check: Check, sentences: list[str], message: Json) -> None:
        for sentence in sentences:
            check.violate(f"{self._player_id} at {self._table_id}: {sentence}", [str(message)[:600]])

    def _record(self, name: str, seq: int) -> None:
        facts = {"at": time.time(), "client": self._player_id, "table": self._table_id, "seq": seq, "event": name}
        self._audience.recorder.write("events", facts)

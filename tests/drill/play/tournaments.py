"""Sit & go tournaments, one after the other: bots register, play at the table that they are drawn to, and are paid."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from random import Random

from services.kit import background
from tests.drill.checks.feed import Json
from tests.drill.play.bots import ABANDONS_ONE_IN, LOOKS_AFTER_S, PAUSES_S, TOO_LATE
from tests.drill.play.calls import PAUSE_S, Calls, Refused
from tests.drill.play.games import Choice, DrillPoker
from tests.drill.play.watching import Audience, Watcher
from tests.drill.recorder import Command
from tests.processes.poker import HOLDEM

# More than a table seats, so that players are moved as others go out.
ENTRANTS, SEATS = 5, 3
PRIZE_CENTS, FEE_CENTS = 1_000, 100
PRICE_CENTS = PRIZE_CENTS + FEE_CENTS
# A hand takes five seconds at least: the blinds have all chips after a dozen.
BLINDS = (50, 100, 200, 400, 800)
OVER = frozenset({"TOURNAMENT_PHASE_FINISHED", "TOURNAMENT_PHASE_CANCELLED"})
# Longer than any fault.
KNOWN_WITHIN_S = 90.0
_GONE = frozenset({"TABLE_UNKNOWN", "NOT_SEATED", "ROUND_UNKNOWN", "TOURNAMENT_OVER"})
REGISTERING = "TOURNAMENT_PHASE_REGISTERING"
RULES: Json = {
    "regulation": HOLDEM,
    "price": {"prize_cents": PRIZE_CENTS, "fee_cents": FEE_CENTS},
    "start": "TOURNAMENT_START_ON_FULL",
    "seats": SEATS,
    "max_players": ENTRANTS,
    "starting_stack": 500,
    "levels": [{"small_blind": blind, "big_blind": 2 * blind, "seconds": 15} for blind in BLINDS],
    "decision_time_seconds": 10,
    "time_bank_seconds": 0,
}


@dataclass
class Series:
    """The tournaments of one group of players; each is created by the first of them who comes."""

    name: str
    operator: Calls
    created: list[str] = field(default_factory=list)

    async def create(self, number: int) -> str:
        """Returns a tournament of the series that exists: creating it again gives the same answer."""
        tournament_id = f"{self.name}-{number}"
        configuration = {"name": {"pt": "Torneio", "en": "Tournament"}, "mode": "MODE_REAL", "rules": RULES}
        body = {"tournament_id": tournament_id, "configuration": configuration, "approval_reference": "drill"}
        command = Command("create", self.operator.name, f"create-{tournament_id}")
        await self.operator.run(command, "/v1/tournaments", body)
        if tournament_id not in self.created:
            self.created.append(tournament_id)
        return tournament_id


class Entrant:
    """One player of a series."""

    def __init__(self, calls: Calls, series: Series, account_id: str, audience: Audience, dice: Random) -> None:
        self._game = DrillPoker()
        self.calls = calls
        self.account_id = account_id
        self.placement = series.name
        self.watcher = Watcher(calls, self._game, calls.name, account_id, audience)
        self.registered: set[str] = set()
        """Tournaments in which an entry was acknowledged, and not taken back."""
        self._series = series
        self._dice = dice
        self._table_id = ""

    async def play(self, closing: asyncio.Event) -> None:
        """Plays tournament after tournament, and the last one to its end when the drill closes."""
        number = 0
        while not closing.is_set():
            number += 1
            tournament_id = await self._series.create(number)
            await self._register(tournament_id)
            await self._play_tournament(tournament_id, closing)

    async def _register(self, tournament_id: str) -> None:
        command = self._command("register")
        path = f"/v1/tournaments/{tournament_id}:register"
        if self._dice.randrange(ABANDONS_ONE_IN) == 0:
            # The same entry is asked for again: it is paid for once.
            await self.calls.abandon(self._command("register", request_id=command.request_id), path, {}, self._dice)
        until = time.monotonic() + KNOWN_WITHIN_S
        while tournament_id not in self.registered:
            try:
                await self.calls.run(command, path, {})
            except Refused as refused:
                # Other processes than the one that created it read of it within a second or two.
                if refused.reason != "TOURNAMENT_UNKNOWN" or time.monotonic() > until:
                    raise
                await asyncio.sleep(PAUSE_S)
                command = self._command("register", request_id=command.request_id)
            else:
                self.registered.add(tournament_id)

    async def _play_tournament(self, tournament_id: str, closing: asyncio.Event) -> None:
        watching: asyncio.Task[None] | None = None
        try:
            while True:
                shown = await self.calls.run(self._command("read"), f"/v1/tournaments/{tournament_id}")
                phase = shown["tournament"]["phase"]
                if phase in OVER:
                    return
                if closing.is_set() and phase == REGISTERING and await self._unregister(tournament_id):
                    return
                table_id = ((shown.get("own") or {}).get("entry") or {}).get("table_id", "")
                if table_id != self._table_id:
                    if watching is not None:
                        await background.cancel_and_wait([watching])
                    watching = asyncio.create_task(self.watcher.watch(table_id)) if table_id else None
                    self._table_id = table_id
                await self._play_on()
        finally:
            self._table_id = ""
            if watching is not None:
                await background.cancel_and_wait([watching])

    async def _unregister(self, tournament_id: str) -> bool:
        """Takes the entry back; False where the tournament has begun meanwhile."""
        try:
            await self.calls.run(self._command("unregister"), f"/v1/tournaments/{tournament_id}:unregister", {})
        except Refused as refused:
            if refused.reason != "UNREGISTERING_CLOSED":
                raise
            return False
        self.registered.discard(tournament_id)
        return True

    async def _play_on(self) -> None:
        """Decides what there is to decide; returns in a few seconds, for the player may sit elsewhere by then."""
        until = time.monotonic() + LOOKS_AFTER_S
        while time.monotonic() < until:
            self.watcher.changed.clear()
            own_round, own_turn, own_view = self.watcher.own_view
            turn = int(self.watcher.turn.get("turn") or 0)
            choice = None
            if self.watcher.phase == "PHASE_PLAYING" and (own_round, own_turn) == (self.watcher.round_id, turn):
                choice = self._choose(own_view)
            if choice is not None:
                await self._decide(own_round, own_turn, choice)
                await asyncio.sleep(self._dice.uniform(*PAUSES_S))
                continue
            try:
                async with asyncio.timeout(LOOKS_AFTER_S):
                    await self.watcher.changed.wait()
            except TimeoutError:
                await self._look()
                return

    async def _look(self) -> None:
        """Reads the table: what a client does that may have missed its own view."""
        if not self._table_id:
            return
        try:
            shown = await self.calls.run(self._command("read"), f"/v1/tables/{self._table_id}")
        except Refused as refused:
            if refused.reason not in _GONE:
                raise
            return
        round_ = shown["table"].get("round") or {}
        if round_.get("round_id") == self.watcher.round_id:
            own_view = (shown.get("own_seat") or {}).get("own_view") or {}
            turn = int((round_.get("turn") or {}).get("turn") or 0)
            self.watcher.own_view = (round_["round_id"], turn, own_view)

    def _choose(self, own_view: Json) -> Choice | None:
        """Puts everything in often: a tournament is to end."""
        choice = self._game.choose(own_view, self._dice)
        most = int((own_view.get("legal") or {}).get("max_to_cents") or 0)
        if choice is not None and most and self._dice.randrange(2):
            return Choice(choice.move | {"action": "ACTION_RAISE", "to_cents": most}, 0)
        return choice

    async def _decide(self, round_id: str, turn: int, choice: Choice) -> None:
        self.watcher.own_view = ("", 0, {})
        command = self._command("act", round_id)
        path, body = f"/v1/tables/{self._table_id}/rounds/{round_id}:act", {"turn": turn, "move": choice.move}
        if self._dice.randrange(ABANDONS_ONE_IN) == 0:
            await self.calls.abandon(command, path, body, self._dice)
            return
        try:
            await self.calls.run(command, path, body)
        except Refused as refused:
            # The hand, or the table, has gone on without the player meanwhile.
            if refused.reason not in TOO_LATE | _GONE:
                raise

    def _command(self, kind: str, round_id: str = "", request_id: str = "") -> Command:
        name = request_id or self.calls.new_request_id()
        return Command(kind, self.calls.name, name, "", self.placement, self._table_id, round_id)

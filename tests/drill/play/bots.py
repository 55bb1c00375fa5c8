"""Bots that bet, take back, decide and read their balance without end, and cashiers who move money in and out."""

from __future__ import annotations

import asyncio
import contextlib
from random import Random

from services.kit import background
from tests.drill.checks.feed import Json
from tests.drill.play.calls import Calls, Refused
from tests.drill.play.games import Choice, DrillGame, Preparation
from tests.drill.play.watching import Audience, Watcher
from tests.drill.recorder import Command

# In one of so many commands the client loses the connection, and does not send it again.
ABANDONS_ONE_IN = 15
CANCELS_ONE_IN = 8
READS_BALANCE_ONE_IN = 3
# A bot that sees nothing happen for so long reads the table.
LOOKS_AFTER_S = 2.0
PAUSES_S = (0.05, 0.4)
# The player is not seated any more, or not yet.
_ENTER_AGAIN = frozenset({"NOT_SEATED", "SESSION_ENDED", "SESSION_ENDING", "SESSION_UNKNOWN"})
TOO_LATE = frozenset({
    "BETTING_CLOSED", "NOTHING_STAKED", "TURN_OVER", "NOT_YOUR_TURN", "NOT_ON_FELT", "TABLE_DISABLED",
    # The stake of a decision went back when the owner of the table was lost; it is not made any more.
    "REQUEST_REUSED", "DECISION_ILLEGAL",
})  # fmt: skip


class Bot:
    """One player at one table."""

    def __init__(
        self,
        calls: Calls,
        game: DrillGame,
        account_id: str,
        placement: str,
        audience: Audience,
        dice: Random,
        *,
        individual: bool,
    ) -> None:
        self.calls = calls
        self.watcher = Watcher(calls, game, calls.name, account_id, audience)
        self.placement = placement
        self._game = game
        self._account_id = account_id
        self._dice = dice
        self._individual = individual
        self._table_id = ""
        self._seat = 0
        self._session_id = ""
        self._bet_in = ""
        self._in_play = ""
        """The round in which this player may have money, until it is seen to have ended."""
        self._ends = audience.ends

    async def play(self, closing: asyncio.Event) -> None:
        """Plays round after round, and finishes the last one when the drill closes."""
        watching: asyncio.Task[None] | None = None
        try:
            while not closing.is_set() or self._in_play or (self._game.leaves and self._session_id):
                try:
                    if not self._table_id:
                        if closing.is_set():
                            return
                        await self._enter()
                        if watching is not None:
                            await background.cancel_and_wait([watching])
                        watching = asyncio.create_task(self.watcher.watch(self._table_id))
                    await self._play_once(closing=closing.is_set())
                except Refused as refused:
                    if refused.reason in _ENTER_AGAIN:
                        self._table_id = self._session_id = ""
                    elif refused.reason not in TOO_LATE | self._game.tolerated:
                        raise
                    await asyncio.sleep(0.2)
        finally:
            if watching is not None:
                await background.cancel_and_wait([watching])

    async def _enter(self) -> None:
        command = self._command("enter")
        entered = await self.calls.run(command, f"/v1/tables/{self.placement}:enter", {})
        self._table_id = entered["table"]["table_id"]
        self._seat = int(entered["own_seat"].get("seat") or 0)
        self._session_id = entered["session"]["session_id"]

    async def _play_once(self, *, closing: bool) -> None:
        watcher = self.watcher
        watcher.changed.clear()
        if self._in_play and (self._in_play in self._ends or watcher.round_id not in {self._in_play, ""}):
            self._in_play = ""
        own_round, own_turn, own_view = watcher.own_view
        turn = int(watcher.turn.get("turn") or 0)
        choice = None
        if watcher.phase == "PHASE_PLAYING" and (own_round, own_turn) == (watcher.round_id, turn):
            choice = self._game.choose(own_view, self._dice)
        preparation = None if closing else self._game.prepare(watcher.caves.get(self._seat), self._dice)
        if choice is not None:
            await self._decide(watcher.round_id, turn, choice)
        elif closing and self._game.leaves and self._session_id:
            await self._leave()
        elif preparation is not None and watcher.phase:
            await self._prepare(preparation)
        elif watcher.phase == "PHASE_BETTING" and self._bet_in != watcher.round_id and not closing:
            await self._bet(watcher.round_id)
        elif watcher.phase == "PHASE_BETTING" and self._individual and self._in_play == watcher.round_id:
            await self._launch(watcher.round_id)
        else:
            try:
                async with asyncio.timeout(LOOKS_AFTER_S):
                    await watcher.changed.wait()
            except TimeoutError:
                await self._look()
            return
        await asyncio.sleep(self._dice.uniform(*PAUSES_S))

    async def _bet(self, round_id: str) -> None:
        """Bets once or twice in a round, and perhaps takes everything back."""
        self._bet_in = self._in_play = round_id
        path = f"/v1/{self._game.name}/tables/{self._table_id}/bets"
        for _ in range(self._dice.randint(1, 2)):
            bets = self._game.bet(self._dice)
            command = self._command("bet", round_id, sum(bets.values()))
            placed = [{"place": place, "amount_cents": cents} for place, cents in bets.items()]
            await self._send(command, path, {"round_id": round_id, "bets": placed})
        if self._dice.randrange(CANCELS_ONE_IN) == 0:
            await self._send(self._command("cancel", round_id), f"{path}:cancel", {"round_id": round_id})
        if self._dice.randrange(READS_BALANCE_ONE_IN) == 0:
            await self._read_balance()

    async def _launch(self, round_id: str) -> None:
        path = f"/v1/{self._game.name}/tables/{self._table_id}:{self._game.launch}"
        reason = await self._send(self._command("launch", round_id), path, {"round_id": round_id})
        if reason == "NOTHING_STAKED":
            # Everything was taken back, or no bet arrived: this round waits for others.
            self._bet_in = self._in_play = ""
        elif not reason:
            # What follows comes with the next event.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOKS_AFTER_S):
                    await self.watcher.changed.wait()

    async def _prepare(self, preparation: Preparation) -> None:
        """Fills a cave, or comes back to the table, and waits until the table tells of it."""
        command = self._command(preparation.kind, cents=preparation.cents)
        path = f"/v1/{self._game.name}/tables/{self._table_id}:{preparation.word}"
        await self._send(command, path, preparation.body)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOKS_AFTER_S):
                await self.watcher.changed.wait()

    async def _leave(self) -> None:
        """Ends the session, for good: the cave is cashed out, and no other round begins."""
        session_id, self._session_id = self._session_id, ""
        await self.calls.run(self._command("leave"), f"/v1/sessions/{session_id}:end", {})

    async def _decide(self, round_id: str, turn: int, choice: Choice) -> None:
        self.watcher.own_view = ("", 0, {})
        self._in_play = round_id
        command = self._command("act", round_id, choice.cents)
        path = f"/v1/tables/{self._table_id}/rounds/{round_id}:act"
        await self._send(command, path, {"turn": turn, "move": choice.move})

    async def _send(self, command: Command, path: str, body: Json) -> str:
        """Sends a command, or loses the connection to it; returns why it was refused, if it was."""
        if self._dice.randrange(ABANDONS_ONE_IN) == 0:
            await self.calls.abandon(command, path, body, self._dice)
            return ""
        try:
            await self.calls.run(command, path, body)
        except Refused as refused:
            if refused.reason not in TOO_LATE | self._game.tolerated:
                raise
            return refused.reason
        return ""

    async def _look(self) -> None:
        """Reads the table: what a client does that may have missed an own view, or the end of its round."""
        shown = await self.calls.run(self._command("read"), f"/v1/tables/{self._table_id}")
        table = shown["table"]
        round_ = table.get("round") or {}
        if not shown.get("own_seat"):
            self._table_id = self._session_id = ""
        elif round_.get("round_id") == self.watcher.round_id:
            own_view = shown["own_seat"].get("own_view") or {}
            turn = int((round_.get("turn") or {}).get("turn") or 0)
            self.watcher.own_view = (round_["round_id"], turn, own_view)
        if self._in_play and (round_.get("round_id") != self._in_play or table["phase"] == "PHASE_RESULT_SHOWN"):
            self._in_play = ""

    async def _read_balance(self) -> None:
        await self.calls.run(self._command("balance"), f"/v1/accounts/{self._account_id}/balance")

    def _command(self, kind: str, round_id: str = "", cents: int = 0) -> Command:
        return Command(
            kind,
            self.calls.name,
            self.calls.new_request_id(),
            self._account_id,
            self.placement,
            self._table_id,
            round_id,
            cents,
        )


_PATHS = {"deposit": "deposits", "withdraw": "withdrawals"}


class Cashier:
    """Moves money in and out of an account that nobody plays with, while others do the same."""

    def __init__(self, calls: Calls, account_id: str, dice: Random) -> None:
        self._calls = calls
        self._account_id = account_id
        self._dice = dice

    async def work(self, closing: asyncio.Event) -> None:
        """Works until the drill closes."""
        while not closing.is_set():
            kind = self._dice.choice(("deposit", "withdraw", "balance"))
            cents = 0 if kind == "balance" else self._dice.randint(1, 20) * 100
            command = self._calls.command(kind, self._account_id, cents)
            path = f"/v1/accounts/{self._account_id}"
            with contextlib.suppress(Refused):
                if kind == "balance":
                    await self._calls.run(command, f"{path}/balance")
                elif self._dice.randrange(ABANDONS_ONE_IN) == 0:
                    await self._calls.abandon(command, f"{path}/{_PATHS[kind]}", {"amount_cents": cents}, self._dice)
                else:
                    await self._calls.run(command, f"{path}/{_PATHS[kind]}", {"amount_cents": cents})
            await asyncio.sleep(self._dice.uniform(0.1, 0.6))


async def deposit(calls: Calls, account_id: str, cents: int) -> None:
    """Gives a player the money to play with; recorded, as the account begins empty."""
    await calls.run(
        calls.command("deposit", account_id, cents), f"/v1/accounts/{account_id}/deposits", {"amount_cents": cents}
    )

"""Players of poker: they buy in, and take one of the actions that their own view offers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.rules import Presence
from services.kit.table.encoding import packed
from tests.simulation.environment.players import SendCommand
from tests.simulation.environment.world import Command
from tests.simulation.turns import RestlessTurnPlayer, TurnPlayer

FOLD = poker_pb2.ACTION_FOLD
CHECK = poker_pb2.ACTION_CHECK
CALL = poker_pb2.ACTION_CALL
RAISE = poker_pb2.ACTION_RAISE


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """What a player may do now."""

    round_id: str
    turn: int
    legal: poker_pb2.Legal


class PokerPlayer(TurnPlayer[OwnTurn]):
    """A player at a table of poker."""

    def prepare_buy_in(self, cents: int) -> tuple[Command, SendCommand]:
        command = self._command("buy in", "")
        command.amount_cents = cents
        asked = BetCommand(command.request_id, f"buy in {cents}".encode())
        return command, lambda: self._send(
            command, lambda owner: owner.caves.buy_in(self.table_id, self.caller, asked, cents)
        )

    async def buy_in(self, cents: int) -> object:
        return await self.prepare_buy_in(cents)[1]()

    async def set_presence(self, presence: Presence, *, posts: bool = False) -> object:
        command = self._command("presence", "")
        return await self._send(
            command, lambda owner: owner.caves.set_presence(self.table_id, self.caller, presence, posts=posts)
        )

    async def set_away(self, *, away: bool) -> object:
        return await self.set_presence(Presence.AWAY if away else Presence.PLAYING)

    async def own_view(self) -> tuple[table_pb2.GetTableResponse, poker_pb2.OwnView] | None:
        """Reads what the player alone sees of the hand under way; None if they are in none."""
        answer = await self.get_table()
        if answer is None or not answer.own_seat.HasField("own_view"):
            return None
        view = poker_pb2.OwnView()
        answer.own_seat.own_view.Unpack(view)
        return answer, view

    async def hole_cards(self, timeout_s: float = 60.0) -> list[str]:
        """Waits until a hand is dealt in which the player takes part, and returns the personal cards."""
        until = self._world.loop.time() + timeout_s
        while self._world.loop.time() < until:
            found = await self.own_view()
            if found is not None:
                return list(found[1].cards)
            await asyncio.sleep(0.05)
        raise AssertionError(f"{self.player_id} is not dealt in")

    async def own_turn(self) -> OwnTurn | None:
        """Reads what the player may do now; None if it is not their turn."""
        found = await self.own_view()
        if found is None or not found[1].HasField("legal"):
            return None
        round_ = found[0].table.round
        return OwnTurn(round_.round_id, round_.turn.turn, found[1].legal)

    def prepare_act(
        self, turn: OwnTurn, action: poker_pb2.Action.ValueType, to_cents: int = 0
    ) -> tuple[Command, SendCommand]:
        command = self._command("act", turn.round_id)
        move = poker_pb2.Move(action=action, to_cents=to_cents)
        command.turn, command.move = turn.turn, move.SerializeToString(deterministic=True)
        request = table_pb2.ActRequest(
            request_id=command.request_id,
            table_id=self.table_id,
            round_id=turn.round_id,
            turn=turn.turn,
            move=packed(move),
        )
        return command, lambda: self._send(command, lambda owner: owner.tables.act(request, self.caller))

    async def act(self, action: poker_pb2.Action.ValueType, to_cents: int = 0) -> object:
        """Waits for the player's turn, and acts."""
        return await self.prepare_act(await self.wait_for_turn(), action, to_cents)[1]()

    async def check_or_fold(self) -> object:
        """Does what the clock would do, by the player's own word."""
        turn = await self.wait_for_turn()
        return await self.prepare_act(turn, FOLD if turn.legal.to_call_cents else CHECK)[1]()


class RandomPokerPlayer(RestlessTurnPlayer, PokerPlayer):
    """A player who does random things."""

    def _choose(self, table: table_pb2.GetTableResponse) -> Callable[[], Coroutine[Any, Any, object]]:
        chance = self._rng.random()
        if chance < 0.08:
            return self._send_again
        if chance < 0.10:
            return self._come_and_go
        if chance < 0.14:
            return lambda: self.set_away(away=self._rng.random() < 0.4)
        if chance < 0.3 or not any(each.seat == table.own_seat.seat and each.cave_cents for each in table.table.caves):
            return self._buy_in
        if table.own_seat.HasField("own_view"):
            # Some think for longer than they have.
            return lambda: self._act(table) if self._rng.random() < 0.8 else asyncio.sleep(self._rng.uniform(1, 9))
        return lambda: asyncio.sleep(0.1)

    async def _buy_in(self) -> object:
        sent = self.prepare_buy_in(self._rng.choice((1_000, 5_000, 10_000, 2_345)))
        self._sent.append(sent)
        return await sent[1]()

    async def _act(self, table: table_pb2.GetTableResponse) -> object:
        view = poker_pb2.OwnView()
        table.own_seat.own_view.Unpack(view)
        legal, round_ = view.legal, table.table.round
        turn = OwnTurn(round_.round_id, max(1, round_.turn.turn), legal)
        actions = [
            (FOLD, 0),
            (CHECK, 0),
            (CALL, 0),
            (CALL, 0),
            (RAISE, legal.min_to_cents),
            (RAISE, legal.max_to_cents),
        ]
        action, to_cents = self._rng.choice(actions)
        if action == CHECK and legal.to_call_cents:
            action = CALL
        sent = self.prepare_act(turn, action, to_cents)
        self._sent.append(sent)
        return await sent[1]()

"""Players who decide: they deal, and take one of the decisions that their own view offers, or another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from services.kit.table.encoding import packed
from tests.simulation.environment.players import SendCommand
from tests.simulation.environment.world import Command
from tests.simulation.turns import RestlessTurnPlayer, TurnPlayer

DRAW = blackjack_pb2.DECISION_DRAW
STAND = blackjack_pb2.DECISION_STAND
DOUBLE = blackjack_pb2.DECISION_DOUBLE
SPLIT = blackjack_pb2.DECISION_SPLIT
GIVE_UP = blackjack_pb2.DECISION_GIVE_UP
INSURE = blackjack_pb2.DECISION_INSURE
EVEN_MONEY = blackjack_pb2.DECISION_EVEN_MONEY
DECLINE = blackjack_pb2.DECISION_DECLINE

Decision: TypeAlias = blackjack_pb2.Decision.ValueType


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """What a player may decide now."""

    round_id: str
    turn: int
    options: list[blackjack_pb2.Option]

    def option(self, decision: Decision) -> blackjack_pb2.Option | None:
        return next((option for option in self.options if option.decision == decision), None)


class DecidingPlayer(TurnPlayer[OwnTurn]):
    """A player at a table of blackjack."""

    async def own_turn(self) -> OwnTurn | None:
        """Reads what the player may decide now; None if that is nothing, or there is no answer."""
        answer = await self.get_table()
        if answer is None or not answer.own_seat.HasField("own_view"):
            return None
        view = blackjack_pb2.OwnView()
        answer.own_seat.own_view.Unpack(view)
        return OwnTurn(answer.table.round.round_id, answer.table.round.turn.turn, list(view.options))

    async def place(self) -> str:
        """Returns the place that has the number of the player's seat."""
        answer = await self.get_table()
        assert answer is not None
        return f"{answer.own_seat.seat}"

    async def bet_and_deal(self, cents: int, place: str = "1") -> str:
        """Bets and has the cards dealt at an individual table; returns the round."""
        round_id = await self.wait_for_open_round()
        await self.bet(round_id, {place: cents})
        await self.deal(round_id)
        return round_id

    def prepare_deal(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("deal", round_id)
        request = blackjack_pb2.DealRequest(table_id=self.table_id, round_id=round_id)
        return command, lambda: self._send(command, lambda owner: owner.service.deal(request, self.caller))

    async def deal(self, round_id: str) -> object:
        return await self.prepare_deal(round_id)[1]()

    def prepare_act(
        self,
        round_id: str,
        turn: int,
        decision: Decision,
        place: int = 1,
        insurance_cents: int = 0,
        request_id: str = "",
    ) -> tuple[Command, SendCommand]:
        """Returns a decision and the function that sends it, with a request id of its own or this one."""
        command = self._command("act", round_id)
        command.request_id = request_id or command.request_id
        move = blackjack_pb2.Move(place=place, decision=decision, insurance_cents=insurance_cents)
        command.turn, command.move = turn, move.SerializeToString(deterministic=True)
        request = table_pb2.ActRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id, turn=turn, move=packed(move)
        )
        return command, lambda: self._send(command, lambda owner: owner.tables.act(request, self.caller))

    async def prepare_decision(
        self, decision: Decision, insurance_cents: int = 0, request_id: str = ""
    ) -> tuple[Command, SendCommand]:
        """Waits for the player's turn, and returns a decision on it that its own view offers."""
        turn = await self.wait_for_turn()
        option = turn.option(decision)
        assert option is not None, f"{decision} is not among {turn.options}"
        return self.prepare_act(turn.round_id, turn.turn, decision, option.place, insurance_cents, request_id)

    async def finish_hand(self) -> None:
        """Takes decisions that cost nothing until none is left."""
        self.timeout_s = 8.0
        table = await self.get_table()
        if self.is_individual and table is not None and table.table.phase == types_pb2.PHASE_BETTING:
            await self.deal(table.table.round.round_id)
        while (turn := await self.own_turn()) is not None:
            option = next(each for each in turn.options if each.decision in {STAND, DECLINE, DRAW})
            await self.prepare_act(turn.round_id, turn.turn, option.decision, option.place)[1]()

    async def decide(self, decision: Decision, insurance_cents: int = 0) -> object:
        """Waits for the player's turn, and decides."""
        return await (await self.prepare_decision(decision, insurance_cents))[1]()


class RandomDecidingPlayer(RestlessTurnPlayer, DecidingPlayer):
    """A player who does random things."""

    def _choose(self, table: table_pb2.GetTableResponse) -> Callable[[], Coroutine[Any, Any, object]]:
        chance = self._rng.random()
        if chance < 0.12:
            return self._send_again
        if chance < 0.14:
            return self._come_and_go
        if table.own_seat.HasField("own_view"):
            # Some think for longer than they have.
            return lambda: self._decide(table) if self._rng.random() < 0.8 else asyncio.sleep(self._rng.uniform(1, 9))
        if table.table.phase == types_pb2.PHASE_BETTING:
            return lambda: self._bet_or_deal(table)
        return lambda: self._decide_out_of_turn(table)

    async def _bet_or_deal(self, table: table_pb2.GetTableResponse) -> object:
        round_id = table.table.round.round_id
        chance = self._rng.random()
        if table.own_seat.stakes and chance < 0.5:
            sent = self.prepare_deal(round_id)
        elif table.own_seat.stakes and chance < 0.6:
            sent = self.prepare_cancel(round_id)
        else:
            # Every bet has an amount of its own, by which the checks find it in the ledger.
            cents, amounts = 100, {command.amount_cents for command in self._world.commands}
            while cents in amounts:
                cents += 2
            place = self._rng.choice((table.own_seat.seat, table.own_seat.seat, self._rng.randint(1, 5)))
            sent = self.prepare_bet(round_id, {f"{place}": cents})
        self._sent.append(sent)
        return await sent[1]()

    async def _decide(self, table: table_pb2.GetTableResponse) -> object:
        view = blackjack_pb2.OwnView()
        table.own_seat.own_view.Unpack(view)
        option = self._rng.choice(view.options)
        if self._rng.random() < 0.4:
            # What costs money comes more often than chance would have it.
            option = max(view.options, key=lambda each: each.cost_cents)
        insurance_cents = 0
        if option.decision == INSURE:
            insurance_cents = self._rng.choice((option.cost_cents, 2, option.cost_cents + 2))
        turn = table.table.round.turn.turn
        sent = self.prepare_act(table.table.round.round_id, turn, option.decision, option.place, insurance_cents)
        self._sent.append(sent)
        return await sent[1]()

    async def _decide_out_of_turn(self, table: table_pb2.GetTableResponse) -> object:
        """Decides what is not possible, or not now."""
        round_id = table.table.round.round_id
        if not round_id:
            return None
        decision = self._rng.choice((DRAW, STAND, DOUBLE, SPLIT, INSURE))
        turn = max(1, table.table.round.turn.turn - self._rng.randint(0, 1))
        sent = self.prepare_act(round_id, turn, decision, self._rng.randint(1, 5), 50 if decision == INSURE else 0)
        self._sent.append(sent)
        return await sent[1]()

"""The gRPC methods about bets and draws that banked games have alike; each game adds its layout and its messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.message import Message

from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.banked.commands import BetRequest
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.server.bet_commands import BetCommands
from services.kit.wire_format import timestamp


class BetMessages(Protocol):
    """The module of a banked game's contract: the messages that each such contract declares with the same fields."""

    @property
    def Bets(self) -> Callable[[], Message]: ...  # noqa: N802 - the name of a message, here and below

    @property
    def PlacedStake(self) -> Callable[..., Message]: ...  # noqa: N802

    @property
    def ReducedStake(self) -> Callable[..., Message]: ...  # noqa: N802

    @property
    def PlaceBetsResponse(self) -> Callable[..., Message]: ...  # noqa: N802

    @property
    def CancelBetsResponse(self) -> Callable[..., Message]: ...  # noqa: N802


class RepeatMessages(BetMessages, Protocol):
    """The module of the contract of a banked game whose bets can be repeated."""

    @property
    def RepeatBetsResponse(self) -> Callable[..., Message]: ...  # noqa: N802


class BetsRequest(BetRequest, Protocol):
    """A request that names bets, in the game's own messages."""

    @property
    def bets(self) -> Sequence[Any]: ...


class DrawRequest(Protocol):
    """A request for the draw of a round."""

    @property
    def table_id(self) -> str: ...

    @property
    def round_id(self) -> str: ...


class DrawResponse(Protocol):
    """The result of a round, in the game's own messages."""

    @property
    def outcome(self) -> Message: ...

    @property
    def results(self) -> Message: ...


class RequestRules(Rules[Bets, Outcome], Protocol):
    """The rules of a game that read bets from its requests."""

    def read_place_request(self, bets: Sequence[Any]) -> Bets:
        """Returns the bets that a player wants to place; `add` judges them."""

    def read_cancel_request(self, bets: Sequence[Any]) -> Bets:
        """Returns the bets that a player wants to take back; `take` judges them."""


GameRules = TypeVar("GameRules", bound=RequestRules[Any, Any])
_DrawResponse = TypeVar("_DrawResponse", bound=DrawResponse)


class BetService(Generic[Bets, Outcome, GameRules]):
    """Places and cancels bets, for the gRPC service of a banked game."""

    def __init__(
        self,
        bet_commands: BetCommands[Bets, Outcome],
        rules_class: type[GameRules],
        messages: BetMessages,
        bets_message: Callable[[Bets], Message],
    ) -> None:
        """`bets_message` builds the message of bets, which is the same under all rules."""
        self._bet_commands = bet_commands
        self._rules_class = rules_class
        self._messages = messages
        self._bets_message = bets_message

    async def place_bets(self, request: BetsRequest, caller: Caller) -> Message:
        placed = await self._bet_commands.place(
            request, caller, lambda rules: self._game_rules(rules).read_place_request(request.bets)
        )
        return self._messages.PlaceBetsResponse(stake=self._placed_stake(placed), on_felt=self._bets(placed.on_felt))

    async def cancel_bets(self, request: BetsRequest, caller: Caller) -> Message:
        def read_bets(rules: Rules[Bets, Outcome]) -> Bets | None:
            return self._game_rules(rules).read_cancel_request(request.bets) if request.bets else None

        cancelled = await self._bet_commands.cancel(request, caller, read_bets)
        return self._messages.CancelBetsResponse(
            cancelled_cents=cancelled.cents,
            on_felt=self._bets(cancelled.on_felt),
            balance=cancelled.balance,
            cancelled_stake_ids=cancelled.cancelled_stake_ids,
            reduced_stakes=[
                self._messages.ReducedStake(
                    stake_id=stake.stake_id, amount_cents=stake.amount_cents, bets=self._bets(stake.bets)
                )
                for stake in cancelled.reduced_stakes
            ],
        )

    def _game_rules(self, rules: Rules[Bets, Outcome]) -> GameRules:
        if not isinstance(rules, self._rules_class):
            raise refusals.unavailable("The table is not one of this game")
        return rules

    def _placed_stake(self, placed: PlacedBets[Bets]) -> Message:
        return self._messages.PlacedStake(
            stake_id=placed.stake_id,
            round_id=placed.round_id,
            amount_cents=placed.amount_cents,
            placed_at=placed.placed_at,
            balance=placed.balance,
            bets=self._bets(placed.bets),
        )

    def _bets(self, bets: Bets | None) -> Message:
        return self._messages.Bets() if bets is None else self._bets_message(bets)


class DrawService(BetService[Bets, Outcome, GameRules]):
    """Repeats bets and launches draws as well, for the gRPC service of a game that is decided at once."""

    def __init__(
        self,
        bet_commands: BetCommands[Bets, Outcome],
        rules_class: type[GameRules],
        messages: RepeatMessages,
        bets_message: Callable[[Bets], Message],
    ) -> None:
        super().__init__(bet_commands, rules_class, messages, bets_message)
        self._repeat_messages = messages

    async def repeat_bets(self, request: BetRequest, caller: Caller) -> Message:
        placed = await self._bet_commands.repeat(request, caller)
        return self._repeat_messages.RepeatBetsResponse(
            stake=self._placed_stake(placed), on_felt=self._bets(placed.on_felt)
        )

    async def _draw(
        self, request: DrawRequest, caller: Caller, response_class: Callable[..., _DrawResponse]
    ) -> _DrawResponse:
        """Launches the draw, or returns the result of a round that the player has played."""
        played = await self._bet_commands.draw(request.table_id, request.round_id, caller)
        response = response_class(
            round_id=played.round_id,
            staked_cents=sum(stake.amount_cents for stake in played.stakes),
            payout_cents=played.payout_cents,
            balance=played.balance,
            void_reason=played.void_reason,
            next_round_id=played.next_round_id,
            next_round_opens_at=timestamp(played.next_round_opens_at),
        )
        if played.outcome is not None:
            rules = self._game_rules(played.rules)
            response.outcome.CopyFrom(rules.outcome_message(played.outcome))
            for stake in played.stakes:
                response.results.MergeFrom(rules.results_message(played.outcome, rules.read_bets(stake.bets)))
        return response

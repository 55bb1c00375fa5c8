"""Carries out the decisions of players: each command acts once and gets its first answer for ever (G3).

A table answers for the rounds that it remembers. Where it refuses, the decision may have counted before, with another
owner or in a round that is long over: then the journal has it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from google.protobuf.message import DecodeError

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.entries import JournalStake, Moved, Opened
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation

# Refusals that say nothing about the command: it is sent again, perhaps elsewhere, and may be carried out then.
_SEND_AGAIN = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED", "REQUEST_REUSED"})


class DecidingTable(Protocol):
    """A live table, as decisions see it."""

    async def act(self, player_id: str, command: BetCommand, round_id: str, turn: int, move: bytes) -> Moved:
        """Carries out a decision, or returns the decision that the same command has made before."""


class DecidedRound(Protocol):
    """What the journal has of a round, as far as decisions are concerned."""

    @property
    def opened(self) -> Opened: ...

    @property
    def stakes(self) -> Sequence[JournalStake]:
        """Those that counted when betting closed, at least: every player of the round has one."""

    @property
    def moves(self) -> Sequence[Moved]: ...


class Decisions:
    """Answers `TableService.Act` for the tables of one process."""

    def __init__(
        self,
        find_table: Callable[[str, Caller], Awaitable[DecidingTable]],
        rules_of: Callable[[str], VersionedRules[Any, Any]],
        read_round: Callable[[str], Awaitable[DecidedRound | None]],
        first_answer: Callable[[wallet_pb2.GetFirstAnswerRequest], Awaitable[wallet_pb2.GetFirstAnswerResponse]],
    ) -> None:
        """`rules_of` returns the rules in force for a table; the journal and the wallet answer the rest."""
        self._find_table = find_table
        self._rules_of = rules_of
        self._read_round = read_round
        self._first_answer = first_answer

    async def act(self, request: table_pb2.ActRequest, caller: Caller) -> table_pb2.ActResponse:
        """Carries a decision out, or returns its first answer, wherever that is."""
        move = self._verified_move(request)
        command = BetCommand.of(request)
        try:
            table = await self._find_table(request.table_id, caller)
            moved = await table.act(caller.subject, command, request.round_id, request.turn, move)
        except TableRefused as refused:
            if refused.reason in _SEND_AGAIN:
                raise
            recorded = await self._recorded_move(request, caller.subject, command)
            if recorded is None:
                raise
            moved = recorded
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
            # The wallet names its own id of the command.
            raise refusals.request_reused(request.request_id) from None
        return _answer(moved)

    def _verified_move(self, request: table_pb2.ActRequest) -> bytes:
        """Returns the decision as the game's own message, after everything that needs no table was verified."""
        validation.request_id(request.request_id)
        validation.table_id(request.table_id)
        validation.round_id(request.round_id)
        rules = self._rules_of(request.table_id)
        move_type = rules.rules.move_type
        if move_type is None:
            play = wallet_types.Play.Name(rules.configuration.play)
            sentence = "Nobody decides in this game: a round has bets and an outcome."
            raise TableRefused("WRONG_PLAY", sentence, table_id=request.table_id, play=play)
        if request.turn < 1:
            raise refusals.invalid("turn", "has to be the number of the turn, as the table tells it.")
        if request.move.TypeName() != move_type.DESCRIPTOR.full_name:
            raise refusals.invalid("move", f"has to hold a `{move_type.DESCRIPTOR.full_name}`.")
        try:
            move = move_type.FromString(request.move.value)
        except DecodeError:
            raise refusals.invalid("move", f"holds no `{move_type.DESCRIPTOR.full_name}` that can be read.") from None
        # The journal keeps nothing that the game does not know.
        move.DiscardUnknownFields()
        return move.SerializeToString(deterministic=True)

    async def _recorded_move(self, request: table_pb2.ActRequest, player_id: str, command: BetCommand) -> Moved | None:
        """Reads the decision that the command has made before from the journal; None if it has made none."""
        round_ = await self._read_round(request.round_id)
        if round_ is None or round_.opened.table_id != request.table_id:
            return None
        accounts = {stake.account_id for stake in round_.stakes if stake.player_id == player_id}
        own_ids = {command.wallet_request_id(account_id) for account_id in accounts}
        moved = next((moved for moved in round_.moves if moved.command_id in own_ids), None)
        if moved is not None:
            await self._verify_content(moved, command)
        return moved

    async def _verify_content(self, moved: Moved, command: BetCommand) -> None:
        """Refuses another content under the same request id; the wallet knows that of a stake that was adopted."""
        if moved.command_digest:
            if moved.command_digest != command.digest:
                raise refusals.request_reused(command.request_id)
            return
        request = wallet_pb2.GetFirstAnswerRequest(request_id=moved.command_id, command_digest=command.digest)
        try:
            await self._first_answer(request)
        except Refused as refused:
            if refused.reason == "REQUEST_REUSED":
                raise refusals.request_reused(command.request_id) from None
            raise


def _answer(moved: Moved) -> table_pb2.ActResponse:
    stake = moved.stake
    return table_pb2.ActResponse(
        round_id=moved.round_id,
        position=moved.position,
        staked_cents=0 if stake is None else stake.amount_cents,
        stake_id="" if stake is None else stake.stake_id,
    )

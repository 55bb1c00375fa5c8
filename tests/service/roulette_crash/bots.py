"""Bots that bet and decide without end, repeat every call until it is answered, and record the answers."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, TypeVar

import grpc

from feltro.table.v1 import table_pb2, types_pb2
from services.kit.rpc.status import error_info, status_of
from tests.processes.game import GameClient
from tests.service.roulette_crash.games import CrashGame, Decision, Launched, PlacedStake
from tests.service.roulette_crash.lease_directory import LeaseDirectory

# Then the bot repeats the call, with the same request id.
CALL_TIMEOUT_S = 4.0
RETRY_AFTER_S = 0.1
# Longer than any outage that a test causes.
ANSWERED_WITHIN_S = 120.0
POLL_EVERY_S = 0.2
# In one of so many bets and launches the connection is lost: half of them so soon that the call may not have arrived,
# the others when it is answered.
DISCONNECTS_ONE_IN = 12
DISCONNECTS_WITHIN_S = 0.02
# In one of so many an answered decision is sent again.
REPEATS_ONE_IN = 8
# Between the answer to a decision and the next one: as slow as the quickest player.
DECIDES_AFTER_S = (0.05, 0.3)
# Refusals of decisions: the clock or another place was quicker, or the stake had gone back when its owner was lost.
_DECIDED_OTHERWISE = frozenset({"TURN_OVER", "NOT_YOUR_TURN", "REQUEST_REUSED"})
# Refusals that send nothing about the command: it is repeated.
_TRY_AGAIN = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED"})
_CONNECTION_LOST = frozenset({
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNKNOWN,
})  # fmt: skip
# The player is not seated any more, or not yet.
_ENTER_AGAIN = frozenset({"NOT_SEATED", "NOT_YOURS", "SESSION_ENDED", "SESSION_ENDING", "SESSION_UNKNOWN"})

T = TypeVar("T")


class BetRefused(Exception):
    """A call was refused."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(f"{reason}: {sentence}")
        self.reason = reason


@dataclass
class BetRecord:
    """A bet, and what its player knows about it."""

    player_id: str
    round_id: str
    request_id: str
    cents: int
    stake_id: str = ""
    """Empty unless the bet was acknowledged."""
    refusal_reason: str = ""
    """Why the bet does not count."""
    cancelled: bool | None = False
    """None if the cancellation may or may not have taken effect."""
    disconnected: bool = False
    """The connection was lost before the answer, and the call is not repeated."""

    @property
    def counts(self) -> bool:
        """Whether the bet counts, as far as the player knows."""
        return bool(self.stake_id) and self.cancelled is False


@dataclass
class DecisionRecord:
    """A decision, and what its player knows about it."""

    bet: BetRecord
    """Its command, and its stake if it costs anything."""
    move: bytes
    position: int = 0
    """0 unless the decision was acknowledged."""


@dataclass
class BetLog:
    """The bets and decisions of all players and the answers that they received."""

    bets: list[BetRecord] = field(default_factory=list)
    """The stakes of decisions included."""
    decisions: list[DecisionRecord] = field(default_factory=list)
    launched: dict[str, Launched] = field(default_factory=dict)
    """What players were shown of the rounds that they started, by round."""
    refusals: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    acknowledged: int = 0
    longest_wait_s: float = 0.0

    def disconnected_requests(self) -> set[tuple[str, str]]:
        """The player and request of each bet whose answer never arrived."""
        return {(bet.player_id, bet.request_id) for bet in self.bets if bet.disconnected}

    def record(self, bet: BetRecord) -> None:
        self.bets.append(bet)
        self.acknowledged += bool(bet.stake_id)
        if bet.refusal_reason:
            self.refusals[bet.refusal_reason] += 1

    def record_decision(self, decision: DecisionRecord) -> None:
        self.decisions.append(decision)
        if decision.bet.cents:
            self.record(decision.bet)
        else:
            self.acknowledged += bool(decision.position)
            if decision.bet.refusal_reason:
                self.refusals[f"decision: {decision.bet.refusal_reason}"] += 1


class Bot:
    """One player at one table."""

    def __init__(
        self,
        player_id: str,
        placement_id: str,
        *,
        individual: bool,
        game: CrashGame[Any],
        clients: Mapping[str, GameClient],
        leases: LeaseDirectory,
        bet_log: BetLog,
        dice: Random,
        always_disconnects: bool = False,
    ) -> None:
        self.player_id = player_id
        self.placement_id = placement_id
        self.rounds = 0
        """Rounds in which a bet of this bot counts."""
        self.last_answer = ""
        """What came instead of an answer, to explain why the bot does not bet."""
        self._individual = individual
        self._game = game
        self._clients = clients
        self._leases = leases
        self._bet_log = bet_log
        self._dice = dice
        self._always_disconnects = always_disconnects
        self._table_id = ""
        self._last_round = ""
        # The round in which the bot may have to decide.
        self._undecided_round = ""
        self._round_bets: list[BetRecord] = []
        self._requests = 0

    async def play(self, closing: asyncio.Event) -> None:
        """Plays round after round, and finishes its last one when the run closes."""
        while not closing.is_set() or self._undecided_round:
            try:
                if not self._table_id:
                    await self._enter()
                await self._play_once(is_closing=closing.is_set())
            except BetRefused as refused:
                if refused.reason not in _ENTER_AGAIN:
                    raise
                self._table_id = ""
                # The table may learn of the end of the last session a moment later.
                await asyncio.sleep(RETRY_AFTER_S)

    async def _enter(self) -> None:
        request = table_pb2.EnterTableRequest(request_id=self._request_id(), table_id=self.placement_id)
        entered = await self._call_until_answered(
            lambda client: client.tables.EnterTable(request, metadata=client.player(self.player_id))
        )
        self._table_id = entered.table.table_id

    async def _play_once(self, *, is_closing: bool) -> None:
        """Does what there is to do at the table now: bets, starts the draw or the deal, or decides."""
        shown = await self._read_table()
        table = shown.table
        if table.round.round_id != self._undecided_round or table.phase == types_pb2.PHASE_RESULT_SHOWN:
            self._undecided_round = ""
            if is_closing:
                return
        decision = self._game.decide(shown, self._dice)
        if decision is not None:
            await self._decide(table, decision)
        elif table.phase != types_pb2.PHASE_BETTING:
            await asyncio.sleep(POLL_EVERY_S)
        elif self._individual:
            await self._launch_once(table.round.round_id, bets=not is_closing)
        elif table.round.round_id == self._last_round or is_closing:
            await asyncio.sleep(POLL_EVERY_S)
        else:
            await self._bet_once(table.round)

    async def _bet_once(self, round_: types_pb2.RoundOnTable) -> None:
        """Bets in the open round, and waits a while."""
        await self._bet_in(round_.round_id)
        left_s = (round_.closes_at.ToDatetime(UTC) - datetime.now(UTC)).total_seconds()
        await asyncio.sleep(max(POLL_EVERY_S, min(left_s, 3.0)))

    async def _launch_once(self, round_id: str, *, bets: bool) -> None:
        """At an individual table: bets, starts the draw, and records the result."""
        if bets and not any(record.counts for record in await self._bet_in(round_id)):
            return
        table_id = self._table_id

        def launch(client: GameClient) -> Awaitable[Launched | None]:
            return self._game.launch(client, self.player_id, table_id, round_id)

        if bets and self._disconnects():
            await self._call_and_disconnect(launch)
            return
        try:
            launched = await self._call_until_answered(launch)
        except BetRefused as refused:
            # The round ended without the player; the list of rounds shows how.
            self._bet_log.refusals[f"launch: {refused.reason}"] += 1
            if refused.reason not in {"BETTING_CLOSED", "NOTHING_STAKED"}:
                raise
            self._undecided_round = ""
        else:
            if launched is not None:
                self._bet_log.launched[round_id] = launched
        await asyncio.sleep(self._dice.uniform(0.1, 0.8))

    async def _decide(self, table: types_pb2.TableSnapshot, decision: Decision) -> None:
        """Decides in the turn under way, and perhaps says it again."""
        round_id, turn, table_id = table.round.round_id, table.round.turn.turn, self._table_id
        self._undecided_round = round_id
        bet = BetRecord(self.player_id, round_id, self._request_id(), decision.cents)
        record = DecisionRecord(bet, decision.move.SerializeToString(deterministic=True))

        def send(client: GameClient) -> Awaitable[table_pb2.ActResponse]:
            return client.act(self.player_id, table_id, round_id, turn, decision.move, bet.request_id)

        if self._disconnects():
            bet.disconnected = True
            await self._call_and_disconnect(send)
        else:
            try:
                made = await self._call_until_answered(send)
            except BetRefused as refused:
                bet.refusal_reason = refused.reason
                if refused.reason not in _DECIDED_OTHERWISE | _ENTER_AGAIN:
                    raise
            else:
                assert (made.round_id, made.staked_cents, bool(made.stake_id)) == (
                    round_id,
                    decision.cents,
                    bool(decision.cents),
                )
                record.position, bet.stake_id = made.position, made.stake_id
                if self._dice.randint(1, REPEATS_ONE_IN) == 1:
                    assert await self._call_until_answered(send) == made
        self._bet_log.record_decision(record)
        await asyncio.sleep(self._dice.uniform(*DECIDES_AFTER_S))

    async def _read_table(self) -> table_pb2.GetTableResponse:
        table_id = self._table_id
        answer = await self._call_until_answered(lambda client: client.table(self.player_id, table_id))
        if not answer.HasField("own_seat"):
            raise BetRefused("NOT_SEATED", "the player is not at the table")
        return answer

    async def _bet_in(self, round_id: str) -> list[BetRecord]:
        if round_id != self._last_round:
            self._last_round, self._round_bets = round_id, []
        if self._game.has_turns:
            self._undecided_round = round_id
        for _ in range(self._dice.randint(1, 2)):
            self._round_bets.append(await self._bet(round_id))
        if any(record.counts for record in self._round_bets):
            self.rounds += 1
            if not self._always_disconnects and self._dice.randint(1, 8) == 1:
                await self._cancel(round_id, self._round_bets)
        return self._round_bets

    async def _bet(self, round_id: str) -> BetRecord:
        bets = self._dice.choice(self._game.bets)
        record = BetRecord(self.player_id, round_id, self._request_id(), sum(bets.values()))
        table_id = self._table_id

        def send(client: GameClient) -> Awaitable[PlacedStake]:
            return self._game.place(client, self.player_id, table_id, round_id, bets, record.request_id)

        first = self._always_disconnects and not self._round_bets
        if first or self._disconnects():
            record.disconnected = True
            await self._call_and_disconnect(send, answered=first)
            self._bet_log.record(record)
            return record
        try:
            placed = await self._call_until_answered(send)
        except BetRefused as refused:
            record.refusal_reason = refused.reason
            if refused.reason not in {"BETTING_CLOSED"} | self._game.tolerated | _ENTER_AGAIN:
                raise
        else:
            assert placed.amount_cents == record.cents
            assert placed.round_id == round_id
            record.stake_id = placed.stake_id
        self._bet_log.record(record)
        return record

    async def _cancel(self, round_id: str, bets_of_round: list[BetRecord]) -> None:
        known = [record for record in bets_of_round if record.counts]
        unknown = [record for record in bets_of_round if record.disconnected or record.cancelled is None]
        request_id, table_id = self._request_id(), self._table_id
        try:
            cancelled_cents = await self._call_until_answered(
                lambda client: self._game.cancel(client, self.player_id, table_id, round_id, request_id)
            )
        except BetRefused as refused:
            self._bet_log.refusals[f"cancel: {refused.reason}"] += 1
            if refused.reason not in {"BETTING_CLOSED", "NOT_ON_FELT"} | self._game.tolerated | _ENTER_AGAIN:
                raise
            if refused.reason in self._game.tolerated:
                return
            for record in known:
                record.cancelled = None
        else:
            certain, possible = sum(record.cents for record in known), sum(record.cents for record in unknown)
            assert certain <= cancelled_cents <= certain + possible, (cancelled_cents, bets_of_round)
            for record in known:
                record.cancelled = True

    def _disconnects(self) -> bool:
        return self._dice.randint(1, DISCONNECTS_ONE_IN) == 1

    async def _call_and_disconnect(
        self, send: Callable[[GameClient], Awaitable[object]], *, answered: bool = False
    ) -> None:
        """Calls once; whether it takes effect or not, the player never gets the answer.

        `answered`: the connection is lost when the server has answered, however long that takes.
        """
        client = self._clients.get(self._leases.address(self.placement_id))
        lost_after_s = self._dice.choice((self._dice.uniform(0, DISCONNECTS_WITHIN_S), CALL_TIMEOUT_S))
        if answered:
            lost_after_s = ANSWERED_WITHIN_S
        with suppress(TimeoutError, grpc.aio.AioRpcError):
            async with asyncio.timeout(lost_after_s):
                if client is not None:
                    await send(client)

    async def _call_until_answered(self, send: Callable[[GameClient], Awaitable[T]]) -> T:
        """Repeats a call, to the owner of the table, until it is answered."""
        began, elsewhere = time.monotonic(), ""
        while time.monotonic() - began < ANSWERED_WITHIN_S:
            address = elsewhere or self._leases.address(self.placement_id)
            elsewhere = ""
            try:
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    answer = await send(self._clients.get(address) or self._clients[self._leases.next_replica()])
            except TimeoutError:
                self.last_answer = f"{address} did not answer"
            except grpc.aio.AioRpcError as failed:
                reason, elsewhere, sentence = _refusal(failed)
                self.last_answer = f"{address}: {sentence}"
                if reason:
                    raise BetRefused(reason, sentence) from None
            else:
                self.last_answer = ""
                self._bet_log.longest_wait_s = max(self._bet_log.longest_wait_s, time.monotonic() - began)
                return answer
            self._bet_log.unanswered += 1
            await asyncio.sleep(RETRY_AFTER_S)
        raise AssertionError(f"no answer for {self.player_id} at {self.placement_id}; last: {self.last_answer}")

    def _request_id(self) -> str:
        self._requests += 1
        return f"{self.player_id}-{self._requests}"


def _refusal(failed: grpc.aio.AioRpcError) -> tuple[str, str, str]:
    """The reason if the command was refused; otherwise the address of the owner, if it was named; and the sentence."""
    status = status_of(failed)
    info = None if status is None else error_info(status)
    if info is None:
        # Anything else is a fault of the service.
        assert failed.code() in _CONNECTION_LOST, f"{failed.code()}: {failed.details()}"
        return "", "", f"{failed.code().name}: {failed.details()}"
    if info.reason in _TRY_AGAIN:
        return "", info.metadata.get("address", ""), f"{info.reason}: {failed.details()}"
    return info.reason, "", failed.details() or ""

"""Players who never stop betting, say everything until it is answered, and remember what they were told."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import TypeVar

import grpc

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from services.kit.rpc.status import error_info, status_of
from tests.processes.roulette import RouletteClient
from tests.service.roulette_crash.lease_directory import LeaseDirectory

# After this a player says it again, with the same request id.
CALL_TIMEOUT_S = 4.0
RETRY_AFTER_S = 0.1
# How long a casino may leave somebody without an answer: longer than any outage that a test makes.
ANSWERED_WITHIN_S = 60.0
POLL_EVERY_S = 0.2
# One in so many bets and launches is the last word of a player whose connection is lost: half of them so soon that they
# may not have been heard, the others when they are answered.
DISCONNECTS_ONE_IN = 12
DISCONNECTS_WITHIN_S = 0.02
# What an answer says of the way and not of the command.
_OF_THE_WAY = frozenset({"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED"})
_BROKEN = frozenset({
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNKNOWN,
})  # fmt: skip
# He is not at the table any more, or not yet.
_SIT_DOWN = frozenset({"NOT_SEATED", "NOT_YOURS", "SESSION_ENDED", "SESSION_ENDING", "SESSION_UNKNOWN"})
_BETS: tuple[Mapping[str, int], ...] = (
    {"17": 100},
    {"red": 200},
    {"dozen-1": 100, "odd": 200},
    {"0": 100, "1-2": 100, "column-3": 300},
    {"low": 200, "high": 200, "32": 100},
)

T = TypeVar("T")


class BetRefused(Exception):
    """The casino has said no."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(f"{reason}: {sentence}")
        self.reason = reason


@dataclass
class BetRecord:
    """A bet that a player has made, and what he was told of it."""

    player_id: str
    round_id: str
    request_id: str
    cents: int
    stake_id: str = ""
    """Of an acknowledged bet."""
    refusal_reason: str = ""
    """Why it does not count."""
    cancelled: bool | None = False
    """None if he asked for it and does not know."""
    disconnected: bool = False
    """His connection was lost before the answer, and he never asked again."""

    @property
    def counts(self) -> bool:
        """Whether it counts, as far as the player knows."""
        return bool(self.stake_id) and self.cancelled is False


@dataclass
class BetLog:
    """What all players were told."""

    bets: list[BetRecord] = field(default_factory=list)
    spin_responses: dict[str, roulette_pb2.SpinResponse] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    acknowledged: int = 0
    longest_wait_s: float = 0.0

    @property
    def disconnected_count(self) -> int:
        """Bets whose players never heard of them again."""
        return sum(slip.disconnected for slip in self.bets)

    def record(self, slip: BetRecord) -> None:
        self.bets.append(slip)
        self.acknowledged += bool(slip.stake_id)
        if slip.refusal_reason:
            self.refusals[slip.refusal_reason] += 1


class Bot:
    """One player at one table."""

    def __init__(
        self,
        player_id: str,
        placement_id: str,
        *,
        individual: bool,
        clients: Mapping[str, RouletteClient],
        leases: LeaseDirectory,
        bet_log: BetLog,
        dice: Random,
    ) -> None:
        self.player_id = player_id
        self.placement_id = placement_id
        self.rounds = 0
        """Rounds in which he has a bet that counts."""
        self.last_answer = ""
        """What he was told instead of an answer, for whoever wonders why he does not bet."""
        self._individual = individual
        self._clients = clients
        self._signposts = leases
        self._memory = bet_log
        self._dice = dice
        self._table_id = ""
        self._last_round = ""
        self._slips: list[BetRecord] = []
        self._requests = 0

    async def play(self, closing: asyncio.Event) -> None:
        """Round after round; when the casino closes he still finishes the one he is in."""
        while not closing.is_set():
            try:
                if not self._table_id:
                    await self._sit_down()
                await (self._spin_once() if self._individual else self._bet_once())
            except BetRefused as said:
                if said.reason not in _SIT_DOWN:
                    raise
                self._table_id = ""
                # Whoever had just been at the table may have to be heard of there first.
                await asyncio.sleep(RETRY_AFTER_S)

    async def _sit_down(self) -> None:
        request = table_pb2.EnterTableRequest(request_id=self._request_id(), table_id=self.placement_id)
        entered = await self._ask(
            lambda client: client.tables.EnterTable(request, metadata=client.player(self.player_id))
        )
        self._table_id = entered.table.table_id

    async def _bet_once(self) -> None:
        """Bets in the round that takes bets, unless he has already."""
        table = await self._look()
        if table.phase != types_pb2.PHASE_BETTING or table.round.round_id == self._last_round:
            await asyncio.sleep(POLL_EVERY_S)
            return
        await self._bet_in(table.round.round_id)
        left_s = (table.round.closes_at.ToDatetime(UTC) - datetime.now(UTC)).total_seconds()
        await asyncio.sleep(max(POLL_EVERY_S, min(left_s, 3.0)))

    async def _spin_once(self) -> None:
        """At a table of his own: bets, launches the ball, and sees where it comes to rest."""
        table = await self._look()
        round_id = table.round.round_id
        if table.phase != types_pb2.PHASE_BETTING:
            await asyncio.sleep(POLL_EVERY_S)
            return
        slips = await self._bet_in(round_id)
        if not any(slip.counts for slip in slips):
            return
        table_id = self._table_id
        if self._loses():
            await self._say_once(lambda client: client.spin(self.player_id, table_id, round_id))
            return
        try:
            spun = await self._ask(lambda client: client.spin(self.player_id, table_id, round_id))
        except BetRefused as said:
            # It ended without him: his rounds tell how.
            self._memory.refusals[f"spin: {said.reason}"] += 1
            if said.reason not in {"BETTING_CLOSED", "NOTHING_STAKED"}:
                raise
        else:
            self._memory.spin_responses[round_id] = spun
        await asyncio.sleep(self._dice.uniform(0.1, 0.8))

    async def _look(self) -> types_pb2.TableSnapshot:
        table_id = self._table_id
        seen = await self._ask(lambda client: client.table(self.player_id, table_id))
        if not seen.HasField("own_seat"):
            raise BetRefused("NOT_SEATED", "he is not at the table")
        return seen.table

    async def _bet_in(self, round_id: str) -> list[BetRecord]:
        if round_id != self._last_round:
            self._last_round, self._slips = round_id, []
        for _ in range(self._dice.randint(1, 2)):
            self._slips.append(await self._bet(round_id))
        if any(slip.counts for slip in self._slips):
            self.rounds += 1
            if self._dice.randint(1, 8) == 1:
                await self._take_back(round_id, self._slips)
        return self._slips

    async def _bet(self, round_id: str) -> BetRecord:
        bets = self._dice.choice(_BETS)
        slip = BetRecord(self.player_id, round_id, self._request_id(), sum(bets.values()))
        table_id = self._table_id

        def say(client: RouletteClient) -> Awaitable[roulette_pb2.PlaceBetsResponse]:
            return client.bet(self.player_id, table_id, round_id, bets, slip.request_id)

        if self._loses():
            slip.disconnected = True
            await self._say_once(say)
            self._memory.record(slip)
            return slip
        try:
            placed = await self._ask(say)
        except BetRefused as said:
            slip.refusal_reason = said.reason
            if said.reason != "BETTING_CLOSED" and said.reason not in _SIT_DOWN:
                raise
        else:
            assert placed.stake.amount_cents == slip.cents
            assert placed.stake.round_id == round_id
            slip.stake_id = placed.stake.stake_id
        self._memory.record(slip)
        return slip

    async def _take_back(self, round_id: str, slips: list[BetRecord]) -> None:
        known = [slip for slip in slips if slip.counts]
        unknown = [slip for slip in slips if slip.disconnected or slip.cancelled is None]
        request = roulette_pb2.CancelBetsRequest(
            request_id=self._request_id(), table_id=self._table_id, round_id=round_id
        )
        try:
            taken = await self._ask(
                lambda client: client.roulette.CancelBets(request, metadata=client.player(self.player_id))
            )
        except BetRefused as said:
            self._memory.refusals[f"take back: {said.reason}"] += 1
            if said.reason not in {"BETTING_CLOSED", "NOT_ON_FELT"} | _SIT_DOWN:
                raise
            for slip in known:
                slip.cancelled = None
        else:
            certain, possible = sum(slip.cents for slip in known), sum(slip.cents for slip in unknown)
            assert certain <= taken.cancelled_cents <= certain + possible, (taken, slips)
            for slip in known:
                slip.cancelled = True

    def _loses(self) -> bool:
        return self._dice.randint(1, DISCONNECTS_ONE_IN) == 1

    async def _say_once(self, say: Callable[[RouletteClient], Awaitable[object]]) -> None:
        """Says it and is gone, whether it was heard or not; no answer reaches him."""
        client = self._clients.get(self._signposts.address(self.placement_id))
        lost_after_s = self._dice.choice((self._dice.uniform(0, DISCONNECTS_WITHIN_S), CALL_TIMEOUT_S))
        with suppress(TimeoutError, grpc.aio.AioRpcError):
            async with asyncio.timeout(lost_after_s):
                if client is not None:
                    await say(client)

    async def _ask(self, say: Callable[[RouletteClient], Awaitable[T]]) -> T:
        """Says it, the same again and again, to whoever runs the table, until there is an answer."""
        began, elsewhere = time.monotonic(), ""
        while time.monotonic() - began < ANSWERED_WITHIN_S:
            address = elsewhere or self._signposts.address(self.placement_id)
            elsewhere = ""
            try:
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    answer = await say(self._clients.get(address) or self._clients[self._signposts.next_replica()])
            except TimeoutError:
                self.last_answer = f"{address} did not answer"
            except grpc.aio.AioRpcError as failed:
                reason, elsewhere, words = _refusal(failed)
                self.last_answer = f"{address}: {words}"
                if reason:
                    raise BetRefused(reason, words) from None
            else:
                self.last_answer = ""
                self._memory.longest_wait_s = max(self._memory.longest_wait_s, time.monotonic() - began)
                return answer
            self._memory.unanswered += 1
            await asyncio.sleep(RETRY_AFTER_S)
        raise AssertionError(f"nobody answers {self.player_id} at {self.placement_id}; at last: {self.last_answer}")

    def _request_id(self) -> str:
        self._requests += 1
        return f"{self.player_id}-{self._requests}"


def _refusal(failed: grpc.aio.AioRpcError) -> tuple[str, str, str]:
    """The reason if it was an answer; otherwise where to ask, if that was said; and the words."""
    status = status_of(failed)
    info = None if status is None else error_info(status)
    if info is None:
        # Anything else is a fault of the service, and no way to treat a player.
        assert failed.code() in _BROKEN, f"{failed.code()}: {failed.details()}"
        return "", "", f"{failed.code().name}: {failed.details()}"
    if info.reason in _OF_THE_WAY:
        return "", info.metadata.get("address", ""), f"{info.reason}: {failed.details()}"
    return info.reason, "", failed.details() or ""

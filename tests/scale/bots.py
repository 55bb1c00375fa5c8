"""A thousand players at once: each registers, bets everything or folds as soon as it is asked, and may come again."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

import grpc
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.poker.v1 import poker_pb2, tournament_pb2
from feltro.table.v1 import events_pb2, table_pb2
from gateway.live.private_facts import PlayerConnections
from services.kit.bus.subjects import own_view_subject
from tests.processes.game import Metadata
from tests.processes.poker import PokerClient
from tests.scale.platform import Owner, reason_of

# How many calls of bots are under way at a time: they share two cores with what they call.
CALLS_AT_A_TIME = 64
# How often a bot bets everything, and how often it calls instead of folding.
PUSHES, CALLS = 0.16, 0.22
# How often a bot without chips buys again, and how often one that is out enters again.
REBUYS, REENTRIES = 0.4, 0.3
# Too late, or no longer possible: the tournament has gone on.
TOLERATED = frozenset({
    "TURN_OVER", "NOT_YOUR_TURN", "ROUND_UNKNOWN", "TABLE_UNKNOWN", "ALREADY_REGISTERED", "MORE_CHIPS_REFUSED",
    "REGISTRATION_CLOSED", "TOURNAMENT_OVER",
})  # fmt: skip

_Answer = TypeVar("_Answer")


def decide(dice: Random, legal: poker_pb2.Legal) -> poker_pb2.Move:
    """Returns everything or nothing; a free check before a fold."""
    if legal.max_to_cents and dice.random() < PUSHES:
        return poker_pb2.Move(action=poker_pb2.ACTION_RAISE, to_cents=legal.max_to_cents)
    if not legal.to_call_cents:
        return poker_pb2.Move(action=poker_pb2.ACTION_CHECK)
    return poker_pb2.Move(action=poker_pb2.ACTION_CALL if dice.random() < CALLS else poker_pb2.ACTION_FOLD)


class AllConnected(PlayerConnections):
    """Bots that never lose their line, as their gateway tells the tables."""

    def __init__(self, players: Sequence[str]) -> None:
        super().__init__()
        self._bots = list(players)

    def player_ids(self) -> list[str]:
        return self._bots


class Bots:
    """The players of one tournament, in one process; what each does follows from the seed and what it is asked."""

    def __init__(self, tournament_id: str, players: Sequence[str], owner: Owner, seed: int, bearer: Bearer) -> None:
        self.tournament_id = tournament_id
        self.decisions = 0
        self.refusals: Counter[str] = Counter()
        self.failures: list[str] = []
        self.heard_at: dict[str, float] = {}
        """When a bot at each table was asked last."""
        self._owner = owner
        self._seed = seed
        self._tokens: Mapping[str, Metadata] = {player: bearer(player) for player in players}
        self._asked: set[tuple[str, int]] = set()
        # How often each was told of something that is their own.
        self._told: Counter[str] = Counter()
        self._deciding: dict[tuple[str, int], float] = {}
        self._slots = asyncio.Semaphore(CALLS_AT_A_TIME)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def longest_wait_s(self) -> float:
        """How long the oldest decision has been on its way."""
        return time.monotonic() - min(self._deciding.values(), default=time.monotonic())

    async def listen(self, bus: Nats) -> None:
        """Receives the private events of players, as the gateway does."""
        await bus.subscribe(own_view_subject("poker", "*"), cb=self._hear)

    async def _hear(self, message: Msg) -> None:
        changed = events_pb2.OwnViewChanged.FromString(message.data)
        if changed.HasField("notice"):
            notice = tournament_pb2.OwnTournamentNotice()
            changed.notice.Unpack(notice)
            self._answer(changed.player_id, notice)
        elif changed.turn:
            own = poker_pb2.OwnView()
            changed.own_view.Unpack(own)
            self.ask(changed.player_id, changed.table_id, changed.round_id, changed.turn, own)

    # -- what bots do ------------------------------------------------------------------------------------------------

    async def register(self, player_id: str, request_id: str = "enter") -> None:
        """Registers, and waits for the answer of whichever process runs the tournament."""
        request = tournament_pb2.RegisterRequest(request_id=request_id, tournament_id=self.tournament_id)
        await self._call(lambda poker: poker.tournaments.Register(request, metadata=self._tokens[player_id]))

    def ask(self, player_id: str, table_id: str, round_id: str, turn: int, own: poker_pb2.OwnView) -> None:
        """Has a bot decide, if it is asked to and was not before."""
        self.heard_at[table_id] = time.monotonic()
        key = round_id, turn
        if not own.HasField("legal") or key in self._asked:
            return
        self._asked.add(key)
        self._deciding[key] = time.monotonic()
        self._do(self._decide(player_id, table_id, key, own.legal))

    async def _decide(self, player_id: str, table_id: str, key: tuple[str, int], legal: poker_pb2.Legal) -> None:
        round_id, turn = key
        dice = Random(f"{self._seed} {round_id} {turn}")
        request = table_pb2.ActRequest(
            request_id=f"{round_id}-{turn}", table_id=table_id, round_id=round_id, turn=turn
        )  # fmt: skip
        request.move.Pack(decide(dice, legal))
        try:
            await self._call(lambda poker: poker.tables.Act(request, metadata=self._tokens[player_id]))
            self.decisions += 1
        finally:
            del self._deciding[key]

    def _answer(self, player_id: str, notice: tournament_pb2.OwnTournamentNotice) -> None:
        """Buys again when all chips are lost, or enters again, or does not."""
        if player_id not in self._tokens or notice.tournament_id != self.tournament_id:
            return
        self._told[player_id] += 1
        number = self._told[player_id]
        dice = Random(f"{self._seed} {player_id} {number}")
        if notice.event == tournament_pb2.OWN_TOURNAMENT_EVENT_ASKED_TO_REBUY:
            self._do(self._rebuy(player_id, f"rebuy-{number}", buys=dice.random() < REBUYS))
        elif notice.event == tournament_pb2.OWN_TOURNAMENT_EVENT_ELIMINATED and dice.random() < REENTRIES:
            self._do(self.register(player_id, f"again-{number}"))

    async def _rebuy(self, player_id: str, request_id: str, *, buys: bool) -> None:
        token = self._tokens[player_id]
        if buys:
            rebuy = tournament_pb2.RebuyRequest(request_id=request_id, tournament_id=self.tournament_id)
            await self._call(lambda poker: poker.tournaments.Rebuy(rebuy, metadata=token))
        else:
            decline = tournament_pb2.DeclineRebuyRequest(tournament_id=self.tournament_id)
            await self._call(lambda poker: poker.tournaments.DeclineRebuy(decline, metadata=token))

    async def look(self, table_id: str, players: Sequence[str]) -> None:
        """Reads a table of which nothing was heard for long: what bots were told may have died with the owner."""
        for player_id in players:
            seen = await self._read(player_id, table_id)
            if seen is None:
                return
            own = poker_pb2.OwnView()
            if seen.own_seat.own_view.Unpack(own) and own.HasField("legal"):
                key = seen.table.round.round_id, seen.table.round.turn.turn
                if key not in self._deciding:
                    # What it has decided before may have died with the owner, too.
                    self._asked.discard(key)
                    self.ask(player_id, table_id, *key, own)
                return

    async def _read(self, player_id: str, table_id: str) -> table_pb2.GetTableResponse | None:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return await self._call(lambda poker: poker.tables.GetTable(request, metadata=self._tokens[player_id]))

    # -- calls -------------------------------------------------------------------------------------------------------

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failed := task.exception()) is not None:
            self.failures.append(f"{type(failed).__name__}: {failed}")

    async def _call(self, ask: Callable[[PokerClient], Awaitable[_Answer]]) -> _Answer | None:
        """Returns an answer; None where the tournament has gone on without it."""
        async with self._slots:
            try:
                return await self._owner.call(ask)
            except grpc.aio.AioRpcError as failed:
                reason = reason_of(failed)
                self.refusals[reason] += 1
                if reason not in TOLERATED:
                    raise
                return None

    async def finish(self) -> None:
        """Waits for all that is under way."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))


Bearer = Callable[[str], Metadata]

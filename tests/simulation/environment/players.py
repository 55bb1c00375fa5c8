"""Simulated players: they bet, click twice, are late, cancel, spin, come and go, and run out of money."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1.types_pb2 import PLAY_INDIVIDUAL
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.roulette.game import RouletteRules
from tests.simulation.environment.replica import INDIVIDUAL_IDS
from tests.simulation.environment.world import Command, Unanswered, World

if TYPE_CHECKING:
    from tests.simulation.environment.replica import Replica


# Sends a command, for the first time or again; returns the answer, a refusal, or None if there is no answer.
SendCommand = Callable[[], Coroutine[Any, Any, object]]


class Player:
    """A player at one configured table. Each method sends one command, or prepares one to be sent several times."""

    def __init__(self, world: World, player_id: str, placement_id: str) -> None:
        self.player_id = player_id
        self.placement_id = placement_id
        self.caller = Caller(player_id, frozenset({"player"}), 0.0)
        self._world = world
        self._messages = world.game.messages
        self._requests = 0
        rules = world.catalogue.rules_in_force(placement_id)
        self.is_individual = rules.configuration.play == PLAY_INDIVIDUAL
        own_id = INDIVIDUAL_IDS.table_id(placement_id, player_id)
        self.table_id = own_id if self.is_individual else placement_id
        self.timeout_s = 8.0

    async def get_table(self) -> table_pb2.GetTableResponse | None:
        """Reads the state of the table and what the player alone sees; None if there is no answer."""
        request = table_pb2.GetTableRequest(table_id=self.table_id)
        owner = self._world.current_owners[self.placement_id]
        try:
            return await self._world.call(
                owner, lambda owner: owner.tables.get_table(request, self.caller), timeout_s=2.0
            )
        except (Refused, Unanswered):
            return None

    async def _send(self, command: Command, work: Callable[[Replica], Awaitable[object]]) -> object:
        """Returns the answer, which may be a refusal, or None if there was none."""
        owner = self._world.current_owners[self.placement_id]
        try:
            answer: object = await self._world.call(
                owner, work, timeout_s=self.timeout_s, on_arrival=command.arrived_at.append
            )
        except Refused as refused:
            answer = refused
        except Unanswered:
            answer = None
        command.answers.append(answer)
        outcome = answer.reason if isinstance(answer, Refused) else type(answer).__name__
        self._world.add_to_trace(f"{self.player_id} {command.kind} {command.round_id} {command.request_id}: {outcome}")
        return answer

    def _command(self, kind: str, round_id: str = "", cents: int = 0) -> Command:
        self._requests += 1
        request_id = f"{self.player_id}:{self._requests}"
        command = Command(kind, self.player_id, self.placement_id, round_id, request_id, cents)
        self._world.commands.append(command)
        return command

    async def enter(self, seat: int = 0) -> bool:
        answer = await self.send_enter(seat)
        return answer is not None and not isinstance(answer, Refused)

    async def send_enter(self, seat: int = 0) -> object:
        """Returns the answer, which may be a refusal, or None if there was none."""
        command = self._command("enter")
        request = table_pb2.EnterTableRequest(request_id=command.request_id, table_id=self.placement_id, seat=seat)
        return await self._send(command, lambda owner: owner.registry.enter(self.player_id, request))

    def leave(self) -> None:
        """Leaves: the wallet ends the session as soon as the player has no stake in play."""
        for session in self._world.wallet.running_sessions(self.table_id):
            if session.player_id == self.player_id:
                self._world.add_to_trace(f"{self.player_id} leaves")
                self._world.wallet.end_session(session.session_id)

    async def get_snapshot(self) -> types_pb2.TableSnapshot | None:
        """Reads the state of the table; None if there is no answer."""
        owner = self._world.current_owners[self.placement_id]

        async def snapshot(owner: Replica) -> types_pb2.TableSnapshot:
            return (await owner.registry.table(self.table_id, self.caller)).snapshot()

        try:
            return await self._world.call(owner, snapshot, timeout_s=2.0)
        except (Refused, Unanswered):
            return None

    async def wait_for_open_round(self, timeout_s: float = 60.0) -> str:
        """Waits until a round takes bets, and returns its id."""
        until = self._world.loop.time() + timeout_s
        while self._world.loop.time() < until:
            snapshot = await self.get_snapshot()
            if snapshot is not None and snapshot.phase == types_pb2.PHASE_BETTING:
                return snapshot.round.round_id
            await asyncio.sleep(0.05)
        raise AssertionError(f"no round opens at {self.table_id}")

    def prepare_bet(self, round_id: str, bets: dict[str, int]) -> tuple[Command, SendCommand]:
        """Returns a bet and the function that sends it."""
        command = self._command("place", round_id, sum(bets.values()))
        request = self._messages.PlaceBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id, bets=self._bets(bets)
        )
        return command, lambda: self._send(command, lambda owner: owner.service.place_bets(request, self.caller))

    async def bet(self, round_id: str, bets: dict[str, int]) -> object:
        _, send = self.prepare_bet(round_id, bets)
        return await send()

    def prepare_repeat(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("repeat", round_id)
        request = roulette_pb2.RepeatBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id
        )
        return command, lambda: self._send(command, lambda owner: owner.service.repeat_bets(request, self.caller))

    def prepare_cancel(self, round_id: str, bets: dict[str, int] | None = None) -> tuple[Command, SendCommand]:
        command = self._command("cancel", round_id, sum((bets or {}).values()))
        request = self._messages.CancelBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id, bets=self._bets(bets or {})
        )
        return command, lambda: self._send(command, lambda owner: owner.service.cancel_bets(request, self.caller))

    async def cancel_bets(self, round_id: str, bets: dict[str, int] | None = None) -> object:
        return await self.prepare_cancel(round_id, bets)[1]()

    def prepare_spin(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("spin", round_id)
        request = roulette_pb2.SpinRequest(table_id=self.table_id, round_id=round_id)
        return command, lambda: self._send(command, lambda owner: owner.service.spin(request, self.caller))

    async def spin(self, round_id: str) -> object:
        return await self.prepare_spin(round_id)[1]()

    def _bets(self, bets: dict[str, int]) -> Sequence[Any]:
        return [self._messages.Bet(place=place, amount_cents=cents) for place, cents in bets.items()]

    @property
    def rules(self) -> RouletteRules:
        rules = self._world.catalogue.rules_in_force(self.placement_id).rules
        assert isinstance(rules, RouletteRules)
        return rules


class RestlessPlayer(Player, ABC):
    """A player who does one random thing after the other."""

    MEAN_PAUSE_S = 0.8

    def __init__(self, world: World, player_id: str, placement_id: str, rng: random.Random) -> None:
        super().__init__(world, player_id, placement_id)
        self._rng = rng
        self._sent: list[tuple[Command, SendCommand]] = []
        self._under_way: list[asyncio.Task[Any]] = []

    async def play(self) -> None:
        """Plays without end."""
        while not await self.enter():
            await asyncio.sleep(self._rng.uniform(0.2, 2.0))
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / self.MEAN_PAUSE_S))
            await self._do_something()

    @abstractmethod
    async def _do_something(self) -> None:
        """Does one random thing."""

    async def _begin(self, act: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Begins an act; some do not wait for the answer, or lose their connection."""
        self.timeout_s = self._rng.choice((8.0, 8.0, 8.0, 0.5, 0.015))
        doing = asyncio.create_task(act())
        if self._rng.random() < 0.7:
            await doing
        else:
            self._under_way = [task for task in self._under_way if not task.done()] + [doing]

    async def _send_again(self) -> None:
        if self._sent:
            send = self._rng.choice(self._sent[-4:])[1]
            await asyncio.gather(*(send() for _ in range(self._rng.randint(1, 3))))

    async def _come_and_go(self) -> None:
        self.leave()
        await asyncio.sleep(self._rng.choice((0.0, 0.02, 1.0, 5.0)))
        while not await self.enter():
            await asyncio.sleep(1.0)


class RandomPlayer(RestlessPlayer):
    """A player who bets, repeats, cancels and spins at random."""

    def __init__(self, world: World, player_id: str, placement_id: str, rng: random.Random) -> None:
        super().__init__(world, player_id, placement_id, rng)
        self._last_round = ""
        self._on_felt: dict[str, int] = {}

    async def _do_something(self) -> None:
        snapshot = await self.get_snapshot()
        if snapshot is None:
            return
        round_id = snapshot.round.round_id if snapshot.phase == types_pb2.PHASE_BETTING else self._last_round
        if not round_id:
            return
        if round_id != self._last_round:
            self._last_round, self._on_felt = round_id, {}
        acts: tuple[Callable[[], Coroutine[Any, Any, object]], ...] = (
            lambda: self._bet(round_id),
            self._send_again,
            lambda: self._repeat(round_id),
            lambda: self._cancel(round_id),
            lambda: self._spin(round_id),
            self._come_and_go,
        )
        await self._begin(self._rng.choices(acts, (50, 15, 6, 10, 15, 4))[0])

    async def _bet(self, round_id: str) -> None:
        rules = self.rules
        bets = dict.fromkeys(
            self._rng.sample(sorted(rules.offered_places), self._rng.randint(0, 2)), 2 * rules.minimum_cents
        )
        # Every bet has an amount of its own, by which the checks find it in the ledger.
        bets["red"] = bets.get("red", 0) + self._rng.choice((rules.minimum_cents, 20, 2))
        if self._rng.random() < 0.1:
            bets["nowhere"] = 100
        amounts = {command.amount_cents for command in self._world.commands}
        while sum(bets.values()) in amounts:
            bets["red"] += 2
        sent = self.prepare_bet(round_id, bets)
        self._sent.append(sent)
        answer = await sent[1]()
        if isinstance(answer, roulette_pb2.PlaceBetsResponse):
            self._on_felt = {bet.place: bet.amount_cents for bet in answer.on_felt.bets}

    async def _repeat(self, round_id: str) -> None:
        sent = self.prepare_repeat(round_id)
        self._sent.append(sent)
        await sent[1]()

    async def _cancel(self, round_id: str) -> None:
        part: dict[str, int] | None = None
        if self._on_felt and self._rng.random() < 0.6:
            place = self._rng.choice(sorted(self._on_felt))
            part = {place: self._rng.choice((self._on_felt[place], max(1, self._on_felt[place] // 2)))}
        sent = self.prepare_cancel(round_id, part)
        self._sent.append(sent)
        await sent[1]()

    async def _spin(self, round_id: str) -> None:
        sent = self.prepare_spin(round_id)
        self._sent.append(sent)
        await sent[1]()

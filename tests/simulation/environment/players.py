"""Players at their tables: they bet, click twice, are late, take back, spin, come and go, and run out of money."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table.live.owned_tables import individual_table_id
from services.roulette.game import RouletteRules
from tests.simulation.environment.world import Command, Unanswered, World

if TYPE_CHECKING:
    from tests.simulation.environment.replica import Replica


# Sends a command, for the first time or again; the answer, a refusal, or None if there is no answer.
SendCommand = Callable[[], Awaitable[object]]


class Player:
    """One player at one house. Each method asks once, or again with the same request id."""

    def __init__(self, world: World, player_id: str, placement_id: str) -> None:
        self.player_id = player_id
        self.placement_id = placement_id
        self.caller = Caller(player_id, frozenset({"player"}), 0.0)
        self._world = world
        self._requests = 0
        rules = world.catalogue.rules_in_force(placement_id)
        individual = rules.configuration.play == 1
        self.table_id = individual_table_id(placement_id, player_id) if individual else placement_id
        self.timeout_s = 8.0

    async def _ask(self, command: Command, work: Callable[[Replica], Awaitable[object]]) -> object:
        """The answer, which may be a refusal, or None if there was none."""
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
        said = answer.reason if isinstance(answer, Refused) else type(answer).__name__
        self._world.add_to_trace(f"{self.player_id} {command.kind} {command.round_id} {command.request_id}: {said}")
        return answer

    def _command(self, kind: str, round_id: str = "", cents: int = 0) -> Command:
        self._requests += 1
        request_id = f"{self.player_id}:{self._requests}"
        command = Command(kind, self.player_id, self.placement_id, round_id, request_id, cents)
        self._world.commands.append(command)
        return command

    async def enter(self) -> bool:
        answer = await self.send_enter()
        return answer is not None and not isinstance(answer, Refused)

    async def send_enter(self) -> object:
        """The answer as it came."""
        command = self._command("enter")
        request = table_pb2.EnterTableRequest(request_id=command.request_id, table_id=self.placement_id)
        return await self._ask(command, lambda owner: owner.registry.enter(self.player_id, request))

    def leave(self) -> None:
        """Gets up: the wallet ends the session when nothing of his is in play."""
        for session in self._world.wallet.running_sessions(self.table_id):
            if session.player_id == self.player_id:
                self._world.add_to_trace(f"{self.player_id} leaves")
                self._world.wallet.end_session(session.session_id)

    async def get_snapshot(self) -> types_pb2.TableSnapshot | None:
        """The table as it stands."""
        owner = self._world.current_owners[self.placement_id]

        async def snapshot(there: Replica) -> types_pb2.TableSnapshot:
            return (await there.registry.table(self.table_id)).snapshot()

        try:
            return await self._world.call(owner, snapshot, timeout_s=2.0)
        except (Refused, Unanswered):
            return None

    async def wait_for_open_round(self, timeout_s: float = 60.0) -> str:
        """The round that takes bets, once one does."""
        until = self._world.loop.time() + timeout_s
        while self._world.loop.time() < until:
            seen = await self.get_snapshot()
            if seen is not None and seen.phase == types_pb2.PHASE_BETTING:
                return seen.round.round_id
            await asyncio.sleep(0.05)
        raise AssertionError(f"no round opens at {self.table_id}")

    def prepare_bet(self, round_id: str, bets: dict[str, int]) -> tuple[Command, SendCommand]:
        """A bet, and what sends it."""
        command = self._command("place", round_id, sum(bets.values()))
        request = roulette_pb2.PlaceBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id, bets=_bets(bets)
        )
        return command, lambda: self._ask(command, lambda owner: owner.service.place_bets(request, self.caller))

    async def bet(self, round_id: str, bets: dict[str, int]) -> object:
        _, send = self.prepare_bet(round_id, bets)
        return await send()

    def prepare_repeat(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("repeat", round_id)
        request = roulette_pb2.RepeatBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id
        )
        return command, lambda: self._ask(command, lambda owner: owner.service.repeat_bets(request, self.caller))

    def prepare_cancel(self, round_id: str, bets: dict[str, int] | None = None) -> tuple[Command, SendCommand]:
        command = self._command("take back", round_id)
        request = roulette_pb2.CancelBetsRequest(
            request_id=command.request_id, table_id=self.table_id, round_id=round_id, bets=_bets(bets or {})
        )
        return command, lambda: self._ask(command, lambda owner: owner.service.cancel_bets(request, self.caller))

    async def cancel_bets(self, round_id: str, bets: dict[str, int] | None = None) -> object:
        return await self.prepare_cancel(round_id, bets)[1]()

    def prepare_spin(self, round_id: str) -> tuple[Command, SendCommand]:
        command = self._command("spin", round_id)
        request = roulette_pb2.SpinRequest(table_id=self.table_id, round_id=round_id)
        return command, lambda: self._ask(command, lambda owner: owner.service.spin(request, self.caller))

    async def spin(self, round_id: str) -> object:
        return await self.prepare_spin(round_id)[1]()

    @property
    def rules(self) -> RouletteRules:
        rules = self._world.catalogue.rules_in_force(self.placement_id).rules
        assert isinstance(rules, RouletteRules)
        return rules


class RandomPlayer(Player):
    """A player who does whatever comes to his mind."""

    def __init__(self, world: World, player_id: str, placement_id: str, rng: random.Random) -> None:
        super().__init__(world, player_id, placement_id)
        self._rng = rng
        self._clicks: list[tuple[Command, SendCommand]] = []
        self._last_round = ""
        self._laid: dict[str, int] = {}
        self._under_way: list[asyncio.Task[Any]] = []

    async def play(self) -> None:
        """For ever."""
        while not await self.enter():
            await asyncio.sleep(self._rng.uniform(0.2, 2.0))
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / 0.8))
            await self._do_something()

    async def _do_something(self) -> None:
        seen = await self.get_snapshot()
        if seen is None:
            return
        round_id = seen.round.round_id if seen.phase == types_pb2.PHASE_BETTING else self._last_round
        if not round_id:
            return
        if round_id != self._last_round:
            self._last_round, self._laid = round_id, {}
        act = self._rng.choices(
            (self._bet, self._click_again, self._repeat, self._take_back, self._spin, self._come_and_go),
            (50, 15, 6, 10, 15, 4),
        )[0]
        # A tenth of them does not wait for the answer, and some lose their line.
        self.patience_s = self._rng.choice((8.0, 8.0, 8.0, 0.5, 0.015))
        doing = asyncio.create_task(act(round_id))
        if self._rng.random() < 0.7:
            await doing
        else:
            self._under_way = [task for task in self._under_way if not task.done()] + [doing]

    async def _bet(self, round_id: str) -> None:
        rules = self.rules
        bets = dict.fromkeys(
            self._rng.sample(sorted(rules.offered_places), self._rng.randint(0, 2)), 2 * rules.minimum_cents
        )
        # Every bet has an amount of its own, so that it is known again in the ledger.
        bets["red"] = bets.get("red", 0) + self._rng.choice((rules.minimum_cents, 20, 2))
        if self._rng.random() < 0.1:
            bets["nowhere"] = 100
        amounts = {command.amount_cents for command in self._world.commands}
        while sum(bets.values()) in amounts:
            bets["red"] += 2
        click = self.prepare_bet(round_id, bets)
        self._clicks.append(click)
        answer = await click[1]()
        if isinstance(answer, roulette_pb2.PlaceBetsResponse):
            self._laid = {bet.place: bet.amount_cents for bet in answer.on_felt.bets}

    async def _click_again(self, round_id: str) -> None:
        if self._clicks:
            send = self._rng.choice(self._clicks[-4:])[1]
            await asyncio.gather(*(send() for _ in range(self._rng.randint(1, 3))))

    async def _repeat(self, round_id: str) -> None:
        click = self.prepare_repeat(round_id)
        self._clicks.append(click)
        await click[1]()

    async def _take_back(self, round_id: str) -> None:
        part: dict[str, int] | None = None
        if self._laid and self._rng.random() < 0.6:
            place = self._rng.choice(sorted(self._laid))
            part = {place: self._rng.choice((self._laid[place], max(1, self._laid[place] // 2)))}
        click = self.prepare_cancel(round_id, part)
        self._clicks.append(click)
        await click[1]()

    async def _spin(self, round_id: str) -> None:
        click = self.prepare_spin(round_id)
        self._clicks.append(click)
        await click[1]()

    async def _come_and_go(self, round_id: str) -> None:
        self.leave()
        await asyncio.sleep(self._rng.choice((0.0, 0.02, 1.0, 5.0)))
        while not await self.enter():
            await asyncio.sleep(1.0)


def _bets(bets: dict[str, int]) -> Sequence[roulette_pb2.Bet]:
    return [roulette_pb2.Bet(place=place, amount_cents=cents) for place, cents in bets.items()]

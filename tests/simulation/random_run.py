"""Random runs: players act at random while processes die, answers are lost and servers are away."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.simulation import guarantees
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.games import ROULETTE, SimulatedGame
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import RandomPlayer
from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT
from tests.simulation.environment.world import World

DURATION_S = 45.0
# The wallet and the bus may not answer; the journal is only slow.
UNRELIABLE_SERVERS = ("wallet", "bus")
# What the wheel of a table may be changed to.
LAWFUL_WHEELS = {
    "804/2015": (roulette_pb2.WHEEL_AMERICAN_37, roulette_pb2.WHEEL_AMERICAN_38),
    "807/2015": (roulette_pb2.WHEEL_FRENCH,),
}


class RandomDeliveries:
    """Decides at random how each request is delivered."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self._fault_rate = rng.choice((0.0, 0.02, 0.08, 0.2))
        self._outages: dict[str, list[tuple[float, float]]] = {}
        for server in UNRELIABLE_SERVERS:
            begins = rng.uniform(0, 2 * DURATION_S)
            self._outages[server] = [(begins, begins + rng.choice((0.5, 3.0, 12.0)))]

    def delivery_of(self, server: str, method: str) -> Delivery:
        rng, now = self._rng, self._world.loop.time()
        request_s, answer_s = rng.expovariate(300), rng.expovariate(300)
        if_sender_dies = rng.choice(("arrives", "lost", "late"))
        if server not in UNRELIABLE_SERVERS:
            slow_s = rng.choice((0.2, 2.0, 6.0)) if rng.random() < self._fault_rate / 4 else 0.0
            return Delivery(request_s + slow_s, answer_s, if_sender_dies=if_sender_dies)
        if any(begins <= now < ends for begins, ends in self._outages[server]):
            return Delivery(request_s, refused_at_once=True)
        if rng.random() >= self._fault_rate:
            return Delivery(request_s, answer_s, if_sender_dies=if_sender_dies)
        duplicate_s = rng.choice((0.01, 1.0, 10.0, 25.0)) if rng.random() < 0.4 else None
        faults = (
            Delivery(request_s + rng.choice((0.5, 3.0, 4.9)), answer_s, duplicate_after_s=duplicate_s),
            Delivery(request_s, request_lost=True, duplicate_after_s=duplicate_s),
            Delivery(request_s, answer_lost=True, duplicate_after_s=duplicate_s),
            Delivery(request_s, rng.choice((0.5, 4.9, 6.0)), duplicate_after_s=duplicate_s),
        )
        return rng.choice(faults)


class RandomFaults:
    """Schedules faults of a placement's owner, and what the operator does there."""

    def __init__(
        self,
        world: World,
        placement_id: str,
        rng: random.Random,
        change_rules: Callable[[types_pb2.TableConfiguration, random.Random], None],
    ) -> None:
        """`change_rules` makes other specific rules of a configuration."""
        self._world = world
        self._placement_id = placement_id
        self._rng = rng
        self._change_rules = change_rules

    def schedule(self) -> None:
        """Schedules some faults, each at a random time."""
        for fault in self._rng.sample(self._faults(), self._rng.randint(0, 3)):
            self._later(self._rng.uniform(0.0, DURATION_S), fault)

    def _faults(self) -> Sequence[Callable[[], None]]:
        return (
            self.kill_owner, self.kill_owner, self.kill_owner_repeatedly, self.start_second_owner,
            self.start_second_owner, self.hand_over, self.hand_over, self.lose_lease, self.switch_off_for_a_while,
            self.change_rules, self.fail_randomness, self.lose_session_reports,
        )  # fmt: skip

    def _later(self, seconds: float, fault: Callable[[], None]) -> None:
        def unless_faults_ended() -> None:
            if not self._world.faults_ended:
                fault()

        self._world.loop.call_later(seconds, unless_faults_ended, context=OUTSIDE_CONTEXT)

    def kill_owner(self) -> None:
        owner = self._world.current_owners[self._placement_id]
        owner.process.fault_at_step = owner.process.steps + self._rng.randint(1, 60)

    def kill_owner_repeatedly(self) -> None:
        for after_s in (0.0, 2.0, 4.0, 6.5):
            self._later(after_s, self.kill_owner)

    def start_second_owner(self) -> None:
        """Starts another owner while the present one goes on."""
        self._world.start_owner(self._placement_id)

    def hand_over(self) -> None:
        self._world.current_owners[self._placement_id].hand_over.set()

    def lose_lease(self) -> None:
        self._world.current_owners[self._placement_id].lost.set()

    def switch_off_for_a_while(self) -> None:
        self._world.catalogue.set_switch(self._placement_id, "maintenance")
        until_on_s = self._rng.uniform(0.1, 8.0)
        self._world.loop.call_later(
            until_on_s, self._world.catalogue.set_switch, self._placement_id, None, context=OUTSIDE_CONTEXT
        )

    def change_rules(self) -> None:
        changed = configuration()
        changed.CopyFrom(self._world.catalogue.rules_in_force(self._placement_id).configuration)
        changed.betting_window_ms = self._rng.choice((3_000, 6_000))
        self._change_rules(changed, self._rng)
        self._world.catalogue.configure(self._placement_id, changed)

    def lose_session_reports(self) -> None:
        self._world.session_reports_lost = True
        self._later(self._rng.uniform(1.0, 20.0), self._deliver_session_reports)

    def _deliver_session_reports(self) -> None:
        self._world.session_reports_lost = False

    def fail_randomness(self) -> None:
        self._world.randomness_fails = True
        self._later(5.0, self._restore_randomness)

    def _restore_randomness(self) -> None:
        self._world.randomness_fails = False


def change_wheel(changed: types_pb2.TableConfiguration, rng: random.Random) -> None:
    """Gives a table another lawful wheel."""
    specific_rules = roulette_pb2.SpecificRules()
    changed.rules.Unpack(specific_rules)
    specific_rules.wheel = rng.choice(LAWFUL_WHEELS[changed.regulation])
    changed.rules.Pack(specific_rules)


class RandomRun:
    """One random run, of roulette."""

    fewest_players = 1
    deposits_cents = (300, 2_000, 100_000)

    def __init__(self, seed: int, game: SimulatedGame = ROULETTE) -> None:
        self.world = World(seed, game)
        self._rng = self.world.rng("run")

    def run(self) -> list[str]:
        """Runs to the end and returns the violated guarantees."""
        self.world.run(self._script)
        return guarantees.violations(self.world)

    def _configuration(self) -> types_pb2.TableConfiguration:
        rng = self._rng
        individual, demo = rng.random() < 0.4, rng.random() < 0.35
        return configuration(
            regulation=rng.choice(("804/2015", "807/2015")),
            individual=individual,
            demo=demo,
            window_ms=rng.choice((3_000, 4_000, 8_000)),
            result_shown_ms=rng.choice((0, 300, 2_000)),
            cancel_forbidden=rng.random() < 0.1,
        )

    def _change_rules(self, changed: types_pb2.TableConfiguration, rng: random.Random) -> None:
        change_wheel(changed, rng)

    def _faults(self, placement_id: str) -> RandomFaults:
        return RandomFaults(self.world, placement_id, self._rng, self._change_rules)

    async def _play(self, name: str, placement_id: str) -> None:
        await RandomPlayer(self.world, name, placement_id, self.world.rng(name)).play()

    async def _script(self) -> None:
        world, rng = self.world, self._rng
        world.takeover_delay_s = rng.choice((0.05, 1.0, 6.0))
        world.network.delivery_of = RandomDeliveries(world, world.rng("deliveries")).delivery_of
        placement_id = "mesa"
        table_configuration = self._configuration()
        demo = table_configuration.mode == wallet_types.MODE_DEMO
        world.open_tables(placement_id, table_configuration)
        playing: list[asyncio.Task[None]] = []
        for number in range(rng.randint(self.fewest_players, 5)):
            name = f"player{number}"
            if not demo:
                world.deposit(name, rng.choice(self.deposits_cents))
            playing.append(asyncio.create_task(self._play(name, placement_id)))
        self._faults(placement_id).schedule()
        await asyncio.sleep(DURATION_S)
        for player in playing:
            player.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*playing)

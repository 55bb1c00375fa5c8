"""Random stories: players who do what they like while processes die, answers are lost and servers are away."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress

from tests.simulation import verdict
from tests.simulation.catalogue import configuration
from tests.simulation.network import Fate
from tests.simulation.players import Gambler
from tests.simulation.virtual_time import OUTSIDE
from tests.simulation.world import World

LASTS_S = 45.0
# What may go wrong on the way to each server: the wallet can be silent, the journal is only slow.
UNRELIABLE = ("wallet", "bus")


class Weather:
    """What becomes of each request, by the throw of dice."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self._trouble = rng.choice((0.0, 0.02, 0.08, 0.2))
        self._away: dict[str, list[tuple[float, float]]] = {}
        for server in UNRELIABLE:
            begins = rng.uniform(0, 2 * LASTS_S)
            self._away[server] = [(begins, begins + rng.choice((0.5, 3.0, 12.0)))]

    def fate_of(self, where: str, what: str) -> Fate:
        rng, now = self._rng, self._world.loop.time()
        there_s, back_s = rng.expovariate(300), rng.expovariate(300)
        if_sender_dies = rng.choice(("arrives", "lost", "late"))
        if where not in UNRELIABLE:
            slow_s = rng.choice((0.2, 2.0, 6.0)) if rng.random() < self._trouble / 4 else 0.0
            return Fate(there_s + slow_s, back_s, if_sender_dies=if_sender_dies)
        if any(begins <= now < ends for begins, ends in self._away[where]):
            return Fate(there_s, refused_at_once=True)
        if rng.random() >= self._trouble:
            return Fate(there_s, back_s, if_sender_dies=if_sender_dies)
        again = rng.choice((0.01, 1.0, 10.0, 25.0)) if rng.random() < 0.4 else None
        bad = (
            Fate(there_s + rng.choice((0.5, 3.0, 4.9)), back_s, arrives_again_after_s=again),
            Fate(there_s, request_lost=True, arrives_again_after_s=again),
            Fate(there_s, answer_lost=True, arrives_again_after_s=again),
            Fate(there_s, rng.choice((0.5, 4.9, 6.0)), arrives_again_after_s=again),
        )
        return rng.choice(bad)


class Troubles:
    """What befalls the owner of a house, and what the operator does to it."""

    def __init__(self, world: World, house_id: str, rng: random.Random) -> None:
        self._world = world
        self._house_id = house_id
        self._rng = rng

    def begin(self) -> None:
        """Some of them, some time."""
        known = (
            self.death, self.death, self.deaths, self.zombie, self.zombie, self.handover, self.handover,
            self.lease_lost, self.switch, self.new_rules, self.no_source,
        )  # fmt: skip
        for trouble in self._rng.sample(known, self._rng.randint(0, 3)):
            self._later(self._rng.uniform(0.0, LASTS_S), trouble)

    def _later(self, seconds: float, trouble: Callable[[], None]) -> None:
        def unless_healed() -> None:
            if not self._world.healed:
                trouble()

        self._world.loop.call_later(seconds, unless_healed, context=OUTSIDE)

    def death(self) -> None:
        owner = self._world.current[self._house_id]
        owner.process.struck_at_step = owner.process.steps + self._rng.randint(1, 60)

    def deaths(self) -> None:
        for after_s in (0.0, 2.0, 4.0, 6.5):
            self._later(after_s, self.death)

    def zombie(self) -> None:
        """Another owner, while the one that was there goes on."""
        self._world.start_owner(self._house_id)

    def handover(self) -> None:
        self._world.current[self._house_id].leave.set()

    def lease_lost(self) -> None:
        self._world.current[self._house_id].lost.set()

    def switch(self) -> None:
        self._world.catalogue.switch(self._house_id, "maintenance")
        again_s = self._rng.uniform(0.1, 8.0)
        self._world.loop.call_later(again_s, self._world.catalogue.switch, self._house_id, None, context=OUTSIDE)

    def new_rules(self) -> None:
        made = configuration()
        made.CopyFrom(self._world.catalogue.configured(self._house_id).configuration)
        made.betting_window_ms = self._rng.choice((3_000, 6_000))
        self._world.catalogue.configure(self._house_id, made)

    def no_source(self) -> None:
        self._world.source_fails = True
        self._later(5.0, self._source_again)

    def _source_again(self) -> None:
        self._world.source_fails = False


class Storm:
    """One random story."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self._rng = self.world.rng("storm")

    def run(self) -> list[str]:
        """What went wrong; nothing, if all is well."""
        self.world.run(self._story)
        return verdict.breaches(self.world)

    async def _story(self) -> None:
        world, rng = self.world, self._rng
        world.taken_over_after_s = rng.choice((0.05, 1.0, 6.0))
        world.network.fate_of = Weather(world, world.rng("weather")).fate_of
        individual, demo = rng.random() < 0.4, rng.random() < 0.35
        house_id = "mesa"
        made = configuration(
            regulation=rng.choice(("804/2015", "807/2015")),
            individual=individual,
            demo=demo,
            window_ms=rng.choice((3_000, 4_000, 8_000)),
            result_shown_ms=rng.choice((0, 300, 2_000)),
            take_back_forbidden=rng.random() < 0.1,
        )
        world.open_house(house_id, made)
        gamblers: list[asyncio.Task[None]] = []
        for number in range(rng.randint(1, 5)):
            name = f"player{number}"
            if not demo:
                world.give(name, rng.choice((300, 2_000, 100_000)))
            gamblers.append(asyncio.create_task(Gambler(world, name, house_id, world.rng(name)).play()))
        Troubles(world, house_id, rng).begin()
        await asyncio.sleep(LASTS_S)
        for gambler in gamblers:
            gambler.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*gamblers)

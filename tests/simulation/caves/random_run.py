"""Random runs of poker: players act at random while processes die, answers are lost and servers are away."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from tests.simulation.caves.game import POKER, configuration
from tests.simulation.caves.players import RandomPokerPlayer
from tests.simulation.environment.network import Delivery
from tests.simulation.random_run import RandomFaults, RandomRun

# Between these, and before what follows them, an owner may die with a hand or a cave that is half changed.
_STEPS_OF_A_HAND = frozenset({"write_opened", "write_drawn", "write_moved", "TransferHand", "BuyIn", "CashOut"})


class RandomHandFaults(RandomFaults):
    """Faults in the middle of hands, besides all others."""

    def _faults(self) -> Sequence[Callable[[], None]]:
        return (*super()._faults(), *[self.kill_owner_in_a_hand] * 6)

    def kill_owner_in_a_hand(self) -> None:
        """Kills the owner within a few steps of the next change of a hand or a cave."""
        network, deliver = self._world.network, self._world.network.delivery_of

        def deliver_and_kill(server: str, method: str) -> Delivery:
            owner = self._world.current_owners[self._placement_id]
            if method in _STEPS_OF_A_HAND:
                owner.process.fault_at_step = owner.process.steps + self._rng.randint(1, 6)
                network.delivery_of = deliver
            return deliver(server, method)

        network.delivery_of = deliver_and_kill


class RandomPokerRun(RandomRun):
    """One random run of poker."""

    fewest_players = 3
    deposits_cents = (2_000, 30_000, 100_000)

    def __init__(self, seed: int) -> None:
        super().__init__(seed, POKER)

    def _faults(self, placement_id: str) -> RandomFaults:
        return RandomHandFaults(self.world, placement_id, self._rng, self._change_rules)

    def _configuration(self) -> types_pb2.TableConfiguration:
        rng = self._rng
        return configuration(
            seats=rng.choice((2, 3, 6, 10)),
            result_shown_ms=rng.choice((0, 300, 1_000)),
            dealing_ms=rng.choice((0, 100, 400)),
            decision_ms=rng.choice((5_000, 8_000)),
            cave_min_cents=1_000,
            commission_mode=rng.choice((poker_pb2.COMMISSION_MODE_POT, poker_pb2.COMMISSION_MODE_CAVE)),
            entry_mode=rng.choice((poker_pb2.ENTRY_MODE_WAIT_FOR_BIG_BLIND, poker_pb2.ENTRY_MODE_IMMEDIATE)),
        )

    def _change_rules(self, changed: types_pb2.TableConfiguration, rng: random.Random) -> None:
        changed.decision_ms = rng.choice((5_000, 6_000))

    async def _play(self, name: str, placement_id: str) -> None:
        await RandomPokerPlayer(self.world, name, placement_id, self.world.rng(name)).play()

"""Random runs of blackjack: players decide at random while processes die, answers are lost and servers are away."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from tests.simulation.decisions.game import blackjack, configuration
from tests.simulation.decisions.players import RandomDecidingPlayer
from tests.simulation.environment.network import Delivery
from tests.simulation.random_run import RandomFaults, RandomRun

# What shoes begin with in some runs, so that what is rare happens often: pairs, aces of the bank, blackjacks.
SHOES = (
    "",
    "",
    "8s 8h 9h Ac 8d 8c 8s 7d 8h 8c 8d 2c 3h 9s",
    "As Td 9h Ac Kd 9c Th 9d",
    "6s 5h 4d 9h 5d 6c 7h 8c Td Th Ts 9s",
    "Ac 6s Ad Kd 5d 9c Ts Ah Td",
)


# Between these two, and before what follows them, an owner may die with a decision that is half made.
_STEPS_OF_A_DECISION = frozenset({"PlaceStakes", "write_moved", "PayStakes", "write_paid"})


class RandomDecisionFaults(RandomFaults):
    """Faults in the middle of decisions, besides all others."""

    def _faults(self) -> Sequence[Callable[[], None]]:
        return (*super()._faults(), *[self.kill_owner_while_it_decides] * 6)

    def kill_owner_while_it_decides(self) -> None:
        """Kills the owner within a few steps of the next stake, decision or early payment in a dealt round."""
        network, deliver = self._world.network, self._world.network.delivery_of

        def deliver_and_kill(server: str, method: str) -> Delivery:
            owner = self._world.current_owners[self._placement_id]
            if method in _STEPS_OF_A_DECISION and any(table.hand for table in owner.owned_tables.tables().values()):
                owner.process.fault_at_step = owner.process.steps + self._rng.randint(1, 6)
                network.delivery_of = deliver
            return deliver(server, method)

        network.delivery_of = deliver_and_kill


class RandomBlackjackRun(RandomRun):
    """One random run of blackjack."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, blackjack(random.Random(f"{seed} shoe").choice(SHOES)))

        self._players: list[RandomDecidingPlayer] = []
        self.world.finish_open_hands = self._finish_open_hands

    def _faults(self, placement_id: str) -> RandomFaults:
        return RandomDecisionFaults(self.world, placement_id, self._rng, self._change_rules)

    async def _finish_open_hands(self) -> None:
        if self._rng.random() < 0.15:
            # The published defaults are taken for those who never come back.
            await asyncio.sleep(3_700.0)
        for player in self._players:
            await player.finish_hand()

    def _configuration(self) -> types_pb2.TableConfiguration:
        rng = self._rng
        return configuration(
            individual=rng.random() < 0.4,
            window_ms=rng.choice((3_000, 4_000)),
            result_shown_ms=rng.choice((0, 300, 1_000)),
            dealing_ms=rng.choice((0, 100, 400)),
            decision_ms=rng.choice((3_000, 5_000, 8_000)),
            open_hand_hours=1,
            places_per_player=rng.choice((1, 2)),
            insurance=rng.random() < 0.9,
            # Of its own, so that what happens in a run does not depend on it.
            cut_card=random.Random(f"{self.world.seed} cut card").choice((0, 20, 60)),
        )

    def _change_rules(self, changed: types_pb2.TableConfiguration, rng: random.Random) -> None:
        specific_rules = blackjack_pb2.SpecificRules()
        changed.rules.Unpack(specific_rules)
        specific_rules.double_any_score = rng.random() < 0.5
        specific_rules.splits_limit = rng.choice((0, 1, 2))
        changed.rules.Pack(specific_rules)
        changed.decision_ms = rng.choice((3_000, 6_000))

    async def _play(self, name: str, placement_id: str) -> None:
        player = RandomDecidingPlayer(self.world, name, placement_id, self.world.rng(name))
        self._players.append(player)
        await player.play()

"""Random runs of blackjack: players decide at random while processes die, answers are lost and servers are away."""

from __future__ import annotations

import asyncio
import random

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from tests.simulation.decisions.game import blackjack, configuration
from tests.simulation.decisions.players import RandomDecidingPlayer
from tests.simulation.random_run import RandomRun

# What shoes begin with in some runs, so that what is rare happens often: pairs, aces of the bank, blackjacks.
SHOES = (
    "",
    "",
    "8s 8h 9h Ac 8d 8c 8s 7d 8h 8c 8d 2c 3h 9s",
    "As Td 9h Ac Kd 9c Th 9d",
    "6s 5h 4d 9h 5d 6c 7h 8c Td Th Ts 9s",
    "Ac 6s Ad Kd 5d 9c Ts Ah Td",
)


class RandomBlackjackRun(RandomRun):
    """One random run of blackjack."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, blackjack(random.Random(f"{seed} shoe").choice(SHOES)))

        self._players: list[RandomDecidingPlayer] = []
        self.world.finish_open_hands = self._finish_open_hands

    async def _finish_open_hands(self) -> None:
        if self._rng.random() < 0.3:
            # The published defaults are taken for those who never come back.
            await asyncio.sleep(2 * 3_600.0)
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

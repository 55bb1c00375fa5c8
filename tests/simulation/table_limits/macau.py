"""Ponto e banca Macau in a simulated world, and a check of its prize cap at every commit of the wallet."""

from __future__ import annotations

import math
import random

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.game import BaccaratGame
from services.baccarat.service import BaccaratService
from services.wallet.model.state import RoundState, StakeState
from tests.simulation.environment.games import SimulatedGame, is_answer
from tests.simulation.environment.players import RandomPlayer
from tests.simulation.environment.world import World
from tests.simulation.random_run import RandomRun

MACAU = SimulatedGame(BaccaratGame(), BaccaratService, baccarat_pb2)
# The prize cap, and what it leaves for ties and for pairs (`812/2015:43`).
CAP_CENTS, TIE_CENTS, PAIRS_CENTS = 10_000, 1_000, 800
PLACES = ("ponto", "banca", "ponto", "banca", "tie", "ponto-pair", "banca-pair")


def configuration(*, window_ms: int = 5_000, result_shown_ms: int = 500) -> types_pb2.TableConfiguration:
    """Builds the configuration of a table of Macau."""
    made = types_pb2.TableConfiguration(
        game="baccarat",
        regulation="812/2015",
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_MULTI_PLAYER,
        betting_window_ms=window_ms,
        result_shown_ms=result_shown_ms,
        seats=7,
    )
    rules = baccarat_pb2.SpecificRules(
        packs=6,
        places=7,
        minimum_cents=100,
        commission=baccarat_pb2.COMMISSION_FIVE_PERCENT,
        macau=True,
        prize_cap_cents=CAP_CENTS,
        player_maximum_cents=100_000,
    )
    made.rules.Pack(rules)
    return made


class PrizeCapWatch:
    """Adds up what the wallet has of each open round after each commit, whatever the tables believe."""

    def __init__(self, world: World) -> None:
        self.closest_cents = 0
        """The nearest that ponto and banca have come to the cap."""
        self._world = world
        world.wallet.on_commit = self._check

    def _check(self) -> None:
        for round_id, stored in self._world.wallet.rounds.items():
            if stored.round.state is RoundState.OPEN:
                self._check_round(round_id)

    def _check_round(self, round_id: str) -> None:
        sums = dict.fromkeys(PLACES, 0)
        for stake in self._world.wallet.stakes_of(round_id):
            if stake.stake.state is StakeState.OPEN:
                for bet in baccarat_pb2.Bets.FromString(stake.detail_after(math.inf)).bets:
                    sums[bet.place] += bet.amount_cents
        ahead, pairs = abs(sums["ponto"] - sums["banca"]), sums["ponto-pair"] + sums["banca-pair"]
        self.closest_cents = max(self.closest_cents, ahead)
        if ahead > CAP_CENTS or sums["tie"] > TIE_CENTS or pairs > PAIRS_CENTS:
            self._world.durability.report("812/2015:43", f"{round_id} has {sums}")


class RandomMacauPlayer(RandomPlayer):
    """A player who bets at random, and often more than there is room for."""

    async def _bet(self, round_id: str) -> None:
        places = self._rng.sample(sorted(set(PLACES)), self._rng.randint(1, 2))
        bets = {place: 20 * self._rng.randint(5, 600 if place in {"ponto", "banca"} else 40) for place in places}
        # Every bet has an amount of its own, by which the checks find it in the ledger.
        amounts = {command.amount_cents for command in self._world.commands}
        while sum(bets.values()) in amounts:
            bets[places[0]] += 20
        sent = self.prepare_bet(round_id, bets)
        self._sent.append(sent)
        answer = await sent[1]()
        if is_answer(answer, "PlaceBetsResponse"):
            placed = baccarat_pb2.PlaceBetsResponse.FromString(answer.SerializeToString())  # type: ignore[attr-defined]
            self._on_felt = {bet.place: bet.amount_cents for bet in placed.on_felt.bets}

    async def _repeat(self, round_id: str) -> None:
        await self._cancel(round_id)

    async def _spin(self, round_id: str) -> None:
        await self._bet(round_id)


class RandomMacauRun(RandomRun):
    """One random run of Macau."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, MACAU)
        self.watch = PrizeCapWatch(self.world)

    def _configuration(self) -> types_pb2.TableConfiguration:
        return configuration(
            window_ms=self._rng.choice((4_000, 8_000)), result_shown_ms=self._rng.choice((0, 300, 1_000))
        )

    def _change_rules(self, changed: types_pb2.TableConfiguration, rng: random.Random) -> None:
        changed.result_shown_ms = rng.choice((0, 500))

    async def _play(self, name: str, placement_id: str) -> None:
        await RandomMacauPlayer(self.world, name, placement_id, self.world.rng(name)).play()

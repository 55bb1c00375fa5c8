"""A player who is gone after the bet is paid as everybody else: vectors Q9 and Q10, by the cards of P3 and P9."""

from __future__ import annotations

import dataclasses

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from services.baccarat import specific_rules
from services.baccarat.engine import Outcome, SpecificRules, deal
from services.baccarat.game import BaccaratGame, BaccaratRules
from services.kit.cards.card import cards_named
from services.kit.randomness.tape import Tape
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import StakeState
from tests.simulation.environment.world import World
from tests.simulation.scenario import STARTING_CENTS, Scenario, placed_stake
from tests.simulation.table_limits.macau import MACAU, configuration

# What lies behind the cards of a vector is never dealt.
BEHIND = "2c 2c"
P3, P9 = f"Kc 2d 6h 3s 4c {BEHIND}", f"Kc 2d 6h 4s {BEHIND}"


class _RiggedRules(BaccaratRules):
    def __init__(self, rules: SpecificRules, cards: str) -> None:
        super().__init__(rules)
        self._cards = cards_named(cards)

    def draw(self, tape: Tape, cards_taken: int = 0) -> Outcome:
        # The entropy of the shoe is on record, as always.
        super().draw(tape, cards_taken)
        return deal(self._cards)


class RiggedBaccarat(BaccaratGame):
    """Baccarat whose rounds are all dealt from the same cards."""

    def __init__(self, cards: str) -> None:
        self._cards = cards

    def rules(self, configuration: types_pb2.TableConfiguration) -> BaccaratRules:
        return _RiggedRules(specific_rules.read(configuration), self._cards)


class BaccaratScenario(Scenario):
    """One table for many, whose cards are known."""

    def __init__(self, cards: str) -> None:
        self.world = World(0, dataclasses.replace(MACAU, game=RiggedBaccarat(cards)))
        self.configuration = configuration()


@pytest.mark.guarantee("G9")
@pytest.mark.rule("812/2015:30")
@pytest.mark.parametrize(
    ("cards", "chance", "credit"),
    [pytest.param(P3, "banca", 1950, id="Q9"), pytest.param(P9, "ponto", 1000, id="Q10")],
)
def test_a_player_who_is_gone_is_paid_what_the_cards_say(cards: str, chance: str, credit: int) -> None:
    """Of an acknowledged bet the player hears no more: banca wins less 5 %, and in a tie ponto comes back (C18)."""

    async def script(scenario: BaccaratScenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {chance: 1000}))
        ana.leave()
        await scenario.wait_for_end(round_id)
        entries = scenario.round_entries(round_id)
        assert entries.ended is not None
        assert entries.ended.ending is Ending.SETTLED
        dealt = baccarat_pb2.Outcome.FromString(entries.outcome or b"")
        cards_dealt = {*dealt.ponto, *dealt.banca}
        assert cards_dealt == set(cards.removesuffix(BEHIND).split())
        assert scenario.stakes(round_id) == [(1000, StakeState.SETTLED)]
        assert scenario.free_cents("ana") == STARTING_CENTS - 1000 + credit

    BaccaratScenario(cards).run(script)

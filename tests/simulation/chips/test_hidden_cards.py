"""Hole cards of a tournament are for their owner alone (G7): worlds that differ in unseen cards say the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.kit.cards.card import Card
from tests.simulation.caves.folded_hand import (
    DEALT,
    DECK,
    PLAYERS,
    play_and_fold,
    position_of,
    stacked_deck,
    with_another_board,
    with_other_cards,
    with_other_undealt_cards,
)
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.chips.director import Course
from tests.simulation.chips.scenario import FIRST_TABLE, ChipScenario
from tests.simulation.chips.test_hands import FIRST, THREE


def _run(deck: Sequence[Card]) -> tuple[list[bytes], int]:
    """Plays a hand from a deck in which one player folds; returns all that was said, and the player's position."""

    async def script(scenario: ChipScenario) -> tuple[list[bytes], int]:
        players = await scenario.start()
        folder = await in_turn(*players)
        said = await play_and_fold(scenario, players, folder, FIRST, FIRST_TABLE)
        # What the director learns, and with it everybody who follows the tournament.
        await scenario.wait_until(lambda: scenario.director.reported)
        said += [repr(fact).encode() for fact in scenario.director.reported]
        said += [repr(scenario.round_entries(FIRST).ended).encode(), *map(str.encode, scenario.world.trace)]
        seat = {"ana": 1, "rui": 2, "eva": 4}[folder.player_id]
        return said, position_of(scenario, FIRST_TABLE, seat)

    with stacked_deck(deck):
        return ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.rule("806/2015:34.a")
def test_g7_worlds_that_differ_in_folded_and_undealt_cards_say_the_same() -> None:
    said, position = _run(DECK)
    assert len(said) > 60
    for first, second in ((DEALT, DEALT + 1), (position + PLAYERS, position)):
        assert _run(with_other_cards(position, first, second))[0] == said
    assert _run(with_other_undealt_cards())[0] == said
    # And the cards do matter: with another board the same players are told another end.
    assert _run(with_another_board())[0] != said

"""Personal cards are for their owner alone (G7): worlds that differ in unseen cards say the same, byte for byte."""

from __future__ import annotations

import logging
from collections import defaultdict
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
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.test_clocks import in_turn, seat_of
from tests.simulation.environment.process_output import counted, kept_log
from tests.simulation.scenario import TABLE_ID

FIRST = f"{TABLE_ID}.1"


def _run(deck: Sequence[Card]) -> tuple[list[bytes], int]:
    """Plays a hand from a deck in which one player folds; returns all that was said, and the player's position."""

    async def script(scenario: PokerScenario) -> tuple[list[bytes], int]:
        # A simulated world is silent unless it is listened to.
        logging.disable(logging.NOTSET)
        players = await scenario.seat_players("ana", "rui", "eva")
        folder = await in_turn(*players)
        said = await play_and_fold(scenario, players, folder, FIRST, TABLE_ID)
        said += [scenario.world.wallet.rounds[FIRST].outcome, *map(str.encode, scenario.world.trace)]
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        said.append(repr(ended).encode())
        assert log.lines
        said += log.lines
        grown = {sample: count - before[sample] for sample, count in sorted(counted().items())}
        said += [f"{sample} {count}".encode() for sample, count in grown.items() if count]
        return said, position_of(scenario, TABLE_ID, seat_of(folder))

    before = defaultdict(float, counted())
    with stacked_deck(deck), kept_log() as log:
        return PokerScenario(min_players=PLAYERS).run(script)


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.rule("806/2015:2.d", "806/2015:11.d", "806/2015:34.a")
def test_g7_worlds_that_differ_in_folded_and_undealt_cards_say_the_same() -> None:
    said, position = _run(DECK)
    assert len(said) > 60
    # The folded cards are others, which nobody else has, and so is what is never dealt.
    for first, second in ((DEALT, DEALT + 1), (30, 51), (position + PLAYERS, position)):
        assert _run(with_other_cards(position, first, second))[0] == said
    assert _run(with_other_undealt_cards())[0] == said
    # And the cards do matter: with another board the same players are told another end.
    assert _run(with_another_board())[0] != said

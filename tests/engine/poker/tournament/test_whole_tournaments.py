"""Whole tournaments: thousands against the reference, replayed from their facts, and large ones to their end."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.cards.shoe import PACK
from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move
from services.poker.specific_rules import Limit
from services.poker.tournament.levels import Level, default_levels
from services.poker.tournament.price import Price
from services.poker.tournament.running import director
from services.poker.tournament.running.facts import HandEnded
from services.poker.tournament.running.orders import Finished, HandForHand, MovePlayer, Order
from services.poker.tournament.specific_rules import Start, TournamentRules, default_rules, rules_of_hands
from services.poker.tournament.tables.lineup import RunningHand
from services.poker.variant import Variant
from tests.engine.poker.tournament.results import verify
from tests.engine.poker.tournament.simulated import Simulation, drawn_rules

BATCHES, IN_BATCH = 10, 250


def simulated(seed: object) -> Simulation:
    """Plays a tournament of any kind to its end, or until it is cancelled."""
    chance = random.Random(f"rules {seed}")
    rules = drawn_rules(chance)
    players = chance.choice((chance.randint(2, 8), chance.randint(2, 30)))
    return Simulation(seed, rules, players, cancel=chance.random() < 0.35).run()


@pytest.mark.rule(
    "810/2015:31", "810/2015:33", "810/2015:34", "810/2015:36.a", "810/2015:36.b", "810/2015:36.c", "810/2015:38",
    "810/2015:47", "810/2015:49", "810/2015:50", "810/2015:51", "810/2015:52", "810/2015:53", "810/2015:54",
)  # fmt: skip
@pytest.mark.parametrize("batch", range(BATCHES))
def test_places_prizes_and_cancellations_are_those_of_the_reference(batch: int) -> None:
    ends = [verify(simulated(f"{batch}/{number}")) for number in range(IN_BATCH)]

    # The reference is worth nothing if the tournaments do not come there.
    for end, at_least in {"won": 40, "timed": 8, "early": 2, "36.a": 10, "36.b": 10, "36.c": 1}.items():
        assert ends.count(end) >= at_least, end


@settings(max_examples=60)
@given(st.integers(0, 2**64))
def test_any_tournament_ends_as_the_reference_says(seed: int) -> None:
    verify(simulated(seed))


@pytest.mark.parametrize("seed", range(60))
def test_the_same_facts_give_the_same_state_and_the_same_orders(seed: int) -> None:
    played = simulated(seed)
    state, ordered = played.begun, list[Order]()

    for event in played.events:
        state, more = director.apply(state, event)
        ordered.extend(more)

    assert state == played.state
    assert ordered == played.orders


# -- large and real ones ----------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:39", "810/2015:47", "810/2015:48", "810/2015:49", "810/2015:52")
@pytest.mark.parametrize(("players", "seats"), [(90, 6), (300, 9)])
def test_a_tournament_of_many_tables_is_played_to_its_end(players: int, seats: int) -> None:
    levels = tuple(level._replace(seconds=60, break_seconds=level.break_seconds // 5) for level in default_levels())
    rules = default_rules(
        Variant.HOLDEM,
        Price(1000, 100, 200),
        levels=levels,
        seats=seats,
        late_reg_until_level=1,
        rebuys_max=1,
        rebuy_until_level=1,
        guarantee_cents=400_000,
    )

    played = Simulation(players, rules, players).run()

    assert verify(played) == "won"
    assert isinstance(played.orders[-1], Finished)
    assert sum(isinstance(order, MovePlayer) for order in played.orders) > players / 4
    assert any(isinstance(order, HandForHand) for order in played.orders)
    assert len(played.state.tables) == 1


def play_cards(
    chance: random.Random, rules: TournamentRules, hand: RunningHand
) -> tuple[Mapping[int, int], Mapping[int, tuple[int, ...]]]:
    """Plays a hand with the engine, a shuffled pack, and players who decide at random and rather boldly."""
    engine = Table(rules_of_hands(rules, rules.levels[hand.level - 1]))
    deck = list(PACK)
    chance.shuffle(deck)
    now = engine.deal(hand.positions, deck)
    while not now.is_over:
        may = engine.legal(now)
        assert may is not None
        moves = [CALL if may.to_call_cents else CHECK]
        if may.to_call_cents:
            moves.append(FOLD)
        if may.can_raise:
            moves.append(Move(Kind.RAISE, chance.choice((may.min_to_cents, may.max_to_cents))))
        move = chance.choice(moves)
        engine.judge(now, now.deal.seats[now.actor], move)
        now = engine.after(now, move)
    fact = HandEnded.of(0, hand.number, now)
    return fact.chips, fact.takers


@pytest.mark.rule("810/2015:31", "810/2015:41", "810/2015:46", "810/2015:55")
@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("limit", Limit)
def test_a_sit_and_go_is_played_with_cards(variant: Variant, limit: Limit) -> None:
    levels = tuple(Level(25 << number, 50 << number, 120) for number in range(9))
    rules = default_rules(variant, Price(1000, 100, 250), start=Start.ON_FULL, seats=6, limit=limit, levels=levels)

    for seed in range(3):
        played = Simulation(f"{variant}{limit}{seed}", rules, 8, play=play_cards).run()
        assert verify(played) in {"won", "36.a"}


@pytest.mark.rule("810/2015:47", "810/2015:55")
def test_a_tournament_of_several_tables_is_played_with_cards() -> None:
    levels = tuple(Level(25 << number, 50 << number, 120) for number in range(9))
    rules = default_rules(Variant.HOLDEM, Price(1000, 100), levels=levels, late_reg_until_level=1)

    played = Simulation("cards", rules, 40, play=play_cards).run()

    assert verify(played) == "won"

"""A tournament that was played by the engine, as its journal would have it; each check finds what is broken in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import pytest

from feltro.poker.v1 import tournament_pb2
from feltro.wallet.v1 import tournament_pb2 as money_pb2
from services.kit.table.chips.seam import HandToPlay, table_id_of
from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker import tournament_hands
from services.poker.directing.course import Course, Step
from services.poker.directing.fact_messages import Payment, fact_message
from services.poker.tournament.levels import Level
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import Event, Fact, Paid
from services.poker.tournament.running.orders import StartHand
from services.poker.tournament.running.state import entropy_bytes
from services.poker.tournament.specific_rules import Start, TournamentRules, default_rules
from services.poker.variant import Variant
from tests.drill.checks.findings import Check
from tests.engine.poker.tournament import reference
from tests.engine.poker.tournament.simulated import Simulation
from tests.scale import checks
from tests.scale.journal import DealtHand
from tests.scale.kills import Moment, schedule
from tests.simulation.tournaments.environment import drawn_outcome

PLAYERS, TOURNAMENT_ID = 12, "t"
RULES: TournamentRules = default_rules(
    Variant.HOLDEM,
    Price(1_000, 100, 200),
    start=Start.ON_FULL,
    seats=4,
    max_players=PLAYERS,
    levels=(Level(50, 100, 3_600),),
)


@dataclass
class Played:
    """The records of a tournament."""

    course: Course
    steps: list[Step] = field(default_factory=list)
    facts: list[JournalledFact] = field(default_factory=list)
    dealt: list[DealtHand] = field(default_factory=list)

    def tell(self, fact: Fact, payment: Payment | None = None) -> None:
        entropy = random.Random(len(self.facts)).randbytes(entropy_bytes(self.course.state))
        at_ms = 1_000 * len(self.facts)
        self.course, step = self.course.after(Event(at_ms, fact, entropy), payment)
        self.steps.append(step)
        self.facts.append(JournalledFact(step.number, at_ms, fact_message(fact, payment).SerializeToString(), entropy))


@cache
def played() -> Played:
    """Plays it, one hand after the other."""
    made = Played(Course.begin(TOURNAMENT_ID, RULES, None))
    for number in range(PLAYERS):
        made.tell(Paid(f"p{number}"), Payment(f"a{number}", f"in{number}"))
    while not made.course.is_over:
        table = next(each for each in made.course.state.tables.values() if each.hand is not None)
        hand = table.hand
        assert hand is not None
        order = HandToPlay(hand.number, hand.positions.seats, hand.positions.stacks, hand.level)
        outcome = drawn_outcome(random.Random(hand.number), RULES, order)
        stacks = dict(zip(order.seats, order.chips, strict=True))
        round_id = f"{table_id_of(TOURNAMENT_ID, table.number)}.{hand.number}"
        table_id = table_id_of(TOURNAMENT_ID, table.number)
        made.dealt.append(DealtHand(round_id, table_id, hand.number, hand.level, stacks, {}, True, outcome))  # noqa: FBT003
        made.tell(tournament_hands.hand_ended(table.number, hand.number, outcome))
    return made


def simulated() -> Simulation:
    logged = Simulation("journal", RULES, 0, begun=Course.begin(TOURNAMENT_ID, RULES, None).state)
    for step in played().steps:
        logged.happen(step.event)
    return logged


def hands_of(dealt: list[DealtHand], facts: list[JournalledFact] | None = None) -> Check:
    return checks.check_hands(TOURNAMENT_ID, played().steps, played().facts if facts is None else facts, dealt)


def test_what_was_played_holds() -> None:
    check = hands_of(played().dealt)
    assert check.holds, check.sentences
    assert check.looked_at == sum(isinstance(order, StartHand) for step in played().steps for order in step.orders)
    places, logged = checks.check_places(simulated)
    assert places.holds, places.sentences
    assert logged is not None
    # Fees are the operator's.
    assert sum(checks.expected_cents(logged).values()) == -PLAYERS * 100


Breaking = Callable[[DealtHand], list[DealtHand]]
BROKEN: dict[str, Breaking] = {
    "lost": lambda _: [],
    "dealt twice": lambda hand: [hand, hand._replace(round_id="again")],
    "at another table": lambda hand: [hand._replace(table_id="t-t99")],
    "with other chips": lambda hand: [hand._replace(chips={**hand.chips, next(iter(hand.chips)): 7})],
    "at another level": lambda hand: [hand._replace(level=2)],
    "never ordered": lambda hand: [hand, hand._replace(number=9_999)],
    "without an end": lambda hand: [hand._replace(has_ended=False, outcome=None)],
    "void at its table": lambda hand: [hand._replace(outcome=None)],
    "with another outcome": lambda hand: [hand._replace(outcome=b"")],
}


@pytest.mark.guarantee("G4", "G6")
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_hand_is_found(broken: str) -> None:
    dealt = played().dealt
    assert not hands_of([*dealt[:3], *BROKEN[broken](dealt[3]), *dealt[4:]]).holds


@pytest.mark.guarantee("G3", "G4")
def test_a_hand_that_counts_twice_or_never_is_found() -> None:
    facts = played().facts
    assert not hands_of(played().dealt, [*facts, facts[-1]]).holds
    assert not hands_of(played().dealt, facts[:-1]).holds


def test_another_course_is_found() -> None:
    def wrong() -> Simulation:
        logged = simulated()
        logged.paid[1, "cash"] += 1
        return logged

    assert not checks.check_places(wrong)[0].holds


def test_a_wrong_ranking_is_found() -> None:
    _, logged = checks.check_places(simulated)
    assert logged is not None
    places = reference.places(logged.log)
    shown = [
        tournament_pb2.TournamentPlayer(entry_no=entry, rank=first, rank_to=last, rank_final=True)
        for entry, (first, last) in places.items()
    ]
    assert checks.check_ranking(shown, logged).holds
    assert not checks.check_ranking(shown[:-1], logged).holds
    shown[0].rank += 1
    assert not checks.check_ranking(shown, logged).holds


def test_money_that_is_left_is_found() -> None:
    closed = money_pb2.GetTournamentMoneyResponse()
    closed.closed_at.GetCurrentTime()
    assert checks.check_pool(closed).holds
    assert not checks.check_pool(money_pb2.GetTournamentMoneyResponse()).holds
    closed.pool_cents = 1
    assert not checks.check_pool(closed).holds


@pytest.mark.parametrize("count", [0, 2, 6, 7, 12])
def test_kills_come_in_the_order_of_the_tournament(count: int) -> None:
    for seed in range(20):
        kills = schedule(seed, 1_000, count)
        assert len(kills) == count
        assert kills == schedule(seed, 1_000, count)
        order = [list(Moment).index(kill.moment) for kill in kills]
        assert order == sorted(order)
        if count >= 6:
            assert {kill.moment for kill in kills} >= set(Moment) - {Moment.END}

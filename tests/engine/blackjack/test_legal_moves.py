"""Every decision for every place by every seat, at every state of random rounds: offered and accepted, or refused."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack import dealt_round
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Decision
from services.blackjack.game import BlackjackRules
from services.blackjack.messages import Bets
from services.kit.randomness.tape import Tape
from services.kit.table.game import StakeOnTable
from services.kit.table.refusals import TableRefused
from tests.engine.blackjack.tables import decide, encoded, game_rules, refusal_of

MANY_CENTS = 10**9

TABLES = st.builds(
    game_rules,
    packs=st.sampled_from([4, 6, 8]),
    places_per_player=st.just(3),
    minimum_cents=st.just(2),
    maximum_cents=st.just(200),
    double_any_score=st.booleans(),
    split_pairs_only=st.booleans(),
    splits_limit=st.sampled_from([0, 1, 3]),
    without_insurance=st.booleans(),
    without_special_prizes=st.booleans(),
)


def random_stakes(chance: Random) -> list[StakeOnTable[Bets]]:
    """Returns stakes on some places, some in two parts; a seat may play several places."""
    stakes: list[StakeOnTable[Bets]] = []
    for place in chance.sample(range(1, 8), chance.randint(1, 5)):
        seat = chance.randint(1, 4)
        parts = [2 * chance.randint(1, 50) for _ in range(chance.randint(1, 2))]
        stakes += [StakeOnTable(f"{place}-{part}", seat, {f"{place}": cents}) for part, cents in enumerate(parts)]
    return stakes


def offered(dealt: DealtBlackjack, seat: int, free_cents: int = MANY_CENTS) -> dict[tuple[int, Decision], int]:
    """Returns the decisions in a seat's own view, by place, with what each costs."""
    view = dealt.own_view(seat, free_cents)
    decisions = {each.word: each for each in Decision}
    return {
        (option.place, decisions[blackjack_pb2.Decision.Name(option.decision)]): option.cost_cents
        for option in (() if view is None else view.options)
    }


def try_everything(dealt: DealtBlackjack) -> None:
    """Verifies that what is offered is accepted, and everything else refused for the right reason."""
    turn = dealt.turn
    seats = () if turn is None else turn.seats
    asked = {place for seat in seats for place, _ in offered(dealt, seat)}
    turn_of = ", ".join(map(str, sorted(asked)))
    for seat, place, decision in itertools.product(range(1, 8), range(1, 8), Decision):
        possible = offered(dealt, seat)
        assert bool(possible) == (seat in seats)
        cost = possible.get((place, decision))
        move = encoded(place, decision, cost or 0 if decision is Decision.INSURE else 0)
        if cost is not None:
            wanted = dealt.judge(seat, move)
            assert (0 if wanted is None else wanted.cents) == cost
            if wanted is not None:
                assert sum(wanted.bets.values()) == wanted.cents
                # A stake that only the ledger knows tells which decision it was for.
                assert dealt.move_staking(seat, wanted.bets) == move
            continue
        refused = refusal_of(lambda seat=seat, move=move: dealt.judge(seat, move))  # type: ignore[misc]
        if dealt.seats.get(place) == seat and place in asked:
            assert refused.reason == "DECISION_ILLEGAL"
            legal = {each.word for at, each in possible if at == place}
            assert set(refused.facts["legal"].split(", ")) == legal
            assert refused.facts["decision"] == decision.word
            assert refused.facts["rule"].startswith("805/2015:")
        else:
            own_place = dealt.seats.get(place) == seat
            assert refused.reason == ("NOT_YOUR_TURN" if own_place else "NOT_YOUR_PLACE")
            assert refused.facts == {"place": str(place), "turn_of": turn_of}


def random_move(dealt: DealtBlackjack, chance: Random) -> tuple[int, bytes, str]:
    """Returns a seat whose turn it is, one of its decisions, and an id for the stake if it makes one."""
    assert dealt.turn is not None
    seat = chance.choice(dealt.turn.seats)
    (place, decision), cost = chance.choice(sorted(offered(dealt, seat).items()))
    if decision is Decision.INSURE:
        cost = chance.randrange(2, cost + 1, 2)
    return seat, encoded(place, decision, cost if decision is Decision.INSURE else 0), f"d{cost}" if cost else ""


@pytest.mark.rule("805/2015:15", "805/2015:24")
@given(TABLES, st.integers(0, 2**32))
def test_every_decision_is_offered_and_accepted_or_refused(rules: BlackjackRules, seed: int) -> None:
    chance = Random(seed)
    dealt = rules.deal(random_stakes(chance), Tape(chance.randbytes(8192)))
    decided = 0
    while dealt.turn is not None:
        try_everything(dealt)
        seat, move, costs = random_move(dealt, chance)
        before, dealt = dealt, decide(dealt, seat, move, f"{costs}-{decided}" if costs else "")
        decided += 1
        # What is paid stays paid, and what is staked stays staked.
        assert before.due_cents().items() <= dealt.due_cents().items()
        assert before.stakes.items() <= dealt.stakes.items()
        assert dealt.cards_shown >= before.cards_shown
    try_everything(dealt)

    # Every stake is paid its part, and together they are paid what the engine pays.
    outcome = rules.read_outcome(rules.outcome_message(dealt.outcome).SerializeToString())
    assert outcome == dealt.outcome
    paid = {stake_id: rules.payout_cents(outcome, bets) for stake_id, bets in dealt.stakes.items()}
    assert sum(paid.values()) == sum(rules.table.payouts(dealt.round).values())
    assert dealt.due_cents().items() <= paid.items()
    for stake_id, bets in dealt.stakes.items():
        assert paid[stake_id] <= rules.largest_payout_cents(bets)
    on_felt = rules.together(dealt.stakes.values())
    assert on_felt == {result.place: result.amount_cents for result in outcome.record.results}
    assert set(rules.places(on_felt or {})) == set(dealt.seats)


@given(TABLES, st.integers(0, 2**32), st.integers(0, 300))
def test_what_a_player_cannot_pay_is_not_offered(rules: BlackjackRules, seed: int, free_cents: int) -> None:
    chance = Random(seed)
    dealt = rules.deal(random_stakes(chance), Tape(chance.randbytes(8192)))
    while dealt.turn is not None:
        for seat in dealt.turn.seats:
            rich, poor = offered(dealt, seat), offered(dealt, seat, free_cents)
            affordable = {
                key: min(cost, free_cents // 2 * 2) if key[1] is Decision.INSURE else cost
                for key, cost in rich.items()
                if cost <= free_cents or (key[1] is Decision.INSURE and free_cents >= 2)
            }
            assert poor == affordable
            # There is always something to decide that costs nothing.
            assert 0 in poor.values()
        seat, move, costs = random_move(dealt, chance)
        dealt = decide(dealt, seat, move, costs and f"{costs}-{len(dealt.stakes)}")


@pytest.mark.guarantee("G7")
@given(TABLES, st.integers(0, 2**32), st.integers(0, 2**32))
def test_g7_worlds_that_differ_only_in_unseen_cards_show_the_same_bytes(
    rules: BlackjackRules, seed: int, other: int
) -> None:
    """The hole card and the rest of the shoe are in no message before the rules show them (B4)."""
    chance = Random(seed)
    stakes = random_stakes(chance)
    states = [rules.deal(stakes, Tape(chance.randbytes(8192)))]
    moves: list[tuple[int, bytes, str]] = []
    while states[-1].turn is not None:
        seat, move, costs = random_move(states[-1], chance)
        moves.append((seat, move, costs and f"{costs}-{len(moves)}"))
        states.append(decide(states[-1], *moves[-1]))

    for made, last in enumerate(states):
        if last.turn is None and last.round.hole_shown:
            continue
        shoe = list(last.round.shoe)
        hole_at = 2 * len(last.round.places) + 1
        unseen = [hole_at, *range(last.round.dealt, len(shoe))]
        # The cards change places with each other: any of them may be the hole card.
        moved = Random(other).sample(unseen, len(unseen))
        cards = list(shoe)
        for to, source in zip(unseen, moved, strict=True):
            cards[to] = shoe[source]
        world = dealt_round.deal(rules.table, stakes, cards)
        for decided in moves[:made]:
            world = decide(world, *decided)
        # What was told before has been compared with cards more of which were unseen.
        assert public_bytes(world) == public_bytes(last)


def public_bytes(dealt: DealtBlackjack) -> list[object]:
    """Returns everything that a round tells anybody."""
    seats = range(1, 8)
    own = [dealt.own_view(seat, free) for seat in seats for free in (0, 50, MANY_CENTS)]
    refused = [
        refusal.facts
        for seat, place, decision in itertools.product(seats, seats, Decision)
        if (refusal := _refusal(dealt, seat, encoded(place, decision))) is not None
    ]
    return [
        dealt.view().SerializeToString(deterministic=True),
        [None if each is None else each.SerializeToString(deterministic=True) for each in own],
        dealt.turn,
        dealt.cards_shown,
        dealt.due_cents(),
        refused,
        None if dealt.turn is not None else dealt.outcome.record.SerializeToString(deterministic=True),
    ]


def _refusal(dealt: DealtBlackjack, seat: int, move: bytes) -> TableRefused | None:
    try:
        dealt.judge(seat, move)
    except TableRefused as refused:
        return refused
    return None

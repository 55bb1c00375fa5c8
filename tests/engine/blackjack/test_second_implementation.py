"""The engine beside a second implementation: every decision of random rounds, who is asked, and every cent."""

from __future__ import annotations

from random import Random

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack import dealt_round
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Decision
from services.blackjack.game import BlackjackRules
from services.blackjack.messages import Bets, read_move
from services.kit.cards.card import cards_named
from services.kit.table.game import StakeOnTable
from services.kit.table.refusals import TableRefused
from tests.engine.blackjack.reference import Options, Reference
from tests.engine.blackjack.tables import decide, encoded, game_rules, refusal_of

PLACES = 7
RICH_CENTS = 10**9
ROUNDS_PER_TEST = 400
DECISION_NAMES = [each.value for each in Decision]
OF_NUMBER = {blackjack_pb2.Decision.Value(each.word): each.value for each in Decision}
# What rule 16 lets the operator choose, each alone, all together, and the regulation's own.
OPTIONS = {
    "none": Options(),
    "any score doubled (16.a)": Options(any_score=True),
    "real pairs split (16.b)": Options(pairs_only=True),
    "one split (16.c)": Options(splits=1),
    "three splits (16.c)": Options(splits=3),
    "no insurance (16.d)": Options(insurance=False),
    "no special prizes (16.e)": Options(prizes=False),
    "all of rule 16": Options(any_score=True, pairs_only=True, splits=2, insurance=False, prizes=False),
    "a wide step": Options(step=40),
}
# Ranks that make what is rare frequent: pairs, aces, blackjacks, special prizes, soft hands, hands of many cards.
THICK = ("A", "AT", "8", "A28", "78A", "678", "7", "TJQK", "A8", "A9", "A2345", "5T", "23456", "9")


def shoe_of(chance: Random, packs: int) -> list[str]:
    """Returns a whole shoe; in two rounds of three some ranks, or one suit, lie close to its top."""
    shoe = [rank + suit for rank in "A23456789TJQK" for suit in "shdc"] * packs
    chance.shuffle(shoe)
    kind = chance.randrange(3)
    if kind:
        ranks, suits = chance.choice(THICK), "shdc" if kind == 1 else chance.choice("shdc")
        shoe.sort(key=lambda card: chance.random() * (1 if card[0] in ranks and card[1] in suits else 4))
    return shoe


def bets_of(chance: Random, step: int) -> tuple[list[StakeOnTable[Bets]], dict[int, dict[str, int]]]:
    """Returns stakes on some places, some of them in two parts, for the engine and for the reference."""
    stakes: list[StakeOnTable[Bets]] = []
    bets: dict[int, dict[str, int]] = {}
    for place in chance.sample(range(1, PLACES + 1), chance.randint(1, 4)):
        seat = chance.randint(1, 4)
        bets[place] = {}
        for part in range(chance.randint(1, 2)):
            cents = step * chance.randint(1, 50)
            stakes.append(StakeOnTable(f"{place}-{part}", seat, {f"{place}": cents}))
            bets[place][f"{place}-{part}"] = cents
    return stakes, bets


def offered(dealt: DealtBlackjack) -> dict[int, dict[str, int]]:
    """Returns what all seats together are offered, by place."""
    found: dict[int, dict[str, int]] = {}
    for seat in set(dealt.seats.values()):
        view = dealt.own_view(seat, RICH_CENTS)
        for option in () if view is None else view.options:
            assert dealt.seats[option.place] == seat
            found.setdefault(option.place, {})[OF_NUMBER[option.decision]] = option.cost_cents
    return found


def defaults(dealt: DealtBlackjack) -> dict[int, str]:
    """Returns what the clock would decide, by place."""
    moves = [read_move(each.move, PLACES) for each in (dealt.turn.defaults if dealt.turn else ())]
    return {move.place: move.decision.value for move in moves}


def verify_refusals(dealt: DealtBlackjack, legal: dict[int, dict[str, int]]) -> None:
    """Tries every decision on every place as its own seat: what is not legal is refused, and only that."""
    before = dealt.round
    for place, seat in dealt.seats.items():
        for decision in DECISION_NAMES:
            cost = legal.get(place, {}).get(decision)
            try:
                dealt.judge(seat, encoded(place, decision, (cost or 0) if decision == "insure" else 0))
                refused = ""
            except TableRefused as why:
                refused = why.reason
            illegal = "DECISION_ILLEGAL" if place in legal else "NOT_YOUR_TURN"
            assert refused == (illegal if cost is None else ""), (place, decision)
    assert dealt.round is before


def verify_insurance(dealt: DealtBlackjack, place: int, most: int, step: int) -> None:
    """Tries insurances around their bounds (15.f)."""
    for cents in (-step, 0, 1, step, most, most + 1, most + step):
        move = encoded(place, "insure", cents)
        if 0 < cents <= most and cents % step == 0:
            wanted = dealt.judge(dealt.seats[place], move)
            assert wanted is not None
            assert wanted.cents == cents
        else:
            refused = refusal_of(lambda move=move: dealt.judge(dealt.seats[place], move))  # type: ignore[misc]
            assert refused.reason == "INSURANCE_REFUSED"


def play(rules: BlackjackRules, options: Options, packs: int, chance: Random) -> int:
    """Plays one round in both, compared before and after each decision; returns how many decisions it had."""
    shoe, (stakes, bets) = shoe_of(chance, packs), bets_of(chance, options.step)
    dealt = dealt_round.deal(rules.table, stakes, cards_named(" ".join(shoe)))
    reference = Reference.deal(options, bets, shoe)
    decided = 0
    while True:
        legal = reference.legal()
        assert offered(dealt) == legal
        assert (dealt.turn is None) == reference.is_over
        assert dict(dealt.due_cents()) == reference.due()
        assert [[card.name for card in hand.cards] for hand in dealt.round.hands] == [
            hand.cards for hand in reference.hands
        ]
        if not legal:
            break
        assert defaults(dealt) == {place: reference.default(place) for place in legal}
        verify_refusals(dealt, legal)
        place = chance.choice(sorted(legal))
        decision, cost = chance.choice(sorted(legal[place].items()))
        cents = 0
        if decision == "insure":
            verify_insurance(dealt, place, cost, options.step)
            cents = options.step * chance.randint(1, cost // options.step)
        stake_id = f"decision-{decided}" if cost else ""
        dealt = decide(dealt, dealt.seats[place], encoded(place, decision, cents), stake_id)
        reference.decide(place, decision, stake_id, cents)
        decided += 1
    verify_end(rules, dealt, reference)
    return decided


def verify_end(rules: BlackjackRules, dealt: DealtBlackjack, reference: Reference) -> None:
    """Compares what the bank shows, and what every stake is paid by the record that is stored."""
    record = dealt.outcome.record
    shown = reference.bank if reference.hole_shown else [reference.bank[0], ""]
    assert list(record.bank.cards) == shown
    assert [hand.score for hand in record.hands] == [hand.best for hand in reference.hands]
    stored = rules.read_outcome(rules.outcome_message(dealt.outcome).SerializeToString())
    assert {stake: rules.payout_cents(stored, bets) for stake, bets in dealt.stakes.items()} == reference.credits()


@pytest.mark.rule(
    "805/2015:15",
    "805/2015:15.a",
    "805/2015:15.b",
    "805/2015:15.c",
    "805/2015:15.d",
    "805/2015:15.e",
    "805/2015:15.f",
    "805/2015:16.a",
    "805/2015:16.b",
    "805/2015:16.c",
    "805/2015:16.d",
    "805/2015:16.e",
    "805/2015:20",
    "805/2015:21",
    "805/2015:22",
    "805/2015:23",
    "805/2015:24",
    "805/2015:25",
)
@pytest.mark.parametrize("packs", [4, 6, 8])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_second_implementation_offers_the_same_decisions_and_pays_the_same_cents(name: str, packs: int) -> None:
    options = OPTIONS[name]
    rules = game_rules(
        packs=packs,
        places_per_player=PLACES,
        minimum_cents=options.step,
        maximum_cents=100 * options.step,
        step_cents=options.step,
        double_any_score=options.any_score,
        split_pairs_only=options.pairs_only,
        splits_limit=options.splits or 0,
        without_insurance=not options.insurance,
        without_special_prizes=not options.prizes,
    )
    # A seed that is the same in every process.
    chance = Random(f"{name}, {packs} packs")
    decided = sum(play(rules, options, packs, chance) for _ in range(ROUNDS_PER_TEST))
    # What is compared is mostly what is decided, not rounds that end as they are dealt.
    assert decided > 2 * ROUNDS_PER_TEST

"""Hands as PHH text, which pokerkit reads and plays again to the same stacks."""

from __future__ import annotations

import random
import re
import tomllib
import warnings
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from pokerkit import CheckingOrCalling, CompletionBettingOrRaisingTo, Folding, HandHistory, State

from services.kit.cards.shoe import PACK
from services.kit.table.journal.entries import Drawn, DrawTrigger, JournalStake, Opened
from services.kit.table.journal.history import RoundRecord
from services.kit.table.refusals import TableRefused
from services.poker.engine import Table
from services.poker.game import PokerRules
from services.poker.hand.betting import Legal
from services.poker.hand.state import CALL, CHECK, FOLD, Hand, Kind, Move
from services.poker.history import export
from services.poker.history.hand_history import HandFacts, for_operator, for_player
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import Approval, HeadsUpBlinds, Limit, Showdown
from services.poker.variant import Variant
from tests.engine.poker.oracle import Cause, beside, expected_stacks
from tests.engine.poker.tables import HOLDEM, OMAHA, begin, both, both_variants, play, table

STARTED_AT = datetime(2026, 11, 19, 18, 5, 9, 123456, tzinfo=UTC)
DEALS = "AsAd KsKd QsQd", "7h 8h 9c 2c 3d"


def facts(players: int) -> HandFacts:
    return HandFacts("table-1.42", "table-1", STARTED_AT, "EUR", [""] * players)


class PlayedHand(NamedTuple):
    """A hand as it was dealt and as it ended, and why pokerkit would play it otherwise."""

    begun: Hand
    hand: Hand
    causes: list[Cause]


def replayed(text: str) -> State:
    """Plays a text in pokerkit, with no more decisions than it has; the state at the end."""
    history = HandHistory.loads(text)
    with warnings.catch_warnings():
        # Folding where a check is free is warned of.
        warnings.simplefilter("ignore")
        *_, state = history
    assert not state.status
    return state


def decisions(state: State) -> int:
    kinds = (Folding, CheckingOrCalling, CompletionBettingOrRaisingTo)
    return sum(isinstance(operation, kinds) for operation in state.operations)


def test_a_hand_as_the_operator_has_it() -> None:
    """C-03."""
    at = table()
    begun = begin(at, (10_000,) * 3, "7c7d AhQs KsKd", "Kh 9h 4c 2s 3d")
    hand = play(begun, "r300 c c | x r450 c f | x x | x r900 c")
    named = facts(3)._replace(players=["Ana", 'Zé "Ás" \\o/', "Rui\x7f\n🂡"])
    assert tomllib.loads(for_operator(begun, hand, named)) == {
        "variant": "NT",
        "antes": [0, 0, 0],
        "blinds_or_straddles": [50, 100, 0],
        "min_bet": 100,
        "starting_stacks": [10_000] * 3,
        "actions": [
            *("d dh p1 7c7d", "d dh p2 AhQs", "d dh p3 KsKd", "p3 cbr 300", "p1 cc", "p2 cc"),
            *("d db Kh9h4c", "p1 cc", "p2 cbr 450", "p3 cc", "p1 f"),
            *("d db 2s", "p2 cc", "p3 cc", "d db 3d", "p2 cc", "p3 cbr 900", "p2 cc"),
            *("p3 sm KsKd", "p2 sm AhQs"),
        ],
        "time": STARTED_AT.time().replace(microsecond=0),
        "time_zone": "UTC",
        "day": 19,
        "month": 11,
        "year": 2026,
        "hand": "table-1.42",
        "seats": [1, 2, 3],
        "seat_count": 6,
        "table": "table-1",
        "players": ["Ana", 'Zé "Ás" \\o/', "Rui\x7f\n🂡"],
        "finishing_stacks": [9_700, 8_350, 11_770],
        "winnings": [0, 0, 3_420],
        "time_limit": 20,
        "_regulation": "806/2015",
        "_limit": "no_limit",
        "_currency": "EUR",
        "_amounts": "cents",
        "_commission": [0, 0, 180],
    }


@both("34.a", "36", "65")
@both_variants
def test_a_player_reads_the_own_cards_and_those_that_were_shown(variant: Variant) -> None:
    at = table(variant)
    for seed in range(25):
        begun, hand, _ = random_hand(random.Random(seed), at, players=6)
        assert hand.result is not None
        dealt = {card.name for hole in hand.deal.holes for card in hole}
        for position, seat in enumerate(hand.deal.seats):
            text = for_player(begun, hand, facts(6), seat)
            visible = {position, *hand.result.shown}
            written = set(re.findall(r"[2-9TJQKA][shdc]", " ".join(tomllib.loads(text)["actions"])))
            assert written & dealt == {card.name for at in visible for card in hand.deal.holes[at]}
            assert written - dealt == {card.name for card in hand.board}


@both("34.a", "36")
def test_nobody_reads_cards_of_a_hand_that_ended_by_folding_but_the_own_ones() -> None:
    """C-01: common cards that were not dealt are in no text."""
    begun = begin(table(), (10_000,) * 3, *DEALS)
    hand = play(begun, "r300 f f")
    actions = tomllib.loads(for_player(begun, hand, facts(3), seat=2))["actions"]
    assert actions == ["d dh p1 ????", "d dh p2 KsKd", "d dh p3 ????", "p3 cbr 300", "p1 f", "p2 f"]
    actions = tomllib.loads(for_operator(begun, hand, facts(3)))["actions"]
    assert actions == ["d dh p1 AsAd", "d dh p2 KsKd", "d dh p3 QsQd", "p3 cbr 300", "p1 f", "p2 f"]


@both("34.a", "59")
def test_a_player_who_need_not_show_mucks_unread() -> None:
    begun = begin(table(showdown=Showdown.MUCK_LOSERS), (10_000,) * 3, *DEALS)
    hand = play(begun, "c c x | x x x | x x x | x x x")
    text = for_player(begun, hand, facts(3), seat=3)
    assert tomllib.loads(text)["actions"][-3:] == ["p1 sm AsAd", "p2 sm", "p3 sm"]
    assert "Ks" not in text
    assert tuple(replayed(text).stacks) == expected_stacks(hand)


@both("65")
@pytest.mark.parametrize("showdown", Showdown)
@pytest.mark.parametrize(
    ("variant", "limit"),
    [
        (HOLDEM, Limit.NO_LIMIT),
        (HOLDEM, Limit.POT_LIMIT),
        (HOLDEM, Limit.HALF_POT),
        (HOLDEM, Limit.FIXED_RAISES),
        (OMAHA, Limit.POT_LIMIT),
        (OMAHA, Limit.HALF_POT),
    ],
)
def test_pokerkit_plays_every_hand_again_to_the_same_stacks(variant: Variant, limit: Limit, showdown: Showdown) -> None:
    blinds: dict[str, object] = {"heads_up_blinds": HeadsUpBlinds.BUTTON_SMALL_BLIND, "approvals": frozenset(Approval)}
    at = table(variant, limit=limit, showdown=showdown)
    tables = [at, table(variant, 100, limit=limit, showdown=showdown, **blinds)]
    generator = random.Random(f"{variant} {limit} {showdown}")
    for number in range(30):
        begun, hand, causes = random_hand(generator, tables[number % 2], players=generator.randint(2, 7))
        if Cause.INCOMPLETE_COUNTED_AS_RAISE in causes:
            # With a fixed limit pokerkit does not complete an incomplete raise, but raises it in full (7.2).
            continue
        players = len(hand.deal.seats)
        seat = generator.randint(1, players)
        for text in (for_operator(begun, hand, facts(players)), for_player(begun, hand, facts(players), seat)):
            state = replayed(text)
            assert tuple(state.stacks) == expected_stacks(hand), text
            # No decision was made up where a player's did not fit.
            assert decisions(state) == len(hand.moves) + causes.count(Cause.NEEDLESS_PROMPT), text


@both("16", "17.a", "19", "62", "65")
def test_the_stacks_after_commission_and_the_commission_are_those_of_the_replay() -> None:
    """Up to the odd cents of a divided pot, which are one each here and all for the first winner there (A-12)."""
    generator = random.Random(62)
    commission = 0
    for _ in range(100):
        begun, hand, _ = random_hand(generator, table(), players=4)
        assert hand.result is not None
        text = for_operator(begun, hand, facts(4))
        fields = tomllib.loads(text)
        before = [sum(both) for both in zip(fields["finishing_stacks"], fields["_commission"], strict=True)]
        stacks = list(replayed(text).stacks)
        assert sum(before) == sum(stacks) == sum(fields["starting_stacks"])
        winners = [
            sum(payment.pot == number for payment in hand.result.payments) for number in range(len(hand.result.pots))
        ]
        odd = sum(pot.cents % count for pot, count in zip(hand.result.pots, winners, strict=True))
        assert all(abs(one - other) <= odd for one, other in zip(before, stacks, strict=True)), text
        commission += sum(fields["_commission"])
    assert commission


def test_a_newcomers_voluntary_bet_is_no_blind() -> None:
    """A-20."""
    begun = begin(table(), (10_000,) * 5, posters=(3,))
    hand = play(begun, "c r400 f c c c | x x x x | x x x x | x x x x")
    text = for_operator(begun, hand, facts(5))
    assert tomllib.loads(text)["blinds_or_straddles"] == [50, 100, 0, -100, 0]
    assert tuple(replayed(text).stacks) == expected_stacks(hand)


@pytest.mark.parametrize(
    ("chosen", "fields"),
    [
        ({"limit": Limit.FIXED_RAISES}, {"variant": "FT", "small_bet": 100, "big_bet": 200}),
        ({"limit": Limit.FIXED_RAISES, "bet_units": (1, 2, 3, 4)}, {"variant": "NT", "min_bet": 100}),
        ({"limit": Limit.FIXED_RAISES, "max_raises_per_turn": 4}, {"variant": "NT", "min_bet": 100}),
        ({"limit": Limit.POT_LIMIT}, {"variant": "NT", "min_bet": 100}),
    ],
)
def test_a_game_that_the_format_does_not_have_is_written_as_one_that_allows_as_much(
    chosen: dict[str, object], fields: dict[str, object]
) -> None:
    begun = begin(table(HOLDEM, 100, **chosen), (10_000,) * 3)
    text = for_operator(begun, play(begun, "f f"), facts(3))
    assert tomllib.loads(text).items() >= fields.items()
    assert tuple(replayed(text).stacks) == (9_950, 10_050, 10_000)


@pytest.mark.parametrize(("limit", "code"), [(Limit.NO_LIMIT, "NO"), (Limit.FIXED_RAISES, "FO")])
def test_omaha_without_a_limit_or_with_a_fixed_one_has_a_code_that_readers_do_not_know_yet(
    limit: Limit, code: str
) -> None:
    begun = begin(table(OMAHA, limit=limit), (10_000,) * 3)
    history = HandHistory.loads(for_operator(begun, play(begun, "f f"), facts(3)))
    assert history.variant == code
    assert history.finishing_stacks == [9_950, 10_050, 10_000]


def test_a_hand_that_is_not_over_has_no_history() -> None:
    begun = begin(table(), (10_000,) * 3)
    with pytest.raises(ValueError, match="not over"):
        for_operator(begun, begun, facts(3))


def recorded(entropy: bytes) -> RoundRecord:
    """Returns the record of a hand of Ana alone, without its decisions."""
    stake = JournalStake("t.1.1", "r", "ana", "account", "session", 1, 10_000, b"", STARTED_AT)
    opened = Opened("t.1", "t", "t", 1, 1, STARTED_AT, None)
    drawn = Drawn("t.1", STARTED_AT, STARTED_AT, entropy, None, [stake], [], DrawTrigger.CLOCK)
    return RoundRecord(opened, drawn, None)


@pytest.mark.guarantee("G10", "G12")
def test_g12_a_hand_whose_cards_a_restored_journal_has_lost_is_not_made_up() -> None:
    rules = PokerRules(table().specific_rules)
    with pytest.raises(TableRefused) as lost:
        export.for_operator(recorded(b""), rules)
    assert lost.value.reason == "UNAVAILABLE"
    with pytest.raises(TableRefused) as lost:
        export.for_player(recorded(b""), rules, "ana")
    assert lost.value.reason == "UNAVAILABLE"


@pytest.mark.guarantee("G7")
def test_g7_who_was_in_no_such_hand_reads_nothing_of_it() -> None:
    rules = PokerRules(table().specific_rules)
    with pytest.raises(TableRefused) as unknown:
        export.for_player(recorded(bytes(range(256))), rules, "rui")
    assert (unknown.value.reason, unknown.value.facts) == ("ROUND_UNKNOWN", {"round_id": "t.1"})


def random_hand(generator: random.Random, at: Table, *, players: int) -> PlayedHand:
    """Plays a hand with random stacks and decisions."""
    stacks = tuple(generator.choice([100, 10_000, generator.randint(100, 3_000)]) for _ in range(players))
    seats = tuple(range(1, players + 1))
    begun = hand = at.deal(Positions(seats, stacks, ()), generator.sample(PACK, len(PACK)))
    other = beside(hand)
    agree = other.compare()
    while may := at.legal(hand):
        move = decision(generator, may)
        hand = at.after(hand, move)
        if agree:
            other.act(move, hand)
            agree = other.compare()
    return PlayedHand(begun, hand, other.causes)


def decision(generator: random.Random, may: Legal) -> Move:
    chance = generator.random()
    if may.can_raise and chance < 0.25:
        return Move(
            Kind.RAISE,
            generator.choice([may.min_to_cents, may.max_to_cents, (may.min_to_cents + may.max_to_cents) // 2]),
        )
    if not may.to_call_cents:
        return FOLD if chance > 0.97 else CHECK
    return FOLD if chance > 0.65 else CALL

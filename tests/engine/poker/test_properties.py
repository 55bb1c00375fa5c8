"""Properties of every hand and every table: chips are conserved, nobody is negative, and only what is legal happens."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from operator import add, sub

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.kit.cards.shoe import PACK
from services.kit.table.refusals import TableRefused
from services.poker.engine import Table
from services.poker.hand.betting import Legal
from services.poker.hand.state import CALL, CHECK, FOLD, Hand, Kind, Move
from services.poker.lineup.entry import Positions
from services.poker.lineup.lineup import Decisions, Lineup
from services.poker.lineup.money import entry_bounds
from services.poker.lineup.seated import Presence
from services.poker.specific_rules import (
    Approval,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    SpecificRules,
    verify,
)
from services.poker.variant import Variant
from tests.engine.poker.tables import both, rules

BIG_BLIND = 100


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables under any specific rules that decide about a hand."""
    small_blind = draw(st.integers(1, BIG_BLIND))
    capped = draw(st.none() | st.integers(1, 500))
    mode = draw(st.sampled_from(CommissionMode)) if capped is None else CommissionMode.POT
    return Table(
        rules(
            draw(st.sampled_from(Variant)),
            small_blind_cents=small_blind,
            limit=draw(st.sampled_from(Limit)),
            commission_mode=mode,
            commission_bps=draw(st.integers(100, 500)) if mode is CommissionMode.POT else 500,
            commission_cap_cents=capped,
            commission_cap_per_hand=draw(st.booleans()),
            no_flop_no_drop=draw(st.sampled_from(NoFlopNoDrop)),
            heads_up_blinds=draw(st.sampled_from(HeadsUpBlinds)),
            showdown=draw(st.sampled_from(Showdown)),
            approvals=frozenset(Approval),
        )
    )


@st.composite
def hands(draw: st.DrawFn) -> Hand:
    """Hands as they are dealt: two to ten players, any stacks, sometimes a newcomer who posts."""
    stacks = draw(st.lists(st.integers(1, 400) | st.integers(1, 10_000), min_size=2, max_size=10))
    posters = draw(st.sets(st.integers(2, len(stacks) - 1), max_size=1)) if len(stacks) > 2 else set()
    deck = list(PACK)
    random.Random(draw(st.integers(0, 2**32))).shuffle(deck)
    seats = tuple(range(1, len(stacks) + 1))
    return draw(tables()).deal(Positions(seats, tuple(stacks), tuple(posters)), deck)


def drawn_move(data: st.DataObject, may: Legal) -> Move:
    """Draws a legal action."""
    choices = [FOLD, CALL if may.to_call_cents else CHECK]
    if may.can_raise:
        amount = data.draw(st.sampled_from([may.min_to_cents, may.max_to_cents]) | st.integers(*may[2:]))
        choices.append(Move(Kind.RAISE, amount))
    return data.draw(st.sampled_from(choices))


def verify_hand(hand: Hand) -> None:
    """Asserts what is true at every moment of a hand."""
    begun_with = sum(hand.deal.stacks)
    assert min(hand.stacks) >= 0
    assert min(hand.bets) >= 0
    if hand.result is None:
        assert sum(hand.stacks) + hand.pot_cents == begun_with
        assert sum(hand.contributions) == hand.pot_cents
        may = Table.legal(hand)
        assert may is not None
        assert may.position == hand.actor
        assert 0 <= may.to_call_cents <= hand.stacks[hand.actor]
        assert hand.stacks[hand.actor] > 0
        assert may.min_to_cents <= may.max_to_cents <= hand.bets[hand.actor] + hand.stacks[hand.actor]
        if may.can_raise:
            assert may.min_to_cents > hand.level_cents
        Table.judge(hand, hand.deal.seats[hand.actor], Table.default(hand))
        return
    result = hand.result
    assert Table.legal(hand) is None
    assert sum(result.stacks) + result.commission_cents == begun_with
    assert sum(pot.cents for pot in result.pots) == sum(hand.contributions) == hand.pot_cents
    for number, pot in enumerate(result.pots):
        paid = [payment for payment in result.payments if payment.pot == number]
        assert sum(payment.gross_cents for payment in paid) == pot.cents
        assert {payment.position for payment in paid} <= set(pot.positions)
        for parts in ([payment.net_cents for payment in paid], [payment.gross_cents for payment in paid]):
            assert max(parts) - min(parts) <= 1
    # Nobody can win what they were not in for: the largest part of each rival's contribution is one's own.
    for position, own in enumerate(hand.contributions):
        won = sum(payment.gross_cents for payment in result.payments if payment.position == position)
        assert won <= sum(min(own, other) for other in hand.contributions) or len(result.shown) == 0
    verify_commission(hand)


def verify_commission(hand: Hand) -> None:
    result, made = hand.result, hand.deal.rules
    assert result is not None
    if made.commission_mode is CommissionMode.CAVE:
        assert result.commission_cents == 0
    assert 20 * result.commission_cents <= hand.pot_cents
    for payment in result.payments:
        assert 0 <= payment.commission_cents <= payment.gross_cents


@both("17.a", "28", "33", "36", "40", "62")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(begun=hands(), data=st.data())
def test_every_hand_conserves_its_chips_and_ends(begun: Hand, data: st.DataObject) -> None:
    hand = begun
    verify_hand(hand)
    while (may := Table.legal(hand)) is not None:
        move = drawn_move(data, may)
        Table.judge(hand, hand.deal.seats[hand.actor], move)
        after = Table.after(hand, move)
        # What was is never changed, and what comes is always the same.
        assert after == Table.after(hand, move)
        assert after.moves == (*hand.moves, move)
        hand = after
        verify_hand(hand)
    assert hand.is_over


@both("23", "24.a", "24.b", "24.c", "34.b", "34.c", "37", "38")
@settings(max_examples=100, deadline=None, derandomize=True)
@given(begun=hands(), data=st.data())
def test_nothing_beyond_the_bounds_is_accepted(begun: Hand, data: st.DataObject) -> None:
    hand = begun
    while (may := Table.legal(hand)) is not None:
        acting = hand.deal.seats[hand.actor]
        amounts = data.draw(st.lists(st.integers(-1, 12_000), max_size=3))
        for to in (*amounts, may.min_to_cents - 1, may.max_to_cents + 1):
            legal = may.can_raise and may.min_to_cents <= to <= may.max_to_cents
            assert accepts(hand, acting, Move(Kind.RAISE, to)) == legal
        assert accepts(hand, acting, CHECK) == (may.to_call_cents == 0)
        assert accepts(hand, acting, CALL) == (may.to_call_cents > 0)
        assert accepts(hand, acting, FOLD)
        for seat in hand.deal.seats:
            assert seat == acting or not accepts(hand, seat, FOLD)
        hand = Table.after(hand, drawn_move(data, may))


def accepts(hand: Hand, seat: int, move: Move) -> bool:
    try:
        Table.judge(hand, seat, move)
    except TableRefused:
        return False
    return True


# -- a table from hand to hand ----------------------------------------------------------------------------------------


class Room:
    """A table with people who come and go as chance has it, and the account of all their money."""

    def __init__(self, made: SpecificRules, seed: str) -> None:
        self.chance = random.Random(seed)
        self.table = Table(made)
        self.lineup = Lineup(made)
        self.brought = self.taken = self.commission = 0

    def caves(self) -> int:
        return sum(each.cave_cents for each in self.lineup.seated.values())

    def do_something(self) -> None:
        """Tries a command of a player; a refusal changes nothing."""
        seat = self.chance.randint(1, self.table.specific_rules.seats)
        before = self.lineup
        waiting = {each.seat: each.top_up_cents for each in before.seated.values()}
        try:
            self._command(seat)
        except TableRefused:
            assert self.lineup is before
        assert all(each.top_up_cents >= waiting.get(each.seat, 0) for each in self.lineup.seated.values())

    def _command(self, seat: int) -> None:
        lineup, made = self.lineup, self.table.specific_rules
        if seat not in lineup.seated:
            cave = self.chance.randint(made.cave_min_cents, made.cave_max_cents)
            self.lineup = lineup.take_seat(seat, cave, entry_bounds(made, None, 0))
            self.brought += cave
            return
        match self.chance.choice(("leave", "sit out", "rest", "back", "back", "post", "top up", "top up")):
            case "leave":
                self.lineup = lineup.leave(seat)
                if seat not in self.lineup.seated:
                    self.taken += lineup.seated[seat].cave_cents
            case "sit out":
                self.lineup = lineup.sit_out(seat)
            case "rest":
                self.lineup = lineup.rest(seat, 0)
            case "back":
                self.lineup = lineup.come_back(seat)
            case "post":
                self.lineup = lineup.post(seat)
            case _:
                self.lineup = lineup.top_up(seat, self.chance.randint(1, made.top_up_to_max_cents))
                if not lineup.is_hand_running:
                    self.brought += self.lineup.seated[seat].cave_cents - lineup.seated[seat].cave_cents

    def play_hand(self) -> None:
        before = self.lineup
        self.lineup, positions = self.lineup.start_hand(self.chance.randrange)
        if positions is None:
            assert self.lineup.button is None
            assert sum(self._may_play(seat) for seat in before.seated) < self.table.specific_rules.min_players
            return
        self._verify(before, positions)
        deck = list(PACK)
        self.chance.shuffle(deck)
        hand = self.table.deal(positions, deck)
        while (may := Table.legal(hand)) is not None:
            if self.chance.random() < 0.3:
                self.do_something()
            hand = Table.after(hand, self._move(may))
        self._end(positions, hand)

    def _move(self, may: Legal) -> Move:
        what = self.chance.random()
        if what < 0.2:
            return FOLD
        if what < 0.7 or not may.can_raise:
            return CALL if may.to_call_cents else CHECK
        return Move(Kind.RAISE, self.chance.choice((may.min_to_cents, may.max_to_cents)))

    def _may_play(self, seat: int) -> bool:
        each = self.lineup.seated[seat]
        return each.presence is Presence.PLAYING and each.cave_cents >= self.table.specific_rules.big_blind_cents

    def _verify(self, before: Lineup, positions: Positions) -> None:
        """Asserts what is true of everybody who is dealt in."""
        seats = positions.seats
        assert len(set(seats)) == len(seats) >= self.table.specific_rules.min_players
        assert all(self._may_play(seat) for seat in seats)
        assert list(positions.stacks) == [before.seated[seat].cave_cents for seat in seats]
        # Clockwise from the left of the button to the button.
        at = seats.index(min(seats))
        assert [*seats[at:], *seats[:at]] == sorted(seats)
        assert self.lineup.button == positions.button
        # Players who were in the hand before and still play are in this one.
        assert {seat for seat in before.seated if before.seated[seat].is_established and self._may_play(seat)} <= set(
            seats
        )
        for poster in positions.posters:
            assert not before.seated[seats[poster]].is_established

    def _end(self, positions: Positions, hand: Hand) -> None:
        result = hand.result
        assert result is not None
        if self.chance.random() < 0.1:
            self.lineup, reports = self.lineup.void_hand()
        else:
            caves = dict(zip(positions.seats, result.stacks, strict=True))
            bet = frozenset(seat for seat, cents in zip(positions.seats, hand.contributions, strict=True) if cents)
            clocked = {seat: Decisions(timeouts=1) for seat in positions.seats if self.chance.random() < 0.2}
            self.lineup, reports = self.lineup.end_hand(caves, bet, clocked)
            self.commission += result.commission_cents
        self.brought += sum(report.topped_up_cents for report in reports)
        self.taken += sum(report.cashed_out_cents or 0 for report in reports)


@both("7", "8", "10", "11.a", "11.b", "12", "15", "48", "64")
@pytest.mark.parametrize("entry", list(EntryMode))
@pytest.mark.parametrize("seed", range(4))
def test_a_table_conserves_all_money_over_many_hands(entry: EntryMode, seed: int) -> None:
    chance = random.Random(f"{entry} {seed}")
    made = rules(
        chance.choice(list(Variant)),
        seats=chance.randint(2, 10),
        cave_min_cents=1000,
        cave_max_cents=5000,
        entry_mode=entry,
        rest_per_hour=4,
    )
    room = Room(verify(made), f"{entry} {seed}")

    for _ in range(60):
        for _ in range(chance.randint(0, 4)):
            room.do_something()
        room.play_hand()
        assert room.brought == room.caves() + room.taken + room.commission
        assert all(each.cave_cents >= 0 for each in room.lineup.seated.values())
        assert not room.lineup.is_hand_running


@both("46")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seats=st.sets(st.integers(1, 10), min_size=2), drawn=st.integers(0, 9))
def test_the_button_and_the_blinds_reach_everybody_alike(seats: set[int], drawn: int) -> None:
    """Over a lap in which nobody comes or goes, each seat has the button once, and each blind once."""
    lineup = Lineup(rules(seats=10))
    for seat in seats:
        lineup = lineup.take_seat(seat, 10_000, entry_bounds(lineup.rules, None, 0))
    seen: list[Sequence[int]] = []
    for _ in seats:
        lineup, positions = lineup.start_hand(lambda count: drawn % count)
        assert positions is not None
        seen.append((positions.button, positions.seats[0], positions.seats[1]))
        lineup, _ = lineup.end_hand({}, frozenset(), {})

    for place in zip(*seen, strict=True):
        assert sorted(place) == sorted(seats)


def test_what_is_conserved_would_notice_a_cent() -> None:
    """The check of a hand fails for a result in which one cent has appeared."""
    begun = Table(rules()).deal(Positions((1, 2), (10_000, 10_000)), PACK)
    hand = Table.after(begun, FOLD)
    assert hand.result is not None
    stacks = tuple(map(add, hand.result.stacks, (1, 0)))

    with pytest.raises(AssertionError):
        verify_hand(hand._replace(result=hand.result._replace(stacks=stacks)))
    assert tuple(map(sub, stacks, hand.result.stacks)) == (1, 0)


def test_a_lineup_is_never_changed() -> None:
    lineup = Lineup(rules()).take_seat(1, 10_000, entry_bounds(rules(), None, 0))
    seen = dict(lineup.seated)

    lineup.take_seat(2, 10_000, entry_bounds(rules(), None, 0))
    lineup.sit_out(1)

    assert lineup.seated == seen
    with pytest.raises(dataclasses.FrozenInstanceError):
        lineup.button = 1  # type: ignore[misc]

"""The clock of decisions: it runs from when the cards lie, stands still while money is asked for, and names turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.kit.table.game import Turn
from services.kit.table.turns.turn_clock import FIRST_TURN, Pace, TurnClock

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CARD, DECISION = timedelta(milliseconds=500), timedelta(seconds=10)
SHARED = Pace(CARD, DECISION, None)
OFFERS = Turn((1, 2), at_once=True, defaults=())
FIRST, SECOND = Turn((1,), at_once=False, defaults=()), Turn((2,), at_once=False, defaults=())


def after_deal(turn: Turn | None, cards: int = 6, pace: Pace = SHARED) -> TurnClock:
    return TurnClock(pace, turn, FIRST_TURN, NOW + cards * CARD, NOW)


@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_time_to_decide_begins_when_the_cards_lie() -> None:
    clock = after_deal(FIRST)
    assert clock.shown_at == NOW + 6 * CARD
    assert clock.decide_by == NOW + 6 * CARD + DECISION
    assert not clock.is_up(NOW + 6 * CARD + DECISION - timedelta(microseconds=1))
    assert clock.is_up(NOW + 6 * CARD + DECISION)


@pytest.mark.rule("903-B/2015:6.1.4")
def test_at_a_takeover_the_time_begins_again_but_not_before_the_cards_lie() -> None:
    long_dealt = TurnClock(SHARED, SECOND, 3, NOW - DECISION, NOW)
    assert (long_dealt.shown_at, long_dealt.decide_by) == (NOW - DECISION, NOW + DECISION)
    being_dealt = TurnClock(SHARED, SECOND, 3, NOW + 2 * CARD, NOW)
    assert (being_dealt.shown_at, being_dealt.decide_by) == (NOW + 2 * CARD, NOW + 2 * CARD + DECISION)


def test_cards_of_a_quick_decision_are_dealt_behind_those_that_are_still_being_dealt() -> None:
    clock = after_deal(FIRST)
    clock.go_on(SECOND, 1, 1, NOW + CARD)
    assert clock.shown_at == NOW + 7 * CARD
    assert clock.decide_by == NOW + 7 * CARD + DECISION


def test_a_question_to_several_seats_keeps_its_turn_and_its_time() -> None:
    clock = after_deal(OFFERS)
    number, decide_by = clock.number, clock.decide_by
    clock.go_on(Turn((2,), at_once=True, defaults=()), 1, 0, NOW + 2 * DECISION)
    assert (clock.number, clock.decide_by) == (number, decide_by)
    clock.go_on(FIRST, 2, 0, NOW + 2 * DECISION)
    assert (clock.number, clock.decide_by) == (3, NOW + 3 * DECISION)


def test_each_decision_of_a_hand_is_a_turn_with_a_time_of_its_own() -> None:
    clock = after_deal(FIRST)
    clock.go_on(FIRST, 1, 1, NOW + DECISION)
    assert (clock.number, clock.decide_by) == (2, NOW + DECISION + CARD + DECISION)


def test_the_clock_stands_still_while_money_is_asked_for() -> None:
    clock = after_deal(FIRST, cards=0)
    times = iter([NOW + timedelta(seconds=1), NOW + timedelta(seconds=4)])
    with clock.standing_still(times.__next__):
        assert not clock.is_up(NOW + DECISION)
    assert clock.decide_by == NOW + DECISION + timedelta(seconds=3)
    assert not clock.is_up(NOW + DECISION)


def test_time_that_was_up_before_money_is_asked_for_stays_up() -> None:
    clock = after_deal(FIRST, cards=0)
    with clock.standing_still(lambda: NOW + DECISION):
        assert clock.is_up(NOW + DECISION)


@pytest.mark.rule("903-B/2015:6.3.2")
def test_an_individual_hand_has_one_deadline_that_nothing_moves() -> None:
    deadline = NOW + timedelta(days=90)
    clock = after_deal(FIRST, pace=Pace(CARD, None, deadline))
    times = iter([NOW, NOW + timedelta(days=1)])
    with clock.standing_still(times.__next__):
        pass
    clock.go_on(FIRST, 1, 1, NOW + timedelta(days=89))
    assert clock.decide_by == deadline
    assert clock.is_up(deadline)


def test_a_decided_round_has_no_turn() -> None:
    clock = after_deal(FIRST)
    clock.go_on(None, 1, 3, NOW + DECISION)
    assert (clock.number, clock.decide_by, clock.message()) == (0, None, None)
    assert clock.shown_at == NOW + DECISION + 3 * CARD
    assert not clock.is_up(NOW + timedelta(days=365))


def test_everybody_is_told_who_decides_and_until_when() -> None:
    message = after_deal(OFFERS, cards=0).message()
    assert message is not None
    assert (message.turn, list(message.seats)) == (1, [1, 2])
    assert message.decide_by.ToDatetime(UTC) == NOW + DECISION

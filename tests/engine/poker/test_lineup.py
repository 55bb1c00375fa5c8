"""Tests of the lineup: button, blinds and entry (C-31), small caves (C-29), absence (C-30), rests, and money."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from services.poker.lineup import money
from services.poker.lineup.entry import Positions
from services.poker.lineup.lineup import Decisions, Lineup, SeatReport
from services.poker.lineup.money import Bounds, Departure
from services.poker.lineup.seated import Presence, Seated
from services.poker.specific_rules import Approval, EntryMode, HeadsUpBlinds, SpecificRules
from services.poker.variant import Variant
from tests.engine.poker.tables import both, both_variants, refusal_of, rules

CAVE = 10_000
WAIT, IMMEDIATE, POST = EntryMode.WAIT_FOR_BIG_BLIND, EntryMode.IMMEDIATE, EntryMode.WAIT_OR_VOLUNTARY_POST
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


def seated_at(*seats: int, at: SpecificRules | None = None, **caves: int) -> Lineup:
    """Seats players with 100 euros, or with the cave that `s3=50` says."""
    lineup = Lineup(at or rules(seats=10))
    for seat in seats:
        cave = caves.get(f"s{seat}", CAVE)
        lineup = dataclasses.replace(lineup, seated={**lineup.seated, seat: Seated(seat, cave)})
    return lineup


def after_first_hand(*seats: int, button: int, at: SpecificRules | None = None) -> Lineup:
    """Plays a first hand with the button drawn to a seat; all are established, and caves as before."""
    lineup, positions = start(seated_at(*seats, at=at), button=button)
    assert positions.button == button
    return end(lineup)[0]


def start(lineup: Lineup, *, button: int | None = None) -> tuple[Lineup, Positions]:
    """Begins a hand; a button that has to be drawn goes to the given seat."""

    def draw(seats: int) -> int:
        assert button is not None, "the button is drawn"
        ready = sorted(seat for seat in lineup.seated if lineup.seated[seat].presence is Presence.PLAYING)
        assert seats == len(ready)
        return ready.index(button)

    started, positions = lineup.start_hand(draw)
    assert positions is not None, "the table is suspended"
    return started, positions


def end(
    lineup: Lineup,
    caves: Mapping[int, int] | None = None,
    *,
    bet: tuple[int, ...] = (),
    decisions: Mapping[int, Decisions] | None = None,
) -> tuple[Lineup, dict[int, SeatReport]]:
    after, reports = lineup.end_hand(caves or {}, frozenset(bet), decisions or {})
    return after, {report.seat: report for report in reports}


def button_and_blinds(positions: Positions) -> tuple[int, int, int]:
    """Returns the seats of button, small and big blind as the engine has them for three and more players."""
    return positions.button, positions.seats[0], positions.seats[1]


def join(lineup: Lineup, seat: int) -> Lineup:
    return lineup.take_seat(seat, CAVE, money.entry_bounds(lineup.rules, None, 0))


# -- button, blinds and entry -----------------------------------------------------------------------------------------


@both("4.c", "6.a", "46", "48", "64")
@both_variants
def test_c_31_a_button_with_a_leaver_and_a_newcomer(variant: Variant) -> None:
    table = rules(variant, seats=10)
    lineup, positions = start(seated_at(1, 3, 5, 6, 8, at=table), button=3)
    assert button_and_blinds(positions) == (3, 5, 6)
    lineup = join(end(lineup)[0].leave(5), 4)

    played = []
    for _ in range(4):
        lineup, positions = start(lineup)
        played.append((*button_and_blinds(positions), 4 in positions.seats))
        lineup, _ = end(lineup)

    assert played == [(6, 8, 1, False), (8, 1, 3, False), (1, 3, 4, True), (3, 4, 6, True)]


@both("4.c", "64")
def test_c_31_where_newcomers_are_dealt_in_at_once() -> None:
    lineup = after_first_hand(1, 3, 5, 6, 8, button=3, at=rules(seats=10, entry_mode=IMMEDIATE))

    _, positions = start(join(lineup.leave(5), 4))

    assert button_and_blinds(positions) == (4, 6, 8)
    assert positions.seats == (6, 8, 1, 3, 4)
    assert positions.posters == ()


@both("46")
def test_the_button_is_drawn_when_the_table_starts_and_whenever_it_resumes() -> None:
    lineup = seated_at(2, 5, 9)
    drawn = {start(lineup, button=seat)[1].button for seat in (2, 5, 9)}
    assert drawn == {2, 5, 9}

    # The others leave: the table is suspended, and starts again with the players who come.
    lineup = after_first_hand(2, 5, 9, button=2).leave(5).leave(9)
    suspended, positions = lineup.start_hand(lambda _: pytest.fail("nothing is drawn for one player"))
    assert positions is None
    assert suspended.button is None
    _, positions = start(join(suspended, 7), button=7)
    assert positions.seats == (2, 7)


@both("46", "72")
def test_after_a_void_hand_caves_are_as_before_and_the_button_is_drawn() -> None:
    lineup, _ = start(after_first_hand(1, 2, 3, button=1))
    lineup = lineup.leave(3).top_up(2, 1)

    lineup, reports = lineup.void_hand()

    assert lineup.button is None
    assert lineup.seated[1].cave_cents == CAVE
    assert [(report.seat, report.excused, report.cashed_out_cents) for report in reports] == [
        (1, True, None),
        (2, True, None),
        (3, True, CAVE),
    ]
    # The cave was full.
    assert (reports[1].topped_up_cents, reports[1].released_cents) == (0, 1)
    assert start(lineup, button=2)[1].seats == (1, 2)


@both("7")
@pytest.mark.parametrize("gone", ["left", "away", "resting", "broke"])
def test_fewer_than_two_players_in_play_suspend_the_table(gone: str) -> None:
    lineup = after_first_hand(1, 2, button=1)
    match gone:
        case "left":
            lineup = lineup.leave(2)
        case "away":
            lineup = lineup.sit_out(2)
        case "resting":
            lineup = lineup.rest(2, 0)
        case _:
            lineup = end(start(lineup)[0], {1: 2 * CAVE, 2: 0})[0]

    _, positions = lineup.start_hand(lambda _: 0)

    assert positions is None


@both("7")
def test_a_table_may_need_more_than_two_players() -> None:
    lineup = seated_at(1, 2, at=rules(min_players=3))

    assert lineup.start_hand(lambda _: 0)[1] is None
    assert start(join(lineup, 4), button=4)[1].seats == (1, 2, 4)


@both("48", "64")
def test_two_players_alternate_the_button_and_the_other_is_first() -> None:
    lineup = after_first_hand(3, 7, button=3)

    seats = []
    for _ in range(3):
        lineup, positions = start(lineup)
        seats.append(positions.seats)
        lineup, _ = end(lineup)

    assert seats == [(3, 7), (7, 3), (3, 7)]


@both("64")
@pytest.mark.parametrize(
    ("leaver", "seats"),
    # A has the button, B the small and C the big blind.
    [("A", ("C", "B")), ("C", ("A", "B")), ("B", ("A", "C"))],
)
def test_when_one_of_three_leaves_the_button_goes_to_the_next_occupied_seat(
    leaver: str, seats: tuple[str, str]
) -> None:
    names = {"A": 1, "B": 2, "C": 3}
    lineup = after_first_hand(1, 2, 3, button=1).leave(names[leaver])

    _, positions = start(lineup)

    assert positions.seats == tuple(names[name] for name in seats)


@pytest.mark.parametrize(
    ("newcomer", "first", "second"),
    # Established are 2, with the button next, and 6.
    [(4, (6, 2), (2, 4, 6)), (8, (6, 8, 2), (8, 2, 6))],
)
def test_a_newcomer_at_a_table_of_two_enters_as_the_big_blind(
    newcomer: int, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    lineup = join(after_first_hand(2, 6, button=6), newcomer)

    lineup, positions = start(lineup)
    assert positions.seats == first
    lineup, _ = end(lineup)
    assert start(lineup)[1].seats == second


def test_where_the_button_has_the_small_blind_two_players_are_lined_up_alike() -> None:
    approved = rules(
        heads_up_blinds=HeadsUpBlinds.BUTTON_SMALL_BLIND, approvals=frozenset({Approval.BUTTON_SMALL_BLIND})
    )
    lineup = after_first_hand(3, 5, button=3, at=approved)

    assert start(lineup)[1].seats == (3, 5)


@both("21")
def test_a_newcomer_may_post_to_enter_at_once_where_the_table_offers_it() -> None:
    table = rules(seats=10, entry_mode=POST)
    lineup = join(after_first_hand(1, 3, 6, 8, button=3, at=table), 4)
    # The button goes to 6, blinds are 8 and 1: seat 4 is behind them.
    waiting, positions = start(lineup)
    assert positions.seats == (8, 1, 3, 6)
    assert not waiting.seated[4].is_established

    started, positions = start(lineup.post(4))

    assert positions.seats == (8, 1, 3, 4, 6)
    assert positions.posters == (3,)
    assert started.seated[4].is_established
    assert not started.seated[4].posts


def test_a_post_waits_while_the_newcomer_sits_between_the_button_and_the_big_blind() -> None:
    lineup = join(after_first_hand(1, 3, 6, 8, button=1, at=rules(seats=10, entry_mode=POST)), 4).post(4)

    # Button 3, then 4 waits, blinds 6 and 8.
    lineup, positions = start(lineup)
    assert positions.seats == (6, 8, 1, 3)
    lineup, _ = end(lineup)
    # Button 6, blinds 8 and 1.
    assert start(lineup)[1].posters == (3,)


@both("21")
def test_a_post_is_refused_where_it_makes_no_sense() -> None:
    lineup = join(after_first_hand(1, 2, button=1), 3)
    assert refusal_of(lambda: lineup.post(3)).reason == "POST_REFUSED"

    offered = after_first_hand(1, 2, button=1, at=rules(entry_mode=POST))
    assert refusal_of(lambda: offered.post(1)).facts["rule"] == "806/2015:21"


def test_a_player_who_is_back_is_a_newcomer_if_a_hand_was_missed() -> None:
    lineup = after_first_hand(1, 2, 3, 4, button=1)
    # Away and back within the same break between hands: nothing was missed.
    assert start(lineup.sit_out(4).come_back(4))[1].seats == (3, 4, 1, 2)

    lineup, positions = start(lineup.sit_out(4))
    assert positions.seats == (3, 1, 2)
    lineup = end(lineup)[0].come_back(4)
    # Button 3, blinds 1 and 2: seat 4 is between and waits.
    lineup, positions = start(lineup)
    assert positions.seats == (1, 2, 3)
    lineup, _ = end(lineup)
    # Button 1, blinds 2 and 3; then button 2, blinds 3 and 4.
    lineup, positions = start(lineup)
    assert positions.seats == (2, 3, 1)
    assert start(end(lineup)[0])[1].seats == (3, 4, 1, 2)


def test_with_fewer_than_two_established_players_everybody_is_dealt_in() -> None:
    lineup = after_first_hand(1, 2, button=1).leave(2)

    _, positions = start(join(join(lineup, 5), 8))

    # The button moves on to the next occupied seat.
    assert positions.seats == (8, 1, 5)


# -- money ------------------------------------------------------------------------------------------------------------


@both("8", "9", "5")
def test_a_seat_is_one_of_the_table_and_free_and_has_its_cave() -> None:
    lineup = Lineup(rules())
    bounds = money.entry_bounds(lineup.rules, None, 0)
    assert bounds == Bounds(CAVE, CAVE)

    assert refusal_of(lambda: lineup.take_seat(7, CAVE, bounds)).facts["rule"] == "806/2015:5"
    assert refusal_of(lambda: lineup.take_seat(0, CAVE, bounds)).reason == "PLACE_UNKNOWN"
    for cave in (CAVE - 1, CAVE + 1):
        refused = refusal_of(lambda cave=cave: lineup.take_seat(1, cave, bounds))  # type: ignore[misc]
        assert (refused.reason, refused.facts["rule"]) == ("CAVE_OUT_OF_BOUNDS", "806/2015:8")
    taken = lineup.take_seat(1, CAVE, bounds)
    assert refusal_of(lambda: taken.take_seat(1, CAVE, bounds)).facts["rule"] == "806/2015:9"


@pytest.mark.parametrize(
    ("left_with", "minutes", "bounds"),
    [
        # More than the table's range, and within it.
        (50_000, 59, Bounds(50_000, 50_000)),
        (6000, 0, Bounds(6000, 10_000)),
        # Less than the cave inicial.
        (100, 10, Bounds(4000, 10_000)),
        # The window is over.
        (50_000, 60, Bounds(4000, 10_000)),
    ],
)
def test_who_comes_back_within_the_window_brings_what_they_left_with(
    left_with: int, minutes: int, bounds: Bounds
) -> None:
    table = rules(cave_min_cents=4000, cave_max_cents=10_000)
    departure = Departure(left_with, left_at_ms=1000)

    assert money.entry_bounds(table, departure, 1000 + minutes * MINUTE_MS) == bounds


def test_a_table_without_a_window_asks_for_no_more_than_the_cave() -> None:
    assert money.entry_bounds(rules(rathole_window_min=0), Departure(50_000, 0), 0) == Bounds(CAVE, CAVE)


def test_a_refused_return_says_why() -> None:
    lineup = Lineup(rules())
    bounds = money.entry_bounds(lineup.rules, Departure(50_000, 0), 1)

    refused = refusal_of(lambda: lineup.take_seat(1, CAVE, bounds))

    assert "at least what you left this table with" in refused.sentence
    assert refused.facts["minimum_cents"] == "50000"


@both("10")
def test_a_player_leaves_at_once_or_when_the_hand_is_over() -> None:
    lineup, positions = start(join(after_first_hand(1, 3, 5, button=1), 4))
    # A newcomer who has to wait is not in the hand.
    assert 4 not in positions.seats
    assert 4 not in lineup.leave(4).seated
    lineup = lineup.leave(3)
    assert 3 in lineup.seated

    lineup, reports = end(lineup, {1: CAVE + 300, 3: CAVE - 300}, bet=(3,))

    assert reports[3].cashed_out_cents == CAVE - 300
    assert sorted(lineup.seated) == [1, 4, 5]


@both("11.b", "12", "2.q")
def test_a_top_up_waits_for_the_hand_to_end() -> None:
    lineup, _ = start(after_first_hand(1, 2, button=1))
    lineup = lineup.top_up(2, 500)
    assert lineup.seated[2].cave_cents == CAVE

    lineup, reports = end(lineup, {1: CAVE + 500, 2: CAVE - 500})

    assert lineup.seated[2].cave_cents == CAVE
    assert (reports[2].topped_up_cents, reports[2].released_cents) == (500, 0)


@both("11.b")
@pytest.mark.parametrize(
    ("cave", "waiting", "added", "released"),
    [
        # No more than the cave has room for.
        (9800, 500, 200, 300),
        (CAVE + 1, 500, 0, 500),
        # It would leave the cave below what a top-up has to bring it to.
        (5000, 500, 0, 500),
        (0, 10_000, 10_000, 0),
    ],
)
def test_what_waits_is_judged_by_the_cave_that_the_hand_has_left(
    cave: int, waiting: int, added: int, released: int
) -> None:
    lineup, _ = start(after_first_hand(1, 2, button=1))

    lineup, reports = end(lineup.top_up(2, waiting), {2: cave})

    assert (reports[2].topped_up_cents, reports[2].released_cents) == (added, released)
    assert lineup.seated[2].cave_cents == cave + added


def test_who_leaves_gets_back_a_top_up_that_waits() -> None:
    lineup, _ = start(after_first_hand(1, 2, button=1))

    _, reports = end(lineup.top_up(2, 500).leave(2), {2: 9000})

    assert (reports[2].released_cents, reports[2].cashed_out_cents) == (500, 9000)


@both("14", "15")
def test_a_top_up_between_hands_is_within_the_bounds() -> None:
    lineup = seated_at(1, s1=9000)
    assert lineup.top_up(1, 1000).seated[1].cave_cents == CAVE

    for amount in (999, 1001):
        refused = refusal_of(lambda amount=amount: lineup.top_up(1, amount))  # type: ignore[misc]
        assert (refused.facts["minimum_cents"], refused.facts["maximum_cents"]) == ("1000", "1000")
    assert refusal_of(lambda: seated_at(1).top_up(1, 1)).facts["rule"] == "806/2015:14"


def test_no_more_waits_than_a_cave_can_ever_hold() -> None:
    lineup, _ = start(after_first_hand(1, 2, button=1))
    lineup = lineup.top_up(2, CAVE)

    assert refusal_of(lambda: lineup.top_up(2, 1)).reason == "CAVE_OUT_OF_BOUNDS"
    assert refusal_of(lambda: lineup.top_up(1, 0)).reason == "CAVE_OUT_OF_BOUNDS"


@both("15")
@both_variants
def test_c_29_a_cave_below_the_minimum_is_not_dealt_in(variant: Variant) -> None:
    table = rules(variant)
    lineup, _ = start(after_first_hand(1, 2, 3, button=1, at=table))
    lineup, reports = end(lineup, {1: CAVE, 2: 99, 3: 100}, bet=(1, 2, 3))
    assert {seat for seat, report in reports.items() if report.cave_below_minimum} == {2}

    # With exactly the minimum a player is dealt in.
    assert start(lineup)[1].seats == (1, 3)
    # (a) tops up in time; (b) is removed, with 99 cents.
    assert 2 in start(lineup.top_up(2, 9901))[1].seats
    assert 2 not in lineup.leave(2).seated


# -- absence ----------------------------------------------------------------------------------------------------------


@both("70.b")
@both_variants
def test_c_30_an_absent_player_sits_out_and_is_reported_absent(variant: Variant) -> None:
    table = rules(variant, seats=10)
    # Button 2 and then 3: seat 6 has no blind in the two hands before it sits out.
    lineup = after_first_hand(1, 2, 3, 4, 5, 6, button=1, at=table)

    for hand in range(1, 8):
        lineup, positions = start(lineup)
        assert (6 in positions.seats) == (hand <= 2)
        decisions = {6: Decisions(timeouts=1)} if hand <= 2 else {}
        lineup, reports = end(lineup, bet=positions.seats[:2], decisions=decisions)
        assert (reports[6].bet, reports[6].excused, reports[6].sits_out) == (False, False, hand == 2)

    # Back during a hand: it does not count any more.
    lineup, _ = start(lineup)
    lineup, reports = end(lineup.come_back(6))
    assert reports[6].excused
    assert lineup.seated[6].timeout_hands == 0


@both("70.b")
def test_c_30_who_folds_in_person_or_waits_is_not_absent() -> None:
    lineup = join(after_first_hand(1, 2, 3, 4, button=1), 6)

    for _ in range(8):
        lineup, positions = start(lineup)
        decisions = {4: Decisions(in_person=1, timeouts=1)}
        lineup, reports = end(lineup, decisions=decisions if 4 in positions.seats else {})
        assert reports[4].excused
        assert reports[6].excused
        assert lineup.seated[4].presence is Presence.PLAYING


@both("70.b")
def test_where_absence_is_not_required_only_a_rest_excuses() -> None:
    lineup = after_first_hand(1, 2, 3, 4, button=1, at=rules(inactive_requires_absence=False)).rest(4, 0)
    lineup, _ = start(lineup)

    _, reports = end(lineup, decisions={3: Decisions(in_person=1)})

    assert not reports[3].excused
    assert reports[4].excused


def test_a_decision_in_person_begins_the_count_of_timeouts_again() -> None:
    lineup = after_first_hand(1, 2, 3, button=1)

    for decided in (Decisions(timeouts=2), Decisions(in_person=1, timeouts=1), Decisions(timeouts=1), Decisions()):
        lineup, _ = start(lineup)
        lineup, reports = end(lineup, decisions={3: decided})
        assert not reports[3].sits_out
    lineup, _ = start(lineup)
    assert end(lineup, decisions={3: Decisions(timeouts=1)})[1][3].sits_out


# -- rests ------------------------------------------------------------------------------------------------------------


@both("68")
def test_a_rest_keeps_the_seat_and_ends_by_itself() -> None:
    lineup = after_first_hand(1, 2, 3, button=1).rest(3, 0)
    assert 3 not in start(lineup)[1].seats
    assert lineup.end_rests(599_999).seated[3].presence is Presence.RESTING
    ended = lineup.end_rests(600_000)
    assert ended.seated[3].presence is Presence.AWAY
    assert ended.seated[1].presence is Presence.PLAYING

    assert lineup.come_back(3).seated[3].presence is Presence.PLAYING


@both("68")
def test_there_are_as_many_rests_in_an_hour_as_the_table_offers() -> None:
    lineup = seated_at(1, 2, at=rules(rest_per_hour=2)).rest(1, 0).come_back(1).rest(1, MINUTE_MS).come_back(1)

    refused = refusal_of(lambda: lineup.rest(1, HOUR_MS - 1))

    assert (refused.reason, refused.facts["rule"]) == ("REST_REFUSED", "806/2015:68")
    assert lineup.rest(1, HOUR_MS).seated[1].presence is Presence.RESTING


@both("68")
@pytest.mark.parametrize("without", [{"rest_period_s": 0}, {"rest_per_hour": 0}])
def test_a_table_need_not_offer_rests(without: dict[str, object]) -> None:
    lineup = seated_at(1, 2, at=rules(**without))  # type: ignore[arg-type]

    assert "none at this table" in refusal_of(lambda: lineup.rest(1, 0)).sentence

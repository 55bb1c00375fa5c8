"""Vectors T-13, T-14, T-17, T-18 and T-21: seats, balancing, hands, absent players, and the last lap."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, FOLD, Hand
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import HeadsUpBlinds
from services.poker.tournament.levels import Level
from services.poker.tournament.running import director
from services.poker.tournament.running.facts import CameBack, HandEnded, HandVoided, Paid, Rebought, WentAway
from services.poker.tournament.running.orders import (
    BreakBegins,
    BreakEnds,
    DrawsMade,
    Eliminate,
    LastLapBegins,
    LevelBegins,
    MarkAway,
    MovePlayer,
    StartHand,
)
from services.poker.tournament.running.state import Phase
from services.poker.tournament.specific_rules import Approval, InitialButton, rules_of_hands
from services.poker.tournament.tables.balancing import balance
from services.poker.tournament.tables.draws import Draws, seats_at_start
from services.poker.tournament.tables.lineup import TournamentTable, move_of_absent
from tests.engine.poker.tables import bounds, deck_of, paid, play, pots, read, to_call
from tests.engine.poker.tournament.builders import HOUR_MS, PRICE, Course, entropy, payouts, rules, running

LEVELS = (Level(50, 100, 600, 300), Level(100, 200, 600), Level(150, 300, 600))


def tables_of(*sizes: int, seats: int = 9) -> dict[int, TournamentTable]:
    """Returns tables with so many players at seats 1, 2, …, between hands, the button at seat 1."""
    made: dict[int, TournamentTable] = {}
    entry = 0
    for number, size in enumerate(sizes, start=1):
        table = TournamentTable(number, seats, button=1)
        for seat in range(1, size + 1):
            entry += 1
            table = table.sit(seat, entry, 1000)
        made[number] = table
    return made


def sizes_of(tables: Mapping[int, TournamentTable]) -> list[int]:
    return [table.size for table in tables.values()]


# -- seats ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:39", "810/2015:47")
@pytest.mark.parametrize(("players", "expected"), [(2, [2]), (9, [9]), (10, [5, 5]), (19, [7, 6, 6]), (27, [9, 9, 9])])
def test_players_are_distributed_at_random_over_tables_that_are_as_equal_as_can_be(
    players: int, expected: list[int]
) -> None:
    draws = Draws(entropy("seats"))
    seated = seats_at_start(list(range(1, players + 1)), 9, draws)

    assert sorted((len(seats) for seats in seated.values()), reverse=True) == expected
    assert sorted(entry for seats in seated.values() for entry in seats.values()) == list(range(1, players + 1))
    assert all(1 <= seat <= 9 for seats in seated.values() for seat in seats)
    assert draws.made, "every draw is on record"


@pytest.mark.rule("810/2015:39")
def test_every_player_comes_to_every_seat() -> None:
    seats: Counter[tuple[int, int, int]] = Counter()
    for seed in range(900):
        for table, seated in seats_at_start([1, 2, 3, 4], 2, Draws(entropy(seed))).items():
            seats.update((entry, table, seat) for seat, entry in seated.items())

    assert len(seats) == 4 * 2 * 2
    # Each is expected 225 times; the bounds are five standard deviations away.
    assert all(160 < count < 290 for count in seats.values())


@pytest.mark.rule("810/2015:40")
def test_the_first_button_is_drawn_or_at_the_first_seat() -> None:
    table = tables_of(6)[1]
    fresh = dataclasses.replace(table, button=None)
    drawn = {
        positions.button
        for seed in range(100)
        if (positions := fresh.next_positions(rules(), Draws(entropy(seed)))) is not None
    }
    first = fresh.next_positions(rules(initial_button=InitialButton.SEAT_1), Draws(b""))

    assert drawn == {1, 2, 3, 4, 5, 6}
    assert first is not None
    assert first.button == 1


# -- balancing --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:47", "810/2015:48")
def test_t_13_one_player_of_each_full_table_moves_to_the_short_one() -> None:
    draws = Draws(entropy("balance"))
    balanced = balance(rules(), tables_of(9, 9, 6), draws)

    assert sizes_of(balanced.tables) == [8, 8, 8]
    assert {(moved.from_table, moved.to_table) for moved in balanced.moves} == {(1, 3), (2, 3)}
    # The button was at seat 1: seat 2 has it next, and seat 4 the big blind.
    assert {moved.from_seat for moved in balanced.moves} == {4}
    assert {moved.to_seat for moved in balanced.moves} <= {7, 8, 9}
    assert {drawn.what for drawn in draws.made} >= {"fullest table", "seat of table 3"}


@pytest.mark.rule("810/2015:47")
def test_t_13_no_move_where_tables_are_as_equal_as_can_be() -> None:
    assert balance(rules(), tables_of(7, 6, 6), Draws(b"")).moves == ()


@pytest.mark.rule("810/2015:47", "810/2015:48")
def test_t_13_a_table_is_broken_as_soon_as_the_others_hold_everybody() -> None:
    balanced = balance(rules(), tables_of(6, 6, 6), Draws(entropy("break")))

    assert sizes_of(balanced.tables) == [9, 9]
    assert balanced.closed == (3,)
    assert {moved.from_table for moved in balanced.moves} == {3}


@pytest.mark.rule("810/2015:47")
def test_tables_in_a_hand_are_balanced_when_it_has_ended() -> None:
    made = rules(payouts=payouts(10_000))
    nine = dict.fromkeys(range(1, 10), 1500)
    course = Course(running(made, nine, nine, dict.fromkeys(range(1, 9), 1500)))
    course.tell()
    course.end_hand(3, {1: 0, 2: 3000})
    assert not course.all(MovePlayer), "who has to move is in a hand"

    course.end_hand(1, {})

    (order,) = course.all(MovePlayer)
    assert (order.moved.from_table, order.moved.to_table) == (1, 3)
    assert course.all(DrawsMade)
    # The table goes on with its hand, and deals the player in afterwards.
    assert order.moved.to_seat not in course.hand(3).positions.seats
    course.end_hand(3, {})
    assert order.moved.to_seat in course.hand(3).positions.seats


@pytest.mark.rule("810/2015:49")
def test_during_hand_for_hand_players_move_between_steps_only() -> None:
    made = rules(payouts=payouts(6000, 4000), seats=3, hand_for_hand_from=7)
    course = Course(running(made, {1: 1000, 2: 1000, 3: 1000}, {1: 1000, 2: 1000, 3: 1000}, gone=4))
    course.tell()
    assert course.started == {1, 2}
    course.end_hand(1, {1: 0, 2: 2000})
    course.end_hand(2, {1: 0, 2: 1000, 3: 2000})

    # Four are left in two tables of three seats: as equal as can be.
    assert sizes_of(course.state.tables) == [2, 2]
    assert course.started == {1, 2}
    course.end_hand(2, {2: 0, 3: 3000})
    assert course.started == set()
    assert not course.all(MovePlayer), "all fit in one table, which is in the hand of this step"
    course.end_hand(1, {})
    assert course.all(MovePlayer), "table 2 is broken when the step is over"
    assert course.started == {1}


# -- hands ------------------------------------------------------------------------------------------------------------


def hand_of(stacks: Sequence[int], holes: str, board: str, level: Level) -> Hand:
    """Deals a hand of a level; seats are numbered 1, 2, … from the left of the button."""
    table = Table(rules_of_hands(rules(), level))
    return table.deal(Positions(tuple(range(1, len(stacks) + 1)), tuple(stacks)), deck_of(holes, board))


@pytest.mark.rule("810/2015:55", "806/2015:52", "806/2015:39", "806/2015:42")
def test_t_14_a_short_big_blind_leaves_the_amount_to_call_as_it_is() -> None:
    hand = hand_of((3000, 60, 3000, 3000), "2c3c AsAd KsKd QsQd", "7h 8h 9h Jc 5d", Level(100, 200))
    assert (to_call(hand), bounds(hand)) == (200, (400, 3000))

    hand = play(hand, "c f c | x x | x x | x x")

    assert [pot for pot, _ in pots(hand)] == [180, 280]
    assert paid(hand) == ((2800, 180, 3080, 3000), 0)


@pytest.mark.rule("810/2015:55", "806/2015:39", "806/2015:63.b")
def test_t_14_a_short_small_blind_contests_its_layer() -> None:
    hand = hand_of((40, 500, 3000, 3000), "AsAd KsKd QsQd JsJd", "7h 8h 9c 2c 3d", Level(100, 200))

    hand = play(hand, "f c x | x x | x x | x x")

    assert pots(hand) == [(120, (0, 1, 3)), (320, (1, 3))]
    assert paid(hand) == ((120, 620, 3000, 2800), 0)


@pytest.mark.rule("810/2015:31", "810/2015:44", "810/2015:55")
def test_what_is_played_at_a_table_is_what_the_tournament_takes_over() -> None:
    course = Course(running(rules(payouts=payouts(10_000)), {1: 500, 2: 2000}, buttons=(1,)))
    course.tell()
    started = course.hand(1)
    # The button goes to seat 2, and by the letter the other one posts the small blind.
    assert started.positions.seats == (1, 2)
    engine = Table(rules_of_hands(course.state.rules, course.state.rules.levels[0]))
    hand = play(engine.deal(started.positions, deck_of("QsQd AsAd", "7h 8h 9c 2c 3d")), "r500 c")

    course.tell(HandEnded.of(1, started.number, hand))

    assert course.state.phase is Phase.FINISHED
    assert course.labels() == {1: "2.º", 2: "1.º"}


@pytest.mark.rule("810/2015:55")
def test_the_mover_with_two_players_follows_the_approved_blinds() -> None:
    table = tables_of(2)[1]
    switched = rules(
        heads_up_blinds=HeadsUpBlinds.BUTTON_SMALL_BLIND, approvals=frozenset({Approval.BUTTON_SMALL_BLIND})
    )

    assert table.next_big_blind(rules(), Draws(b"")) == 2, "the button has the big blind, by the letter"
    assert table.next_big_blind(switched, Draws(b"")) == 1


@pytest.mark.rule("810/2015:55", "806/2015:72")
def test_a_void_hand_is_played_again_with_the_same_button_and_level() -> None:
    course = Course(running(rules(levels=LEVELS, payouts=payouts(10_000)), {1: 500, 2: 2000, 3: 900}))
    course.tell()
    void = course.hand(1)

    course.tell(HandVoided(1, void.number), at_ms=course.state.started_at_ms + 900_000)

    again = course.hand(1)
    assert (again.positions, again.level) == (void.positions, 1)
    assert again.number != void.number
    assert course.state.level == 2
    with pytest.raises(ValueError, match="plays no hand"):
        course.tell(HandEnded(1, void.number, {1: 500, 2: 2000, 3: 900}, {}))
    with pytest.raises(ValueError, match="plays no hand"):
        course.tell(HandVoided(1, void.number))


@pytest.mark.rule("810/2015:31")
def test_a_hand_neither_makes_nor_takes_chips() -> None:
    course = Course(running(rules(payouts=payouts(10_000)), {1: 500, 2: 2000}))
    course.tell()

    with pytest.raises(ValueError, match="moves chips"):
        course.end_hand(1, {1: 501})
    with pytest.raises(ValueError, match="of all who were dealt in"):
        course.tell(HandEnded(1, course.hand(1).number, {2: 2500}, {}))


@pytest.mark.rule("810/2015:31", "810/2015:33")
def test_chips_are_lost_to_somebody() -> None:
    course = Course(running(rules(payouts=payouts(10_000)), {1: 500, 2: 2000}))
    course.tell()

    with pytest.raises(ValueError, match="taken the last chips of seat 1"):
        course.end_hand(1, {1: 0, 2: 2500}, s1=())


def test_with_fewer_than_two_players_with_chips_no_hand_is_dealt() -> None:
    alone = TournamentTable(1, 9).sit(4, 1, 1500)

    assert alone.next_positions(rules(), Draws(b"")) is None
    # A seat that waits for a rebuy is kept, and not dealt in.
    assert alone.sit(5, 2, 0).next_positions(rules(), Draws(b"")) is None
    assert alone.sit(5, 2, 1).next_positions(rules(), Draws(entropy("button"))) is not None


def test_an_entry_that_is_out_has_no_seat() -> None:
    state = running(rules(payouts=payouts(10_000)), {1: 500, 2: 2000}, gone=1)

    assert state.seat_of(2) == (state.tables[1], 2)
    with pytest.raises(KeyError, match="Entry 3 has no seat"):
        state.seat_of(3)


# -- levels and breaks ------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:45", "810/2015:46")
def test_levels_and_breaks_follow_the_clock() -> None:
    course = Course(running(rules(levels=LEVELS, payouts=payouts(10_000)), {1: 500, 2: 2000}))
    start = course.state.started_at_ms
    course.tell()
    assert course.hand(1).level == 1

    course.tell(at_ms=start + 600_000)
    assert course.all(BreakBegins) == [BreakBegins(start + 900_000)]
    course.end_hand(1, {})
    assert course.state.held == {1: "break"}
    course.tell(at_ms=start + 899_999)
    assert course.started == set()
    course.tell(at_ms=start + 900_000)

    assert course.all(BreakEnds)
    assert course.all(LevelBegins)[-1] == LevelBegins(2)
    assert (course.started, course.hand(1).level) == ({1}, 2)


# -- absent players ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:26")
def test_a_player_absent_at_the_start_is_seated_and_marked() -> None:
    course = Course(director.create("t", rules(), HOUR_MS))
    for player in ("p1", "p2"):
        course.tell(Paid(player))
    course.tell(WentAway("p2"))
    course.tell(at_ms=HOUR_MS)

    (order,) = course.all(MarkAway)
    assert (order.entry, order.is_away) == (2, True)
    assert len(course.hand(1).positions.seats) == 2, "away or not, everybody is dealt in"
    course.tell(CameBack("p2"))
    assert course.all(MarkAway)[-1].is_away is False


@pytest.mark.rule("810/2015:26", "810/2015:27", "810/2015:31")
def test_t_18_an_absent_player_is_blinded_out() -> None:
    course = Course(
        running(
            rules(payouts=payouts(10_000)), {seat: 420 if seat == 1 else 10_000 for seat in range(1, 7)}, buttons=(4,)
        )
    )
    course.tell(WentAway("p1"))
    course.tell()
    engine = Table(rules_of_hands(course.state.rules, course.state.rules.levels[0]))
    chips = []
    for _ in range(14):
        if course.state.entries[1].state != "playing":
            break
        started = course.hand(1)
        # The absent player has the worst cards.
        good = iter(["AsAd", "KsKd", "QsQd", "JsJd", "TsTd"])
        holes = ["2c3d" if seat == 1 else next(good) for seat in started.positions.seats]
        hand = engine.deal(started.positions, deck_of(" ".join(holes), "4h 8h 9c Jc 6d"))
        hand = raised_into(hand)
        course.tell(HandEnded.of(1, started.number, hand))
        chips.append(course.state.chips().get(1, 0))

    # In the big blind, then the small blind, and so once more each lap; the last 20 are all in.
    falls = [now for before, now in zip([420, *chips], chips, strict=False) if now != before]
    assert falls == [320, 270, 170, 120, 20, 0]
    assert [order.entry for order in course.all(Eliminate)] == [1]


def raised_into(hand: Hand) -> Hand:
    """Plays a hand in which the first player there raises and the next one calls; the absent one checks or folds."""
    raised = called = False
    while not hand.is_over:
        move = move_of_absent(hand, {1})
        if move is not None:
            assert move in {CHECK, FOLD}
        elif not raised:
            raised, move = True, read(hand, "r300")
        elif not called and to_call(hand):
            called, move = True, CALL
        else:
            move = FOLD if to_call(hand) else CHECK
        hand = Table.after(hand, move)
    return hand


@pytest.mark.rule("810/2015:26")
def test_t_18_the_last_chips_as_a_blind_are_in_without_a_decision() -> None:
    hand = hand_of((20, 1000, 1000), "2c3d AsAd KsKd", "4h 8h 9c Jc 6d", Level(50, 100))

    hand = play(hand, "c x | x x | x x | x x")

    assert hand.result is not None
    assert set(hand.result.shown) == {0, 1, 2}
    assert hand.stacks[0] == 0
    assert pots(hand)[0] == (60, (0, 1, 2))


@pytest.mark.rule("810/2015:42", "810/2015:43")
def test_t_21_a_timeout_folds_and_sits_out_and_a_click_brings_back() -> None:
    course = Course(running(rules(payouts=payouts(10_000)), {1: 1000, 2: 1000, 3: 1000}, buttons=(1,)))
    course.tell()
    engine = Table(rules_of_hands(course.state.rules, course.state.rules.levels[0]))
    cards = deck_of("KsKd QsQd AsAd", "4h 8h 9c Jc 6d")
    started = course.hand(1)
    # Seat 2 has the button: seats 3 and 1 post the blinds, and seat 2 is P.
    assert started.positions.seats == (3, 1, 2)
    hand = play(engine.deal(started.positions, cards), "f r300")
    assert hand.deal.seats[hand.actor] == 1
    # P is seat 1: time and bank run out on a raise.
    assert Table.default(hand) == FOLD
    hand = Table.after(hand, Table.default(hand))
    course.tell(WentAway("p1"))
    course.tell(HandEnded.of(1, started.number, hand))
    assert course.state.away == {"p1"}

    # The button goes on to seat 3: P posts the small blind, and one hand later checks the big blind down.
    course.end_hand(1, {})
    started = course.hand(1)
    assert started.positions.seats == (2, 3, 1)
    hand = engine.deal(started.positions, cards)
    assert hand.deal.seats[hand.actor] == 1
    assert move_of_absent(hand, {1}) == FOLD
    assert move_of_absent(hand, set()) is None

    course.tell(CameBack("p1"))
    assert course.state.away == frozenset()


@pytest.mark.rule("810/2015:43", "810/2015:27")
def test_t_21_in_the_big_blind_the_absent_player_checks_down_and_may_win() -> None:
    hand = hand_of((1000, 1000, 1000), "KsKd AsAd QsQd", "4h 8h 9c Jc 6d", Level(50, 100))
    hand = play(hand, "c c")
    while not hand.is_over:
        move = move_of_absent(hand, {2})
        hand = Table.after(hand, CHECK if move is None else move)

    assert hand.stacks == (900, 1200, 900)


# -- the last lap -----------------------------------------------------------------------------------------------------


def out_of_time(*tables: Mapping[int, int], button: int = 2, **chosen: object) -> Course:
    """Lets time run out while each table is in the hand after the one with this button."""
    made = rules(PRICE, **{"payouts": payouts(5000, 3000, 2000), "levels": LEVELS, "timed_minutes": 30, **chosen})
    course = Course(running(made, *tables, gone=1, buttons=[button] * len(tables)))
    course.tell(at_ms=course.state.started_at_ms + 1_700_000)
    course.tell(at_ms=course.state.started_at_ms + 1_800_000)
    assert course.all(LastLapBegins)
    return course


def buttons_until_the_end(course: Course, busts: Mapping[int, int] | None = None) -> list[int]:
    """Ends hands until the tournament is over; `busts` names the seat that loses all in the hand of that number."""
    seen: list[int] = []
    for number in range(30):
        if course.state.phase is Phase.FINISHED:
            return seen
        hand = course.hand(1)
        seen.append(hand.positions.button)
        lost: dict[int, int] = {}
        if busts and number in busts:
            stacks = dict(zip(hand.positions.seats, hand.positions.stacks, strict=True))
            bust = busts[number]
            winner = next(seat for seat in hand.positions.seats if seat != bust)
            lost = {bust: 0, winner: stacks[winner] + stacks[bust]}
        course.end_hand(1, lost)
    raise AssertionError("the lap does not end")


@pytest.mark.rule("810/2015:52", "810/2015:33")
def test_t_17_everybody_has_the_button_once_more() -> None:
    course = out_of_time(dict.fromkeys(range(1, 7), 2500))
    assert course.hand(1).positions.button == 3

    assert buttons_until_the_end(course) == [3, 4, 5, 6, 1, 2, 3]


@pytest.mark.rule("810/2015:52")
def test_t_17_whoever_is_out_has_it_no_more() -> None:
    course = out_of_time(dict.fromkeys(range(1, 7), 2500))

    assert buttons_until_the_end(course, {1: 5}) == [3, 4, 6, 1, 2, 3]


@pytest.mark.rule("810/2015:33", "810/2015:51", "810/2015:52")
def test_t_17_then_chips_decide_and_equal_ones_tie() -> None:
    course = out_of_time({1: 5200, 2: 4100, 3: 4100, 4: 1600})

    buttons_until_the_end(course)

    assert course.labels() == {1: "1.º", 2: "2.º–3.º", 3: "2.º–3.º", 4: "4.º"}
    assert course.paid() == {1: 2500, 2: 1250, 3: 1250}
    assert course.state.pool_cents == 0


@pytest.mark.rule("810/2015:52", "810/2015:23", "810/2015:44")
def test_when_the_time_is_up_nobody_is_waited_for_any_more() -> None:
    chosen = {"rebuys_max": 1, "rebuy_price": PRICE, "rebuy_chips": 1500, "rebuy_until_level": 2}
    made = rules(PRICE, payouts=payouts(10_000), levels=LEVELS, timed_minutes=30, **chosen)
    course = Course(running(made, {1: 500, 2: 2000, 3: 2000}))
    # The second level ends at the same moment as the time, so that a rebuy is possible up to it.
    course.tell(at_ms=course.state.started_at_ms + 1_499_000)
    course.with_rules(timed_minutes=25)
    course.end_hand(1, {1: 0, 2: 2500})
    assert set(course.state.awaited) == {1}

    course.tell(at_ms=course.state.started_at_ms + 1_500_000)

    assert course.all(LastLapBegins)
    assert [order.entry for order in course.all(Eliminate)] == [1]
    assert not course.state.awaited
    # What was paid in the meantime goes back.
    course.tell(Rebought("p1"))
    assert course.paid()[1] == 1100


@pytest.mark.rule("810/2015:52")
def test_a_table_that_is_through_waits_and_nobody_moves_in_the_last_lap() -> None:
    course = out_of_time({1: 2500, 2: 2500}, {1: 2500, 2: 2500, 3: 2500}, button=1, seats=4, payouts=payouts(10_000))
    for _ in range(3):
        course.end_hand(1, {})
    assert course.state.held == {1: "lap_over"}
    # Four are left, and fit in one table.
    course.end_hand(2, {1: 0, 2: 5000})
    course.tell(at_ms=course.state.now_ms + 3_600_000)
    assert course.all(MovePlayer) == []
    assert course.hand(2).level == 3
    while course.state.phase is Phase.RUNNING:
        course.end_hand(2, {})

    assert [order.hand.positions.button for order in course.all(StartHand) if order.table == 2] == [2, 3, 2]
    assert course.labels() == {4: "1.º", 1: "2.º–4.º", 2: "2.º–4.º", 5: "2.º–4.º", 3: "5.º"}

"""Vectors T-08 to T-12, T-15 and T-16: the pool and its division, ties, satellites and bounties."""

from __future__ import annotations

import dataclasses

import pytest

from services.poker.tournament.money.awards import BankWhy, Form, Why
from services.poker.tournament.money.bounties import bounty_awards, takers
from services.poker.tournament.money.entries import Entry, Purchase, collected
from services.poker.tournament.money.prizes import Prize, Prizes, awards_of, divide, prizes_of
from services.poker.tournament.payouts import DEFAULT_PAYOUTS, WHOLE_BPS, row_of
from services.poker.tournament.price import Price
from services.poker.tournament.ranking import Out, Place, places_by_chips, places_of_eliminated
from services.poker.tournament.running.orders import Finished, FreezePrizes, HandForHand, HoldTable
from services.poker.tournament.running.state import Phase
from services.poker.tournament.specific_rules import Approval, PayWhen, TicketPrize
from tests.engine.poker.tables import begin, play, table
from tests.engine.poker.tournament.builders import PRICE, Course, payouts, players, rules, running, sums

FIVE_AND_SIX = Prizes(100_000, 0, (Prize(), Prize(), Prize(), Prize(), Prize(4000), Prize(2915)))


@pytest.mark.rule("810/2015:50")
def test_t_08_of_two_out_in_one_hand_the_larger_stack_is_ranked_higher() -> None:
    better, worse = places_of_eliminated([Out(2, 7, 2750), Out(1, 7, 3200)], players_left=4)

    assert (better.label, better.entries, worse.label, worse.entries) == ("5.º", (1,), "6.º", (2,))
    assert sums(awards_of(FIVE_AND_SIX, better, players(6))) == {1: 4000}
    assert sums(awards_of(FIVE_AND_SIX, worse, players(6))) == {2: 2915}


@pytest.mark.rule("810/2015:51")
def test_t_09_with_equal_stacks_they_tie_and_divide_both_prizes() -> None:
    (place,) = places_of_eliminated([Out(2, 7, 3000), Out(1, 7, 3000)], players_left=4)

    assert place.label == "5.º–6.º"
    awards = awards_of(FIVE_AND_SIX, place, players(6))
    assert sums(awards) == {1: 3458, 2: 3457}
    assert {(award.rule, award.place) for award in awards} == {("810/2015:51", "5.º–6.º")}


@pytest.mark.rule("810/2015:34")
def test_t_10_everything_that_was_paid_for_prizes_is_the_pool() -> None:
    entries = players(49)
    for number in range(1, 13):
        entries[number] = entries[number].with_more(Purchase.REBUY, Price(1000))
    for number in range(1, 26):
        entries[number] = entries[number].with_more(Purchase.ADDON, Price(1000))

    assert prizes_of(rules(), entries.values()).pool_cents == 86_000
    assert collected(entries.values()).fee_cents == 4900


def bubble(first: int, second: int) -> Course:
    """Plays T-11: eleven left on two tables, ten places paid; A at table 1 and B at table 2 bust in one step."""
    # A pool of which the tenth prize is 1501.
    bps = (5499, 700, 600, 550, 500, 450, 451, 400, 350, 500)
    assert sum(bps) == WHOLE_BPS
    made = rules(Price(1000), payouts=payouts(*sorted(bps, reverse=True)))
    course = Course(
        running(
            made,
            {1: first, **dict.fromkeys(range(2, 7), 5000)},
            {1: second, **dict.fromkeys(range(2, 6), 5000)},
            gone=30,
        )
    )
    course.tell()
    assert course.state.is_hand_for_hand
    assert course.started == {1, 2}
    return course


@pytest.mark.rule("810/2015:49", "810/2015:50")
def test_t_11_on_the_bubble_hands_of_one_step_count_as_the_same_hand() -> None:
    course = bubble(1200, 900)
    tenth = course.state.current_prizes.places[9].cents
    course.end_hand(2, {1: 0, 2: 5900})
    assert course.state.held == {2: "hand_for_hand"}
    assert course.all(HoldTable)
    assert course.labels() == {}, "no place is final before all hands of the step have ended"

    course.end_hand(1, {1: 0, 2: 6200})

    assert course.labels() == {1: "10.º", 7: "11.º"}
    assert course.paid() == {1: tenth}
    assert course.all(HandForHand) == [HandForHand(begins=True), HandForHand(begins=False)]


@pytest.mark.rule("810/2015:51")
def test_t_11_with_equal_chips_the_tenth_prize_is_divided() -> None:
    course = bubble(1000, 1000)
    prizes = course.state.prizes
    assert prizes is not None
    tenth = Prizes(prizes.pool_cents, 0, (*prizes.places[:9], Prize(1501)))
    course.state = dataclasses.replace(course.state, prizes=tenth)
    # The order in which the tables finish is the same to them.
    course.end_hand(2, {1: 0, 2: 6000})

    course.end_hand(1, {1: 0, 2: 6000})

    assert course.labels() == {1: "10.º–11.º", 7: "10.º–11.º"}
    assert course.paid() == {1: 751, 7: 750}


@pytest.mark.rule("810/2015:50")
def test_t_11_without_hand_for_hand_whose_hand_ended_later_is_ranked_higher() -> None:
    made = rules(Price(1000), payouts=payouts(6000, 4000), seats=3)
    course = Course(running(made, {1: 1200, 2: 5000, 3: 5000}, {1: 900, 2: 5000, 3: 5000}, gone=10))
    course.tell()
    assert not course.state.is_hand_for_hand

    course.end_hand(1, {1: 0, 2: 6200})
    course.end_hand(2, {1: 0, 2: 5900})

    assert course.labels() == {1: "6.º", 4: "5.º"}


@pytest.mark.rule("810/2015:34")
def test_t_12_odd_cents_go_to_the_first_places() -> None:
    assert divide(12_345, (5000, 3000, 2000)) == (6173, 3703, 2469)
    assert divide(100_003, (2800, 1900, 1300, 1000, 800, 650, 550, 400, 300, 300)) == (
        28_001, 19_001, 13_001, 10_000, 8000, 6500, 5500, 4000, 3000, 3000,
    )  # fmt: skip


@pytest.mark.rule("810/2015:34")
def test_the_guarantee_is_the_least_that_the_pool_is() -> None:
    course = Course(running(rules(payouts=payouts(10_000), guarantee_cents=5000), {1: 1500, 2: 1500}))

    course.tell()
    course.end_hand(1, {1: 3000, 2: 0})

    overlay, prize, fees = course.pay_outs()
    assert (overlay.from_bank_cents, overlay.bank_why) == (3000, BankWhy.GUARANTEE)
    assert [(award.cents, award.why, award.place) for award in prize.awards] == [(5000, Why.PRIZE, "1.º")]
    assert (fees.to_bank_cents, fees.bank_why) == (200, BankWhy.FEES)
    assert isinstance(course.last[-1], Finished)


@pytest.mark.rule("810/2015:34")
def test_every_row_of_the_payout_table_is_the_whole_pool() -> None:
    for entries in range(2, 2000):
        row = row_of(DEFAULT_PAYOUTS, entries)
        assert sum(row) == WHOLE_BPS
        assert list(row) == sorted(row, reverse=True)
        assert 1 <= len(row) < entries


# -- satellites -------------------------------------------------------------------------------------------------------

SATELLITE = TicketPrize("Sunday", 10_900)


@pytest.mark.rule("810/2015:32", "810/2015:53")
def test_t_15_a_satellite_pays_tickets_and_what_is_left_over_to_the_next_place() -> None:
    entries = {number: Entry(number, f"p{number}", Price(1500)) for number in range(1, 22)}
    prizes = prizes_of(rules(Price(1500), satellite=SATELLITE), entries.values())

    assert prizes.pool_cents == 31_500
    assert prizes.places == (Prize(ticket_cents=10_900), Prize(ticket_cents=10_900), Prize(9700))
    (ticket,) = awards_of(prizes, Place(2, 2, (4,)), entries)
    assert (ticket.form, ticket.cents, ticket.tournament, ticket.rule) == (Form.TICKET, 10_900, "Sunday", "810/2015:32")


@pytest.mark.rule("810/2015:34")
def test_t_15_or_what_is_left_over_is_divided_as_published() -> None:
    entries = {number: Entry(number, f"p{number}", Price(1500)) for number in range(1, 22)}
    made = rules(Price(1500), satellite=TicketPrize("Sunday", 10_900, (6000, 4000)))

    assert prizes_of(made, entries.values()).places[2:] == (Prize(5820), Prize(3880))


def satellite(**chosen: object) -> Course:
    """Plays T-15 down to three players."""
    made = rules(Price(1500), satellite=SATELLITE, **chosen)
    course = Course(running(made, {1: 9000, 2: 3000, 3: 1000}, gone=18))
    course.tell()
    return course


@pytest.mark.rule("810/2015:52", "810/2015:32")
def test_t_15_with_the_early_stop_it_ends_when_as_many_are_left_as_there_are_tickets() -> None:
    course = satellite(satellite_stops_early=True, approvals=frozenset({Approval.SATELLITE_EARLY_STOP}))

    course.end_hand(1, {1: 10_000, 3: 0})

    assert course.state.phase is Phase.FINISHED
    assert course.paid() == {3: 9700}
    assert course.paid(form=Form.TICKET) == {1: 10_900, 2: 10_900}
    assert course.state.pool_cents == 0


@pytest.mark.rule("810/2015:52")
def test_t_15_without_it_one_player_has_to_win_all_chips() -> None:
    course = satellite()
    course.end_hand(1, {1: 10_000, 3: 0})
    assert not course.all(Finished)

    course.end_hand(1, {1: 13_000, 2: 0})

    assert course.state.phase is Phase.FINISHED
    assert course.labels() == {3: "3.º", 2: "2.º", 1: "1.º"}
    assert course.paid(form=Form.TICKET) == {1: 10_900, 2: 10_900}


@pytest.mark.rule("810/2015:51", "810/2015:32")
def test_tied_players_who_share_a_ticket_divide_its_value() -> None:
    entries = {number: Entry(number, f"p{number}", Price(1500)) for number in range(1, 22)}
    prizes = prizes_of(rules(Price(1500), satellite=SATELLITE), entries.values())

    awards = awards_of(prizes, Place(2, 3, (7, 5)), entries)

    assert sums(awards) == {5: 10_300, 7: 10_300}
    assert {award.form for award in awards} == {Form.CASH}
    assert sums(awards_of(prizes, Place(1, 2, (7, 5)), entries), form=Form.TICKET) == {5: 10_900, 7: 10_900}


# -- bounties ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:33", "810/2015:34")
def test_t_16_tied_winners_share_a_bounty_clockwise_from_the_button() -> None:
    price = Price(1000, 0, 2505)
    # The seats that took the last chips, in their order from the left of the button.
    course = Course(running(rules(price, payouts=payouts(10_000)), {1: 1000, 2: 5000, 3: 5000}, gone=1))
    course.tell()

    course.end_hand(1, {1: 0, 2: 5500, 3: 5500}, s1=(3, 2))

    assert [(award.entry, award.cents, award.of_entry) for award in course.awards()] == [(3, 1253, 1), (2, 1252, 1)]
    assert {(award.why, award.rule) for award in course.awards()} == {(Why.BOUNTY, "810/2015:33")}


@pytest.mark.rule("810/2015:33")
def test_t_16_the_champion_receives_their_own_bounty() -> None:
    course = Course(running(rules(Price(1000, 100, 300), payouts=payouts(10_000)), {1: 1000, 2: 5000}))
    course.tell()

    course.end_hand(1, {1: 0, 2: 6000})

    assert [(award.entry, award.cents, award.why) for award in course.awards()] == [
        (2, 300, Why.BOUNTY), (2, 2000, Why.PRIZE), (2, 300, Why.OWN_BOUNTY),
    ]  # fmt: skip
    assert course.state.pool_cents == 0


@pytest.mark.rule("810/2015:33")
def test_the_last_chips_are_those_of_the_highest_layer_that_the_player_was_in() -> None:
    # p0 with 500 has the best cards, p1 with 2000 loses the side pot to p2 and is out.
    hand = play(begin(table(), (500, 2000, 9000), "AsAd QsQd KsKd", "7h 8h 9c 2c 3d"), "r2000 c c")

    assert takers(hand) == {2: (3,)}


@pytest.mark.rule("810/2015:33")
def test_tied_winners_of_the_last_chips_are_named_from_the_left_of_the_button() -> None:
    hand = play(begin(table(), (5000, 1000, 5000), "AsKd QsQd AdKs", "Ah Kh 7c 5c 2d"), "r1000 c c | x x | x x | x x")

    assert takers(hand) == {2: (1, 3)}


@pytest.mark.rule("810/2015:33")
def test_nobody_has_taken_chips_while_the_hand_goes_on() -> None:
    with pytest.raises(ValueError, match="wait for its end"):
        takers(begin(table(), (500, 2000, 9000), "AsAd QsQd KsKd", "7h 8h 9c 2c 3d"))


@pytest.mark.rule("810/2015:33")
def test_a_bounty_of_one_cent_goes_to_the_first_of_two() -> None:
    out, first, second = (Entry(number, f"p{number}", Price(1000, 0, 1)) for number in (1, 2, 3))

    assert [(award.entry, award.cents) for award in bounty_awards(out, (second, first))] == [(3, 1)]


# -- when prizes are paid ---------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:54", "810/2015:53")
@pytest.mark.parametrize("pay_when", PayWhen)
def test_prizes_are_credited_as_each_winner_is_known_or_all_at_the_end(pay_when: PayWhen) -> None:
    course = Course(running(rules(payouts=payouts(6000, 4000), pay_when=pay_when), {1: 1000, 2: 1000, 3: 4000}, gone=3))
    course.tell()
    course.end_hand(1, {1: 0, 3: 5000})
    assert course.paid() == {}
    course.end_hand(1, {2: 0, 3: 6000})

    assert course.paid() == {2: 2400, 3: 3600}
    assert len([pay_out for pay_out in course.pay_outs() if pay_out.awards]) == (
        2 if pay_when is PayWhen.ON_ELIMINATION else 1
    )
    assert len({award.key for award in course.awards()}) == 2


@pytest.mark.rule("810/2015:34")
def test_prizes_are_provisional_until_no_more_entries_can_come() -> None:
    course = Course(running(rules(levels=rules().levels * 3, late_reg_until_level=1), {1: 1500, 2: 1500}))
    course.tell()
    assert course.state.prizes is None
    assert course.state.current_prizes.pool_cents == 2000

    course.tell(at_ms=course.state.now_ms + 600_000)

    assert [order.prizes.pool_cents for order in course.all(FreezePrizes)] == [2000]


@pytest.mark.rule("810/2015:33", "810/2015:51")
def test_t_17_places_by_chips_when_the_time_is_up() -> None:
    first, tied, last = places_by_chips({1: 5200, 2: 4100, 3: 1600, 4: 4100})

    assert (first.entries, tied.entries, tied.label, last.label) == ((1,), (2, 4), "2.º–3.º", "4.º")
    prizes = Prizes(6000, 0, (Prize(3000), Prize(2000), Prize(1001)))
    assert sums(awards_of(prizes, tied, players(4))) == {2: 1501, 4: 1500}


def test_the_parts_of_an_entry_are_its_price() -> None:
    assert PRICE.total_cents == 1100

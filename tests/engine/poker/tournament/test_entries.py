"""Vectors T-01, T-19 and T-20: entering, leaving, more chips and tickets (21 to 31)."""

from __future__ import annotations

import dataclasses

import pytest

from services.poker.tournament.levels import Level
from services.poker.tournament.money.awards import Form, Why
from services.poker.tournament.money.entries import EntryState, PaidBy, PayIn, Purchase
from services.poker.tournament.money.tickets import Ticket, TicketState, issue
from services.poker.tournament.running import director, requests
from services.poker.tournament.running.facts import (
    AddedOn,
    CancelOrdered,
    Paid,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
)
from services.poker.tournament.running.orders import AddChips, AskRebuy, Eliminate, OpenTable, SeatPlayer
from services.poker.tournament.running.state import Phase, Tournament, next_due_ms
from services.poker.tournament.specific_rules import RebuyWhen, Start, TournamentRules
from tests.engine.poker.tournament.builders import HOUR_MS, PRICE, Course, payouts, refusal_of, rules, running

LEVELS = (Level(50, 100, 600, 300), Level(100, 200, 600), Level(150, 300, 600))
START_MS = HOUR_MS


def open_tournament(made: TournamentRules | None = None) -> Tournament:
    return director.create("t", made or rules(), START_MS)


# -- registering ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:21", "810/2015:22", "810/2015:24", "810/2015:25")
def test_t_01_an_entry_is_debited_at_once_and_given_back_in_time() -> None:
    course, balance = Course(open_tournament()), 2500
    pay_in = requests.verify_balance(requests.entry(course.state, "p1"), balance)
    assert pay_in == PayIn("p1", Purchase.ENTRY, PRICE)
    assert (pay_in.price.prize_cents, pay_in.price.fee_cents) == (1000, 100)
    balance -= pay_in.price.total_cents
    assert balance == 1400
    course.tell(Paid("p1"))
    assert course.state.pool_cents == 1100

    requests.unregister(course.state, "p1", START_MS - HOUR_MS)
    course.tell(Unregistered("p1"))

    (award,) = course.awards()
    assert (award.cents, award.why, award.rule) == (1100, Why.UNREGISTERED, "810/2015:25")
    assert balance + award.cents == 2500
    assert course.state.pool_cents == 0
    refused = refusal_of(lambda: requests.verify_balance(requests.entry(course.state, "p1"), 1099))
    assert (refused.reason, refused.facts["rule"]) == ("INSUFFICIENT_BALANCE", "810/2015:21")


@pytest.mark.rule("810/2015:24")
def test_a_registration_is_taken_back_until_the_scheduled_start_or_an_earlier_moment() -> None:
    course = Course(open_tournament(rules(cancel_until_seconds=60)))
    course.tell(Paid("p1"))

    assert requests.unregister(course.state, "p1", START_MS - 60_001).number == 1
    refused = refusal_of(lambda: requests.unregister(course.state, "p1", START_MS - 60_000))
    assert (refused.reason, refused.facts["rule"]) == ("UNREGISTERING_CLOSED", "810/2015:24")
    assert refusal_of(lambda: requests.unregister(course.state, "p2", 0)).reason == "NOT_REGISTERED"


@pytest.mark.rule("810/2015:24")
def test_nobody_unregisters_after_the_start_not_even_who_registered_late() -> None:
    course = Course(open_tournament(rules(levels=LEVELS, late_reg_until_level=1)))
    for player in ("p1", "p2"):
        course.tell(Paid(player))
    course.tell(at_ms=START_MS)
    course.tell(Paid("p3"), at_ms=START_MS + 1)

    refused = refusal_of(lambda: requests.unregister(course.state, "p3", START_MS + 2))
    assert refused.reason == "UNREGISTERING_CLOSED"
    course.tell(Unregistered("p3"))
    assert course.paid() == {}


@pytest.mark.rule("810/2015:25", "810/2015:28")
def test_who_entered_by_ticket_gets_the_ticket_back_and_no_money() -> None:
    course = Course(open_tournament())
    course.tell(Paid("p1", PaidBy.TICKET, "ticket-1"))

    course.tell(Unregistered("p1"))

    assert course.paid() == {}
    (award,) = course.awards()
    assert (award.form, award.ticket, award.tournament, award.cents) == (Form.TICKET, "ticket-1", "t", 1100)


@pytest.mark.rule("810/2015:23")
def test_one_entry_at_a_time_and_no_more_players_than_places() -> None:
    course = Course(open_tournament(rules(max_players=2)))
    course.tell(Paid("p1"))
    assert refusal_of(lambda: requests.entry(course.state, "p1")).reason == "ALREADY_REGISTERED"
    course.tell(Paid("p2"))

    assert refusal_of(lambda: requests.entry(course.state, "p3")).reason == "REGISTRATION_CLOSED"
    course.tell(Paid("p3"))

    assert course.paid() == {3: 1100}, "what was paid too late is given back at once"
    assert [(award.why, award.rule) for award in course.awards()] == [(Why.TOO_LATE, "810/2015:23")]
    assert [entry.player for entry in course.state.registered] == ["p1", "p2"]


@pytest.mark.rule("810/2015:23")
def test_a_second_payment_of_a_player_who_is_in_is_given_back_at_once() -> None:
    course = Course(open_tournament())
    course.tell(Paid("p1"))

    course.tell(Paid("p1"))

    assert course.paid() == {2: 1100}
    assert [(award.why, award.rule) for award in course.awards()] == [(Why.TOO_LATE, "810/2015:23")]
    assert [entry.number for entry in course.state.registered] == [1]
    assert course.state.pool_cents == 1100

    # A player who is out may enter again; a player who is in may not.
    made = rules(levels=LEVELS, payouts=payouts(10_000), reentries_max=1, reentry_until_level=1)
    course = Course(running(made, {1: 500, 2: 2000}))
    course.tell(Paid("p1"))
    assert course.paid() == {3: 1100}


@pytest.mark.guarantee("G4")
@pytest.mark.rule("810/2015:23", "810/2015:35")
def test_g4_after_the_end_only_money_that_was_on_its_way_moves_and_goes_back() -> None:
    course = Course(open_tournament())
    course.tell(Paid("p1"))
    course.tell(CancelOrdered("a power cut"))
    assert course.state.phase is Phase.CANCELLED

    course.tell(Paid("p2"), at_ms=START_MS)

    assert course.paid() == {1: 1100, 2: 1100}
    assert course.state.pool_cents == 0
    over = course.state
    for fact in (Unregistered("p1"), CancelOrdered("a flood"), TimePassed()):
        assert course.tell(fact, at_ms=START_MS + 1) == ()
        assert course.state == over


@pytest.mark.rule("810/2015:39", "810/2015:41", "810/2015:47")
def test_a_sit_and_go_starts_as_soon_as_it_is_full() -> None:
    made = dataclasses.replace(rules(), start=Start.ON_FULL, max_players=6, seats=3)
    course = Course(director.create("t", made))
    for number in range(1, 6):
        course.tell(Paid(f"p{number}"))
    assert course.state.phase is Phase.REGISTERING
    assert next_due_ms(course.state) is None

    course.tell(Paid("p6"))

    assert course.started == {1, 2}, "all tables start at once"
    opened = course.all(OpenTable)
    assert sorted(entry for order in opened for entry in order.seats.values()) == [1, 2, 3, 4, 5, 6]
    assert set(course.state.chips().values()) == {1500}


# -- later entries and more chips -------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:23", "810/2015:41", "810/2015:48")
def test_late_entrants_have_the_same_chips_and_a_seat_by_draw_up_to_the_level() -> None:
    course = Course(open_tournament(rules(levels=LEVELS, late_reg_until_level=1, seats=2)))
    for player in ("p1", "p2"):
        course.tell(Paid(player))
    course.tell(at_ms=START_MS)

    course.tell(Paid("p3"), at_ms=START_MS + 899_999)
    assert course.all(SeatPlayer)[0].table == 2, "a table is opened when all seats are taken"
    assert course.state.chips()[3] == 1500

    course.tell(at_ms=START_MS + 900_000)
    refused = refusal_of(lambda: requests.entry(course.state, "p4"))
    assert (refused.reason, refused.facts["rule"]) == ("MORE_CHIPS_REFUSED", "810/2015:23")
    assert course.state.prizes is not None


def rebuying(**chosen: object) -> Course:
    """Starts a tournament with rebuys of 10 € + 1 € at a table of three, on which p1 has few chips."""
    made = rules(
        PRICE,
        levels=LEVELS,
        payouts=payouts(10_000),
        rebuys_max=2,
        rebuy_price=PRICE,
        rebuy_chips=1500,
        rebuy_until_level=1,
        **chosen,
    )
    course = Course(running(made, {1: 500, 2: 2000, 3: 2000}))
    course.tell()
    return course


@pytest.mark.rule("810/2015:31", "810/2015:44")
def test_a_rebuy_in_time_keeps_the_player_in() -> None:
    course = rebuying()
    course.end_hand(1, {1: 0, 2: 2500})
    assert [order.entry for order in course.all(AskRebuy)] == [1]
    assert course.started == {1}, "the others play on"
    assert requests.rebuy(course.state, "p1") == PayIn("p1", Purchase.REBUY, PRICE)

    course.tell(Rebought("p1"), at_ms=course.state.now_ms + 29_999)

    assert course.all(AddChips) == [AddChips(1, 1, 1, 1500)]
    assert not course.all(Eliminate)
    assert course.state.pool_cents == 4 * 1100
    course.end_hand(1, {})
    assert 1 in course.hand(1).positions.seats


@pytest.mark.rule("810/2015:21", "810/2015:31", "810/2015:44")
def test_t_20_without_funds_the_player_is_out_by_the_hand_that_was_lost() -> None:
    course = rebuying()
    lost_ms = course.state.now_ms + 545_000
    course.tell(at_ms=lost_ms)
    course.end_hand(1, {1: 0, 2: 2500})
    pay_in = requests.rebuy(course.state, "p1")
    refused = refusal_of(lambda: requests.verify_balance(pay_in, 900))
    assert (refused.reason, refused.facts["rule"]) == ("INSUFFICIENT_BALANCE", "810/2015:21")
    assert next_due_ms(course.state) == lost_ms + 30_000
    # Another hand ends while the player looks for money: it ranks p3 above p1.
    course.end_hand(1, {3: 0, 2: 4500})
    course.tell(RebuyDeclined("p3"))
    assert [order.entry for order in course.all(Eliminate)] == [3]

    course.tell(at_ms=lost_ms + 30_000)

    assert [order.entry for order in course.all(Eliminate)] == [3, 1]
    assert course.labels() == {1: "3.º", 3: "2.º", 2: "1.º"}
    assert refusal_of(lambda: requests.rebuy(course.state, "p1")).facts["rule"] == "810/2015:31"


@pytest.mark.rule("810/2015:23")
def test_who_was_asked_in_the_last_level_of_rebuys_has_the_whole_time() -> None:
    course = rebuying()
    course.tell(at_ms=course.state.started_at_ms + 599_000)
    course.end_hand(1, {1: 0, 2: 2500})
    course.tell(at_ms=course.state.started_at_ms + 599_500)
    course.tell(Rebought("p1"))
    assert course.state.entries[1].count(Purchase.REBUY) == 1

    course.tell(at_ms=course.state.started_at_ms + 900_000)

    assert course.state.level == 2
    course.end_hand(1, {3: 0, 2: 4500})
    assert [order.entry for order in course.all(Eliminate)] == [3], "nobody is asked any more"


@pytest.mark.rule("810/2015:23")
def test_each_kind_of_purchase_ends_with_its_own_level() -> None:
    course = rebuying(late_reg_until_level=2, reentries_max=1, reentry_until_level=1)
    course.tell(at_ms=course.state.started_at_ms + 900_000)
    assert (course.state.level, course.state.prizes) == (2, None)

    course.end_hand(1, {})
    course.end_hand(1, {1: 0, 2: 2500})

    assert not course.all(AskRebuy)
    assert refusal_of(lambda: requests.entry(course.state, "p1")).facts["rule"] == "810/2015:23"
    assert requests.entry(course.state, "p4").purchase is Purchase.ENTRY


@pytest.mark.rule("810/2015:23")
def test_a_rebuy_that_was_paid_too_late_is_given_back() -> None:
    course = rebuying()
    course.end_hand(1, {1: 0, 2: 2500})

    course.tell(Rebought("p1"), at_ms=course.state.now_ms + 30_000)

    assert [(award.cents, award.why, award.rule) for award in course.awards()] == [(1100, Why.TOO_LATE, "810/2015:23")]
    assert [order.entry for order in course.all(Eliminate)] == [1]
    assert course.state.pool_cents == 3 * 1100


@pytest.mark.rule("810/2015:23")
def test_rebuys_with_few_chips_are_added_when_the_hand_is_over() -> None:
    course = rebuying(rebuy_when=RebuyWhen.AT_STARTING_STACK)
    assert refusal_of(lambda: requests.rebuy(course.state, "p2")).reason == "MORE_CHIPS_REFUSED"

    course.tell(Rebought("p1"))

    assert course.state.tables[1].seated[1][1:] == (500, 1500), "no chips in the middle of a hand"
    course.with_rules(rebuys_max=1)
    refused = refusal_of(lambda: requests.rebuy(course.state, "p1"))
    assert (refused.reason, refused.facts["rule"]) == ("MORE_CHIPS_REFUSED", "810/2015:23")
    assert "1 are possible" in refused.sentence
    course.end_hand(1, {1: 0, 2: 2500})
    assert course.state.chips()[1] == 1500
    assert not course.all(AskRebuy)


@pytest.mark.rule("810/2015:33")
def test_no_bounty_is_paid_for_a_player_who_rebuys() -> None:
    course = rebuying()
    course.with_rules(price=PRICE._replace(bounty_cents=300))
    entries = {
        number: dataclasses.replace(entry, price=course.state.rules.price)
        for number, entry in course.state.entries.items()
    }
    course.state = dataclasses.replace(course.state, entries=entries, pool_cents=3 * 1400)
    course.end_hand(1, {1: 0, 2: 2500})
    course.tell(Rebought("p1"))
    assert course.paid() == {}

    course.end_hand(1, {3: 0, 2: 4500})
    course.tell(RebuyDeclined("p3"))

    assert course.paid() == {2: 300}


@pytest.mark.rule("810/2015:23", "810/2015:38")
def test_a_re_entry_is_an_entry_of_its_own_up_to_its_level() -> None:
    made = rules(levels=LEVELS, payouts=payouts(10_000), reentries_max=1, reentry_until_level=1)
    course = Course(running(made, {1: 500, 2: 2000, 3: 2000}))
    course.tell()
    course.end_hand(1, {1: 0, 2: 2500})
    assert requests.entry(course.state, "p1").purchase is Purchase.REENTRY

    course.tell(Paid("p1"))

    assert (course.state.entries[4].player, course.state.entries[4].is_reentry) == ("p1", True)
    assert course.state.chips()[4] == 1500
    assert course.state.entries[1].state is EntryState.OUT
    course.end_hand(1, {})
    course.end_hand(1, {course.state.seat_of(4)[1]: 0, 2: 4000})
    assert refusal_of(lambda: requests.entry(course.state, "p1")).reason == "MORE_CHIPS_REFUSED"


@pytest.mark.rule("810/2015:23")
def test_add_ons_are_sold_in_their_break() -> None:
    made = rules(
        PRICE,
        levels=LEVELS,
        payouts=payouts(10_000),
        addons_max=1,
        addon_after_level=1,
        addon_price=PRICE,
        addon_chips=2000,
    )
    course = Course(running(made, {1: 500, 2: 2000}))
    course.tell()
    assert refusal_of(lambda: requests.addon(course.state, "p1")).reason == "MORE_CHIPS_REFUSED"
    course.tell(at_ms=course.state.started_at_ms + 600_000)

    course.tell(AddedOn("p1"))
    assert refusal_of(lambda: requests.addon(course.state, "p1")).reason == "MORE_CHIPS_REFUSED"
    course.tell(AddedOn("p1"))
    assert course.paid() == {1: 1100}

    course.end_hand(1, {})
    assert course.state.chips()[1] == 2500
    assert course.started == set(), "nobody plays in the break"
    course.tell(TimePassed(), at_ms=course.state.started_at_ms + 900_000)
    assert course.started == {1}
    assert course.state.prizes is not None
    assert course.state.prizes.pool_cents == 3000


# -- tickets ----------------------------------------------------------------------------------------------------------


def ticket(number: int, **chosen: object) -> Ticket:
    return Ticket(f"#{number}", "P", "Sunday", 10_900, **chosen)  # type: ignore[arg-type]


@pytest.mark.rule("810/2015:29")
def test_t_19_a_second_won_entry_to_the_same_tournament_is_converted() -> None:
    first = issue(ticket(1), ())
    second = issue(ticket(2), (first,))

    assert (first.state, second.state) == (TicketState.ISSUED, TicketState.CONVERTED)
    refused = refusal_of(lambda: first.convert(()))
    assert (refused.reason, refused.facts["rule"]) == ("TICKET_NOT_MONEY", "810/2015:29")


@pytest.mark.rule("810/2015:30")
def test_t_19_one_from_a_freeroll_never_is_and_lapses_with_the_event() -> None:
    first = ticket(1)
    second = issue(ticket(2, from_freeroll=True), (first,))

    assert second.state is TicketState.ISSUED
    assert refusal_of(lambda: second.convert((first,))).facts["rule"] == "810/2015:30"
    assert second.expire().state is TicketState.EXPIRED
    assert first.use("P", "Sunday", 10_900).expire().state is TicketState.USED


@pytest.mark.rule("810/2015:28")
def test_t_19_a_ticket_is_not_passed_to_another_player() -> None:
    assert refusal_of(ticket(1).transfer).facts["rule"] == "810/2015:28"
    assert refusal_of(lambda: ticket(1).use("Q", "Sunday", 10_900)).facts["rule"] == "810/2015:28"


@pytest.mark.rule("810/2015:28", "810/2015:29", "810/2015:32")
def test_a_ticket_is_for_its_tournament_and_used_once() -> None:
    one = ticket(1)
    assert refusal_of(lambda: one.use("P", "Monday", 10_900)).facts["rule"] == "810/2015:32"
    dearer = refusal_of(lambda: one.use("P", "Sunday", 10_901))
    assert (dearer.facts["field"], dearer.facts["rule"]) == ("value_cents", "810/2015:37")
    used = one.use("P", "Sunday", 10_900)
    assert refusal_of(lambda: used.use("P", "Sunday", 10_900)).reason == "TICKET_UNUSABLE"
    assert used.give_back().use("P", "Sunday", 10_900).state is TicketState.USED
    assert refusal_of(one.give_back).facts["rule"] == "810/2015:25"
    other = dataclasses.replace(ticket(2), tournament="Monday")
    bought = ticket(3, won=False)
    assert refusal_of(lambda: one.convert((other, bought))).facts["rule"] == "810/2015:29"
    assert refusal_of(lambda: used.convert((ticket(2),))).facts["rule"] == "810/2015:28"


@pytest.mark.rule("810/2015:28", "810/2015:30", "810/2015:37")
def test_entering_by_ticket_names_it_and_costs_nothing_more() -> None:
    course = Course(open_tournament(rules(replacement_tournament="Monday")))
    held = Ticket("#1", "p1", "t", 1100, from_freeroll=True)

    pay_in = requests.verify_balance(requests.entry(course.state, "p1", held), 0)

    assert (pay_in.paid_by, pay_in.ticket) == (PaidBy.FREEROLL_TICKET, "#1")
    course.with_rules(replacement_tournament="")
    refused = refusal_of(lambda: requests.entry(course.state, "p1", held))
    assert (refused.reason, refused.facts["rule"]) == ("TICKET_UNUSABLE", "810/2015:32")

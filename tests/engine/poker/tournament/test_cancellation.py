"""Vectors T-02 to T-07: what a cancelled tournament gives back (36 to 38)."""

from __future__ import annotations

import dataclasses

import pytest

from services.poker.tournament.money.awards import Award, BankWhy, Form, Why
from services.poker.tournament.money.cancellation import cancellation_awards, paragraph_of, shares_by_chips
from services.poker.tournament.money.entries import Entry, EntryState, PaidBy, Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.running import director
from services.poker.tournament.running.facts import CancelOrdered, Paid
from services.poker.tournament.running.orders import Cancelled
from services.poker.tournament.running.state import Phase
from services.poker.tournament.specific_rules import (
    Approval,
    CancelPolicy,
    FreerollTicket,
    PayWhen,
    TournamentRules,
    verify,
)
from tests.engine.poker.tournament.builders import HOUR_MS, PRICE, Course, payouts, rules, running, sums

CHIPS = {1: 8000, 2: 5500, 3: 4000, 4: 2000}
CANCEL = CancelOrdered("a power cut")


def t_03_entries() -> dict[int, Entry]:
    """Returns ten entries of 10 € + 1 €: four still in, two of them with a rebuy, and six out, one with a rebuy."""
    entries = {
        number: Entry(number, f"p{number}", PRICE, state=EntryState.PLAYING if number <= 4 else EntryState.OUT)
        for number in range(1, 11)
    }
    for number in (1, 3, 9):
        entries[number] = entries[number].with_more(Purchase.REBUY, PRICE)
    return entries


def awards_of(
    entries: dict[int, Entry], made: TournamentRules | None = None, *, paragraph: str = "36.b", earned_cents: int = 0
) -> tuple[Award, ...]:
    return cancellation_awards(made or rules(), paragraph, entries.values(), CHIPS, earned_cents)


@pytest.mark.rule("810/2015:36.a", "810/2015:22", "810/2015:35")
def test_t_02_before_the_start_everybody_gets_the_whole_entry_back() -> None:
    course = Course(director.create("t", rules(), HOUR_MS))
    for number in range(1, 88):
        course.tell(Paid(f"p{number}"), at_ms=number)
    assert course.state.pool_cents == 87 * 1100

    course.tell(CANCEL, at_ms=HOUR_MS - 1)

    (pay_out,) = course.pay_outs()
    assert sums(pay_out.awards) == dict.fromkeys(range(1, 88), 1100)
    assert (pay_out.from_bank_cents, pay_out.to_bank_cents, course.state.pool_cents) == (0, 0, 0)
    assert {(award.why, award.rule) for award in pay_out.awards} == {(Why.ENTRY_BACK, "810/2015:36.a")}
    assert course.last[-1] == Cancelled("36.a", "a power cut")


@pytest.mark.rule("810/2015:35", "810/2015:36.a")
def test_too_few_participants_at_the_scheduled_hour_are_as_before_it() -> None:
    course = Course(director.create("t", rules(min_players=3), HOUR_MS))
    course.tell(Paid("p1"))
    course.tell(Paid("p2"))

    course.tell(at_ms=HOUR_MS)

    assert course.state.phase is Phase.CANCELLED
    assert course.paid() == {1: 1100, 2: 1100}
    assert course.all(Cancelled) == [Cancelled("36.a", "too few participants")]


@pytest.mark.rule("810/2015:36.b")
def test_t_03_after_the_start_the_pool_is_divided_by_chips() -> None:
    awards = awards_of(t_03_entries())

    assert sums(award for award in awards if award.why is Why.SHARE_BY_CHIPS) == {1: 3692, 2: 2539, 3: 1846, 4: 923}
    assert sums(awards) == {1: 4792, 2: 3639, 3: 2946, 4: 2023}
    assert sum(award.cents for award in awards) == 13_400


@pytest.mark.rule("810/2015:36.b", "810/2015:38")
def test_t_03_and_t_07_in_a_tournament_that_is_cancelled() -> None:
    made = rules(payouts=payouts(10_000), rebuys_max=1, rebuy_price=PRICE, rebuy_chips=1500, rebuy_until_level=0)
    state = running(made, {1: 8000, 2: 5500, 3: 4000, 4: 2000}, gone=6)
    entries = {number: dataclasses.replace(entry, player=f"p{number}") for number, entry in t_03_entries().items()}
    course = Course(dataclasses.replace(state, entries=entries, pool_cents=14_300))
    course.tell()
    # A hand under way is void: its bets count as the chips of their players (T-A-06).
    assert course.hand(1).positions.seats

    course.tell(CANCEL)

    assert course.paid() == {1: 4792, 2: 3639, 3: 2946, 4: 2023}
    assert 9 not in course.paid(), "the eliminated player who rebought gets nothing (T-07)"
    (pay_out,) = course.pay_outs()
    assert (pay_out.from_bank_cents, pay_out.to_bank_cents) == (0, 900)
    assert pay_out.bank_why is BankWhy.CANCELLATION
    assert course.state.pool_cents == 0
    assert course.last[-1] == Cancelled("36.b", "a power cut")


def cancelled_in_the_money(**chosen: object) -> Course:
    """Plays T-04: nine entries, third place is out, two are left with 9000 and 4500 chips."""
    made = rules(PRICE, payouts=payouts(5000, 3000, 2000), **chosen)
    course = Course(running(made, {1: 8000, 2: 4500, 3: 1000}, gone=6))
    course.tell()
    course.end_hand(1, {1: 9000, 3: 0})
    assert course.labels() == {3: "3.º"}
    course.tell(CANCEL)
    assert course.last[-1] == Cancelled("36.c", "a power cut")
    assert course.state.pool_cents == 0
    return course


@pytest.mark.rule("810/2015:36.c", "810/2015:54")
@pytest.mark.parametrize("pay_when", PayWhen)
def test_t_04_in_the_money_as_written_costs_the_operator(pay_when: PayWhen) -> None:
    course = cancelled_in_the_money(pay_when=pay_when)

    assert course.paid() == {1: 5767, 2: 3433, 3: 1800}
    assert course.pay_outs()[-1].from_bank_cents == 1100
    assert course.pay_outs()[-1].bank_why is BankWhy.CANCELLATION


@pytest.mark.rule("810/2015:36", "810/2015:36.c")
@pytest.mark.parametrize("pay_when", PayWhen)
def test_t_04_net_of_what_was_awarded(pay_when: PayWhen) -> None:
    approvals = frozenset({Approval.NET_OF_AWARDED})
    course = cancelled_in_the_money(
        cancel_policy=CancelPolicy.NET_OF_AWARDED, approvals=approvals, pay_when=pay_when
    )  # fmt: skip

    assert course.paid() == {1: 4567, 2: 2833, 3: 1800}
    assert (course.pay_outs()[-1].from_bank_cents, course.pay_outs()[-1].to_bank_cents) == (0, 700)


@pytest.mark.rule("810/2015:36.b", "810/2015:33")
def test_t_05_bounties_that_were_won_stay_won() -> None:
    price = Price(600, 100, 300)
    course = Course(running(rules(price, payouts=payouts(10_000)), {1: 5000, 2: 4000}, gone=4))
    assert course.state.pool_cents == 6 * 1000 - 1200
    course.tell()

    course.tell(CANCEL)

    assert course.paid() == {1: 2333, 2: 2067}
    assert course.pay_outs()[-1].to_bank_cents == 400


@pytest.mark.rule("810/2015:37")
def test_t_06_an_entry_that_was_won_is_reimbursed_in_money() -> None:
    entries = t_03_entries()
    entries[3] = dataclasses.replace(entries[3], paid_by=PaidBy.TICKET, ticket="one")

    own = [award for award in awards_of(entries) if award.entry == 3]

    assert [(award.cents, award.why, award.rule, award.form) for award in own] == [
        (1100, Why.ENTRY_BACK, "810/2015:37", Form.CASH),
        (1846, Why.SHARE_BY_CHIPS, "810/2015:36.b", Form.CASH),
    ]


@pytest.mark.rule("810/2015:30", "810/2015:32", "810/2015:37")
@pytest.mark.parametrize(("paragraph", "share"), [("36.a", []), ("36.b", [1846])])
def test_t_06_an_entry_won_in_a_freeroll_becomes_a_ticket_for_a_named_tournament(
    paragraph: str, share: list[int]
) -> None:
    entries = t_03_entries()
    entries[3] = dataclasses.replace(entries[3], paid_by=PaidBy.FREEROLL_TICKET, ticket="one")
    made = verify(rules(replacement_tournament="next Sunday"))

    ticket, *rest = [award for award in awards_of(entries, made, paragraph=paragraph) if award.entry == 3]

    assert (ticket.cents, ticket.form, ticket.tournament, ticket.rule) == (
        1100, Form.TICKET, "next Sunday", "810/2015:37",
    )  # fmt: skip
    assert [award.cents for award in rest] == share


@pytest.mark.rule("810/2015:37")
def test_t_06_or_money_where_the_specific_rules_say_so() -> None:
    entries = t_03_entries()
    entries[3] = dataclasses.replace(entries[3], paid_by=PaidBy.FREEROLL_TICKET, ticket="one")
    made = rules(freeroll_ticket=FreerollTicket.CASH)

    assert {award.form for award in awards_of(entries, made)} == {Form.CASH}


@pytest.mark.rule("810/2015:36.b", "810/2015:38")
def test_an_earlier_entry_of_a_player_who_came_back_counts_as_eliminated() -> None:
    entries = t_03_entries()
    entries[10] = dataclasses.replace(entries[10], player="p1")

    assert sums(awards_of(entries)) == {1: 4792, 2: 3639, 3: 2946, 4: 2023}


@pytest.mark.rule("810/2015:36.a", "810/2015:36.b", "810/2015:36.c")
def test_which_letter_a_cancellation_follows() -> None:
    assert paragraph_of(has_started=False, players_left=2, paid_places=3) == "36.a"
    assert paragraph_of(has_started=True, players_left=4, paid_places=3) == "36.b"
    assert paragraph_of(has_started=True, players_left=3, paid_places=3) == "36.c"


@pytest.mark.rule("810/2015:36.b")
def test_of_equal_remainders_the_one_registered_first_gets_the_cent() -> None:
    assert shares_by_chips(10, {3: 500, 1: 500, 2: 500}) == {1: 4, 2: 3, 3: 3}


@pytest.mark.rule("810/2015:36.b")
def test_where_nobody_has_chips_nothing_is_divided() -> None:
    assert shares_by_chips(10, {1: 0, 2: 0}) == {1: 0, 2: 0}


@pytest.mark.rule("810/2015:36.a")
def test_a_free_tournament_gives_nothing_back() -> None:
    course = Course(director.create("t", rules(Price(0), guarantee_cents=5000), HOUR_MS))
    course.tell(Paid("p1"))
    course.tell(Paid("p2"))

    course.tell(CANCEL)

    assert course.paid() == {}
    assert course.state.phase is Phase.CANCELLED

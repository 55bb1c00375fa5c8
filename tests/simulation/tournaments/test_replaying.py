"""A tournament is replayed from its facts alone, without keeping its process from anything else."""

from __future__ import annotations

import asyncio

import pytest

from feltro.poker.v1 import tournament_journal_pb2
from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.course import Course, replay
from services.poker.directing.fact_messages import Payment, UnknownFact, fact_message, read_fact
from services.poker.directing.replaying import FACTS_AT_A_TIME, replay_beside
from services.poker.tournament.money.entries import PaidBy
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import (
    AddedOn,
    CameBack,
    CancelOrdered,
    Event,
    Fact,
    HandEnded,
    HandVoided,
    Paid,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
    WentAway,
)
from services.poker.tournament.specific_rules import default_rules
from services.poker.variant import Variant

FACTS = 300


def _entered(number: int) -> JournalledFact:
    fact = fact_message(Paid(f"p{number}"), Payment(f"a{number}", f"in{number}"))
    return JournalledFact(number, number, fact.SerializeToString(), bytes(64))


@pytest.mark.guarantee("G8", "G9")
async def test_the_heartbeat_goes_on_while_facts_are_replayed() -> None:
    """Otherwise nobody could keep a tournament whose replay outlives a lease: each next owner loses it."""
    begun = Course.begin("t", default_rules(Variant.HOLDEM, Price(1_000)), 60_000)
    facts = [_entered(number) for number in range(1, FACTS + 1)]
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    course, steps = await replay_beside(begun, facts)
    beating.cancel()
    assert beats >= FACTS / FACTS_AT_A_TIME
    assert (course, steps) == replay(begun, facts)


PAYMENT = Payment("account", "paid-in")


@pytest.mark.guarantee("G10")
@pytest.mark.parametrize(
    ("fact", "payment"),
    [
        (Paid("ana"), PAYMENT),
        (Paid("ana", PaidBy.TICKET, "ticket"), PAYMENT._replace(ticket_id="ticket")),
        (Paid("ana", PaidBy.FREEROLL_TICKET, "ticket"), PAYMENT._replace(ticket_id="ticket")),
        (Rebought("ana"), PAYMENT),
        (AddedOn("ana"), PAYMENT),
        (Unregistered("ana"), None),
        (RebuyDeclined("ana"), None),
        (WentAway("ana"), None),
        (CameBack("ana"), None),
        (HandEnded(3, 17, {1: 0, 4: 3_000}, {1: (4,)}), None),
        (HandVoided(3, 17), None),
        (CancelOrdered("a power cut"), None),
        (TimePassed(), None),
    ],
)
def test_g10_a_fact_is_read_back_as_it_was_written(fact: Fact, payment: Payment | None) -> None:
    assert read_fact(fact_message(fact, payment).SerializeToString()) == (fact, payment)


@pytest.mark.guarantee("G12")
def test_g12_a_fact_that_only_a_newer_release_knows_is_not_passed_over() -> None:
    with pytest.raises(UnknownFact, match="newer release"):
        read_fact(tournament_journal_pb2.TournamentFact().SerializeToString())


@pytest.mark.guarantee("G10", "G12")
def test_g12_a_journal_in_which_a_fact_is_missing_is_not_replayed() -> None:
    begun = Course.begin("t", default_rules(Variant.HOLDEM, Price(1_000)), 60_000)
    with pytest.raises(ValueError, match="Fact 2 is missing"):
        replay(begun, [_entered(1), _entered(3)])


@pytest.mark.guarantee("G1", "G12")
def test_g12_nothing_is_bought_without_its_payment() -> None:
    begun = Course.begin("t", default_rules(Variant.HOLDEM, Price(1_000)), 60_000)
    with pytest.raises(ValueError, match="with its payment"):
        fact_message(Paid("ana"))
    with pytest.raises(ValueError, match="with its payment"):
        begun.after(Event(1, Paid("ana"), bytes(64)))

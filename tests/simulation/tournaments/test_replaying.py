"""A long tournament is replayed without keeping its process from anything else."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.course import Course, replay
from services.poker.directing.fact_messages import Payment, fact_message
from services.poker.directing.replaying import FACTS_AT_A_TIME, replay_beside
from services.poker.tournament.price import Price
from services.poker.tournament.running.facts import Paid
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

"""The course of a tournament with its money: what each fact of the journal changes, orders and pays.

Pure: whoever replays the facts, the next owner or `feltro replay`, has the same state, orders and transfers (G10).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.books import Books, Paid, WalletPayOut, copy_of
from services.poker.directing.fact_messages import Payment, read_fact
from services.poker.tournament.price import Price
from services.poker.tournament.running import director
from services.poker.tournament.running.facts import AddedOn, Event, Fact, Rebought
from services.poker.tournament.running.facts import Paid as EntryPaid
from services.poker.tournament.running.orders import Cancelled, Finished, Order, Pay
from services.poker.tournament.running.state import Phase, Tournament, next_due_ms
from services.poker.tournament.specific_rules import TournamentRules

_OVER = frozenset({Phase.FINISHED, Phase.CANCELLED})


class Transfer(NamedTuple):
    """A transfer out of the pool, and the request by which every owner asks the wallet for it."""

    request_id: str
    pay_out: WalletPayOut


class Ending(NamedTuple):
    """How and when a tournament ended; the paragraph of 36 is that of a cancellation."""

    at_ms: int
    paragraph: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One fact, and what followed from it."""

    number: int
    event: Event
    orders: tuple[Order, ...]
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """A tournament after so many facts. Never changed once made, but its books, which `after` copies."""

    state: Tournament
    books: Books
    facts: int = 0
    ending: Ending | None = None
    # The time of the last fact: no later one is earlier.
    at_ms: int = 0

    @classmethod
    def begin(cls, tournament_id: str, rules: TournamentRules, starts_at_ms: int | None) -> Course:
        return cls(director.create(tournament_id, rules, starts_at_ms), Books(is_freeroll=rules.is_freeroll))

    @property
    def is_over(self) -> bool:
        return self.state.phase in _OVER

    @property
    def next_due_ms(self) -> int | None:
        return next_due_ms(self.state)

    def after(self, event: Event, payment: Payment | None = None) -> tuple[Course, Step]:
        """Returns the course after a fact, and what follows from it."""
        number, books = self.facts + 1, copy_of(self.books)
        current = self._pay_in(books, event.fact, payment)
        state, orders = director.apply(self.state, event)
        transfers: list[Transfer] = []
        for position, order in enumerate(orders):
            if isinstance(order, Pay):
                for part, pay_out in enumerate(books.pay_out(order.pay_out, current)):
                    transfers.append(Transfer(f"{state.id}:{number}:{position}:{part}", pay_out))
        books.verify(state.pool_cents)
        after = dataclasses.replace(
            self, state=state, books=books, facts=number, ending=self._ending(event, orders), at_ms=event.at_ms
        )
        return after, Step(number, event, orders, tuple(transfers))

    def _pay_in(self, books: Books, fact: Fact, payment: Payment | None) -> Paid | None:
        if not isinstance(fact, EntryPaid | Rebought | AddedOn):
            return None
        if payment is None:
            raise ValueError("A purchase comes with its payment.")
        paid = Paid(payment, self.price_of(fact))
        books.pay_in(fact.player, payment, paid.price)
        if isinstance(fact, EntryPaid):
            books.entries[len(self.state.entries) + 1] = paid
        return paid

    def _ending(self, event: Event, orders: Sequence[Order]) -> Ending | None:
        for order in orders:
            if isinstance(order, Finished):
                return Ending(event.at_ms)
            if isinstance(order, Cancelled):
                return Ending(event.at_ms, order.paragraph, order.reason)
        return self.ending

    def price_of(self, fact: EntryPaid | Rebought | AddedOn) -> Price:
        """Returns what a purchase costs."""
        rules = self.state.rules
        if isinstance(fact, Rebought):
            return rules.rebuy_price
        return rules.addon_price if isinstance(fact, AddedOn) else rules.price


def replay(course: Course, facts: Sequence[JournalledFact]) -> tuple[Course, list[Step]]:
    """Returns the course after all facts of the journal, and each of its steps."""
    steps: list[Step] = []
    for journalled in facts:
        fact, payment = read_fact(journalled.fact)
        course, step = course.after(Event(journalled.at_ms, fact, journalled.entropy), payment)
        if step.number != journalled.number:
            raise ValueError(f"Fact {step.number} is missing from the journal.")
        steps.append(step)
    return course, steps

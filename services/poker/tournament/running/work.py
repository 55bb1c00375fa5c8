"""What handling one fact changes: the state, step by step, and the orders and payments that follow from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from services.poker.tournament.money.awards import Award, Form, PayOut, Why
from services.poker.tournament.money.entries import Entry, EntryState, PaidBy
from services.poker.tournament.price import Price
from services.poker.tournament.refusals import rule
from services.poker.tournament.running import orders
from services.poker.tournament.running.orders import Order
from services.poker.tournament.running.state import Tournament
from services.poker.tournament.specific_rules import PayWhen
from services.poker.tournament.tables.draws import Draws
from services.poker.tournament.tables.lineup import TournamentTable


class Work:
    """The state as one fact changes it."""

    def __init__(self, state: Tournament, entropy: bytes) -> None:
        self.state = state
        self.draws = Draws(entropy)
        # Whether awards are gathered for one transfer at the end (54).
        self.pays_at_end = state.rules.pay_when is PayWhen.AT_END
        self._orders: list[Order] = []

    def orders(self) -> tuple[Order, ...]:
        """Returns all orders, the draws that they follow from first."""
        drawn = (orders.DrawsMade(tuple(self.draws.made)),) if self.draws.made else ()
        return (*drawn, *self._orders)

    def order(self, order: Order) -> None:
        self._orders.append(order)

    def update(self, **changed: object) -> None:
        """Changes fields of the state by their names; a name that is none raises `TypeError`."""
        self.state = dataclasses.replace(self.state, **changed)  # type: ignore[arg-type]

    def put(self, entry: Entry) -> None:
        self.update(entries={**self.state.entries, entry.number: entry})

    def put_table(self, table: TournamentTable) -> None:
        self.update(tables={**self.state.tables, table.number: table})

    def stop_waiting(self, number: int) -> None:
        """Waits no longer for the rebuy of an entry."""
        self.update(awaited={entry: each for entry, each in self.state.awaited.items() if entry != number})

    def next_hand_number(self) -> int:
        self.update(hands_started=self.state.hands_started + 1)
        return self.state.hands_started

    # -- money -------------------------------------------------------------------------------------------------------

    def award(self, awards: Iterable[Award]) -> None:
        """Credits prizes and bounties: at once, or at the end (54)."""
        awards = tuple(awards)
        if not awards:
            return
        if self.pays_at_end:
            self.update(due=(*self.state.due, *awards))
        else:
            self.pay(PayOut(awards))

    def pay(self, pay_out: PayOut) -> None:
        pool_cents = self.state.pool_cents - pay_out.out_of_pool_cents
        if pool_cents < 0:
            raise AssertionError(f"the pool lacks {-pool_cents} cents")
        self.update(pool_cents=pool_cents)
        self.order(orders.Pay(pay_out))

    def give_back(self, entry: Entry, why: Why, paragraph: str) -> None:
        """Gives a whole entry back: money, or the ticket that it was paid with (24, 25, T-A-02)."""
        withdrawn = dataclasses.replace(entry, state=EntryState.WITHDRAWN)
        self.put(withdrawn)
        cents = entry.price.total_cents
        if not cents:
            return
        award = Award(entry.number, entry.player, cents, why, rule(paragraph))
        if entry.paid_by is not PaidBy.CASH:
            award = award._replace(form=Form.TICKET, tournament=self.state.id, ticket=entry.ticket)
        self.pay(PayOut((award,)))

    def give_back_more(self, player: str, price: Price) -> None:
        """Gives back at once what was paid for more chips when that was no longer possible (23)."""
        if not price.total_cents:
            return
        entry = self.state.entries_of(player)[-1]
        # Each by itself: the number tells one such payment from another.
        number = self.state.late_payments + 1
        self.update(late_payments=number)
        award = Award(entry.number, player, price.total_cents, Why.TOO_LATE, rule("23"), of_entry=number)
        self.pay(PayOut((award,)))

"""Tournaments in the middle of their course, entries, and what orders say, for tests."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import pytest

from services.poker.tournament.levels import Level
from services.poker.tournament.money.awards import Award, Form, PayOut
from services.poker.tournament.money.entries import Entry, EntryState, collected
from services.poker.tournament.payouts import PayoutRow
from services.poker.tournament.price import Price
from services.poker.tournament.refusals import TournamentRefused
from services.poker.tournament.running import director
from services.poker.tournament.running.facts import Event, Fact, HandEnded, TimePassed
from services.poker.tournament.running.orders import Order, Pay, Ranked, StartHand
from services.poker.tournament.running.state import Phase, Tournament, entropy_bytes
from services.poker.tournament.specific_rules import Start, TournamentRules, default_rules
from services.poker.tournament.tables.lineup import RunningHand, TournamentTable
from services.poker.variant import Variant

PRICE = Price(1000, 100)
HOUR_MS = 3_600_000
ONE_LEVEL = (Level(50, 100),)
SomeOrder = TypeVar("SomeOrder", bound=Order)


def rules(price: Price = PRICE, **chosen: object) -> TournamentRules:
    """Returns rules of a tournament of 10 € + 1 € with one level and nothing to be bought later."""
    return default_rules(
        Variant.HOLDEM, price, **{"levels": ONE_LEVEL, "late_reg_until_level": 0, **chosen}
    )  # fmt: skip


def payouts(*bps: int) -> tuple[PayoutRow, ...]:
    """Returns a payout table that has one row for all fields."""
    return (PayoutRow(10_000, bps),)


def entropy(seed: object, count: int = 2000) -> bytes:
    """Returns the same entropy for the same seed."""
    return hashlib.shake_256(str(seed).encode()).digest(count)


def players(count: int, **chosen: object) -> dict[int, Entry]:
    """Returns entries by players `p1`, `p2`, …"""
    return {number: Entry(number, f"p{number}", PRICE, **chosen) for number in range(1, count + 1)}  # type: ignore[arg-type]


def running(
    made: TournamentRules,
    *tables: Mapping[int, int],
    gone: int = 0,
    level: int = 1,
    buttons: Sequence[int | None] = (),
) -> Tournament:
    """Returns a tournament under way with these chips by seat, entries numbered in the order of tables and seats.

    Before them so many entries were eliminated, whose places are final.
    """
    entries: dict[int, Entry] = {}
    open_tables: dict[int, TournamentTable] = {}
    for at, seats in enumerate(tables):
        table = TournamentTable(at + 1, made.seats, button=buttons[at] if buttons else None)
        for seat, chips in seats.items():
            number = len(entries) + 1
            entries[number] = Entry(number, f"p{number}", made.price, state=EntryState.PLAYING)
            table = table.sit(seat, number, chips)
        open_tables[table.number] = table
    for _ in range(gone):
        number = len(entries) + 1
        entries[number] = Entry(number, f"p{number}", made.price, state=EntryState.OUT)
    paid = collected(entries.values())
    bounties_gone = sum(made.price.bounty_cents for each in entries.values() if each.state is EntryState.OUT)
    scheduled = made.start is Start.SCHEDULED
    return Tournament(
        "t",
        made,
        HOUR_MS if scheduled else None,
        phase=Phase.RUNNING,
        now_ms=HOUR_MS,
        started_at_ms=HOUR_MS,
        entries=entries,
        tables=open_tables,
        tables_opened=len(open_tables),
        level=level,
        pool_cents=paid.total_cents - bounties_gone,
    )


class Course:
    """A tournament with all that was ordered of it; the same facts give the same course."""

    def __init__(self, state: Tournament) -> None:
        self.state = state
        self.events: list[Event] = []
        self.orders: list[Order] = []
        self.last: tuple[Order, ...] = ()

    def tell(self, fact: Fact | None = None, *, at_ms: int | None = None) -> tuple[Order, ...]:
        """Applies a fact; without one, time passes."""
        now_ms = self.state.now_ms if at_ms is None else at_ms
        event = Event(now_ms, fact or TimePassed(), entropy(len(self.events), entropy_bytes(self.state)))
        self.events.append(event)
        self.state, self.last = director.apply(self.state, event)
        self.orders.extend(self.last)
        return self.last

    def hand(self, table: int) -> RunningHand:
        hand = self.state.tables[table].hand
        assert hand is not None, f"table {table} plays no hand"
        return hand

    def end_hand(self, table: int, chips: Mapping[int, int], **takers: tuple[int, ...]) -> tuple[Order, ...]:
        """Ends a table's hand with these chips by seat, those of other seats as they were; `s3=(1, 2)` names takers."""
        hand = self.hand(table)
        before = dict(zip(hand.positions.seats, hand.positions.stacks, strict=True))
        after = {**before, **chips}
        winners = tuple(seat for seat in hand.positions.seats if after[seat] > before[seat])
        taken = {seat: takers.get(f"s{seat}", winners) for seat in after if not after[seat]}
        return self.tell(HandEnded(table, hand.number, after, taken))

    def all(self, kind: type[SomeOrder]) -> list[SomeOrder]:
        return [order for order in self.orders if isinstance(order, kind)]

    @property
    def started(self) -> set[int]:
        """The tables that began a hand by the last fact."""
        return {order.table for order in self.last if isinstance(order, StartHand)}

    def paid(self, *, form: Form = Form.CASH) -> dict[int, int]:
        """Returns what each entry was paid in all."""
        return sums(self.awards(), form=form)

    def awards(self) -> list[Award]:
        return [award for order in self.all(Pay) for award in order.pay_out.awards]

    def pay_outs(self) -> list[PayOut]:
        return [order.pay_out for order in self.all(Pay)]

    def labels(self) -> dict[int, str]:
        """Returns the final place of each entry."""
        return {entry: order.place.label for order in self.all(Ranked) for entry in order.place.entries}

    def with_rules(self, **changed: object) -> None:
        self.state = dataclasses.replace(self.state, rules=dataclasses.replace(self.state.rules, **changed))  # type: ignore[arg-type]


def sums(awards: Iterable[Award], *, form: Form = Form.CASH) -> dict[int, int]:
    """Returns what awards give each entry in all."""
    paid: dict[int, int] = {}
    for award in awards:
        if award.form is form:
            paid[award.entry] = paid.get(award.entry, 0) + award.cents
    return paid


def refusal_of(call: Callable[[], object]) -> TournamentRefused:
    with pytest.raises(TournamentRefused) as caught:
        call()
    return caught.value

"""Entries: what was paid for each, with what, in which parts, and how each stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from services.poker.tournament.price import Price


class PaidBy(StrEnum):
    """What an entry was paid with."""

    CASH = "cash"
    # An entry that was won (28 to 30): its parts are in the pool, paid by the tournament that gave the ticket.
    TICKET = "ticket"
    FREEROLL_TICKET = "freeroll_ticket"


class EntryState(StrEnum):
    """How an entry stands."""

    REGISTERED = "registered"
    # Taken back before the start (24).
    WITHDRAWN = "withdrawn"
    PLAYING = "playing"
    OUT = "out"


class Purchase(StrEnum):
    """What can be paid into a tournament."""

    ENTRY = "entry"
    REENTRY = "reentry"
    REBUY = "rebuy"
    ADDON = "addon"


class PayIn(NamedTuple):
    """What a player is to be debited at once (22): the tournament counts it when it has been paid."""

    player: str
    purchase: Purchase
    price: Price
    paid_by: PaidBy = PaidBy.CASH
    ticket: str = ""


class MoreChips(NamedTuple):
    """A rebuy or an add-on that an entry has paid for."""

    purchase: Purchase
    price: Price


@dataclass(frozen=True, slots=True)
class Entry:
    """One registration or re-entry: each is an entry of its own (T-A-05). Never changed once made."""

    # In the order of registration (T-A-22).
    number: int
    player: str
    price: Price
    paid_by: PaidBy = PaidBy.CASH
    ticket: str = ""
    is_reentry: bool = False
    state: EntryState = EntryState.REGISTERED
    more_chips: tuple[MoreChips, ...] = ()

    @property
    def prices(self) -> tuple[Price, ...]:
        """All that was paid with this entry."""
        return (self.price, *(more.price for more in self.more_chips))

    @property
    def is_in(self) -> bool:
        return self.state in {EntryState.REGISTERED, EntryState.PLAYING}

    def count(self, purchase: Purchase) -> int:
        """Returns how many rebuys or add-ons were made."""
        return sum(more.purchase is purchase for more in self.more_chips)

    def with_more(self, purchase: Purchase, price: Price) -> Entry:
        return dataclasses.replace(self, more_chips=(*self.more_chips, MoreChips(purchase, price)))


def counted(entries: Iterable[Entry]) -> list[Entry]:
    """Returns the entries that make up the field: all that were not taken back."""
    return [entry for entry in entries if entry.state is not EntryState.WITHDRAWN]


def collected(entries: Iterable[Entry]) -> Price:
    """Returns what the field has paid, in its parts (T-A-21): entries, re-entries, rebuys and add-ons."""
    prices = [price for entry in counted(entries) for price in entry.prices]
    return Price(
        sum(price.prize_cents for price in prices),
        sum(price.fee_cents for price in prices),
        sum(price.bounty_cents for price in prices),
    )

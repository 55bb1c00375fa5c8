"""What a tournament pays: to whom, how much, why, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Why(StrEnum):
    """Why an award is paid."""

    PRIZE = "prize"
    BOUNTY = "bounty"
    # The champion's own bounty, or that of each who is left (T-A-23).
    OWN_BOUNTY = "own_bounty"
    UNREGISTERED = "unregistered"
    # Paid for an entry or for more chips when that was no longer possible (23).
    TOO_LATE = "too_late"
    # The entry given back when a tournament is cancelled, and the part of the pool by chips (36).
    ENTRY_BACK = "entry_back"
    SHARE_BY_CHIPS = "share_by_chips"


class Form(StrEnum):
    """What an award is made of: money, or an entry to a predetermined later tournament (32)."""

    CASH = "cash"
    TICKET = "ticket"


class Award(NamedTuple):
    """One payment out of the pool of a tournament. A ticket takes its value out of the pool, too."""

    entry: int
    player: str
    cents: int
    why: Why
    rule: str
    form: Form = Form.CASH
    # The tournament that a ticket is for, and the ticket that is given back; `place` for a prize.
    tournament: str = ""
    ticket: str = ""
    place: str = ""
    # Whose bounty it is, or the number of a payment that came too late.
    of_entry: int = 0

    @property
    def key(self) -> str:
        """What names the award in its tournament: paying it again under this key pays nothing (T-A-17)."""
        return f"{self.why}:{self.form}:{self.entry}:{self.of_entry}"


class BankWhy(StrEnum):
    """Why the operator pays in or takes out."""

    NOTHING = ""
    GUARANTEE = "guarantee"  # inf-19
    FEES = "fees"  # inf-03
    CANCELLATION = "cancellation"  # what a cancelled tournament leaves over, or what it lacks (T-A-04)


class PayOut(NamedTuple):
    """One transfer between the pool of a tournament, its players and the operator's bank; all of it or nothing."""

    awards: tuple[Award, ...] = ()
    # Into the pool: a guarantee, or the shortfall of a cancellation; out of it: fees, or what is left.
    from_bank_cents: int = 0
    to_bank_cents: int = 0
    bank_why: BankWhy = BankWhy.NOTHING

    @property
    def out_of_pool_cents(self) -> int:
        """What the pool has less afterwards."""
        return total_cents(self.awards) + self.to_bank_cents - self.from_bank_cents


def total_cents(awards: Iterable[Award]) -> int:
    return sum(award.cents for award in awards)

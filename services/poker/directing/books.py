"""Maps the pool of the engine to the pool of the wallet, exactly and at every moment.

The engine counts whole prices into its pool, fees among them, and books a guarantee when the prizes are frozen; the
wallet books fees to the bank at once, and takes what the operator adds in the transfer that pays it out. So always

    pool of the wallet = pool of the engine - fees that the engine still holds - overlay that is not booked yet

which `Books.verify` asserts after every fact. At the end all of them are 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from services.poker.directing.fact_messages import Payment
from services.poker.tournament.money.awards import Award, BankWhy, Form, PayOut, Why
from services.poker.tournament.price import FREE, Price

# Awards of one transfer, as many as the wallet takes: the largest cancellation takes several.
AWARDS_LIMIT = 5_000

_REFUNDS = frozenset({Why.UNREGISTERED, Why.TOO_LATE, Why.ENTRY_BACK})


class BooksDiffer(AssertionError):
    """The engine's pool and the wallet's cannot be mapped: the tournament stops before more is paid (G1, G12)."""


@dataclass(frozen=True, slots=True)
class Paid:
    """What was paid in by one request of the wallet."""

    payment: Payment
    price: Price


@dataclass(frozen=True, slots=True)
class WalletAward:
    """One award of a transfer; of a refund, with the pay-in that is given back."""

    account_id: str
    award: Award
    refunded: str = ""
    # The ticket that the refunded pay-in was made with.
    refunded_ticket: str = ""
    # Of a ticket as a prize: whether it was won in a freeroll (30).
    from_freeroll: bool = False


@dataclass(frozen=True, slots=True)
class WalletPayOut:
    """One transfer out of the pool of the wallet."""

    awards: tuple[WalletAward, ...]
    overlay_cents: int = 0
    shortfall_cents: int = 0


@dataclass(slots=True)
class Books:
    """What the wallet's pool of a tournament holds, as it follows from the facts."""

    is_freeroll: bool = False
    wallet_cents: int = 0
    # In the engine's pool, and with the bank in truth.
    fees_cents: int = 0
    # Promised by the operator, and not in the wallet's pool.
    overlay_cents: int = 0
    # By the number of the entry.
    entries: dict[int, Paid] = field(default_factory=dict)
    # What entries were paid, by entry and reason.
    paid: dict[tuple[int, Why], int] = field(default_factory=dict)
    # And of it the face values of tickets.
    paid_tickets: dict[tuple[int, Why], int] = field(default_factory=dict)
    overlay_paid_cents: int = 0
    shortfall_paid_cents: int = 0
    # Parts of prices that were paid in, and of those that were given back.
    taken: Price = FREE
    refunded: Price = FREE
    accounts: dict[str, str] = field(default_factory=dict)

    def pay_in(self, player: str, payment: Payment, price: Price) -> None:
        """Books what a player has paid; a price of 0 is not paid in."""
        self.accounts[player] = payment.account_id
        self.taken = _sum(self.taken, price)
        if price.total_cents:
            self.wallet_cents += price.prize_cents + price.bounty_cents
            self.fees_cents += price.fee_cents

    def pay_out(self, pay_out: PayOut, current: Paid | None) -> list[WalletPayOut]:
        """Books a payment of the engine, and returns the transfers that it is; `current` is what the fact has paid."""
        match pay_out.bank_why:
            case BankWhy.GUARANTEE:
                # Booked with the awards that it pays (inf-19).
                self.overlay_cents += pay_out.from_bank_cents
            case BankWhy.FEES:
                # With the bank since they were paid in.
                self.fees_cents -= pay_out.to_bank_cents
        if pay_out.bank_why is BankWhy.CANCELLATION:
            return self._cancellation(pay_out, current)
        return self._transfers(pay_out.awards, current, overlay_first=True)

    def verify(self, engine_cents: int) -> None:
        """Asserts that the pools agree."""
        mapped = engine_cents - self.fees_cents - self.overlay_cents
        if self.wallet_cents != mapped or self.wallet_cents < 0:
            raise BooksDiffer(f"the wallet's pool holds {self.wallet_cents} cents, and {mapped} by the engine")

    def _cancellation(self, pay_out: PayOut, current: Paid | None) -> list[WalletPayOut]:
        """Books a cancellation: kept fees leave the engine's pool, and so does a promise that is not needed."""
        transfers = self._transfers(pay_out.awards, current, overlay_first=False)
        self.fees_cents = self.overlay_cents = 0
        return transfers

    def _transfers(self, awards: Iterable[Award], current: Paid | None, *, overlay_first: bool) -> list[WalletPayOut]:
        """Divides awards into transfers: refunds before all others, which alone may need money of the bank."""
        ordered = sorted(awards, key=lambda award: award.why not in _REFUNDS)
        transfers: list[WalletPayOut] = []
        for first in range(0, len(ordered), AWARDS_LIMIT):
            some = ordered[first : first + AWARDS_LIMIT]
            made = [self._award(award, current) for award in some]
            refunds = [each for each in made if each.refunded]
            fees = sum(self._paid(each.award, current).price.fee_cents for each in refunds)
            winnings = sum(each.award.cents for each in made if not each.refunded)
            needed = sum(each.award.cents for each in made) - fees
            lacking = max(0, needed - self.wallet_cents)
            # Overlay is booked as early as possible, so that what was paid in is there for a cancellation.
            overlay = min(self.overlay_cents, winnings if overlay_first else min(lacking, winnings))
            shortfall = max(0, needed - overlay - self.wallet_cents)
            if shortfall and overlay_first:
                raise BooksDiffer(f"the pool lacks {shortfall} cents for prizes")
            if overlay + shortfall > winnings:
                raise BooksDiffer("the pool lacks money for refunds")
            self.overlay_cents -= overlay
            self.wallet_cents += overlay + shortfall - needed
            self.fees_cents -= fees
            self.overlay_paid_cents += overlay
            self.shortfall_paid_cents += shortfall
            for each in made:
                self._record(each, current)
            transfers.append(WalletPayOut(tuple(made), overlay, shortfall))
        return transfers

    def _award(self, award: Award, current: Paid | None) -> WalletAward:
        account_id = self.accounts[award.player]
        if award.why not in _REFUNDS:
            is_ticket = award.form is Form.TICKET
            return WalletAward(account_id, award, from_freeroll=is_ticket and self.is_freeroll)
        payment = self._paid(award, current).payment
        return WalletAward(account_id, award, payment.pay_in_id, payment.ticket_id)

    def _record(self, each: WalletAward, current: Paid | None) -> None:
        award = each.award
        key = award.entry, award.why
        self.paid[key] = self.paid.get(key, 0) + award.cents
        if award.form is Form.TICKET:
            self.paid_tickets[key] = self.paid_tickets.get(key, 0) + award.cents
        if each.refunded:
            self.refunded = _sum(self.refunded, self._paid(award, current).price)

    def sum_of(self, *reasons: Why) -> int:
        """Returns what was paid for these reasons, the face values of tickets among it."""
        return _sum_of(self.paid, reasons)

    def tickets_of(self, *reasons: Why) -> int:
        """Returns the face values of the tickets that were paid for these reasons."""
        return _sum_of(self.paid_tickets, reasons)

    def _paid(self, award: Award, current: Paid | None) -> Paid:
        """Returns what a refund gives back: an entry, or what has just been paid too late (23)."""
        if award.why is Why.TOO_LATE and current is not None:
            return current
        return self.entries[award.entry]


def copy_of(books: Books) -> Books:
    """Returns the same books; what is booked there changes nothing here."""
    return dataclasses.replace(
        books,
        entries=dict(books.entries),
        accounts=dict(books.accounts),
        paid=dict(books.paid),
        paid_tickets=dict(books.paid_tickets),
    )


def _sum_of(paid: Mapping[tuple[int, Why], int], reasons: Collection[Why]) -> int:
    return sum(cents for (_, why), cents in paid.items() if why in reasons)


def _sum(one: Price, other: Price) -> Price:
    return Price(*(first + second for first, second in zip(one, other, strict=True)))

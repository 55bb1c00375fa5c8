"""What an entry, a rebuy or an add-on costs, in its parts."""

from __future__ import annotations

from typing import NamedTuple


class Price(NamedTuple):
    """The part for prizes (*parte destinada a prémios*, 36.b), the operator's fee, and the bounty, in cents (inf-03).

    The whole is what the regulation calls the *taxa de inscrição* (T-A-01).
    """

    prize_cents: int
    fee_cents: int = 0
    bounty_cents: int = 0

    @property
    def total_cents(self) -> int:
        return self.prize_cents + self.fee_cents + self.bounty_cents


FREE = Price(0)

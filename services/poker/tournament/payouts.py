"""The payout table: how many places are paid, and with which part of the pool each, by the size of the field (34)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WHOLE_BPS = 10_000


class PayoutRow(NamedTuple):
    """The parts of the pool, in hundredths of a percent from first place down, for up to so many entries."""

    entries_up_to: int
    bps: tuple[int, ...]


def row_of(table: Sequence[PayoutRow], entries: int) -> tuple[int, ...]:
    """Returns the parts for a field; the last row serves all larger ones."""
    return next((row.bps for row in table if entries <= row.entries_up_to), table[-1].bps)


def _falling(places: int) -> tuple[int, ...]:
    """Returns parts that fall from place to place: each place weighs as the inverse of its number and a half more."""
    weights = [2 * WHOLE_BPS // (2 * place + 3) for place in range(places)]
    bps = [WHOLE_BPS * weight // sum(weights) for weight in weights]
    bps[0] += WHOLE_BPS - sum(bps)
    return tuple(bps)


DEFAULT_PAYOUTS = (
    PayoutRow(4, (10_000,)),
    PayoutRow(7, (6500, 3500)),
    PayoutRow(12, (5000, 3000, 2000)),
    PayoutRow(20, (4000, 3000, 2000, 1000)),
    PayoutRow(35, (3800, 2500, 1600, 1200, 900)),
    PayoutRow(50, (3300, 2200, 1600, 1200, 900, 800)),
    PayoutRow(70, (3000, 2000, 1400, 1100, 900, 700, 500, 400)),
    PayoutRow(100, (2800, 1900, 1300, 1000, 800, 650, 550, 400, 300, 300)),
    PayoutRow(200, _falling(20)),
    PayoutRow(400, _falling(40)),
    PayoutRow(10_000, _falling(80)),
)

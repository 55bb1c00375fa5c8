"""How much a player may bring to a table: the cave inicial, also after leaving it (A-17, A-18), and a *reposição*."""

from __future__ import annotations

from typing import NamedTuple

from services.poker import refusals
from services.poker.specific_rules import SpecificRules

_MINUTE_MS = 60_000


class Bounds(NamedTuple):
    """The least and the most of an amount."""

    minimum_cents: int
    maximum_cents: int


class Departure(NamedTuple):
    """What a player had who left a table of equal stakes and variant, and when."""

    cave_cents: int
    left_at_ms: int


def entry_bounds(rules: SpecificRules, departure: Departure | None, now_ms: int) -> Bounds:
    """Returns what a player may sit down with: the cave inicial (8), or at least what the player left with (A-18)."""
    least, most = rules.cave_min_cents, rules.cave_max_cents
    if departure is not None and now_ms - departure.left_at_ms < rules.rathole_window_min * _MINUTE_MS:
        least, most = max(least, departure.cave_cents), max(most, departure.cave_cents)
    return Bounds(least, most)


def verify_entry(rules: SpecificRules, cave_cents: int, bounds: Bounds) -> None:
    """Refuses a cave inicial outside of the bounds."""
    if not bounds.minimum_cents <= cave_cents <= bounds.maximum_cents:
        returning = bounds.minimum_cents > rules.cave_min_cents
        why = ", at least what you left this table with" if returning else ", the table's cave inicial"
        raise refusals.cave_out_of_bounds(cave_cents, *bounds, rules.variant.rule("8"), why=why)


def top_up_bounds(rules: SpecificRules, cave_cents: int) -> Bounds | None:
    """Returns by how much a cave may be topped up (12, 14, 15); None if it is full."""
    most = rules.top_up_to_max_cents - cave_cents
    return Bounds(max(rules.top_up_to_min_cents - cave_cents, 1), most) if most > 0 else None


def verify_top_up(rules: SpecificRules, cave_cents: int, amount_cents: int) -> None:
    """Refuses a *reposição* that the cave has no room for, or that would leave it too small."""
    rule = rules.variant.rule("14")
    bounds = top_up_bounds(rules, cave_cents)
    if bounds is None:
        most = rules.top_up_to_max_cents
        raise refusals.cave_out_of_bounds(amount_cents, 0, 0, rule, why=f": a cave is topped up to {most} at most")
    if not bounds.minimum_cents <= amount_cents <= bounds.maximum_cents:
        raise refusals.cave_out_of_bounds(amount_cents, *bounds, rule)


def fitting_top_up_cents(rules: SpecificRules, cave_cents: int, waiting_cents: int) -> int:
    """Returns how much of a *reposição* that has waited for the end of the hand fits now; the rest is released."""
    bounds = top_up_bounds(rules, cave_cents)
    if bounds is None or waiting_cents < bounds.minimum_cents:
        return 0
    return min(waiting_cents, bounds.maximum_cents)

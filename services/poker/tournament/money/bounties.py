"""Bounties (*prémios de eliminação*, 33, 34): who takes an eliminated player's, and how it is divided (T-A-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.poker.hand.settlement import split
from services.poker.hand.state import Hand
from services.poker.tournament.money.awards import Award, Why
from services.poker.tournament.money.entries import Entry
from services.poker.tournament.refusals import rule


def takers(hand: Hand) -> Mapping[int, tuple[int, ...]]:
    """Returns, for each seat that a hand has left without chips, the seats that won its last chips.

    These are the winners of the highest layer of the pot that the player was in, clockwise from the button.
    """
    result, seats = hand.result, hand.deal.seats
    if result is None:
        raise ValueError("A hand that goes on has eliminated nobody: wait for its end.")
    taken: dict[int, tuple[int, ...]] = {}
    for position, stack in enumerate(result.stacks):
        if stack == 0:
            last = max(number for number, pot in enumerate(result.pots) if position in pot.positions)
            taken[seats[position]] = tuple(seats[paid.position] for paid in result.payments if paid.pot == last)
    return taken


def bounty_awards(out: Entry, taken_by: Sequence[Entry]) -> tuple[Award, ...]:
    """Returns what an eliminated entry's bounty pays; several takers share, odd cents clockwise from the button."""
    return tuple(
        Award(taker.number, taker.player, cents, Why.BOUNTY, rule("33"), of_entry=out.number)
        for taker, cents in zip(taken_by, split(out.price.bounty_cents, len(taken_by)), strict=True)
        if cents
    )


def own_bounty(entry: Entry) -> tuple[Award, ...]:
    """Returns the own bounty of an entry that nobody has eliminated: otherwise the money would be left over."""
    if not entry.price.bounty_cents:
        return ()
    return (
        Award(entry.number, entry.player, entry.price.bounty_cents, Why.OWN_BOUNTY, rule("33"), of_entry=entry.number),
    )

"""The prizes: the pool and its division (34, T-A-21), a satellite's tickets (32, T-A-16), and what a place is paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.poker.hand.settlement import split
from services.poker.tournament.money.awards import Award, Form, Why
from services.poker.tournament.money.entries import Entry, collected, counted
from services.poker.tournament.payouts import WHOLE_BPS, row_of
from services.poker.tournament.ranking import Place
from services.poker.tournament.refusals import rule
from services.poker.tournament.specific_rules import TicketPrize, TournamentRules


class Prize(NamedTuple):
    """The prize of one place: money, a ticket, or both."""

    cents: int = 0
    ticket_cents: int = 0

    @property
    def value_cents(self) -> int:
        return self.cents + self.ticket_cents


@dataclass(frozen=True, slots=True)
class Prizes:
    """The prizes of a field: provisional while entries, rebuys or add-ons can come, then frozen (T-A-21)."""

    pool_cents: int
    # What the operator adds to what was collected (inf-19).
    overlay_cents: int
    # From first place down.
    places: tuple[Prize, ...]
    # The tournament that tickets are for.
    tournament: str = ""

    @property
    def paid_places(self) -> int:
        return len(self.places)

    @property
    def tickets(self) -> int:
        return sum(prize.ticket_cents > 0 for prize in self.places)

    def of(self, place: Place) -> tuple[Prize, ...]:
        """Returns the prizes of the places that entries share, the unpaid ones left out."""
        return self.places[place.first - 1 : place.last]


def prizes_of(rules: TournamentRules, entries: Iterable[Entry]) -> Prizes:
    """Returns the prizes for a field as it is now."""
    entries = tuple(entries)
    collected_cents = collected(entries).prize_cents
    pool_cents = max(collected_cents, rules.guarantee_cents)
    field = len(counted(entries))
    if rules.satellite is None:
        places = tuple(Prize(cents) for cents in divide(pool_cents, row_of(rules.payouts, field)))
        return Prizes(pool_cents, pool_cents - collected_cents, places)
    places = _satellite(rules.satellite, pool_cents, field)
    return Prizes(pool_cents, pool_cents - collected_cents, places, rules.satellite.tournament)


def divide(pool_cents: int, bps: Sequence[int]) -> tuple[int, ...]:
    """Divides a pool: each place's part rounded down, the cents left over one each from first place down (T-12)."""
    floors = [pool_cents * part // WHOLE_BPS for part in bps]
    left = pool_cents - sum(floors)
    return tuple(cents + (place < left) for place, cents in enumerate(floors))


def _satellite(prize: TicketPrize, pool_cents: int, field: int) -> tuple[Prize, ...]:
    """Returns as many tickets as the pool pays for; what is left over goes to the next places (T-15, T-A-16)."""
    tickets = min(pool_cents // prize.value_cents, field)
    left_cents = pool_cents - tickets * prize.value_cents
    places = [Prize(ticket_cents=prize.value_cents)] * tickets
    if not left_cents or not field:
        return tuple(places)
    next_places = min(field - tickets, len(prize.leftover_bps))
    if not next_places:
        # Everybody has a ticket: the rest is for the places in their order.
        parts = split(left_cents, tickets)
        return tuple(Prize(cents, each.ticket_cents) for cents, each in zip(parts, places, strict=True))
    bps = list(prize.leftover_bps[:next_places])
    bps[0] += WHOLE_BPS - sum(bps)
    return (*places, *(Prize(cents) for cents in divide(left_cents, bps)))


def awards_of(prizes: Prizes, place: Place, entries: Mapping[int, Entry]) -> tuple[Award, ...]:
    """Returns what the entries of a place are paid.

    Those who tie add their prizes and divide them; odd cents go to those who registered first (51, T-A-22). A ticket is
    not divided: unless each of them has one, tickets that tied entries share are divided by their value.
    """
    prizes_here = prizes.of(place)
    each_has_ticket = len(prizes_here) == len(place.entries) and all(prize.ticket_cents for prize in prizes_here)
    cents = sum(prize.cents if each_has_ticket else prize.value_cents for prize in prizes_here)
    is_single = len(place.entries) == 1
    if is_single and prizes_here:
        each_has_ticket, cents = prizes_here[0].ticket_cents > 0, prizes_here[0].cents
    paragraph = "33" if is_single else "51"
    awards: list[Award] = []
    for number, part in zip(sorted(place.entries), split(cents, len(place.entries)), strict=True):
        player = entries[number].player
        if each_has_ticket:
            ticket_cents = prizes_here[0].ticket_cents
            awards.append(
                Award(
                    number, player, ticket_cents, Why.PRIZE, rule("32"), Form.TICKET, prizes.tournament,
                    place=place.label,
                )
            )  # fmt: skip
        if part:
            awards.append(Award(number, player, part, Why.PRIZE, rule(paragraph), place=place.label))
    return tuple(awards)

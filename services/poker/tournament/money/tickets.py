"""Tickets: entries that were won (28 to 30, 32). Bound to one player, one tournament and one value (T-A-02)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from services.poker.tournament import refusals
from services.poker.tournament.money.entries import PaidBy


class TicketState(StrEnum):
    """How a ticket stands."""

    ISSUED = "issued"
    USED = "used"
    # Given back by unregistering (25, T-A-02): it can be used again.
    RETURNED = "returned"
    CONVERTED = "converted"
    EXPIRED = "expired"


_USABLE = frozenset({TicketState.ISSUED, TicketState.RETURNED})


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to enter a tournament. Never changed once made."""

    id: str
    player: str
    tournament: str
    value_cents: int
    from_freeroll: bool = False
    # Whether it was won; a ticket that replaces one is as the one it replaces.
    won: bool = True
    state: TicketState = TicketState.ISSUED

    @property
    def paid_by(self) -> PaidBy:
        """What an entry that is paid with it counts as."""
        return PaidBy.FREEROLL_TICKET if self.from_freeroll else PaidBy.TICKET

    def use(self, player: str, tournament: str, price_cents: int) -> Ticket:
        """Uses the ticket for its player's entry to its tournament."""
        if player != self.player:
            raise refusals.ticket_not_transferable()
        if tournament != self.tournament:
            raise refusals.ticket_unusable("it is for another tournament", "32", "tournament_id")
        if price_cents != self.value_cents:
            raise refusals.ticket_unusable("its value is not the price of the entry", "37", "value_cents")
        if self.state not in _USABLE:
            raise refusals.ticket_unusable(f"it is {self.state}", "28", "state")
        return self._in(TicketState.USED)

    def give_back(self) -> Ticket:
        """Gives the ticket back to a player who unregisters: the ticket and not money (28, T-A-02)."""
        if self.state is not TicketState.USED:
            raise refusals.ticket_unusable(f"it is {self.state}", "25", "state")
        return self._in(TicketState.RETURNED)

    def convert(self, held: Iterable[Ticket]) -> Ticket:
        """Turns the ticket into money, which needs another won entry to the same tournament, won before it (29).

        `held` are the tickets that the player won earlier. An entry that was bought does not count (T-A-02).
        """
        if self.from_freeroll:
            raise refusals.ticket_not_money("it was won in a free tournament", "30")
        if self.state not in _USABLE:
            raise refusals.ticket_not_money(f"it is {self.state}", "28")
        if not any(self._is_doubled_by(other) for other in held):
            raise refusals.ticket_not_money("there is no earlier won entry to the same tournament", "29")
        return self._in(TicketState.CONVERTED)

    def expire(self) -> Ticket:
        """Lets the ticket lapse with its tournament, unless it was used or converted."""
        return self._in(TicketState.EXPIRED) if self.state in _USABLE else self

    def transfer(self) -> NoReturn:
        """Refuses to pass the ticket to anybody: it is neither sold nor given away (28)."""
        raise refusals.ticket_not_transferable()

    def _is_doubled_by(self, other: Ticket) -> bool:
        return (
            other.won
            and other.id != self.id
            and (other.player, other.tournament) == (self.player, self.tournament)
            and other.state is not TicketState.EXPIRED
        )

    def _in(self, state: TicketState) -> Ticket:
        return dataclasses.replace(self, state=state)


def issue(ticket: Ticket, held: Iterable[Ticket]) -> Ticket:
    """Returns a newly won ticket: converted at once where 29 allows that (the recommended default of T-A-02)."""
    held = tuple(held)
    if ticket.from_freeroll or not any(ticket._is_doubled_by(other) for other in held):  # noqa: SLF001 - of one class
        return ticket
    return ticket.convert(held)

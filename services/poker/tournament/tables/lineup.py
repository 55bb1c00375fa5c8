"""One table of a tournament between hands: its players and their chips, the button, and who is dealt in.

What differs from cash (section 3 of the rulebook): everybody with chips is dealt in, away or not (26, 27), with less
than a blind, too, and at once wherever they come to sit (T-A-12).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from services.poker.hand.betting import default
from services.poker.hand.state import Hand, Move
from services.poker.lineup.entry import Positions, clockwise, next_seat
from services.poker.specific_rules import HeadsUpBlinds
from services.poker.tournament.specific_rules import InitialButton, TournamentRules
from services.poker.tournament.tables.draws import Draws


class Seated(NamedTuple):
    """An entry at its seat. With no chips the seat is kept while a rebuy is possible (T-A-19)."""

    entry: int
    chips: int
    # Chips that were bought during a hand, and wait for its end (806/2015:11.b).
    waiting: int = 0


class RunningHand(NamedTuple):
    """A hand under way: what it began with, to rank by (50) and to go back to (T-A-06)."""

    number: int
    positions: Positions
    level: int
    # The number that all hands of a hand-for-hand step have in the order of elimination; None: the hand has its own.
    step: int | None = None


@dataclass(frozen=True, slots=True)
class TournamentTable:
    """A table. Never changed once made."""

    # Tables are numbered in the order in which they were opened.
    number: int
    seats: int
    seated: Mapping[int, Seated] = field(default_factory=dict)
    # The seat that had the button in the last hand; None before the first one.
    button: int | None = None
    hand: RunningHand | None = None

    # -- who sits there ----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many seats are taken, those that wait for a rebuy among them."""
        return len(self.seated)

    @property
    def free_seats(self) -> tuple[int, ...]:
        return tuple(seat for seat in range(1, self.seats + 1) if seat not in self.seated)

    @property
    def players(self) -> tuple[int, ...]:
        """The seats of those who have chips."""
        return tuple(seat for seat, each in sorted(self.seated.items()) if each.chips)

    @property
    def is_reserved(self) -> bool:
        """Whether a seat waits for a rebuy."""
        return any(not each.chips for each in self.seated.values())

    def sit(self, seat: int, entry: int, chips: int) -> TournamentTable:
        return dataclasses.replace(self, seated={**self.seated, seat: Seated(entry, chips)})

    def stand(self, seat: int) -> TournamentTable:
        return dataclasses.replace(self, seated={at: each for at, each in self.seated.items() if at != seat})

    def add_chips(self, seat: int, chips: int) -> TournamentTable:
        """Adds bought chips: strictly between hands of those who have them (T-A-19)."""
        each = self.seated[seat]
        if self.hand is not None and seat in self.hand.positions.seats:
            return self._with(seat, each._replace(waiting=each.waiting + chips))
        return self._with(seat, each._replace(chips=each.chips + chips))

    # -- hands -------------------------------------------------------------------------------------------------------

    def next_positions(self, rules: TournamentRules, draws: Draws) -> Positions | None:
        """Returns who is dealt into the next hand, and where the button is; None with fewer than two players.

        The first button follows 40; then it goes to the next player clockwise (806/2015:64).
        """
        players = self.players
        if len(players) < 2:
            return None
        if self.button is not None:
            button = next_seat(players, self.button)
        elif rules.initial_button is InitialButton.SEAT_1:
            button = players[0]
        else:
            button = draws.one(f"button of table {self.number}", players)
        order = tuple(clockwise(players, button))
        return Positions(order, tuple(self.seated[seat].chips for seat in order))

    def next_big_blind(self, rules: TournamentRules, draws: Draws) -> int:
        """Returns the seat next due for the big blind, whose player moves when tables are balanced (T-A-12)."""
        players = self.players
        button = draws.one(f"mover of table {self.number}", players) if self.button is None else self.button
        order = clockwise(players, next_seat(players, button))
        if len(order) == 2 and rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND:
            return order[0]
        return order[1 % len(order)]

    def start_hand(self, hand: RunningHand) -> TournamentTable:
        return dataclasses.replace(self, hand=hand, button=hand.positions.button)

    def end_hand(self, chips: Mapping[int, int]) -> TournamentTable:
        """Ends a hand with the chips that it has left to the seats that were dealt in."""
        if self.hand is None or set(chips) != set(self.hand.positions.seats):
            raise ValueError(
                f"Table {self.number}: a hand ends with the chips of all who were dealt in, and only once."
            )
        if sum(chips.values()) != sum(self.hand.positions.stacks) or min(chips.values()) < 0:
            raise ValueError(f"Table {self.number}: a hand moves chips, and neither makes nor takes any.")
        seated = {
            seat: Seated(each.entry, chips[seat] + each.waiting) if seat in chips else each
            for seat, each in self.seated.items()
        }
        return dataclasses.replace(self, seated=seated, hand=None)

    def _with(self, seat: int, each: Seated) -> TournamentTable:
        return dataclasses.replace(self, seated={**self.seated, seat: each})


def move_of_absent(hand: Hand, away: Collection[int]) -> Move | None:
    """Returns what is done at once for the seat in turn if its player sits out: check if free, else fold (T-A-09).

    None if the player is there, or the hand is over. A decision not made in time is the same move, and then the player
    sits out (43).
    """
    if hand.is_over or hand.deal.seats[hand.actor] not in away:
        return None
    return default(hand)

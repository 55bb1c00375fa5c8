"""Who is dealt into the next hand and in which position: button, blinds and newcomers (46, 48, 64; A-19 to A-21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from services.poker.lineup.seated import Presence, Seated
from services.poker.specific_rules import EntryMode, SpecificRules

# Gives a number from 0 up to but not including another one, from the entropy of the draw.
Draw = Callable[[int], int]


class Positions(NamedTuple):
    """Those who are dealt in, by position: from the first seat to the left of the button to the button itself."""

    seats: tuple[int, ...]
    stacks: tuple[int, ...]
    # The positions of newcomers who post a big blind to enter.
    posters: tuple[int, ...] = ()

    @property
    def button(self) -> int:
        return self.seats[-1]


def next_positions(rules: SpecificRules, seated: Iterable[Seated], button: int | None, draw: Draw) -> Positions | None:
    """Returns who is dealt into the next hand; None if the table is suspended for want of players (7).

    `button` is the seat that had it in the hand before; None when the table starts or resumes, and it is drawn (46).
    """
    ready = {each.seat: each for each in seated if is_ready(rules, each)}
    seats = sorted(ready)
    if len(seats) < rules.min_players:
        return None
    if button is None:
        return _positions(ready, seats, seats[draw(len(seats))])
    established = [seat for seat in seats if ready[seat].is_established]
    if len(established) < 2 or rules.entry_mode is EntryMode.IMMEDIATE:
        return _positions(ready, seats, next_seat(seats, button))
    button = next_seat(established, button)
    small_blind = next_seat(established, button)
    # The big blind reaches newcomers and lets them in; those between the button and it stay out of this hand.
    big_blind = next_seat(seats, small_blind)
    posters = []
    if rules.entry_mode is EntryMode.WAIT_OR_VOLUNTARY_POST:
        beyond = clockwise(seats, big_blind)
        beyond = beyond[: beyond.index(button)]
        posters = [seat for seat in beyond if ready[seat].posts and not ready[seat].is_established]
    return _positions(ready, {*established, big_blind, *posters}, button, posters)


def is_ready(rules: SpecificRules, each: Seated) -> bool:
    """Whether a player can be dealt in: there, and with the minimum bet in the cave (15, A-21)."""
    return each.presence is Presence.PLAYING and each.cave_cents >= rules.big_blind_cents


def _positions(ready: dict[int, Seated], seats: Iterable[int], button: int, posters: Sequence[int] = ()) -> Positions:
    order = clockwise(sorted(seats), button)
    return Positions(
        seats=tuple(order),
        stacks=tuple(ready[seat].cave_cents for seat in order),
        posters=tuple(at for at, seat in enumerate(order) if seat in posters),
    )


def next_seat(seats: Sequence[int], after: int) -> int:
    """Returns the next of the seats clockwise; seats are sorted, and numbered clockwise."""
    return next((seat for seat in seats if seat > after), seats[0])


def clockwise(seats: Sequence[int], after: int) -> list[int]:
    """Returns the seats clockwise, the first one to the left of a seat first, and that seat itself last."""
    return [*(seat for seat in seats if seat > after), *(seat for seat in seats if seat <= after)]

"""Who finishes where: the order of elimination, ties of one hand (50, 51), and chips when the time is up (33, 52)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple


class Out(NamedTuple):
    """An entry that has lost all its chips."""

    entry: int
    # The order in which the hands ended; all hands of one hand-for-hand step have the same number (T-A-13).
    hand: int
    # What the player had when the hand began, before the blinds (50, T-A-14).
    stack: int


class Place(NamedTuple):
    """A place, or several that tied entries share (*ex aequo*, 51); entries in the order of their registration."""

    first: int
    last: int
    entries: tuple[int, ...]

    @property
    def label(self) -> str:
        """How it is written: `5.º`, or `5.º–6.º` for a tie."""
        return f"{self.first}.º" if self.first == self.last else f"{self.first}.º–{self.last}.º"


def places_of_eliminated(outs: Iterable[Out], players_left: int) -> tuple[Place, ...]:
    """Returns the places of those who are out, best first: below all who are left.

    The player whose hand ended later is better; in the same hand, the player with the larger stack when it began (50).
    """
    return _places((((-out.hand, -out.stack), out.entry) for out in outs), players_left + 1)


def places_by_chips(chips: Mapping[int, int]) -> tuple[Place, ...]:
    """Returns the places of those who are left when the time is up, by their chips (33); equal chips tie (T-A-15)."""
    return _places((((-held, 0), entry) for entry, held in chips.items()), 1)


def shared_place(entries: Iterable[int]) -> tuple[Place, ...]:
    """Returns the one place of all who are left when a satellite stops, whatever their chips (T-A-16)."""
    shared = tuple(sorted(entries))
    return (Place(1, len(shared), shared),)


def _places(ordered: Iterable[tuple[tuple[int, int], int]], first: int) -> tuple[Place, ...]:
    """Returns the places from `first` on; entries with equal keys share theirs."""
    places: list[Place] = []
    for _, tied in groupby(sorted(ordered), key=lambda each: each[0]):
        entries = tuple(entry for _, entry in tied)
        places.append(Place(first, first + len(entries) - 1, entries))
        first += len(entries)
    return tuple(places)

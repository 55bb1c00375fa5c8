"""Draws (*sorteios*) of seats, tables and buttons from given entropy, each with its candidates on record (T-A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from services.kit.randomness.tape import Tape


class Drawn(NamedTuple):
    """The record of a draw: what for, between which candidates, and what came out, in its order."""

    what: str
    candidates: tuple[int, ...]
    chosen: tuple[int, ...]


class Draws:
    """Draws from the entropy of one fact, and keeps the record. The same entropy gives the same draws."""

    def __init__(self, entropy: bytes) -> None:
        self._tape = Tape(entropy)
        self.made: list[Drawn] = []

    def one(self, what: str, candidates: Iterable[int]) -> int:
        """Draws one of the candidates, all equally likely; a single one needs no entropy and no record."""
        among = tuple(sorted(candidates))
        if len(among) == 1:
            return among[0]
        chosen = among[self._tape.below(len(among))]
        self.made.append(Drawn(what, among, (chosen,)))
        return chosen

    def order(self, what: str, candidates: Iterable[int]) -> tuple[int, ...]:
        """Draws an order of the candidates, all orders equally likely."""
        among = tuple(sorted(candidates))
        chosen = tuple(self._tape.shuffled(among)) if len(among) > 1 else among
        self.made.append(Drawn(what, among, chosen))
        return chosen


def seats_at_start(entries: Sequence[int], seats: int, draws: Draws) -> Mapping[int, Mapping[int, int]]:
    """Distributes the players at random over as few tables as hold them, and over their seats (39).

    Returns the entry of each seat of each table; tables are as equal as possible from the start (47).
    """
    tables = -(-len(entries) // seats)
    order = draws.order("tables", entries)
    seated: dict[int, dict[int, int]] = {}
    for table in range(1, tables + 1):
        players = order[table - 1 :: tables]
        drawn = draws.order(f"seats of table {table}", range(1, seats + 1))
        seated[table] = dict(sorted(zip(drawn, players, strict=False)))
    return seated

"""Tables kept equal: players moved by draw, and tables broken as soon as the others hold everybody (47, 48, T-A-12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from services.poker.tournament.specific_rules import TournamentRules
from services.poker.tournament.tables.draws import Draws
from services.poker.tournament.tables.lineup import TournamentTable


class Moved(NamedTuple):
    """A player who moves, between hands, to a seat that was drawn; dealt in there from the next hand on."""

    entry: int
    from_table: int
    from_seat: int
    to_table: int
    to_seat: int


class Balanced(NamedTuple):
    """The tables after moves, what was moved, and which tables were closed."""

    tables: Mapping[int, TournamentTable]
    moves: tuple[Moved, ...]
    closed: tuple[int, ...]


def balance(rules: TournamentRules, tables: Mapping[int, TournamentTable], draws: Draws) -> Balanced:
    """Moves players until the tables are as equal as they can be now.

    Only players whose table is between hands move; what has to wait is done when the hands under way have ended.
    """
    work = _Work(rules, dict(tables), draws)
    while work.step():
        pass
    return Balanced(work.tables, tuple(work.moves), tuple(work.closed))


def is_one_too_many(rules: TournamentRules, tables: Mapping[int, TournamentTable]) -> bool:
    """Whether everybody fits in one table fewer."""
    return len(tables) > 1 and sum(table.size for table in tables.values()) <= (len(tables) - 1) * rules.seats


def shortest(tables: Mapping[int, TournamentTable], draws: Draws, *, but: int | None = None) -> int | None:
    """Draws one of the tables with the fewest players and a free seat; None if there is no seat."""
    free = {number: table.size for number, table in tables.items() if number != but and table.size < table.seats}
    if not free:
        return None
    fewest = min(free.values())
    return draws.one("table", [number for number, size in free.items() if size == fewest])


class _Work:
    def __init__(self, rules: TournamentRules, tables: dict[int, TournamentTable], draws: Draws) -> None:
        self._rules = rules
        self._draws = draws
        self.tables = tables
        self.moves: list[Moved] = []
        self.closed: list[int] = []

    def step(self) -> bool:
        """Breaks one table or moves one player; returns whether there was anything to do."""
        if is_one_too_many(self._rules, self.tables):
            return self._break_table()
        if len(self.tables) < 2:
            return False
        sizes = {number: table.size for number, table in self.tables.items()}
        most = max(sizes.values())
        if most - min(sizes.values()) <= self._rules.balance_trigger:
            return False
        fullest = [
            number
            for number, table in self.tables.items()
            if sizes[number] == most and table.hand is None and table.players
        ]
        if not fullest:
            return False
        mover = self.tables[self._draws.one("fullest table", fullest)]
        self._move(mover.number, mover.next_big_blind(self._rules, self._draws))
        return True

    def _break_table(self) -> bool:
        """Closes the table that was opened last; those who play there go where seats are free."""
        last = self.tables[max(self.tables)]
        if last.hand is not None or last.is_reserved:
            return False
        for seat in self._draws.order(f"players of table {last.number}", last.players):
            self._move(last.number, seat)
        del self.tables[last.number]
        self.closed.append(last.number)
        return True

    def _move(self, number: int, seat: int) -> None:
        to = shortest(self.tables, self._draws, but=number)
        if to is None:
            raise AssertionError("a player has to move, and no other table has a seat")
        to_seat = self._draws.one(f"seat of table {to}", self.tables[to].free_seats)
        each = self.tables[number].seated[seat]
        self.tables[number] = self.tables[number].stand(seat)
        self.tables[to] = self.tables[to].sit(to_seat, each.entry, each.chips)
        self.moves.append(Moved(each.entry, number, seat, to, to_seat))

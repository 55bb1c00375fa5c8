"""How many bots sit at the practice table: as many as its players need, and none where nobody plays. Pure."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from stack.platform_client import Json
from stack.practice.table_feed import SNAPSHOT

# A few are company enough, and a hand comes round soon.
BOTS_LIMIT = 3
# After this long without a hand for any person the bots leave: they do not play among themselves.
PATIENCE_S = 300.0
_PLAYS = frozenset({"CAVE_STANDING_PLAYING", "CAVE_STANDING_WAITING"})


@dataclass(slots=True)
class Attendance:
    """Who sits at the table, by what it tells everybody."""

    seats: int = 0
    taken: set[int] = field(default_factory=set)
    standings: dict[int, str] = field(default_factory=dict)
    company_until: float = 0.0
    """How long bots stay for people who are dealt in to no hand."""

    def receive(self, name: str, facts: Json, bots: Container[int], now: float) -> bool:
        """Takes an event of the table, where bots have some of the seats; whether its seats may have changed."""
        before = self._people(bots)
        if not self._take(name, facts):
            return False
        people = self._people(bots)
        if people - before or any(self.standings.get(seat) in _PLAYS for seat in people):
            self.company_until = now + PATIENCE_S
        return True

    def _take(self, name: str, facts: Json) -> bool:
        match name:
            case _ if name == SNAPSHOT:
                self.seats = len(facts["seats"])
                self.taken = {int(each["seat"]) for each in facts["seats"] if each.get("taken")}
                self._stand(facts)
            case "seat_taken":
                self.taken.add(int(facts["seat"]))
            case "seat_left":
                self.taken.discard(int(facts["seat"]))
            case "caves_changed":
                self._stand(facts)
            case _:
                return False
        return True

    def _stand(self, facts: Json) -> None:
        self.standings = {int(cave["seat"]): str(cave.get("standing", "")) for cave in facts.get("caves") or ()}

    def _people(self, bots: Container[int]) -> frozenset[int]:
        return frozenset(seat for seat in self.taken if seat not in bots)

    def people(self, bots: Container[int], now: float) -> int:
        """How many people sit there; none when they have not played for long."""
        return len(self._people(bots)) if now < self.company_until else 0

    def free_seats(self) -> list[int]:
        """The seats that nobody has."""
        return [seat for seat in range(1, self.seats + 1) if seat not in self.taken]


def wanted_bots(seats: int, people: int) -> int:
    """How many bots keep so many people company: one seat always stays free for the next of them."""
    return max(0, min(BOTS_LIMIT, seats - people - 1)) if people else 0


def least_lonely_seat(free: list[int], taken: set[int], seats: int) -> int:
    """Returns the free seat that is furthest from others: a few players sit around the table, not side by side."""

    def distance(seat: int) -> int:
        return min((min((seat - other) % seats, (other - seat) % seats) for other in taken), default=seats)

    return max(free, key=distance)

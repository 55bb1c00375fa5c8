"""What the journal has of a tournament: its facts as they come, and the hands that its tables have dealt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.course import Course, Step, replay
from services.poker.directing.fact_messages import read_fact
from services.poker.tournament.running.facts import Event
from services.poker.tournament.specific_rules_message import read
from tests.engine.poker.tournament.simulated import Simulation

if TYPE_CHECKING:
    from tests.processes.databases import Connection

_FACTS = """
SELECT number, at_ms, fact, entropy, player_id, request_id, answer FROM tournament_facts
WHERE tournament_id = $1 AND number > $2 ORDER BY number
"""
_HANDS = """
SELECT rounds.round_id, rounds.table_id, endings.ending, endings.outcome FROM rounds
LEFT JOIN endings ON endings.round_no = rounds.round_no WHERE rounds.placement_id = $1 ORDER BY rounds.round_no
"""
_BROUGHT = """
SELECT rounds.round_id, stakes.player_id, stakes.bets FROM stakes JOIN rounds ON rounds.round_no = stakes.round_no
WHERE rounds.placement_id = $1
"""
_CONFIGURATION = "SELECT configuration FROM configurations WHERE table_id = $1"
_SETTLED = 2


class DealtHand(NamedTuple):
    """A hand as the journal of its table has it, without what the facts say of it."""

    round_id: str
    table_id: str
    number: int
    level: int
    chips: Mapping[int, int]
    """What each seat brought."""
    players: Mapping[int, str]
    has_ended: bool
    outcome: bytes | None
    """None if it is void, or has no end."""


class TournamentJournal:
    """Reads the journal of one tournament."""

    def __init__(self, connection: Connection, tournament_id: str, configuration: types_pb2.TableConfiguration) -> None:
        self.tournament_id = tournament_id
        self.facts: list[JournalledFact] = []
        self._connection = connection
        rules, starts_at = read(configuration)
        starts_at_ms = None if starts_at is None else round(starts_at.timestamp() * 1000)
        self._begun = self.course = Course.begin(tournament_id, rules, starts_at_ms)

    @classmethod
    async def of(cls, connection: Connection, tournament_id: str) -> TournamentJournal:
        """Returns the journal of a tournament that was created."""
        found: bytes = await connection.fetchval(_CONFIGURATION, tournament_id)
        return cls(connection, tournament_id, types_pb2.TableConfiguration.FromString(found))

    async def follow(self) -> list[tuple[Course, Step]]:
        """Returns what has happened since it was asked last, each with the course after it."""
        happened = []
        for row in await self._connection.fetch(_FACTS, self.tournament_id, self.course.facts):
            fact = JournalledFact(**row)
            self.course, steps = replay(self.course, [fact])
            self.facts.append(fact)
            happened.append((self.course, steps[0]))
        return happened

    def steps(self) -> list[Step]:
        """Returns every fact with what followed from it."""
        return replay(self._begun, self.facts)[1]

    def simulated(self) -> Simulation:
        """Returns the tournament as the tests of the engine log it, every fact verified."""
        played = Simulation("journal", self._begun.state.rules, 0, begun=self._begun.state)
        for journalled in self.facts:
            fact, _ = read_fact(journalled.fact)
            played.happen(Event(journalled.at_ms, fact, journalled.entropy))
        return played

    async def hands(self) -> list[DealtHand]:
        """Returns every hand that was dealt, void ones too; one of which nothing was dealt is none."""
        brought: dict[str, list[tuple[str, poker_pb2.SeatInHand]]] = {}
        for row in await self._connection.fetch(_BROUGHT, self.tournament_id):
            seat = row["player_id"], poker_pb2.SeatInHand.FromString(row["bets"])
            brought.setdefault(row["round_id"], []).append(seat)
        hands = []
        for row in await self._connection.fetch(_HANDS, self.tournament_id):
            seats = brought.get(row["round_id"])
            if not seats:
                continue
            hands.append(
                DealtHand(
                    row["round_id"],
                    row["table_id"],
                    seats[0][1].hand_no,
                    seats[0][1].level,
                    {seat.seat: seat.cave_cents for _, seat in seats},
                    {seat.seat: player for player, seat in seats},
                    row["ending"] is not None,
                    row["outcome"] if row["ending"] == _SETTLED else None,
                )
            )
        return hands

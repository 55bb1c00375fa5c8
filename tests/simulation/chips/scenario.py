"""Tables of a tournament with players, for tests that script what happens there."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from feltro.poker.v1 import poker_pb2
from services.kit.table.chips.seam import table_id_of
from services.kit.table.chips.table import LiveChipTable
from services.kit.table.journal.entries import ActedBy
from tests.simulation.caves.players import PokerPlayer
from tests.simulation.chips.director import Course, SmallDirector
from tests.simulation.chips.game import configuration, simulated_game
from tests.simulation.environment.world import World
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario

FIRST_TABLE = table_id_of(TABLE_ID, 1)
SECOND_TABLE = table_id_of(TABLE_ID, 2)


class TableOptions(TypedDict, total=False):
    """What a test may configure of the tables."""

    seats: int
    result_shown_ms: int
    dealing_ms: int
    decision_ms: int


class ChipScenario(Scenario):
    """A tournament with the tables of its course; `rules` are chosen rules of it."""

    def __init__(self, course: Course, rules: dict[str, object] | None = None, **options: Unpack[TableOptions]) -> None:
        self.course = course
        self.world = World(0, simulated_game(course, **(rules or {})))
        self.configuration = configuration(**options)

    async def start(self) -> list[PokerPlayer]:
        """Starts the tournament's owner, and returns the players by tables and seats."""
        return await start(self.world, self.course, self.configuration)

    @property
    def director(self) -> SmallDirector:
        director = self.world.tournaments.directors[TABLE_ID]
        assert isinstance(director, SmallDirector)
        return director

    def table(self, table_id: str = FIRST_TABLE) -> LiveChipTable[Any, Any]:
        table = self.world.current_owners[TABLE_ID].owned_tables.tables()[table_id]
        assert isinstance(table, LiveChipTable)
        return table

    def is_open(self, table_id: str = FIRST_TABLE) -> bool:
        return table_id in self.world.current_owners[TABLE_ID].owned_tables.tables()

    def hand_ids(self, table_id: str = FIRST_TABLE) -> list[str]:
        """Returns the rounds of a table that were opened."""
        rounds = self.world.journal.rounds
        return [each for each, entries in rounds.items() if entries.opened.table_id == table_id]

    def ended_hands(self, table_id: str = FIRST_TABLE) -> int:
        return sum(self.round_entries(each).ended is not None for each in self.hand_ids(table_id))

    def moves(self, round_id: str) -> list[tuple[int, str, ActedBy]]:
        """Returns the journalled decisions: the seat, what it did, and on whose word."""
        return [
            (moved.seat, poker_pb2.Action.Name(poker_pb2.Move.FromString(moved.move).action), moved.acted_by)
            for moved in self.round_entries(round_id).moves
        ]


async def start(world: World, course: Course, configured: Any) -> list[PokerPlayer]:  # noqa: ANN401 - a message
    """Starts the first owner of a tournament, and returns its players, each at their table."""
    world.catalogue.configure(TABLE_ID, configured)
    players = []
    for number, by_seat in course.players.items():
        for name in by_seat.values():
            # Their accounts name their commands; nothing is moved there.
            world.deposit(name, STARTING_CENTS)
            player = PokerPlayer(world, name, TABLE_ID)
            player.table_id = table_id_of(TABLE_ID, number)
            players.append(player)
    world.start_owner(TABLE_ID)
    return players

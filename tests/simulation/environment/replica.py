"""A process that runs one configured table with the real service, registry, tables, publishers and wallet client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1.types_pb2 import PLAY_POKER
from services.kit.bus.connections import Line
from services.kit.clock import Clock
from services.kit.paging import Page, PageRequest
from services.kit.randomness.source import Randomness
from services.kit.table.caves.table import CaveTables
from services.kit.table.chips.owned_tables import OwnedChipTables
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Game
from services.kit.table.journal.history import RecordedRound
from services.kit.table.journal.sealing import NO_KEYS
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.live.kinds import BankedTables, TableGroup
from services.kit.table.owned.registry import TableRegistry
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.cave_commands import CaveCommands
from services.kit.table.server.table_service import TableService
from services.kit.table.wallet.client import Wallet
from tests.simulation.environment.event_stream import ReplicaEventStream
from tests.simulation.environment.journal import ReplicaJournal, ReplicaSeats
from tests.simulation.environment.network import SimulationEnded
from tests.simulation.environment.virtual_time import Process
from tests.simulation.environment.wallet_channel import wallet_client

if TYPE_CHECKING:
    from tests.simulation.environment.world import World

INDIVIDUAL_IDS = IndividualTableIds(b"simulation")


class Replica:
    """A process that owns a placement until another one does."""

    def __init__(self, name: str, placement_id: str, world: World) -> None:
        self.placement_id = placement_id
        self.process = Process(name, world.loop)
        self.hand_over = asyncio.Event()
        self.lost = asyncio.Event()
        self.ended = False
        """Its tables have ended, for whatever reason."""
        self.superseded = False
        self.steps_before_faults_end = 0
        """The steps before which a fault can come; those that follow repeat a run without one."""
        self.epoch = 0
        self._world = world
        events = ReplicaEventStream(self.process, world.network, world.events, world.durability.check_event)
        journal = ReplicaJournal(self.process, world.network, world.journal)
        wallet = wallet_client(self.process, world.network, world.wallet)
        dependencies: RuntimeDependencies[Any, Any] = RuntimeDependencies(
            game=world.game.game,
            kind=CaveTables() if PLAY_POKER in world.game.game.plays else BankedTables(),
            catalogue=world.catalogue,
            wallet=wallet,
            journal=journal,
            randomness=Randomness(world.entropy),
            clock=world.loop,
            publisher_of=events.publisher_of,
            own_views=world.own_views,
            seats=ReplicaSeats(self.process, world.network, world.journal),
            individual_ids=INDIVIDUAL_IDS,
            line_of=lambda player_id: world.lines.get(player_id, Line.CONNECTED),
        )
        director_of = None if world.game.director_of is None else world.game.director_of(world, self.process)
        self.registry: TableRegistry[Any, Any] = TableRegistry(
            dependencies,
            world.catalogue.placement_ids,
            _no_address,
            None if director_of is None else lambda placement: OwnedChipTables(placement, dependencies, director_of),
        )
        self.service: Any = world.game.service(
            BetCommands(self.registry, journal, wallet, journal.read_round, _no_rounds)
        )
        self.tables = _table_service(world.game.game, self.registry, journal, wallet, world.loop)
        self.caves: CaveCommands[Any, Any] = CaveCommands(self.registry, wallet)
        self.owned_tables: TableGroup[Any, Any] = self.registry.open_group(placement_id)

    def start(self) -> None:
        self.process.spawn(self._run())

    async def _run(self) -> None:
        reason = "it has handed over"
        try:
            await self.owned_tables.run(self._announce, self.hand_over, self.lost)
        except StaleOwner:
            reason = "another process owns the placement"
            self.superseded = True
        except SimulationEnded:
            # A former owner that has not noticed it yet may ask something at any time.
            reason = "the simulation has ended"
        except Exception as failed:  # noqa: BLE001 - whatever it was, placement goes on
            reason = f"{type(failed).__name__}: {failed}"
            self._world.durability.report("G9", f"{self.process.name} could not go on: {reason}")
        self.ended = True
        self._world.owner_ended(self, reason)

    async def _announce(self, epoch: int) -> None:
        self.epoch = epoch

    def receive_session(self, session: session_pb2.Session) -> None:
        """Takes a session event, as the subscription of `TableRegistry` does."""
        self.owned_tables.apply_session(session)


def _table_service(
    game: Game[Any, Any], registry: TableRegistry[Any, Any], journal: ReplicaJournal, wallet: Wallet, clock: Clock
) -> TableService[Any, Any]:
    """Builds the service of tables, of which only the methods for players at a table are used here."""
    none = cast("Any", None)
    history, table_clock = cast("Any", journal), cast("Any", clock)
    return TableService(game, registry, none, none, none, history, wallet, none, table_clock, none, NO_KEYS)


def _no_address(placement_id: str) -> None:
    """Names no address: simulated players find the owner by themselves."""


async def _no_rounds(table_id: str, page: PageRequest) -> Page[RecordedRound]:
    """Lists no past rounds: nobody here asks for them."""
    return Page([], "")

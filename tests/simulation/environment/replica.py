"""A process that runs one house: the real service, hall, house, tables, voices and wallet client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from feltro.wallet.v1 import session_pb2
from services.kit.randomness.source import Randomness
from services.kit.table.journal.entries import StaleOwner
from services.kit.table.live.owned_tables import OwnedTables, RuntimeDependencies
from services.kit.table.live.registry import TableRegistry
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame
from services.roulette.service import RouletteService
from tests.simulation.environment.event_stream import ReplicaEventStream
from tests.simulation.environment.journal import ReplicaJournal
from tests.simulation.environment.virtual_time import Process
from tests.simulation.environment.wallet_channel import wallet_client

if TYPE_CHECKING:
    from tests.simulation.environment.world import World


class Replica:
    """The owner of a house, as long as nobody else is."""

    def __init__(self, name: str, placement_id: str, world: World) -> None:
        self.placement_id = placement_id
        self.process = Process(name, world.loop)
        self.hand_over = asyncio.Event()
        self.lost = asyncio.Event()
        self.ended = False
        """Its house has ended, for whatever reason."""
        self.superseded = False
        self.steps_before_hand_over = 0
        self.epoch = 0
        self._world = world
        bus = ReplicaEventStream(self.process, world.network, world.events, world.durability.check_event)
        journal = ReplicaJournal(self.process, world.network, world.journal)
        resources: RuntimeDependencies[Bets, Outcome] = RuntimeDependencies(
            game=RouletteGame(),
            catalogue=world.catalogue,
            wallet=wallet_client(self.process, world.network, world.wallet),
            journal=journal,
            randomness=Randomness(world.entropy),
            clock=world.loop,
            publisher_of=bus.publisher_of,
        )
        self.registry: TableRegistry[Bets, Outcome] = TableRegistry(resources, world.catalogue.placement_ids, _nowhere)
        self.service = RouletteService(self.registry, journal)
        self.owned_tables: OwnedTables[Bets, Outcome] = self.registry.open_group(placement_id)

    def start(self) -> None:
        self.process.spawn(self._run())

    async def _run(self) -> None:
        why = "it was asked to leave"
        try:
            await self.owned_tables.run(self._announce, self.hand_over, self.lost)
        except StaleOwner:
            why = "the house has another owner"
            self.superseded = True
        except Exception as failed:  # noqa: BLE001 - placement goes on whatever it was
            why = f"{type(failed).__name__}: {failed}"
            self._world.durability.report("G9", f"{self.process.name} could not go on: {why}")
        self.ended = True
        self._world.owner_ended(self, why)

    async def _announce(self, epoch: int) -> None:
        self.epoch = epoch

    def receive_session(self, session: session_pb2.Session) -> None:
        """As `Hall.listen` hears it."""
        self.owned_tables.apply_session(session)


def _nowhere(placement_id: str) -> None:
    """Players find the owner of a house by themselves."""

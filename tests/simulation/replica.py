"""A process that runs one house: the real service, hall, house, tables, voices and wallet client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from feltro.wallet.v1 import session_pb2
from services.kit.randomness import Randomness
from services.kit.table.hall import Hall
from services.kit.table.house import LiveHouse, Resources
from services.kit.table.journal import StaleOwner
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame
from services.roulette.roulette_service import RouletteService
from tests.simulation.bus import ReachedBus
from tests.simulation.journal import ReachedJournal
from tests.simulation.virtual_time import Process
from tests.simulation.wallet_channel import wallet_of

if TYPE_CHECKING:
    from tests.simulation.world import World


class Replica:
    """The owner of a house, as long as nobody else is."""

    def __init__(self, name: str, house_id: str, world: World) -> None:
        self.house_id = house_id
        self.process = Process(name, world.loop)
        self.leave = asyncio.Event()
        self.lost = asyncio.Event()
        self.over = False
        """Its house has ended, for whatever reason."""
        self.overtaken = False
        self.steps_until_asked_to_leave = 0
        self.epoch = 0
        self._world = world
        bus = ReachedBus(self.process, world.network, world.stream, world.witness.said)
        journal = ReachedJournal(self.process, world.network, world.journal)
        resources: Resources[Bets, Outcome] = Resources(
            game=RouletteGame(),
            catalogue=world.catalogue,
            wallet=wallet_of(self.process, world.network, world.ledger),
            journal=journal,
            randomness=Randomness(world.entropy),
            clock=world.loop,
            voice_of=bus.voice_of,
        )
        self.hall: Hall[Bets, Outcome] = Hall(resources, world.catalogue.house_ids, _nowhere)
        self.service = RouletteService(self.hall, journal)
        self.house: LiveHouse[Bets, Outcome] = self.hall.open_house(house_id)

    def start(self) -> None:
        self.process.spawn(self._run())

    async def _run(self) -> None:
        why = "it was asked to leave"
        try:
            await self.house.run(self._announce, self.leave, self.lost)
        except StaleOwner:
            why = "the house has another owner"
            self.overtaken = True
        except Exception as failed:  # noqa: BLE001 - placement goes on whatever it was
            why = f"{type(failed).__name__}: {failed}"
            self._world.witness.breach("G9", f"{self.process.name} could not go on: {why}")
        self.over = True
        self._world.owner_ended(self, why)

    async def _announce(self, epoch: int) -> None:
        self.epoch = epoch

    def hear_session(self, session: session_pb2.Session) -> None:
        """As `Hall.listen` hears it."""
        self.house.note_session(session)


def _nowhere(house_id: str) -> None:
    """Players find the owner of a house by themselves."""

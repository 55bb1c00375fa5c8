"""Everything there is in a story: one wallet, one journal, one bus, and the processes that run houses."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from services.kit.randomness.source import FIRST_BYTES
from services.kit.refusal import Refused
from services.wallet.model.state import Mode
from tests.simulation.environment.catalogue import InMemoryCatalogue
from tests.simulation.environment.durability import DurabilityChecker
from tests.simulation.environment.event_stream import StoredEvents
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.network import Network, deliver_reliably
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT, VirtualTimeLoop
from tests.simulation.environment.wallet import InMemoryWallet

# How long a session takes to be heard of at the tables; between players and tables it is less.
SESSION_EVENT_DELAY_S = 0.03
PLAYER_DELAY_S = 0.01
# How long a house stays without owner after its owner has died.
TAKEOVER_DELAY_S = 2.0

_T = TypeVar("_T")


class Unanswered(Exception):
    """The player has no answer: the table is away, or his line is."""


@dataclass(slots=True)
class Command:
    """One thing a player asked for, and every answer he got: he may have asked more than once."""

    kind: str
    player_id: str
    placement_id: str
    round_id: str
    request_id: str
    amount_cents: int = 0
    answers: list[object] = field(default_factory=list)
    arrived_at: list[float] = field(default_factory=list)

    @property
    def refusals(self) -> list[str]:
        return [answer.reason for answer in self.answers if isinstance(answer, Refused)]


class World:
    """One story. Nothing in it depends on anything but the seed and the script."""

    def __init__(self, seed: int | str = 0) -> None:
        self.seed = seed
        self.loop = VirtualTimeLoop()
        self.trace: list[str] = []
        self.network = Network(self.loop, self.add_to_trace)
        self.wallet = InMemoryWallet(self.loop, self._session_told)
        self.journal = InMemoryJournal()
        self.events = StoredEvents(self.add_to_trace)
        self.catalogue = InMemoryCatalogue(self._catalogue_changed)
        self.durability = DurabilityChecker(self.loop.now, self.wallet, self.journal)
        self.randomness_fails = False
        self.next_pockets: list[int] = []
        """The pockets of the next draws, where a story wants certain ones."""
        self.commands: list[Command] = []
        self.replicas: list[Replica] = []
        """All that ever were."""
        self.current_owners: dict[str, Replica] = {}
        """By house: where a call is sent."""
        self.takeover_delay_s = TAKEOVER_DELAY_S
        # What makes a round void lawfully.
        self.lost_placements: set[str] = set()
        """Houses that an owner has lost, by death or by being overtaken."""
        self.randomness_failed_once = False
        self.declared_void_reasons: set[str] = set()
        """Reasons for which the operator has declared rounds void."""
        self.seats_at_end: dict[str, tuple[set[str], set[str]]] = {}
        """At each table of a living owner: the sessions it knows, and those that there are."""
        self._entropy = random.Random(f"{seed} entropy")
        self.faults_ended = False
        """Nothing goes wrong any more."""
        self._names = 0
        self._resting = False
        self._logs = _Silence()

    def add_to_trace(self, what: str) -> None:
        self.trace.append(f"{self.loop.time():10.4f} {what}")

    def trace_digest(self) -> str:
        """Stands for the whole story."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def entropy(self, count: int) -> bytes:
        if self.randomness_fails:
            self.randomness_failed_once = True
            raise OSError("no entropy")
        drawn = self._entropy.randbytes(count)
        if count == FIRST_BYTES and self.next_pockets:
            return bytes([self.next_pockets.pop(0)]) + drawn[1:]
        return drawn

    # -- the operator ------------------------------------------------------------------------------------------------

    def open_tables(self, placement_id: str, configuration: types_pb2.TableConfiguration) -> Replica:
        """A house with its first owner."""
        self.catalogue.configure(placement_id, configuration)
        return self.start_owner(placement_id)

    def deposit(self, player_id: str, cents: int) -> None:
        """Money in, from the operator's books."""
        self.wallet.open_account(player_id, Mode.REAL, cents)

    # -- placement ---------------------------------------------------------------------------------------------------

    def start_owner(self, placement_id: str) -> Replica:
        """A process takes the house, whatever any other one does."""
        self._names += 1
        before = self.current_owners.get(placement_id)
        if before is not None and not before.ended:
            self.lost_placements.add(placement_id)
        owner = Replica(f"{placement_id}#{self._names}", placement_id, self)
        owner.process.on_death = lambda: self.owner_died(owner)
        self.replicas.append(owner)
        self.current_owners[placement_id] = owner
        self.add_to_trace(f"{owner.process.name} starts")
        owner.start()
        return owner

    def owner_died(self, owner: Replica) -> None:
        self.add_to_trace(f"{owner.process.name} dies at step {owner.process.steps}")
        self.lost_placements.add(owner.placement_id)
        self._replace(owner)

    def owner_ended(self, owner: Replica, reason: str) -> None:
        """Its run is over: it was asked to leave, or could not go on."""
        self.add_to_trace(f"{owner.process.name} has ended: {reason}")
        self._replace(owner)

    def _replace(self, owner: Replica) -> None:
        if not self._resting and self.current_owners.get(owner.placement_id) is owner:
            self.loop.call_later(self.takeover_delay_s, self._take_over, owner, context=OUTSIDE_CONTEXT)

    def _take_over(self, owner: Replica) -> None:
        if not self._resting and self.current_owners.get(owner.placement_id) is owner:
            self.start_owner(owner.placement_id)

    def _catalogue_changed(self) -> None:
        for owner in getattr(self, "current_owners", {}).values():
            if not owner.process.dead:
                owner.process.call(owner.hall.wake)

    def _session_told(self, session: session_pb2.Session) -> None:
        """Every process hears of every session, in order, a moment later."""
        for owner in self.replicas:
            if not owner.process.dead and not owner.ended and session.table_id.startswith(owner.placement_id):
                self.loop.call_later(
                    SESSION_EVENT_DELAY_S,
                    owner.process.deliver,
                    owner.receive_session,
                    session,
                    context=OUTSIDE_CONTEXT,
                )

    # -- the line between players and tables -------------------------------------------------------------------------

    async def call(
        self,
        owner: Replica,
        work: Callable[[Replica], Awaitable[_T]],
        *,
        timeout_s: float = 8.0,
        on_arrival: Callable[[float], object] | None = None,
    ) -> _T:
        """What a process answers. Whoever stops waiting takes his request with him, as gRPC does."""
        answer: asyncio.Future[_T] = self.loop.create_future()

        async def handle() -> None:
            if on_arrival is not None:
                on_arrival(self.loop.time())
            try:
                said = await work(owner)
            except Refused as refused:
                self.loop.call_later(PLAYER_DELAY_S, _refuse, answer, refused, context=OUTSIDE_CONTEXT)
            else:
                self.durability.check_answer(said)
                self.loop.call_later(PLAYER_DELAY_S, _tell, answer, said, context=OUTSIDE_CONTEXT)

        await asyncio.sleep(PLAYER_DELAY_S)
        handling = None if owner.process.dead else owner.process.spawn(handle())
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise Unanswered from None
        finally:
            if handling is not None and not handling.done():
                handling.cancel()

    # -- telling the story -------------------------------------------------------------------------------------------

    def run(self, script: Callable[[], Awaitable[_T]]) -> _T:
        """Runs a story to its end, heals what is still broken, and lets everything come to rest."""

        async def whole() -> _T:
            try:
                told = await script()
                await self.finish_all_rounds()
                return told
            finally:
                self.network.ended = True
                for owner in self.replicas:
                    await owner.process.finish_tasks()
                await self._end_the_rest()

        with self._logs:
            try:
                return self.loop.run_until_complete(whole())
            finally:
                self.loop.close()

    async def _end_the_rest(self) -> None:
        mine = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in mine:
            task.cancel()
        await asyncio.gather(*mine, return_exceptions=True)

    async def finish_all_rounds(self) -> None:
        """No more faults; every house has an owner, and no round that was begun is without an end."""
        self.add_to_trace("everything is healed")
        self.faults_ended = True
        self.network.delivery_of = deliver_reliably
        self.randomness_fails = False
        for owner in self.replicas:
            owner.process.fault_at_step = None
        for placement_id, owner in list(self.current_owners.items()):
            if owner.process.dead or owner.ended:
                self.start_owner(placement_id)
        # Late copies and successors that are due arrive in this time.
        await asyncio.sleep(40.0)
        self._resting = True
        for placement_id, owner in list(self.current_owners.items()):
            await self._look_who_sits(owner)
            while not await self._left(owner):
                # Whoever was overtaken has not finished what is there: the next one does.
                owner = self.start_owner(placement_id)  # noqa: PLW2901
        self.add_to_trace("everything is at rest")

    async def _left(self, owner: Replica, within_s: float = 200.0) -> bool:
        """Asks an owner to leave; false if it was overtaken before it could."""
        owner.steps_before_hand_over = owner.process.steps
        owner.hand_over.set()
        until = self.loop.time() + within_s
        while not owner.ended and self.loop.time() < until:
            await asyncio.sleep(0.5)
        if not owner.ended:
            self.durability.report("G11", f"{owner.process.name} does not leave")
        return not owner.superseded

    async def _look_who_sits(self, owner: Replica) -> None:
        """A table may be a moment behind the wallet."""
        seen: dict[str, tuple[set[str], set[str]]] = {}
        for _ in range(20):
            seen = {table_id: self._seated(owner, table_id) for table_id in owner.owned_tables.tables()}
            if all(seats == sessions for seats, sessions in seen.values()):
                break
            await asyncio.sleep(0.05)
        self.seats_at_end.update(seen)

    def _seated(self, owner: Replica, table_id: str) -> tuple[set[str], set[str]]:
        table, sessions = owner.owned_tables.tables()[table_id], self.wallet.running_sessions(table_id)
        seats = [(session.session_id, table.seat_of(session.player_id)) for session in sessions]
        known = {session_id for session_id, seat in seats if seat is not None and seat.session_id == session_id}
        others = {f"somebody {number}" for number in range(table.seated_count - len(known))}
        return known | others, {session.session_id for session in sessions}


class _Silence:
    """The runtime's own log is of no interest while it is being tortured."""

    def __enter__(self) -> None:
        self._before = logging.root.manager.disable
        logging.disable(logging.CRITICAL)

    def __exit__(self, *_: object) -> None:
        logging.disable(self._before)


def _tell(answer: asyncio.Future[Any], said: object) -> None:
    if not answer.done():
        answer.set_result(said)


def _refuse(answer: asyncio.Future[Any], refused: Exception) -> None:
    if not answer.done():
        answer.set_exception(refused)
        answer.exception()

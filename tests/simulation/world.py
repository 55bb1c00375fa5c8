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
from services.kit.randomness import FIRST_BYTES
from services.kit.refusal import Refused
from services.wallet.state import Mode
from tests.simulation.bus import Stream
from tests.simulation.catalogue import KnownCatalogue
from tests.simulation.journal import JournalBook
from tests.simulation.ledger import Ledger
from tests.simulation.network import Network, well
from tests.simulation.replica import Replica
from tests.simulation.virtual_time import OUTSIDE, VirtualTime
from tests.simulation.witness import Witness

# How long a session takes to be heard of at the tables; between players and tables it is less.
SESSIONS_HEARD_AFTER_S = 0.03
PLAYERS_S = 0.01
# How long a house stays without owner after its owner has died.
TAKEN_OVER_AFTER_S = 2.0

_T = TypeVar("_T")


class Unanswered(Exception):
    """The player has no answer: the table is away, or his line is."""


@dataclass(slots=True)
class Command:
    """One thing a player asked for, and every answer he got: he may have asked more than once."""

    kind: str
    player_id: str
    house_id: str
    round_id: str
    request_id: str
    cents: int = 0
    answers: list[object] = field(default_factory=list)
    arrived_at: list[float] = field(default_factory=list)

    @property
    def refusals(self) -> list[str]:
        return [answer.reason for answer in self.answers if isinstance(answer, Refused)]


class World:
    """One story. Nothing in it depends on anything but the seed and the script."""

    def __init__(self, seed: int | str = 0) -> None:
        self.seed = seed
        self.loop = VirtualTime()
        self.trace: list[str] = []
        self.network = Network(self.loop, self.note)
        self.ledger = Ledger(self.loop, self._session_told)
        self.journal = JournalBook()
        self.stream = Stream(self.note)
        self.catalogue = KnownCatalogue(self._catalogue_changed)
        self.witness = Witness(self.loop.now, self.ledger, self.journal)
        self.source_fails = False
        self.ball_falls_into: list[int] = []
        """The pockets of the next draws, where a story wants certain ones."""
        self.commands: list[Command] = []
        self.replicas: list[Replica] = []
        """All that ever were."""
        self.current: dict[str, Replica] = {}
        """By house: where a call is sent."""
        self.taken_over_after_s = TAKEN_OVER_AFTER_S
        # What makes a round void lawfully.
        self.deserted: set[str] = set()
        """Houses that an owner has lost, by death or by being overtaken."""
        self.source_failed = False
        self.declared: set[str] = set()
        """Reasons for which the operator has declared rounds void."""
        self.seated_at_rest: dict[str, tuple[set[str], set[str]]] = {}
        """At each table of a living owner: the sessions it knows, and those that there are."""
        self._entropy = random.Random(f"{seed} entropy")
        self.healed = False
        """Nothing goes wrong any more."""
        self._names = 0
        self._resting = False
        self._logs = _Silence()

    def note(self, what: str) -> None:
        self.trace.append(f"{self.loop.time():10.4f} {what}")

    def digest(self) -> str:
        """Stands for the whole story."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def rng(self, whose: str) -> random.Random:
        return random.Random(f"{self.seed} {whose}")

    def entropy(self, count: int) -> bytes:
        if self.source_fails:
            self.source_failed = True
            raise OSError("no entropy")
        drawn = self._entropy.randbytes(count)
        if count == FIRST_BYTES and self.ball_falls_into:
            return bytes([self.ball_falls_into.pop(0)]) + drawn[1:]
        return drawn

    # -- the operator ------------------------------------------------------------------------------------------------

    def open_house(self, house_id: str, made: types_pb2.TableConfiguration) -> Replica:
        """A house with its first owner."""
        self.catalogue.configure(house_id, made)
        return self.start_owner(house_id)

    def give(self, player_id: str, cents: int) -> None:
        """Money in, from the operator's books."""
        self.ledger.open_account(player_id, Mode.REAL, cents)

    # -- placement ---------------------------------------------------------------------------------------------------

    def start_owner(self, house_id: str) -> Replica:
        """A process takes the house, whatever any other one does."""
        self._names += 1
        before = self.current.get(house_id)
        if before is not None and not before.over:
            self.deserted.add(house_id)
        owner = Replica(f"{house_id}#{self._names}", house_id, self)
        owner.process.on_death = lambda: self.owner_died(owner)
        self.replicas.append(owner)
        self.current[house_id] = owner
        self.note(f"{owner.process.name} starts")
        owner.start()
        return owner

    def owner_died(self, owner: Replica) -> None:
        self.note(f"{owner.process.name} dies at step {owner.process.steps}")
        self.deserted.add(owner.house_id)
        self._replace(owner)

    def owner_ended(self, owner: Replica, why: str) -> None:
        """Its run is over: it was asked to leave, or could not go on."""
        self.note(f"{owner.process.name} has ended: {why}")
        self._replace(owner)

    def _replace(self, owner: Replica) -> None:
        if not self._resting and self.current.get(owner.house_id) is owner:
            self.loop.call_later(self.taken_over_after_s, self._take_over, owner, context=OUTSIDE)

    def _take_over(self, owner: Replica) -> None:
        if not self._resting and self.current.get(owner.house_id) is owner:
            self.start_owner(owner.house_id)

    def _catalogue_changed(self) -> None:
        for owner in getattr(self, "current", {}).values():
            if not owner.process.dead:
                owner.process.call(owner.hall.wake)

    def _session_told(self, session: session_pb2.Session) -> None:
        """Every process hears of every session, in order, a moment later."""
        for owner in self.replicas:
            if not owner.process.dead and not owner.over and session.table_id.startswith(owner.house_id):
                self.loop.call_later(
                    SESSIONS_HEARD_AFTER_S, owner.process.call, owner.hear_session, session, context=OUTSIDE
                )

    # -- the line between players and tables -------------------------------------------------------------------------

    async def ask(
        self,
        owner: Replica,
        work: Callable[[Replica], Awaitable[_T]],
        *,
        patience_s: float = 8.0,
        arrived: Callable[[float], object] | None = None,
    ) -> _T:
        """What a process answers. Whoever stops waiting takes his request with him, as gRPC does."""
        answer: asyncio.Future[_T] = self.loop.create_future()

        async def handle() -> None:
            if arrived is not None:
                arrived(self.loop.time())
            try:
                said = await work(owner)
            except Refused as refused:
                self.loop.call_later(PLAYERS_S, _refuse, answer, refused, context=OUTSIDE)
            else:
                self.witness.acknowledged(said)
                self.loop.call_later(PLAYERS_S, _tell, answer, said, context=OUTSIDE)

        await asyncio.sleep(PLAYERS_S)
        handling = None if owner.process.dead else owner.process.spawn(handle())
        try:
            async with asyncio.timeout(patience_s):
                return await answer
        except TimeoutError:
            raise Unanswered from None
        finally:
            if handling is not None and not handling.done():
                handling.cancel()

    # -- telling the story -------------------------------------------------------------------------------------------

    def run(self, story: Callable[[], Awaitable[_T]]) -> _T:
        """Runs a story to its end, heals what is still broken, and lets everything come to rest."""

        async def whole() -> _T:
            try:
                told = await story()
                await self.come_to_rest()
                return told
            finally:
                self.network.over = True
                for owner in self.replicas:
                    await owner.process.bury()
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

    async def come_to_rest(self) -> None:
        """No more faults; every house has an owner, and no round that was begun is without an end."""
        self.note("everything is healed")
        self.healed = True
        self.network.fate_of = well
        self.source_fails = False
        for owner in self.replicas:
            owner.process.struck_at_step = None
        for house_id, owner in list(self.current.items()):
            if owner.process.dead or owner.over:
                self.start_owner(house_id)
        # Late copies and successors that are due arrive in this time.
        await asyncio.sleep(40.0)
        self._resting = True
        for house_id, owner in list(self.current.items()):
            await self._look_who_sits(owner)
            while not await self._left(owner):
                # Whoever was overtaken has not finished what is there: the next one does.
                owner = self.start_owner(house_id)  # noqa: PLW2901
        self.note("everything is at rest")

    async def _left(self, owner: Replica, within_s: float = 200.0) -> bool:
        """Asks an owner to leave; false if it was overtaken before it could."""
        owner.steps_until_asked_to_leave = owner.process.steps
        owner.leave.set()
        until = self.loop.time() + within_s
        while not owner.over and self.loop.time() < until:
            await asyncio.sleep(0.5)
        if not owner.over:
            self.witness.breach("G11", f"{owner.process.name} does not leave")
        return not owner.overtaken

    async def _look_who_sits(self, owner: Replica) -> None:
        """A table may be a moment behind the wallet."""
        seen: dict[str, tuple[set[str], set[str]]] = {}
        for _ in range(20):
            seen = {table_id: self._seated(owner, table_id) for table_id in owner.house.tables()}
            if all(seats == sessions for seats, sessions in seen.values()):
                break
            await asyncio.sleep(0.05)
        self.seated_at_rest.update(seen)

    def _seated(self, owner: Replica, table_id: str) -> tuple[set[str], set[str]]:
        table, sessions = owner.house.tables()[table_id], self.ledger.running(table_id)
        seats = [(session.session_id, table.seat_of(session.player_id)) for session in sessions]
        known = {session_id for session_id, seat in seats if seat is not None and seat.session_id == session_id}
        others = {f"somebody {number}" for number in range(table.seated - len(known))}
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

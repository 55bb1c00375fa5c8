"""The simulated world of one run: a wallet, a journal, a bus, and the processes that own tables."""

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
from services.kit.bus.connections import Line
from services.kit.randomness.source import FIRST_BYTES
from services.kit.refusal import Refused
from services.wallet.model.state import Mode
from tests.simulation.environment.catalogue import InMemoryCatalogue
from tests.simulation.environment.durability import DurabilityChecker
from tests.simulation.environment.event_stream import StoredEvents
from tests.simulation.environment.games import ROULETTE, SimulatedGame
from tests.simulation.environment.journal import InMemoryJournal, JournalBackup
from tests.simulation.environment.network import Network, deliver_reliably
from tests.simulation.environment.own_views import ToldOwnViews
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT, VirtualTimeLoop
from tests.simulation.environment.wallet import InMemoryWallet

# How long a session event takes to reach the tables, and a call between players and tables.
SESSION_EVENT_DELAY_S = 0.03
PLAYER_DELAY_S = 0.01
# How long a placement has no owner after its owner has died.
TAKEOVER_DELAY_S = 2.0
# How long a hand may stay open for its player, in any configuration here.
OPEN_HAND_LIMIT_S = 2 * 3_600.0

_T = TypeVar("_T")


class Unanswered(Exception):
    """The player has no answer: the table or the connection is away."""


@dataclass(slots=True)
class Command:
    """A command of a player, and every answer to it, for it may be sent more than once."""

    kind: str
    player_id: str
    placement_id: str
    round_id: str
    request_id: str
    amount_cents: int = 0
    turn: int = 0
    """Of a decision."""
    move: bytes = b""
    answers: list[object] = field(default_factory=list)
    arrived_at: list[float] = field(default_factory=list)

    @property
    def refusals(self) -> list[str]:
        return [answer.reason for answer in self.answers if isinstance(answer, Refused)]


@dataclass(slots=True)
class Tournaments:
    """The tournaments of a world that is played for chips."""

    facts: dict[str, list[Any]] = field(default_factory=dict)
    """What their directors have on record."""
    directors: dict[str, Any] = field(default_factory=dict)
    """Those that were started last."""


class World:
    """The world of one run, in which everything follows from the seed and the script."""

    def __init__(self, seed: int | str = 0, game: SimulatedGame = ROULETTE) -> None:
        self.seed = seed
        self.game = game
        self.loop = VirtualTimeLoop()
        self.trace: list[str] = []
        self.network = Network(self.loop, self.add_to_trace)
        self.wallet = InMemoryWallet(game.name, self.loop, self._session_changed)
        self.journal = InMemoryJournal()
        self.events = StoredEvents(game.name, self.add_to_trace)
        self.own_views = ToldOwnViews()
        self.catalogue = InMemoryCatalogue(game.game, self._catalogue_changed)
        self.durability = DurabilityChecker(self.loop.now, self.wallet, self.journal, self.catalogue, game)
        self.randomness_fails = False
        self.next_pockets: list[int] = []
        """The pockets of the next draws, where a test wants certain ones."""
        self.lines: dict[str, Line] = {}
        """What is known of players' lines; all others are connected."""
        self.draws = 0
        """How often the entropy of a round was drawn."""
        self.commands: list[Command] = []
        self.replicas: list[Replica] = []
        """Every process that was ever started."""
        self.current_owners: dict[str, Replica] = {}
        """The process that calls are sent to, by placement."""
        self.takeover_delay_s = TAKEOVER_DELAY_S
        # What makes a void round lawful:
        self.lost_placements: set[str] = set()
        """Placements that an owner has lost, by its death or to another owner."""
        self.randomness_failed_once = False
        self.declared_void_reasons: set[str] = set()
        """Reasons for which the operator has declared rounds void."""
        self.seats_at_end: dict[str, tuple[set[str], set[str]]] = {}
        """By table of a living owner: the sessions that it knows, and those that are running."""
        self._entropy = random.Random(f"{seed} entropy")
        self.session_reports_lost = False
        """Whether no table hears of sessions that start, move on or end."""
        self.rounds_lost: set[str] = set()
        """Rounds that the journal had, or had more of, before a backup of it was restored."""
        self.unreadable_rounds: set[str] = set()
        """Dealt rounds whose cards could not be read for a while."""
        self.cut_off_rounds: set[str] = set()
        """Dealt hands in which the platform could not reach a player for too long (`806/2015:72`)."""
        self.tournaments = Tournaments()
        self.faults_ended = False
        """No fault happens any more."""
        self.finish_open_hands: Callable[[], Awaitable[None]] | None = None
        """Has players finish, at the end, the hands that tables keep open for them."""
        self._names = 0
        self._finished = False
        self._logs = _SilencedLogs()

    def add_to_trace(self, what: str) -> None:
        self.trace.append(f"{self.loop.time():10.4f} {what}")

    def trace_digest(self) -> str:
        """Returns a digest of the whole run."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def entropy(self, count: int) -> bytes:
        if self.randomness_fails:
            self.randomness_failed_once = True
            raise OSError("no entropy")
        drawn = self._entropy.randbytes(count)
        if count == FIRST_BYTES:
            self.draws += 1
        if count == FIRST_BYTES and self.next_pockets:
            return bytes([self.next_pockets.pop(0)]) + drawn[1:]
        return drawn

    # -- the operator ------------------------------------------------------------------------------------------------

    def open_tables(self, placement_id: str, configuration: types_pb2.TableConfiguration) -> Replica:
        """Configures a table and starts its first owner."""
        self.catalogue.configure(placement_id, configuration)
        return self.start_owner(placement_id)

    def deposit(self, player_id: str, cents: int) -> None:
        """Pays money into a player's account."""
        self.wallet.open_account(player_id, Mode.REAL, cents)

    def set_line(self, player_id: str, line: Line) -> None:
        """Changes what is known of a player's line."""
        self.lines[player_id] = line
        self._catalogue_changed()

    def restore_journal(self, backup: JournalBackup) -> None:
        """Replaces the journal by a backup of it; whatever was written since is lost."""
        unfinished = {round_id for round_id, entries in backup.rounds.items() if entries.ended is None}
        self.rounds_lost |= unfinished | (self.journal.rounds.keys() - backup.rounds.keys())
        self.journal.restore(backup)
        self.add_to_trace("a backup of the journal is restored")

    # -- placement ---------------------------------------------------------------------------------------------------

    def start_owner(self, placement_id: str) -> Replica:
        """Starts a process that takes the placement, whatever any other one does."""
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
        """Replaces an owner that has handed over, or could not go on."""
        self.add_to_trace(f"{owner.process.name} has ended: {reason}")
        self._replace(owner)

    def _replace(self, owner: Replica) -> None:
        if not self._finished and self.current_owners.get(owner.placement_id) is owner:
            self.loop.call_later(self.takeover_delay_s, self._take_over, owner, context=OUTSIDE_CONTEXT)

    def _take_over(self, owner: Replica) -> None:
        if not self._finished and self.current_owners.get(owner.placement_id) is owner:
            self.start_owner(owner.placement_id)

    def _catalogue_changed(self) -> None:
        for owner in self.current_owners.values():
            if not owner.process.dead:
                owner.process.deliver(owner.registry.wake)

    def _session_changed(self, session: session_pb2.Session) -> None:
        """Delivers a session event to every process, in order and a moment later."""
        if self.session_reports_lost:
            return
        for owner in self.replicas:
            if not owner.process.dead and not owner.ended and session.table_id.startswith(owner.placement_id):
                self.loop.call_later(
                    SESSION_EVENT_DELAY_S,
                    owner.process.deliver,
                    owner.receive_session,
                    session,
                    context=OUTSIDE_CONTEXT,
                )

    # -- calls of players --------------------------------------------------------------------------------------------

    async def call(
        self,
        owner: Replica,
        work: Callable[[Replica], Awaitable[_T]],
        *,
        timeout_s: float = 8.0,
        on_arrival: Callable[[float], object] | None = None,
    ) -> _T:
        """Calls a process and returns its answer. A caller that stops waiting cancels the call, as in gRPC."""
        answer: asyncio.Future[_T] = self.loop.create_future()

        async def handle() -> None:
            if on_arrival is not None:
                on_arrival(self.loop.time())
            try:
                result = await work(owner)
            except Refused as refused:
                self.loop.call_later(PLAYER_DELAY_S, _refuse, answer, refused, context=OUTSIDE_CONTEXT)
            else:
                self.durability.check_answer(result)
                self.loop.call_later(PLAYER_DELAY_S, _answer, answer, result, context=OUTSIDE_CONTEXT)

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

    # -- running -----------------------------------------------------------------------------------------------------

    def run(self, script: Callable[[], Awaitable[_T]]) -> _T:
        """Runs a script to its end, then ends all faults and lets every round finish."""

        async def whole() -> _T:
            try:
                result = await script()
                await self.finish_all_rounds()
                return result
            finally:
                self.network.ended = True
                for owner in self.replicas:
                    await owner.process.finish_tasks()
                await self._cancel_other_tasks()

        with self._logs:
            try:
                return self.loop.run_until_complete(whole())
            finally:
                self.loop.close()

    async def _cancel_other_tasks(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def finish_all_rounds(self) -> None:
        """Ends all faults, gives every placement an owner, and waits until every round has ended."""
        self.add_to_trace("all faults have ended")
        self.faults_ended = True
        self.lines.clear()
        self.session_reports_lost = False
        self.network.delivery_of = deliver_reliably
        self.randomness_fails = False
        for owner in self.replicas:
            owner.steps_before_faults_end = owner.process.steps
            owner.process.fault_at_step = None
        for placement_id, owner in list(self.current_owners.items()):
            if owner.process.dead or owner.ended:
                self.start_owner(placement_id)
        # Duplicates that are late and owners that are due arrive in this time.
        await asyncio.sleep(40.0)
        if self.finish_open_hands is not None:
            await self.finish_open_hands()
        self._finished = True
        for placement_id, owner in list(self.current_owners.items()):
            if not self.game.is_for_chips:
                await self._record_seats(owner)
            while not await self._hand_over(owner) or self._has_open_hands(placement_id):
                # A superseded owner has not finished its rounds, and no owner those that players decide about: the next
                # one does.
                owner = self.start_owner(placement_id)  # noqa: PLW2901
                if not await self._finish_hands(placement_id):
                    self.durability.report("G4", f"a hand at {placement_id} does not end")
                    break
        self.add_to_trace("all rounds have ended")

    def _has_open_hands(self, placement_id: str) -> bool:
        """Whether a round of the placement waits for decisions."""
        return any(
            entries.opened.placement_id == placement_id
            and entries.drawn is not None
            and entries.drawn.outcome is None
            and entries.ended is None
            for entries in self.journal.rounds.values()
        )

    async def _finish_hands(self, placement_id: str) -> bool:
        """Waits until the hands have ended that a former owner has left; false if they do not."""
        if self.finish_open_hands is not None:
            await self.finish_open_hands()
        until = self.loop.time() + OPEN_HAND_LIMIT_S
        while self._has_open_hands(placement_id) and self.loop.time() < until:
            await asyncio.sleep(5.0)
        return not self._has_open_hands(placement_id)

    async def _hand_over(self, owner: Replica, timeout_s: float = 200.0) -> bool:
        """Has an owner hand its tables over; false if it was superseded before it could."""
        owner.hand_over.set()
        until = self.loop.time() + timeout_s
        while not owner.ended and self.loop.time() < until:
            await asyncio.sleep(0.5)
        if not owner.ended:
            self.durability.report("G11", f"{owner.process.name} does not hand over")
        return not owner.superseded

    async def _record_seats(self, owner: Replica) -> None:
        """Records who sits at each table, once tables and wallet agree: a table may be a moment behind."""
        seen: dict[str, tuple[set[str], set[str]]] = {}
        for _ in range(20):
            seen = {table_id: self._seated(owner, table_id) for table_id in owner.owned_tables.tables()}
            if all(seats == sessions for seats, sessions in seen.values()):
                break
            await asyncio.sleep(0.05)
        self.seats_at_end.update(seen)

    def _seated(self, owner: Replica, table_id: str) -> tuple[set[str], set[str]]:
        running = {session.session_id for session in self.wallet.running_sessions(table_id)}
        # A hand names its seats until it ends: who has folded and left meanwhile is gone, and the seat is kept.
        named = {
            stake.session_id
            for entries in self.journal.rounds.values()
            if entries.opened.table_id == table_id and entries.drawn is not None and entries.ended is None
            for stake in entries.drawn.stakes
        }
        return set(owner.owned_tables.tables()[table_id].seated_session_ids()) - (named - running), running


class _SilencedLogs:
    """Switches logs off: a run full of faults would fill them."""

    def __enter__(self) -> None:
        self._before = logging.root.manager.disable
        logging.disable(logging.CRITICAL)

    def __exit__(self, *_: object) -> None:
        logging.disable(self._before)


def _answer(answer: asyncio.Future[Any], result: object) -> None:
    if not answer.done():
        answer.set_result(result)


def _refuse(answer: asyncio.Future[Any], refused: Exception) -> None:
    if not answer.done():
        answer.set_exception(refused)
        answer.exception()

"""The world of a simulated tournament: its journal, tables that play by lot, and owners that can die at any moment."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, cast

from google.protobuf.message import Message

from feltro.poker.v1 import poker_pb2, tournament_journal_pb2, tournament_pb2
from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.command_digest import digest
from services.kit.randomness.source import Randomness
from services.kit.refusal import Refused
from services.kit.table.chips.seam import Destination, HandReporter, HandToPlay, SeatedPlayer
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.tournament_entries import JournalledFact, JournalledRequest, KeptSummary
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.client import WalletUnanswered
from services.poker.directing.course import Course, Step, replay
from services.poker.directing.director import DirectorDependencies, TournamentDirector
from services.poker.lineup.entry import Positions
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.specific_rules import TournamentRules
from services.poker.tournament.specific_rules_message import message_of, read
from services.poker.tournament.tables.lineup import RunningHand
from services.wallet.model.state import Mode
from tests.engine.poker.tournament.simulated import drawn_hand
from tests.simulation.environment.network import Network
from tests.simulation.environment.virtual_time import STARTS_AT, Process, VirtualTimeLoop
from tests.simulation.environment.wallet_channel import wallet_client
from tests.simulation.tournaments.wallet import GAME, PoolWallet

TOURNAMENT_ID = "sunday"
DEPOSIT_CENTS = 100_000
# How often a call is sent again while nobody owns the tournament.
AGAIN_AFTER_S = 0.01

_T = TypeVar("_T")


@dataclass(slots=True)
class Fault:
    """The owner dies at a moment of this kind, counted from 1."""

    kind: str
    count: int


@dataclass(slots=True)
class PlayedHand:
    """A hand as the journal of its table has it: its end is fixed when it is dealt, and found by the next owner."""

    table: int
    ends_at: float
    outcome: bytes


@dataclass(slots=True)
class StoredFacts:
    """The journal's database: what the owner of the highest epoch writes."""

    epoch: int = 0
    facts: list[JournalledFact] = field(default_factory=list)
    asked: dict[tuple[str, str], JournalledRequest] = field(default_factory=dict)
    summary: KeptSummary | None = None


class World:
    """One tournament from its creation on; everything follows from the seed, the script and the fault."""

    def __init__(
        self, seed: int, rules: TournamentRules, fault: Fault | None = None, *, starts_in_s: float = 60
    ) -> None:
        self.seed = seed
        self.fault = fault
        self.loop = VirtualTimeLoop()
        self.wallet = PoolWallet(self.loop)
        self.network = Network(self.loop, lambda _: None)
        self.stored = StoredFacts()
        self.hands: dict[int, PlayedHand] = {}
        self.moments: Counter[str] = Counter()
        """How often each kind of moment has come, at which an owner can die."""
        self.notices: list[events_pb2.OwnViewChanged] = []
        self.owners: list[Owner] = []
        self.takeovers = 0
        starts_at = datetime.fromtimestamp(STARTS_AT.timestamp() + starts_in_s, STARTS_AT.tzinfo)
        self.configuration = types_pb2.TableConfiguration(
            game=GAME,
            regulation="810/2015",
            mode=wallet_types.MODE_REAL,
            play=wallet_types.PLAY_TOURNAMENT,
            name=types_pb2.LocalizedText(pt="Domingo", en="Sunday"),
            seats=rules.seats,
        )
        self.configuration.rules.Pack(message_of(rules, starts_at if rules.start == "scheduled" else None))
        self.rules, _ = read(self.configuration)
        self._starts_at_ms = round(starts_at.timestamp() * 1000) if rules.start == "scheduled" else None
        self.failures: list[BaseException] = []
        # Read again only when facts have been added.
        self._course = Course.begin(TOURNAMENT_ID, self.rules, self._starts_at_ms)

    # -- owners ------------------------------------------------------------------------------------------------------

    def start_owner(self) -> Owner:
        self.stored.epoch += 1
        owner = Owner(self, self.stored.epoch)
        self.owners.append(owner)
        return owner

    async def moment(self, process: Process, kind: str) -> None:
        """Lets the owner die here if this is the moment of the fault; another takes over at once."""
        self.moments[kind] += 1
        fault = self.fault
        if fault is not None and (kind, self.moments[kind]) == (fault.kind, fault.count) and not self.takeovers:
            self.takeovers += 1
            process.on_death = lambda: cast("None", self.start_owner())
            process.kill()
        # A process that is dead goes no further than here.
        await asyncio.sleep(0)

    def run(self, script: Callable[[World], Awaitable[None]]) -> World:
        """Runs the script, and then until the tournament is closed."""
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._run(script))
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()
        if self.failures:
            raise self.failures[0]
        return self

    async def _run(self, script: Callable[[World], Awaitable[None]]) -> None:
        self.start_owner()
        await script(self)
        async with asyncio.timeout(24 * 3600):
            while self.stored.summary is None or not self.stored.summary.closed:
                if self.failures:
                    break
                await asyncio.sleep(1)
        self.network.ended = True
        for owner in self.owners:
            await owner.process.finish_tasks()

    async def ask(self, call: Callable[[TournamentDirector], Awaitable[_T]]) -> _T | Refused:
        """Sends a call to the owner until somebody answers it."""
        async with asyncio.timeout(3600):
            while True:
                if self.stored.summary is not None and self.stored.summary.closed:
                    # Nobody runs it any more.
                    return TableRefused("TOURNAMENT_OVER", "The tournament is over.")
                owner = self.owners[-1]
                if not owner.director.ready.is_set() or owner.process.dead:
                    await asyncio.sleep(AGAIN_AFTER_S)
                    continue
                task = owner.process.spawn(_as_coroutine(call(owner.director)))
                while not task.done() and not owner.process.dead:
                    await asyncio.sleep(0.001)
                if not task.done():
                    continue
                try:
                    return task.result()
                except Refused as refused:
                    if refused.reason != "UNAVAILABLE":
                        return refused
                except StaleOwner:
                    pass
                await asyncio.sleep(AGAIN_AFTER_S)

    async def buy(self, what: Purchase, player_id: str, request_id: str, ticket_id: str = "") -> Message | Refused:
        """Buys as the service does: the answer is what the director has kept for the command."""
        request: Message = tournament_pb2.RegisterRequest(
            request_id=request_id, tournament_id=TOURNAMENT_ID, ticket_id=ticket_id
        )
        content = digest(request, str(what))
        kinds = {Purchase.REBUY: tournament_pb2.RebuyResponse, Purchase.ADDON: tournament_pb2.AddOnResponse}
        answer = await self.ask(lambda director: director.buy(what, player_id, request_id, content, ticket_id))
        if isinstance(answer, Refused):
            return answer
        return kinds.get(what, tournament_pb2.RegisterResponse).FromString(answer)

    async def decline(self, player_id: str) -> None:
        await self.ask(lambda director: director.decline_rebuy(player_id))

    async def unregister(self, player_id: str, request_id: str) -> bytes | Refused:
        content = digest(tournament_pb2.UnregisterRequest(tournament_id=TOURNAMENT_ID))
        return await self.ask(lambda director: director.unregister(player_id, request_id, content))

    async def until(self, seconds: float) -> None:
        """Waits until so many seconds after the beginning."""
        await asyncio.sleep(max(0.0, seconds - self.loop.time()))

    def entropy(self, count: int) -> bytes:
        """Returns what depends on the number of the next fact alone, so that runs can be compared."""
        return hashlib.shake_256(f"{self.seed}:{len(self.stored.facts)}".encode()).digest(count)

    # -- what is on record -------------------------------------------------------------------------------------------

    def course(self) -> Course:
        """Returns the course as the journal has it."""
        new = self.stored.facts[self._course.facts :]
        self._course, _ = replay(self._course, new)
        return self._course

    def steps(self) -> list[Step]:
        return replay(Course.begin(TOURNAMENT_ID, self.rules, self._starts_at_ms), self.stored.facts)[1]

    def deposit(self, player_id: str, cents: int = DEPOSIT_CENTS) -> None:
        self.wallet.open_account(player_id, Mode.REAL, cents)


class Owner:
    """One process that owns the tournament, until it dies or the world ends."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.epoch = epoch
        self.process = Process(f"owner {epoch}", world.loop)
        wallet = wallet_client(self.process, world.network, world.wallet)
        dependencies = DirectorDependencies(
            journal=cast("Any", _Journal(self)),
            wallet=cast("Any", _Wallet(self, wallet)),
            clock=world.loop,
            randomness=Randomness(world.entropy),
            notices=self,
        )
        self.director = TournamentDirector(TOURNAMENT_ID, world.configuration, dependencies)
        self.process.spawn(self._run())

    def publish(self, changed: events_pb2.OwnViewChanged) -> None:
        self.world.notices.append(changed)

    async def _run(self) -> None:
        try:
            await self.director.run(cast("Any", _Tables(self)), self.epoch)
        except Exception as failed:  # noqa: BLE001 - the test raises it
            self.world.failures.append(failed)


class _Journal:
    """The journal as one owner writes it: fenced, and with moments before and after each write."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._stored = owner.world.stored

    async def facts(self, tournament_id: str) -> list[JournalledFact]:
        return list(self._stored.facts)

    async def requests(self, tournament_id: str) -> list[JournalledRequest]:
        return list(self._stored.asked.values())

    async def write_fact(self, tournament_id: str, epoch: int, fact: JournalledFact) -> None:
        kind = _kind_of(fact)
        await self._owner.world.moment(self._owner.process, f"before the fact {kind}")
        self._fence(epoch)
        assert fact.number == len(self._stored.facts) + 1, "facts are numbered without a gap"
        self._stored.facts.append(fact)
        await self._owner.world.moment(self._owner.process, f"after the fact {kind}")

    async def write_request(
        self,
        tournament_id: str,
        epoch: int,
        request: JournalledRequest,
        asked_at: datetime,
    ) -> JournalledRequest:
        await self._owner.world.moment(self._owner.process, "before a request")
        self._fence(epoch)
        stored = self._stored.asked.setdefault((request.player_id, request.request_id), request)
        await self._owner.world.moment(self._owner.process, "after a request")
        return stored

    async def keep_summary(self, tournament_id: str, epoch: int, kept: KeptSummary) -> None:
        self._fence(epoch)
        self._stored.summary = kept

    def _fence(self, epoch: int) -> None:
        if epoch != self._stored.epoch:
            raise StaleOwner


def _kind_of(fact: JournalledFact) -> str:
    return tournament_journal_pb2.TournamentFact.FromString(fact.fact).WhichOneof("fact") or ""


class _Wallet:
    """The wallet's client of one owner, with moments before each command and after its answer."""

    _COMMANDS = ("open_table", "pay_in", "pay_out", "settle_tickets", "close_tournament")

    def __init__(self, owner: Owner, wallet: object) -> None:
        self._owner = owner
        self._wallet = wallet

    def __getattr__(self, name: str) -> Callable[[Any], Awaitable[Any]]:
        method = getattr(self._wallet, name)

        async def call(request: Any) -> Any:  # noqa: ANN401 - of any method
            if name not in self._COMMANDS:
                return await method(request)
            kind = f"{name}{_with_tickets(request)}"
            await self._owner.world.moment(self._owner.process, f"before {kind}")
            answer = await method(request)
            await self._owner.world.moment(self._owner.process, f"after {kind}")
            return answer

        return call


def _with_tickets(request: Message) -> str:
    """Says of a command what it does with tickets."""
    match request:
        case wallet_tournament.PayInRequest(ticket_id=ticket_id) if ticket_id:
            return " by ticket"
        case wallet_tournament.PayOutRequest(awards=awards):
            kinds = {each.ticket_refund for each in awards} - {wallet_tournament.TICKET_REFUND_UNSPECIFIED}
            names = [wallet_tournament.TicketRefund.Name(kind) for kind in sorted(kinds)]
            return " ".join(["", *(["of tickets"] if any(each.HasField("ticket") for each in awards) else []), *names])
        case _:
            return ""


class _Tables:
    """The inner tables of one owner; the hands that they play are the world's."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    async def open(self, number: int) -> _Table:
        await self._owner.world.moment(self._owner.process, "before a table is opened")
        return _Table(self._owner, number)


class _Table:
    """Plays hands by lot: what a hand does is fixed by the seed and its number, and when it ends by its beginning."""

    def __init__(self, owner: Owner, number: int) -> None:
        self._owner = owner
        self._world = owner.world
        self.number = number
        self.players: dict[int, SeatedPlayer] = {}

    async def seat(self, seat: int, player: SeatedPlayer) -> None:
        await self._world.moment(self._owner.process, "before a player is seated")
        self.players[seat] = player

    async def stand(self, seat: int, moved_to: Destination | None = None) -> None:
        kind = "is eliminated" if moved_to is None else "is moved"
        await self._world.moment(self._owner.process, f"before a player {kind}")
        self.players.pop(seat, None)

    def mark(self, seat: int, *, away: bool) -> None:
        del seat, away

    def show(self, chips: Mapping[int, int], notice: Message | None) -> None:
        assert set(chips) >= set(self.players), "everybody at the table is shown"
        assert isinstance(notice, poker_pb2.TournamentNotice)

    async def play(self, hand: HandToPlay) -> None:
        await self._world.moment(self._owner.process, "before a hand")
        known = self._world.hands.get(hand.number)
        if known is None:
            assert set(hand.seats) <= set(self.players), "who is dealt in sits there"
            chance = random.Random(f"{self._world.seed}:{hand.number}")
            # On a moment of the table's own, so that a takeover of milliseconds changes no order.
            begun = round(self._world.loop.time() + 1)
            ends_at = begun + chance.randint(5, 20) + self.number / 100
            known = PlayedHand(self.number, ends_at, drawn_outcome(chance, self._world.rules, hand))
            self._world.hands[hand.number] = known
        await self._world.moment(self._owner.process, "after a hand is dealt")
        asyncio.get_running_loop().create_task(self._report(hand.number, known))

    async def hold(self, why: str) -> None:
        await self._world.moment(self._owner.process, f"before a table is held for {why}")

    async def close(self) -> None:
        await self._world.moment(self._owner.process, "before a table is closed")

    async def _report(self, number: int, hand: PlayedHand) -> None:
        await asyncio.sleep(max(0.0, hand.ends_at - self._world.loop.time()))
        await self._world.moment(self._owner.process, "before a hand is reported")
        reporter: HandReporter = self._owner.director
        try:
            await reporter.hand_ended(self.number, number, hand.outcome)
        except (Refused, StaleOwner, WalletUnanswered):
            return
        # A report may come twice (G3).
        await reporter.hand_ended(self.number, number, hand.outcome)


def drawn_outcome(chance: random.Random, rules: TournamentRules, hand: HandToPlay) -> bytes:
    """Returns the end of a hand that is played by lot, as its table would journal it."""
    running = RunningHand(hand.number, Positions(hand.seats, hand.chips), hand.level)
    chips, takers = drawn_hand(chance, rules, running)
    seats = [poker_pb2.SeatView(seat=seat, stack_cents=chips[seat]) for seat in hand.seats]
    pots = [poker_pb2.Pot(seats=[seat, *taken]) for seat, taken in takers.items()]
    payments = [poker_pb2.Payment(pot=at, seat=taker) for at, taken in enumerate(takers.values()) for taker in taken]
    record = poker_pb2.Outcome(view=poker_pb2.View(seats=seats, pots=pots), payments=payments)
    return record.SerializeToString()


async def _as_coroutine(work: Awaitable[_T]) -> _T:
    return await work

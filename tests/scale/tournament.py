"""One run: registers the bots, plays the tournament while its owner is killed, and checks every record of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import grpc

from feltro.poker.v1 import tournament_pb2, tournament_rules_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from gateway.live.connected_players import ConnectedPlayers
from services.kit import background
from services.kit.bus.connection import connect
from services.kit.bus.permissions import GATEWAY
from services.kit.clock import SystemClock
from services.kit.table.chips.seam import table_id_of
from services.poker.tournament.running.state import Phase
from tests.bench.wallet import cpu_of_processes
from tests.drill.checks.findings import Check
from tests.processes.bus import endpoint
from tests.processes.databases import connect_asyncpg
from tests.processes.feltro import feltro
from tests.processes.poker import HOLDEM
from tests.scale import checks, platform
from tests.scale.bots import AllConnected, Bots
from tests.scale.journal import TournamentJournal
from tests.scale.kills import Kill, schedule
from tests.scale.platform import TOKEN_MINUTES, Owner

TOURNAMENT_ID = "scale"
MONEY_CENTS = 100_000
# Registered players wait for the hour, to which the clock is moved when all of them are in.
STARTS_IN_S = 36_000.0
# One in so many comes late.
LATE_ONE_IN = 30
ACCOUNTS_AT_A_TIME = 32
# By how much the clock of the tables is moved at a time, and how often at most.
STEP_S, STEP_EVERY_S = 2.0, 0.04
# The clock waits while a decision is longer on its way: no bot is to miss its time because the machine is busy.
DECIDED_WITHIN_S = 0.5
FOLLOW_EVERY_S = 0.02
PROGRESS_EVERY_S = 10.0
# A table of which no bot has heard for so long is looked at.
SILENT_S = 3.0
# Of the whole play; a thousand bots take some minutes on two cores.
PLAYED_WITHIN_S = 3_600.0
PAGE_SIZE = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run was asked for."""

    players: int
    kills: int
    seed: int


@dataclass
class Takeover:
    """How a kill went."""

    kill: Kill
    answered_after_s: float
    """Until another process answered for the tournament."""
    went_on_after_s: float = float("nan")
    """Until the next fact was written."""


@dataclass
class Result:
    """What a run has measured and found."""

    plan: Plan
    checks: list[Check] = field(default_factory=list)
    takeovers: list[Takeover] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each part took."""
    hands: int = 0
    facts: int = 0
    entries: int = 0
    moves: int = 0
    decisions: int = 0
    cpu_s: dict[str, float] = field(default_factory=dict)
    """The CPU time that each kind of process has taken until the tournament was over."""

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def rules(starts_in_s: float) -> tournament_rules_pb2.TournamentRules:
    """Returns rules with everything that is bought and paid, and with blinds that end it."""
    levels = [
        tournament_rules_pb2.TournamentLevel(
            small_blind=round(25 * 1.35**number),
            big_blind=round(50 * 1.35**number),
            seconds=120,
            break_seconds=30 if number % 6 == 3 else 0,
        )
        for number in range(30)
    ]
    made = tournament_rules_pb2.TournamentRules(
        regulation=HOLDEM,
        price=tournament_rules_pb2.TournamentPrice(prize_cents=1_000, fee_cents=100, bounty_cents=200),
        start=tournament_rules_pb2.TOURNAMENT_START_SCHEDULED,
        seats=9,
        starting_stack=1_500,
        levels=levels,
        late_reg_until_level=2,
        reentries_max=1,
        reentry_until_level=2,
        rebuys_max=1,
        rebuy_until_level=1,
        rebuy_decision_seconds=60,
        guarantee_cents=200_000,
        decision_time_seconds=120,
    )
    made.starts_at.FromDatetime(SystemClock().now() + timedelta(seconds=starts_in_s))
    return made


class TournamentRun:
    """A run under way."""

    def __init__(self, plan: Plan, home: Path) -> None:
        self.result = Result(plan)
        self._plan = plan
        self._home = home
        self._began = time.monotonic()
        self._accounts: dict[str, str] = {}
        self._kills = schedule(plan.seed, plan.players, plan.kills)
        # Whether no kill is under way, and whether both replicas are there for the next one.
        self._unhurt, self._complete = asyncio.Event(), asyncio.Event()
        self._unhurt.set()
        self._complete.set()
        # By process, those that were killed as well.
        self._cpu: dict[int, tuple[str, float]] = {}

    def tell(self, sentence: str) -> None:
        """Prints a step of the run."""
        print(f"{time.monotonic() - self._began:7.1f} s  {sentence}", flush=True)

    async def run(self) -> Result:
        """Runs to the end; what does not hold is in the result."""
        self.tell(f"seed {self._plan.seed}: starting the platform")
        async with platform.running(self._home) as self._platform:
            self._owner = Owner(self._platform, TOURNAMENT_ID)
            # As a gateway: it alone receives private events, and reports to tables who is connected.
            bus = await connect(endpoint(self._platform.bus_url, GATEWAY), "bots")
            journal = await connect_asyncpg(self._platform.replicas[0].database_url)
            try:
                players = [f"bot-{number}" for number in range(1, self._plan.players + 1)]
                await self._timed("accounts", self._open_accounts(players))
                await self._create()
                self._journal = await TournamentJournal.of(journal, TOURNAMENT_ID)
                self._bots = Bots(
                    TOURNAMENT_ID,
                    players,
                    self._owner,
                    self._plan.seed,
                    lambda player: self._owner.client.bearer("player", player, TOKEN_MINUTES),
                )
                await self._bots.listen(bus)
                lines = asyncio.create_task(ConnectedPlayers(bus, "bots", [AllConnected(players)]).run())
                try:
                    async with asyncio.timeout(PLAYED_WITHIN_S):
                        await self._play(players)
                    await self._bots.finish()
                    await self._check()
                finally:
                    await background.cancel_and_wait([lines])
            finally:
                await journal.close()
                await bus.close()
        return self.result

    async def _timed(self, what: str, work: Awaitable[None]) -> None:
        began = time.monotonic()
        await work
        self.result.seconds[what] = time.monotonic() - began
        self.tell(f"{what}: {self.result.seconds[what]:.1f} s")

    async def _open_accounts(self, players: Iterable[str]) -> None:
        slots = asyncio.Semaphore(ACCOUNTS_AT_A_TIME)

        async def open_account(player: str) -> None:
            async with slots:
                self._accounts[player] = await self._platform.money.open_account(player, MONEY_CENTS)

        await asyncio.gather(*(open_account(player) for player in players))

    async def _create(self) -> None:
        request = tournament_pb2.CreateTournamentRequest(
            request_id=str(uuid4()),
            tournament_id=TOURNAMENT_ID,
            configuration=tournament_pb2.TournamentConfiguration(
                name=types_pb2.LocalizedText(pt="Grande", en="Large"),
                mode=wallet_types.MODE_REAL,
                rules=rules(STARTS_IN_S),
            ),
            approval_reference="SRIJ/scale",
        )
        client = self._owner.client
        await client.tournaments.CreateTournament(request, metadata=client.operator)
        await self._owner.look()

    # -- playing -------------------------------------------------------------------------------------------------------

    async def _play(self, players: list[str]) -> None:
        late = players[::LATE_ONE_IN]
        early = [player for player in players if player not in set(late)]
        watching = asyncio.create_task(self._follow())
        helping = [asyncio.create_task(self._look_at_silent_tables()), asyncio.create_task(self._tell_progress())]
        try:
            await self._timed("registration", self._register(early))
            await self._unhurt.wait()
            self._played_from = time.monotonic()
            await self._owner.call(lambda poker: poker.advance_tables(STARTS_IN_S))
            clock = asyncio.create_task(self._move_clock())
            helping.append(clock)
            registering = asyncio.create_task(self._register_late(late))
            helping.append(registering)
            done, _ = await asyncio.wait([watching, *helping[:-1]], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            await registering
            await self._until_closed()
            for who, cpu_s in (self._cpu | cpu_of_processes()).values():
                self.result.cpu_s[who] = self.result.cpu_s.get(who, 0.0) + cpu_s
            self.result.seconds["play"] = time.monotonic() - self._played_from
            self.tell(f"play: {self.result.seconds['play']:.1f} s")
        finally:
            await background.cancel_and_wait([watching, *helping])

    async def _register(self, players: Iterable[str]) -> None:
        await asyncio.gather(*(self._bots.register(player) for player in players))

    async def _register_late(self, players: Iterable[str]) -> None:
        while self._journal.course.state.phase is Phase.REGISTERING:
            await asyncio.sleep(FOLLOW_EVERY_S)
        await self._register(players)

    async def _move_clock(self) -> None:
        """Lets time pass quickly, while somebody runs the tournament and no bot is behind."""
        while True:
            await self._complete.wait()
            if self._owner.found.is_set() and self._bots.longest_wait_s < DECIDED_WITHIN_S:
                with suppress(grpc.aio.AioRpcError):
                    await self._owner.client.advance_tables(STEP_S)
            await asyncio.sleep(STEP_EVERY_S)

    async def _follow(self) -> None:
        """Follows the facts, and kills the owner when a moment of the schedule has come; ends with the tournament."""
        kills = list(self._kills)
        while True:
            for course, step in await self._journal.follow():
                due = next((kill for kill in kills if kill.is_due(course, step)), None)
                if due is not None:
                    kills.remove(due)
                    await self._kill(due)
                    # What was written meanwhile is no moment of the next kill.
                    await self._journal.follow()
                    break
                if course.is_over:
                    return
            if self._journal.course.is_over:
                return
            await asyncio.sleep(FOLLOW_EVERY_S)

    async def _kill(self, kill: Kill) -> None:
        self._cpu |= cpu_of_processes()
        self._unhurt.clear()
        await asyncio.sleep(kill.delay_s)
        killed = self._owner.process
        began = time.monotonic()
        await asyncio.to_thread(killed.kill)
        self._owner.lose()
        self.tell(str(kill))
        await asyncio.sleep(kill.down_s)
        killed.start()
        await self._owner.look()
        takeover = Takeover(kill, self._owner.found_at - began)
        self.result.takeovers.append(takeover)
        while not self._journal.course.is_over and not await self._journal.follow():
            await asyncio.sleep(FOLLOW_EVERY_S)
        takeover.went_on_after_s = time.monotonic() - began
        self._complete.clear()
        await killed.ready()
        self._complete.set()
        self._unhurt.set()
        self.tell(f"answered after {takeover.answered_after_s:.1f} s, went on after {takeover.went_on_after_s:.1f} s")

    async def _look_at_silent_tables(self) -> None:
        while True:
            await asyncio.sleep(SILENT_S)
            state = self._journal.course.state
            for number, table in state.tables.items():
                table_id = table_id_of(TOURNAMENT_ID, number)
                silent_s = time.monotonic() - self._bots.heard_at.get(table_id, 0.0)
                if table.hand is not None and silent_s > SILENT_S and self._owner.found.is_set():
                    seats = table.hand.positions.seats
                    await self._bots.look(table_id, [state.entries[table.seated[seat].entry].player for seat in seats])

    async def _tell_progress(self) -> None:
        while True:
            await asyncio.sleep(PROGRESS_EVERY_S)
            state = self._journal.course.state
            if state.phase is Phase.REGISTERING:
                self.tell(f"{len(state.registered)} of {self._plan.players} are registered")
            else:
                self.tell(
                    f"level {state.level}: {len(state.playing)} of {len(state.entries)} entries left at"
                    f" {len(state.tables)} tables, {state.hands_started} hands, {self._bots.decisions} decisions"
                )

    async def _until_closed(self) -> None:
        while not (await checks.money_of(self._platform.money, TOURNAMENT_ID)).HasField("closed_at"):
            await asyncio.sleep(FOLLOW_EVERY_S)

    # -- checking ------------------------------------------------------------------------------------------------------

    async def _check(self) -> None:
        began = time.monotonic()
        self.tell("over; comparing the records")
        await self._journal.follow()
        result, journal = self.result, self._journal
        replayed = journal.steps()
        state = journal.course.state
        result.hands, result.facts, result.entries = state.hands_started, len(journal.facts), len(state.entries)
        result.moves = sum(type(order).__name__ == "MovePlayer" for step in replayed for order in step.orders)
        result.decisions = self._bots.decisions
        result.checks.append(self._check_bots())
        places, played = checks.check_places(journal.simulated)
        result.checks.append(places)
        result.checks.append(checks.check_hands(TOURNAMENT_ID, replayed, journal.facts, await journal.hands()))
        if played is not None:
            balances = await checks.check_balances(self._platform.money, self._accounts, MONEY_CENTS, played)
            result.checks += [balances, checks.check_ranking(await self._ranking(), played)]
        result.checks.append(checks.check_pool(await checks.money_of(self._platform.money, TOURNAMENT_ID)))
        result.checks.append(await checks.check_ledger(self._platform.wallet.database_url))
        result.checks += [await self._replay("tournament", TOURNAMENT_ID), await self._replay("all hands", "--all")]
        result.seconds["checks"] = time.monotonic() - began

    def _check_bots(self) -> Check:
        check = Check("every bot was answered", "G3", looked_at=self._bots.decisions, unit="decisions")
        for failure in self._bots.failures:
            check.violate(failure)
        refused = ", ".join(f"{reason} {count}" for reason, count in self._bots.refusals.most_common())
        check.note = f"{self._owner.repeated} calls were repeated; refused: {refused or 'none'}"
        return check

    async def _ranking(self) -> list[tournament_pb2.TournamentPlayer]:
        shown: list[tournament_pb2.TournamentPlayer] = []
        request = tournament_pb2.ListTournamentPlayersRequest(tournament_id=TOURNAMENT_ID, page_size=PAGE_SIZE)
        while True:
            client = self._platform.clients[0]
            page = await client.tournaments.ListTournamentPlayers(request, metadata=client.operator)
            shown += page.players
            if not page.next_page_token:
                return shown
            request.page_token = page.next_page_token

    async def _replay(self, what: str, argument: str) -> Check:
        check = Check(f"`feltro replay` of the {what} agrees", "G10", looked_at=1, unit="command")
        poker = self._platform.replicas[0]
        environment = {
            **poker.variables(),
            "FELTRO_ENVIRONMENT": "development",
            "FELTRO_POKER_DATABASE_URL": poker.database_url,
        }
        status, printed = await asyncio.to_thread(feltro, ["replay", "--game", "poker", argument], environment)
        if status:
            check.violate(f"status {status}", printed.splitlines()[-30:])
        return check

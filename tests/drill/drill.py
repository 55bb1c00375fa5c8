"""One drill: starts the platform, lets bots play, carries out the schedule, and checks every record."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import aiohttp

from services.kit import background
from tests.drill.checks.findings import Check
from tests.drill.checks.memory import Memory, check_memory, memories
from tests.drill.checks.recovery import MONEY_MOVES, Injury, Recovery, check_recovery, recoveries
from tests.drill.checks.tournaments import PlayedTournament, check_tournaments
from tests.drill.evidence import platform_checks, records_agree
from tests.drill.platform.earlier import EarlierRelease
from tests.drill.platform.processes import DrilledPlatform
from tests.drill.play.bots import Bot, Cashier, deposit
from tests.drill.play.calls import Calls
from tests.drill.play.games import DrillGame, games, spread
from tests.drill.play.tournaments import ENTRANTS, FEE_CENTS, PRIZE_CENTS, Entrant, Series
from tests.drill.play.watching import Audience
from tests.drill.recorder import ANSWERED, Recorder
from tests.drill.schedule import only, schedule
from tests.drill.surgeon import Surgeon
from tests.drill.upgrade import upgrade

# A series of tournaments, with players of its own, for so many bots at tables.
BOTS_FOR_A_SERIES = 50
# More than a bot can lose.
STARTING_CENTS = 10**8
CASHIERS, CASHIERS_AT_ACCOUNT = 2, 3
TOKEN_MINUTES = 7 * 24 * 60
RECOVERS_WITHIN_S = 90.0
# Bots that have a round or a tournament to finish when the drill closes: a decision by the clock, a takeover.
CLOSES_WITHIN_S = 180.0
SAMPLES_EVERY_S = 2.0
OWN_DELAY_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """What a drill was asked for."""

    seed: int
    seconds: float
    bots: int
    longest_s: float
    folder: Path
    without_disks: str
    """Why no disk is filled; empty where disks are."""
    only: str = ""
    """Words that a step has to say to be carried out."""
    earlier: str = ""
    """The revision to begin with; empty is this one."""


@dataclass
class Result:
    """What a drill found."""

    plan: Plan
    began: float
    ended: float
    checks: list[Check]
    recoveries: list[Recovery]
    memories: list[Memory]
    ended_alone: list[tuple[str, float]] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    """When commands were acknowledged."""
    attempts: int = 0
    own_delay_s: float = 0.0
    """The longest that the drill itself was late: an overloaded machine shows here."""

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


class Drill:
    """The parts of a running drill."""

    def __init__(self, plan: Plan, home: Path) -> None:
        self.plan = plan
        self.recorder = Recorder(plan.folder)
        self.audience = Audience(self.recorder)
        earlier = EarlierRelease(plan.earlier, home / "earlier") if plan.earlier else None
        self.games: tuple[DrillGame, ...] = tuple(
            game for game in games() if earlier is None or earlier.has_game(game.name)
        )
        hours = plan.seconds / 3600
        self.platform = DrilledPlatform(
            home, self.games, with_disks=not plan.without_disks, hours=hours, earlier=earlier
        )
        self.injuries: list[Injury] = []
        self._dice = Random(plan.seed)
        self._bots: list[Bot] = []
        self._entrants: list[Entrant] = []
        self._series: list[Series] = []
        self._has_tournaments = earlier is None or earlier.has_tournaments
        self._operator: Calls | None = None
        self._closing = asyncio.Event()
        self._samples: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
        self._crashed: list[str] = []
        self._own_delay_s = 0.0
        self._began = time.time()

    @property
    def _players(self) -> list[Bot | Entrant]:
        return [*self._bots, *self._entrants]

    def tell(self, sentence: str) -> None:
        """Prints and records a step of the drill."""
        print(f"{time.time() - self._began:7.1f} s  {len(self.recorder.commands):7} commands  {sentence}", flush=True)
        self.recorder.write("schedule", {"at": time.time(), "what": sentence})

    async def run(self) -> Result:
        """Runs the drill to its end."""
        self.tell(f"seed {self.plan.seed}: starting {len(self.platform.targets().processes)} processes")
        async with self.platform.running(), self._playing() as players:
            self.tell("everything is ready")
            began = time.time()
            await self._wait_for_money(began)
            upgraded = [await self._upgrade()] if self.plan.earlier else []
            await self._hurt_until(time.time() + self.plan.seconds)
            ended = time.time()
            self.tell("closing: the bots finish their rounds")
            closed = await self._close(players)
            tournaments = await self._check_tournaments()
            statuses = await self.platform.stop_games()
            self.tell("the games have stopped; comparing the records")
            checks = [
                *upgraded,
                closed,
                *tournaments,
                *await records_agree(self.platform, self.recorder, self.audience, self._read_balances),
            ]
            checks += await platform_checks(self.platform, [each for series in self._series for each in series.created])
        told_gaps = sum(player.watcher.order.told_gaps for player in self._players)
        checks += self.audience.finish(told_gaps)
        found = recoveries(self.injuries, self.recorder.commands)
        memory = memories(self._samples, began, ended)
        checks += [
            check_recovery(found, RECOVERS_WITHIN_S),
            self._check_processes(statuses),
            check_memory(memory, ended - began),
        ]
        answers = sorted(each.responded for each in self.recorder.commands if each.outcome == ANSWERED)
        alone = [(each.name, each.at) for each in self.platform.ended_alone]
        attempts = sum(each.attempts for each in self.recorder.commands)
        return Result(
            self.plan, self._began, time.time(), checks, found, memory, alone, answers, attempts, self._own_delay_s
        )

    # -- playing -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _playing(self) -> AsyncIterator[list[asyncio.Task[None]]]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            work = [*await self._seat_bots(session), *await self._employ_cashiers(session)]
            if self._has_tournaments:
                work += await self._enter_players(session)
            watching = [asyncio.create_task(self._sample_memory()), asyncio.create_task(self._watch_own_delay())]
            try:
                yield work
            finally:
                await background.cancel_and_wait([*work, *watching])
                self.recorder.close()

    async def _seat_bots(self, session: aiohttp.ClientSession) -> list[asyncio.Task[None]]:
        operator = self._operator = self._client(session, "operator", "back-office")
        tasks = []
        for number, (game, placement, individual) in enumerate(spread(self.games, self.plan.bots)):
            name = f"bot-{number}"
            account_id = await self._open_account(operator, name)
            await deposit(operator, account_id, STARTING_CENTS)
            dice = Random(self._dice.random())
            calls = self._client(session, "player", name)
            bot = Bot(calls, game, account_id, placement, self.audience, dice, individual=individual)
            self._bots.append(bot)
            tasks.append(asyncio.create_task(self._until_done(name, bot.play(self._closing))))
        return tasks

    async def _enter_players(self, session: aiohttp.ClientSession) -> list[asyncio.Task[None]]:
        tasks = []
        operator = self._client(session, "operator", "tournaments")
        for number in range(1 + self.plan.bots // BOTS_FOR_A_SERIES):
            series = Series(f"tournament-{number}", operator)
            self._series.append(series)
            for entrant in range(ENTRANTS):
                name = f"entrant-{number}-{entrant}"
                account_id = await self._open_account(operator, name)
                await deposit(operator, account_id, STARTING_CENTS)
                calls = self._client(session, "player", name)
                player = Entrant(calls, series, account_id, self.audience, Random(self._dice.random()))
                self._entrants.append(player)
                tasks.append(asyncio.create_task(self._until_done(name, player.play(self._closing))))
        return tasks

    async def _check_tournaments(self) -> list[Check]:
        """Reads every tournament and the accounts of its players, while the games still answer."""
        if self._operator is None or not self._series:
            return []
        operator, played, balances = self._operator, [], {}
        for tournament_id in (each for series in self._series for each in series.created):
            path = f"/v1/tournaments/{tournament_id}"
            report = await operator.run(operator.command("read"), f"{path}/report")
            players = await operator.run(operator.command("read"), f"{path}/players?page_size=500")
            played.append(PlayedTournament(report, players["players"]))
        for player in self._entrants:
            read = operator.command("balance", player.account_id)
            balance = (await operator.run(read, f"/v1/accounts/{player.account_id}/balance"))["balance"]
            balances[player.calls.name] = STARTING_CENTS, int(balance["free_cents"])
        acknowledged: defaultdict[str, list[str]] = defaultdict(list)
        for player in self._entrants:
            for tournament_id in player.registered:
                acknowledged[tournament_id].append(player.calls.name)
        return [check_tournaments(played, acknowledged, (PRIZE_CENTS, FEE_CENTS), balances)]

    async def _employ_cashiers(self, session: aiohttp.ClientSession) -> list[asyncio.Task[None]]:
        tasks = []
        operator = self._client(session, "operator", "accounts")
        for number in range(CASHIERS):
            account_id = await self._open_account(operator, f"saver-{number}")
            for desk in range(CASHIERS_AT_ACCOUNT):
                calls = self._client(session, "operator", f"cashier-{number}-{desk}")
                cashier = Cashier(calls, account_id, Random(self._dice.random()))
                tasks.append(asyncio.create_task(self._until_done(calls.name, cashier.work(self._closing))))
        return tasks

    async def _read_balances(self) -> None:
        """Reads every account once more."""
        accounts = sorted({each.account_id for each in self.recorder.commands if each.account_id})
        if self._operator is not None:
            for account_id in accounts:
                await self._operator.run(
                    self._operator.command("balance", account_id), f"/v1/accounts/{account_id}/balance"
                )

    def _client(self, session: aiohttp.ClientSession, scope: str, name: str) -> Calls:
        issuer = self.platform.wallet.issuer
        token = issuer.token([scope], name, TOKEN_MINUTES)
        return Calls(name, token, self.platform.gateway_urls, session, self.recorder)

    async def _open_account(self, operator: Calls, player_id: str) -> str:
        command = operator.command("account")
        opened = await operator.run(command, "/v1/accounts", {"player_id": player_id, "mode": "MODE_REAL"})
        return str(opened["balance"]["account_id"])

    async def _until_done(self, name: str, work: Coroutine[None, None, None]) -> None:
        """A client that fails is a finding, and the others go on."""
        try:
            await work
        except Exception as failed:  # noqa: BLE001 - whatever it is, it is reported
            self._crashed.append(f"{name}: {type(failed).__name__}: {failed}")
            self.tell(f"a client has failed: {self._crashed[-1]}")

    async def _upgrade(self) -> Check:
        check = await upgrade(self.platform, self.tell)
        if not await self._wait_for_money(time.time()):
            check.violate("a table does not move money with this release")
        return check

    # -- hurting -------------------------------------------------------------------------------------------------------

    async def _hurt_until(self, ends_at: float) -> None:
        surgeon = Surgeon(self.platform, self.tell)
        steps = schedule(self.plan.seed, self.platform.targets(), self.plan.longest_s)
        for step in only(steps, self.plan.only):
            if time.time() > ends_at:
                return
            injury = await surgeon.carry_out(step)
            injury.recovered = await self._wait_for_money(injury.mended)
            self.injuries.append(injury)
            facts = {"step": step.number, "began": injury.began, "mended": injury.mended, "recovered": injury.recovered}
            self.recorder.write("injuries", {"what": str(step), **facts})
            if not injury.recovered:
                self.tell(f"not every table has recovered from {step}: the schedule ends here")
                return

    async def _wait_for_money(self, since: float) -> bool:
        """Waits until every table has taken a bet or a decision that was sent after a moment; False if one does not."""
        waiting = {player.placement for player in self._players}
        looked = len(self.recorder.commands)
        # Commands are recorded when they have ended: those of this moment come later than it.
        while looked and self.recorder.commands[looked - 1].responded >= since:
            looked -= 1
        deadline = time.time() + RECOVERS_WITHIN_S
        while waiting and time.time() < deadline:
            for command in self.recorder.commands[looked:]:
                if command.kind in MONEY_MOVES and command.outcome == ANSWERED and command.invoked >= since:
                    waiting.discard(command.placement)
            looked = len(self.recorder.commands)
            await asyncio.sleep(0.05)
        if waiting:
            self.tell(f"no money moves at {', '.join(sorted(waiting))}")
        return not waiting

    async def _close(self, players: list[asyncio.Task[None]]) -> Check:
        self._closing.set()
        check = Check(
            "every command is answered, and every client finishes", "G9", len(self.recorder.commands), "commands"
        )
        _, late = await asyncio.wait(players, timeout=CLOSES_WITHIN_S)
        await background.cancel_and_wait([*late])
        if late:
            check.violate(f"{len(late)} clients did not finish their rounds within {CLOSES_WITHIN_S:.0f} s")
        for sentence in self._crashed:
            check.violate(sentence)
        waits = [each.responded - each.invoked for each in self.recorder.commands if each.responded < math.inf]
        check.note = f"the longest wait was {max(waits, default=0):.1f} s"
        return check

    # -- processes -----------------------------------------------------------------------------------------------------

    async def _sample_memory(self) -> None:
        while True:
            for name, size in (await asyncio.to_thread(self.platform.memory)).items():
                self._samples[name].append((time.time(), size))
                self.recorder.write("memory", {"at": time.time(), "process": name, "bytes": size})
            await asyncio.sleep(SAMPLES_EVERY_S)

    async def _watch_own_delay(self) -> None:
        """Measures how late the drill itself is: the bad networks and the bots are in this process."""
        while True:
            due = time.monotonic() + OWN_DELAY_EVERY_S
            await asyncio.sleep(OWN_DELAY_EVERY_S)
            self._own_delay_s = max(self._own_delay_s, time.monotonic() - due)

    def _check_processes(self, statuses: dict[str, int]) -> Check:
        check = Check("no process ends by itself unless it is hurt, and each stops when asked", "G9", unit="processes")
        check.looked_at = len(self.platform.targets().processes)
        for name, status in statuses.items():
            if status:
                check.violate(f"{name} ended with status {status}", [self.platform.log_end(name)])
        for ended in self.platform.ended_alone:
            if not any(each.began - 1 <= ended.at <= each.ready + RECOVERS_WITHIN_S for each in self.injuries):
                check.violate(f"{ended.name} ended by itself", ended.log_end.splitlines()[-12:])
        check.note = f"{len(self.platform.ended_alone)} ended while something was hurt, and were started again"
        return check

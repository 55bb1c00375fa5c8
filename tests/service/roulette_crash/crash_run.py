"""Twenty tables with bots, on processes that are killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from tests.service.roulette_crash import verification
from tests.service.roulette_crash.bots import BetLog, Bot
from tests.service.roulette_crash.games import KINDS, ROULETTE, TABLES, CrashGame
from tests.service.roulette_crash.lease_directory import LeaseDirectory
from tests.service.roulette_crash.processes import Processes, temporary_folder
from tests.service.roulette_crash.verification import Totals

# More than a bot can lose.
STARTING_CENTS = 10**9
# Loses the connection in every round, when the first bet has taken effect; other bots lose it by chance.
DISCONNECTING_PLAYER = "solo-player-0"
DISCONNECTED_BET_COUNTS_WITHIN_S = 120.0
# After a kill: new leases, the rest of a round, a bet in the next one.
ALL_BET_WITHIN_S = 120.0


class CrashRun:
    """The tables, and bots that play until the run is closed."""

    def __init__(self, processes: Processes, dice: Random) -> None:
        self.processes = processes
        self.bet_log = BetLog()
        self.starting_cents: dict[str, int] = {}
        self.placements = TABLES
        self.leases = LeaseDirectory([replica.address for replica in processes.replicas])
        self.bots: list[Bot] = []
        self._dice = dice
        self._began = time.monotonic()
        self._closing = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Lets all bots play, until `close`."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.leases.watching(self.processes.bus_url))
            clients = {
                replica.address: await stack.enter_async_context(replica.client())
                for replica in self.processes.replicas
            }
            wallet = await stack.enter_async_context(self.processes.wallet.client())
            for kind, count, players, play, mode in KINDS:
                for number in range(count * players):
                    player_id = f"{kind}-player-{number}"
                    if mode == wallet_types.MODE_REAL:
                        await wallet.open_account(player_id, STARTING_CENTS, mode)
                        self.starting_cents[player_id] = STARTING_CENTS
                    self.bots.append(
                        Bot(
                            player_id,
                            f"{kind}{number % count}",
                            individual=play == wallet_types.PLAY_INDIVIDUAL,
                            game=self.processes.game,
                            clients=clients,
                            leases=self.leases,
                            bet_log=self.bet_log,
                            dice=Random(self._dice.random()),
                            always_disconnects=player_id == DISCONNECTING_PLAYER,
                        )
                    )
            self._playing = asyncio.create_task(self._play())
            try:
                await self.wait_until_all_bet()
                yield
            finally:
                await background.cancel_and_wait([self._playing])

    async def _play(self) -> None:
        async with asyncio.TaskGroup() as players:
            for bot in self.bots:
                players.create_task(bot.play(self._closing))

    def report(self, progress: str) -> None:
        """Prints progress, for `pytest -s` and the long run."""
        print(f"{time.monotonic() - self._began:7.1f} s  {self.bet_log.acknowledged:7} answers  {progress}", flush=True)

    async def wait_until(self, what: str, condition: Callable[[], bool], within_s: float) -> None:
        """Polls a condition; fails at once if a bot has failed."""
        try:
            async with asyncio.timeout(within_s):
                while not condition():
                    self._check_bots()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {within_s} s") from None

    def _check_bots(self) -> None:
        if self._playing is not None and self._playing.done():
            self._playing.result()

    async def wait_for_bets(self, more: int, within_s: float) -> None:
        """Returns when so many more bets are acknowledged."""
        wanted = self.bet_log.acknowledged + more
        await self.wait_until("bets go on", lambda: self.bet_log.acknowledged >= wanted, within_s)

    async def wait_until_all_bet(self, rounds: int = 1) -> None:
        """Returns when every bot has a bet in so many more rounds."""
        before = {bot.player_id: bot.rounds for bot in self.bots}

        def waiting() -> dict[str, str]:
            behind = [bot for bot in self.bots if bot.rounds < before[bot.player_id] + rounds]
            return {bot.player_id: bot.last_answer for bot in behind}

        try:
            await self.wait_until("all bots bet", lambda: not waiting(), ALL_BET_WITHIN_S)
            self.report("all bots bet")
        except AssertionError as stuck:
            raise AssertionError(f"{waiting()} cannot bet: {stuck}") from None

    async def wait_until_disconnected_bet_counts(self) -> None:
        """Returns when a round is settled with a bet whose player had lost the connection."""
        async with verification.connected(self.processes.journal_url) as journal:
            async with asyncio.timeout(DISCONNECTED_BET_COUNTS_WITHIN_S):
                while not self.bet_log.disconnected_requests() & await verification.settled_requests(journal):
                    self._check_bots()
                    await asyncio.sleep(0.1)

    async def close(self) -> Totals:
        """Lets bots and replicas finish their rounds, and compares all records."""
        self._closing.set()
        if self._playing is not None:
            await self._playing
        self.report("the bots have stopped")
        statuses = await asyncio.gather(*map(self.processes.stop, self.processes.replica_names))
        assert list(statuses) == [0, 0], f"ended with {statuses}"
        self.report("the replicas have stopped")
        totals = await verification.verify(self.processes, self.bet_log, self.starting_cents)
        self.report(str(totals))
        return totals


@asynccontextmanager
async def start_crash_run(
    dice: Random, seed: Path | None = None, game: CrashGame[Any] = ROULETTE
) -> AsyncIterator[CrashRun]:
    """A run whose bots all play, in a folder that is removed with it; `seed` as in `Processes`."""
    with temporary_folder() as home:
        processes = Processes(home, game, game.tables(), seed)
        try:
            async with processes.running():
                crash_run = CrashRun(processes, dice)
                async with crash_run.playing():
                    yield crash_run
        except BaseException:
            # The logs are removed with the folder.
            print(processes.logs())
            raise

"""A casino full of players, on machines that fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from tests.processes.roulette import configuration
from tests.service.roulette_crash import verification
from tests.service.roulette_crash.bots import BetLog, Bot
from tests.service.roulette_crash.lease_directory import LeaseDirectory
from tests.service.roulette_crash.processes import Processes, temporary_folder
from tests.service.roulette_crash.verification import Totals

# More than anybody can lose here.
STARTING_CENTS = 10**9
# Every table goes on soon after everything is up again: leases, a round, a bet in the next one.
ALL_BET_WITHIN_S = 60.0
_WHEELS = (roulette_pb2.WHEEL_FRENCH, roulette_pb2.WHEEL_AMERICAN_37, roulette_pb2.WHEEL_AMERICAN_38)
_KINDS = (
    # name, tables, players at each, play, mode
    ("many", 8, 3, wallet_types.PLAY_MULTI_PLAYER, wallet_types.MODE_REAL),
    ("demo", 3, 2, wallet_types.PLAY_MULTI_PLAYER, wallet_types.MODE_DEMO),
    ("solo", 6, 2, wallet_types.PLAY_INDIVIDUAL, wallet_types.MODE_REAL),
    ("demo-solo", 3, 2, wallet_types.PLAY_INDIVIDUAL, wallet_types.MODE_DEMO),
)


def tables() -> dict[str, types_pb2.TableConfiguration]:
    """Twenty, of every wheel, for many and for one, for money and for nothing; rounds as short as the law allows."""
    return {
        f"{kind}{number}": configuration(wheel=_WHEELS[number % 3], play=play, mode=mode)
        for kind, count, _, play, mode in _KINDS
        for number in range(count)
    }


class CrashRun:
    """Twenty tables, and players who go on."""

    def __init__(self, machines: Processes, dice: Random) -> None:
        self.processes = machines
        self.bet_log = BetLog()
        self.starting_cents: dict[str, int] = {}
        self.placements = len(tables())
        self.leases = LeaseDirectory([replica.address for replica in machines.replicas])
        self.bots: list[Bot] = []
        self._dice = dice
        self._began = time.monotonic()
        self._closing = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Everybody plays, until `close`."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.leases.watching(self.processes.bus_url))
            clients = {
                replica.address: await stack.enter_async_context(replica.client())
                for replica in self.processes.replicas
            }
            wallet = await stack.enter_async_context(self.processes.wallet.client())
            for kind, count, players, play, mode in _KINDS:
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
                            clients=clients,
                            leases=self.leases,
                            bet_log=self.bet_log,
                            dice=Random(self._dice.random()),
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

    def report(self, what: str) -> None:
        """Progress, for `pytest -s` and for whoever watches the soak."""
        print(f"{time.monotonic() - self._began:7.1f} s  {self.bet_log.acknowledged:7} bets  {what}", flush=True)

    async def wait_until(self, what: str, condition: Callable[[], bool], within_s: float) -> None:
        """Looks again until it is so; fails at once if a player has been treated wrongly."""
        try:
            async with asyncio.timeout(within_s):
                while not condition():
                    if self._playing is not None and self._playing.done():
                        self._playing.result()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {within_s} s") from None

    async def wait_for_bets(self, more: int, within_s: float) -> None:
        """Returns when so many more bets count."""
        wanted = self.bet_log.acknowledged + more
        await self.wait_until("bets go on", lambda: self.bet_log.acknowledged >= wanted, within_s)

    async def wait_until_all_bet(self, rounds: int = 1) -> None:
        """Returns when everybody has a bet in so many more rounds."""
        before = {bot.player_id: bot.rounds for bot in self.bots}

        def waiting() -> dict[str, str]:
            late = [bot for bot in self.bots if bot.rounds < before[bot.player_id] + rounds]
            return {bot.player_id: bot.last_answer for bot in late}

        try:
            await self.wait_until("everybody bets", lambda: not waiting(), ALL_BET_WITHIN_S)
            self.report("everybody bets")
        except AssertionError as stuck:
            raise AssertionError(f"{waiting()} cannot bet: {stuck}") from None

    async def close(self) -> Totals:
        """Everybody finishes his round, the replicas theirs; then the books are compared."""
        self._closing.set()
        if self._playing is not None:
            await self._playing
        self.report("nobody bets any more")
        statuses = await asyncio.gather(self.processes.stop("roulette-0"), self.processes.stop("roulette-1"))
        assert list(statuses) == [0, 0], f"ended with {statuses}"
        self.report("the replicas have ended")
        account = await verification.verify(self.processes, self.bet_log, self.starting_cents)
        self.report(str(account))
        return account


@asynccontextmanager
async def start_crash_run(dice: Random) -> AsyncIterator[CrashRun]:
    """A casino in full swing, in a folder that goes with it."""
    with temporary_folder() as home:
        machines = Processes(home, tables())
        try:
            async with machines.running():
                casino = CrashRun(machines, dice)
                async with casino.playing():
                    yield casino
        except BaseException:
            # Their folder goes, and with it all that could explain what has happened.
            print(machines.logs())
            raise

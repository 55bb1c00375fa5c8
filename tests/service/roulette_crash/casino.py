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
from tests.roulette_under_test import configuration
from tests.service.roulette_crash import verdict
from tests.service.roulette_crash.bots import Bot, Memory
from tests.service.roulette_crash.machines import Machines, folder
from tests.service.roulette_crash.signposts import Signposts
from tests.service.roulette_crash.verdict import Account

# More than anybody can lose here.
PURSE_CENTS = 10**9
# Every table goes on soon after everything is up again: leases, a round, a bet in the next one.
GOES_ON_WITHIN_S = 60.0
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


class Casino:
    """Twenty tables, and players who go on."""

    def __init__(self, machines: Machines, dice: Random) -> None:
        self.machines = machines
        self.memory = Memory()
        self.purses: dict[str, int] = {}
        self.houses = len(tables())
        self.signposts = Signposts([replica.address for replica in machines.replicas])
        self.bots: list[Bot] = []
        self._dice = dice
        self._began = time.monotonic()
        self._closing = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def in_play(self) -> AsyncIterator[None]:
        """Everybody plays, until `close`."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.signposts.read(self.machines.bus_url))
            clients = {
                replica.address: await stack.enter_async_context(replica.client()) for replica in self.machines.replicas
            }
            wallet = await stack.enter_async_context(self.machines.wallet.client())
            for kind, count, players, play, mode in _KINDS:
                for number in range(count * players):
                    player_id = f"{kind}-player-{number}"
                    if mode == wallet_types.MODE_REAL:
                        await wallet.open_account(player_id, PURSE_CENTS, mode)
                        self.purses[player_id] = PURSE_CENTS
                    self.bots.append(
                        Bot(
                            player_id,
                            f"{kind}{number % count}",
                            individual=play == wallet_types.PLAY_INDIVIDUAL,
                            clients=clients,
                            signposts=self.signposts,
                            memory=self.memory,
                            dice=Random(self._dice.random()),
                        )
                    )
            self._playing = asyncio.create_task(self._play())
            try:
                await self.goes_on()
                yield
            finally:
                await background.end([self._playing])

    async def _play(self) -> None:
        async with asyncio.TaskGroup() as players:
            for bot in self.bots:
                players.create_task(bot.play(self._closing))

    def tell(self, what: str) -> None:
        """Progress, for `pytest -s` and for whoever watches the soak."""
        print(f"{time.monotonic() - self._began:7.1f} s  {self.memory.acknowledged:7} bets  {what}", flush=True)

    async def until(self, what: str, condition: Callable[[], bool], within_s: float) -> None:
        """Looks again until it is so; fails at once if a player has been treated wrongly."""
        try:
            async with asyncio.timeout(within_s):
                while not condition():
                    if self._playing is not None and self._playing.done():
                        self._playing.result()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {within_s} s") from None

    async def bets(self, more: int, within_s: float) -> None:
        """Returns when so many more bets count."""
        wanted = self.memory.acknowledged + more
        await self.until("bets go on", lambda: self.memory.acknowledged >= wanted, within_s)

    async def goes_on(self, rounds: int = 1) -> None:
        """Returns when everybody has a bet in so many more rounds."""
        before = {bot.player_id: bot.rounds for bot in self.bots}

        def waiting() -> dict[str, str]:
            late = [bot for bot in self.bots if bot.rounds < before[bot.player_id] + rounds]
            return {bot.player_id: bot.last_heard for bot in late}

        try:
            await self.until("everybody bets", lambda: not waiting(), GOES_ON_WITHIN_S)
            self.tell("everybody bets")
        except AssertionError as stuck:
            raise AssertionError(f"{waiting()} cannot bet: {stuck}") from None

    async def close(self) -> Account:
        """Everybody finishes his round, the replicas theirs; then the books are compared."""
        self._closing.set()
        if self._playing is not None:
            await self._playing
        self.tell("nobody bets any more")
        statuses = await asyncio.gather(self.machines.stop("roulette-0"), self.machines.stop("roulette-1"))
        assert list(statuses) == [0, 0], f"ended with {statuses}"
        self.tell("the replicas have ended")
        account = await verdict.pronounce(self.machines, self.memory, self.purses)
        self.tell(str(account))
        return account


@asynccontextmanager
async def open_casino(dice: Random) -> AsyncIterator[Casino]:
    """A casino in full swing, in a folder that goes with it."""
    with folder() as home:
        machines = Machines(home, tables())
        try:
            async with machines.running():
                casino = Casino(machines, dice)
                async with casino.in_play():
                    yield casino
        except BaseException:
            # Their folder goes, and with it all that could explain what has happened.
            print(machines.logs())
            raise

"""Kills a wallet at a chosen step of its work: in this process by its connections, or a process of its own by SIGKILL.

A killed wallet leaves nothing but what PostgreSQL has: everything else is its memory. So it is enough to abort its
connections at the fatal step, so that nothing can reach the server any more, and to drop the rest. That takes a
fraction of the time of a real process; a test compares the states that both ways leave.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

import asyncpg
import pytest
from google.protobuf.message import Message
from sqlalchemy import AdaptedConnection, event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.database import postgresql
from services.wallet.model.state import RelevantEventLimits
from services.wallet.sessions.clock import SessionClockKind
from tests.service.wallet.in_process_wallet import GAME, OPERATOR, InProcessWallet, ManualClock

FINISH_TIMEOUT_S = 240.0
VICTIM = "feltro-wallet-victim"
_P = ParamSpec("_P")
_T = TypeVar("_T")

Kill = Callable[[], None]


class Killed(BaseException):
    """The wallet is dead: none of its code may handle this."""


class FatalStep:
    """Counts the wallet's steps at the database, and kills it at one of them."""

    def __init__(self, step: int, kill: Kill) -> None:
        self._steps_left = step
        self._kill = kill
        self.armed = False

    def count(self) -> None:
        if self.armed:
            self._steps_left -= 1
            if self._steps_left == 0:
                self._kill()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Counts before and after each statement, and so before and after the commit."""
        patched: list[tuple[type[Any], str]] = [
            (asyncpg.Connection, "fetch"),
            (asyncpg.Connection, "execute"),
            (AsyncConnection, "execute"),
        ]
        for owner, name in patched:
            patch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, statement: Callable[_P, Awaitable[_T]]) -> Callable[_P, Awaitable[_T]]:
        @functools.wraps(statement)
        async def counted(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            self.count()
            result = await statement(*args, **kwargs)
            self.count()
            return result

        return counted


class Victim:
    """A wallet in this process whose connections can be aborted all at once."""

    def __init__(self, url: str) -> None:
        self.engine: AsyncEngine = postgresql.connect(url, VICTIM, 8)
        self.killed = asyncio.Event()
        self._connections: list[asyncpg.Connection[asyncpg.Record]] = []
        event.listen(self.engine.sync_engine, "do_connect", self._refuse_when_killed)
        event.listen(self.engine.sync_engine, "connect", self._add)
        self.wallet = InProcessWallet(self.engine, ManualClock(), SessionClockKind.ADVANCEABLE, RelevantEventLimits())

    def kill(self) -> None:
        self.killed.set()
        for connection in self._connections:
            transport: asyncio.Transport = connection._transport  # type: ignore[attr-defined]
            transport.abort()
        raise Killed

    def _refuse_when_killed(self, *_: object) -> None:
        if self.killed.is_set():
            raise Killed

    def _add(self, connection: AdaptedConnection, _: object) -> None:
        self._connections.append(connection.driver_connection)


async def kill_at_step(
    observer: InProcessWallet,
    url: str,
    step: int,
    method: str,
    scope: str,
    request: Message,
    before: Sequence[Message] = (),
) -> bool:
    """Carries out a command in this process; returns whether it was killed at that step, and false if it finished.

    The victim sends the requests `before` it undisturbed. The observer, on the same database, must be idle meanwhile.
    """
    victim = Victim(url)
    fatal = FatalStep(step, victim.kill)
    with pytest.MonkeyPatch.context() as patch:
        fatal.install(patch)
        await victim.wallet.session_clock.refresh()
        sent = asyncio.create_task(_send(victim.wallet, fatal, method, scope, request, before))
        killed = asyncio.create_task(victim.killed.wait())
        await asyncio.wait([sent, killed], return_when=asyncio.FIRST_COMPLETED)
        fatal.armed = False
    if not victim.killed.is_set():
        killed.cancel()
        await sent
        await victim.engine.dispose()
        return False
    sent.cancel()
    await asyncio.gather(sent, return_exceptions=True)
    await victim.engine.dispose()
    while await _backends_of_victim(observer):
        await asyncio.sleep(0.001)
    return True


async def _backends_of_victim(observer: InProcessWallet) -> int:
    # In a transaction of its own: PostgreSQL shows a transaction the same activity however often it asks.
    statement = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
    async with observer.engine.connect() as connection:
        return int((await connection.execute(statement, {"name": VICTIM})).scalar_one())


def kill_process_at_step(
    url: str, step: int, method: str, scope: str, request: Message, before: Sequence[Message] = ()
) -> bool:
    """The same in a process of its own, which SIGKILL ends."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.service.wallet.kills"])
    process = context.Process(target=_run_process, args=(url, step, method, scope, request, before))
    process.start()
    process.join(FINISH_TIMEOUT_S)
    if process.exitcode not in (0, -signal.SIGKILL):
        process.kill()
        raise AssertionError(f"the process neither died nor finished: {process.exitcode}")
    return process.exitcode == -signal.SIGKILL


def _run_process(url: str, step: int, method: str, scope: str, request: Message, before: Sequence[Message]) -> None:
    fatal = FatalStep(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    fatal.install(pytest.MonkeyPatch())

    async def run() -> None:
        victim = Victim(url)
        await victim.wallet.session_clock.refresh()
        await _send(victim.wallet, fatal, method, scope, request, before)
        await victim.engine.dispose()

    asyncio.run(run())


async def _send(
    wallet: InProcessWallet,
    fatal: FatalStep,
    method: str,
    scope: str,
    request: Message,
    before: Sequence[Message],
) -> None:
    services: tuple[object, ...] = (
        wallet.wallet_service,
        wallet.tournament_service,
        wallet.revocation_service,
        wallet,
    )
    service = next(each for each in services if hasattr(each, method))
    command, caller = getattr(service, method), GAME if scope == "game" else OPERATOR
    for earlier in before:
        await command(earlier, caller)
    fatal.armed = True
    await command(request, caller)

"""A wallet process that is killed at a chosen step of its work: SIGKILL, as a power cut of one process would be."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

import asyncpg
from google.protobuf.message import Message
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.service.wallet.in_process_wallet import GAME, OPERATOR, ManualClock, open_wallet

FINISH_TIMEOUT_S = 60.0
_P = ParamSpec("_P")
_T = TypeVar("_T")


class FatalStep:
    """Counts what the process does to the database, and ends the process at one of them."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal
        self.armed = False

    def count(self) -> None:
        if self.armed:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def wrap(self, work: Callable[_P, Awaitable[_T]]) -> Callable[_P, Awaitable[_T]]:
        """Before and after each statement, and before and after the commit."""

        @functools.wraps(work)
        async def watched(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            self.count()
            result = await work(*args, **kwargs)
            self.count()
            return result

        return watched


def _live_until(
    url: str, fatal_step: int, method: str, scope: str, request: Message, before: Sequence[Message]
) -> None:
    """In the process that dies: carries one command out, unless it is killed on the way; those `before` it in peace."""
    steps = FatalStep(fatal_step)
    patched: list[tuple[type[Any], str]] = [
        (asyncpg.Connection, "fetch"),
        (asyncpg.Connection, "execute"),
        (AsyncConnection, "execute"),
    ]
    for owner, name in patched:
        setattr(owner, name, steps.wrap(getattr(owner, name)))

    async def live() -> None:
        async with open_wallet(url, ManualClock()) as wallet:
            command, caller = getattr(wallet.wallet_service, method), GAME if scope == "game" else OPERATOR
            for earlier in before:
                await command(earlier, caller)
            steps.armed = True
            await command(request, caller)

    asyncio.run(live())


def killed_at_step(
    url: str, fatal_step: int, method: str, scope: str, request: Message, before: Sequence[Message] = ()
) -> bool:
    """True if the process died at that step, false if it was done before."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.service.wallet.killed_process"])
    process = context.Process(target=_live_until, args=(url, fatal_step, method, scope, request, before))
    process.start()
    process.join(FINISH_TIMEOUT_S)
    if process.exitcode not in (0, -signal.SIGKILL):
        process.kill()
        raise AssertionError(f"the process neither died nor finished: {process.exitcode}")
    return process.exitcode == -signal.SIGKILL

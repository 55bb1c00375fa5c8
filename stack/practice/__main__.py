"""`python -m stack.practice`: keeps the practice table and the practice sit & go until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

from services.kit.settings import load_or_exit
from services.kit.telemetry.logs import log_to_stderr
from stack.practice.room import practise
from stack.practice.settings import PracticeSettings


async def _until_stopped(settings: PracticeSettings) -> None:
    practising = asyncio.create_task(practise(settings))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, practising.cancel)
    with suppress(asyncio.CancelledError):
        await practising


if __name__ == "__main__":
    chosen = load_or_exit(PracticeSettings)
    log_to_stderr("info")
    asyncio.run(_until_stopped(chosen))

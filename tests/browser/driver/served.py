"""Serves an application in a thread of its own, beside a test that drives a browser."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web


@contextmanager
def served(application: web.Application, listening: socket.socket) -> Iterator[None]:
    """Serves until the end, on a socket that listens already."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(application, shutdown_timeout=0)

    async def start() -> None:
        await runner.setup()
        await web.SockSite(runner, listening).start()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

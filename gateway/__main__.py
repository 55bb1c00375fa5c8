"""The gateway process: starts, serves until it is told to stop, and lets requests under way finish."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Awaitable

import uvloop
from aiohttp import web
from prometheus_client import start_http_server

from gateway.assembly import Gateway
from gateway.connections import SILENT_FOR_S, Doorway
from gateway.front_end import FrontEndUnusable
from gateway.parts import GrpcPart, Lookout, NatsPart
from gateway.settings import GatewaySettings
from services.kit import background
from services.kit.logs import log_to_stderr
from services.kit.settings import load_or_exit
from services.kit.signing_key import NoSigningKey

# Objects made before the collector looks at the young ones: nearly all are dropped with their request.
COLLECT_AFTER = 50_000
# As for a wrong variable: nothing but another setting helps.
EX_CONFIG = 78

_log = logging.getLogger("gateway")


async def serve(settings: GatewaySettings) -> int:
    """Serve until SIGTERM or SIGINT; the exit status."""
    if settings.metrics_listen is not None:
        host, _, port = settings.metrics_listen.rpartition(":")
        start_http_server(int(port), host)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    wallet = GrpcPart("wallet", "keeps the players' money and sessions", settings.wallet_address)
    bus = NatsPart(str(settings.nats_url))
    lookout = Lookout([wallet, bus])
    try:
        gateway = Gateway(settings, lookout, bus.client)
    except (NoSigningKey, FrontEndUnusable) as unusable:
        print(unusable, file=sys.stderr)
        return EX_CONFIG
    broken: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        """What runs in the background runs for ever: without it the gateway would answer, and be wrong."""
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a part of the gateway has broken: it is started anew", exc_info=error)
            broken.append(error)
            stopping.set()

    tasks = [asyncio.create_task(_run(work)) for work in (lookout.watch(), *gateway.background())]
    for task in tasks:
        task.add_done_callback(ended)
    # No line per request: probes ask every second, and whatever is refused is logged where it is refused.
    runner = web.AppRunner(
        gateway.application,
        access_log=None,
        shutdown_timeout=settings.stop_grace_s,
        keepalive_timeout=SILENT_FOR_S,
    )
    try:
        await runner.setup()
        await Doorway(runner, gateway.entrance, settings.listen_host, settings.listen_port).start()
        _log.info("the gateway listens", extra={"address": settings.listen})
        await stopping.wait()
        _log.info("the gateway stops")
    except OSError as error:
        _log.error("cannot listen: free the address or set FELTRO_GATEWAY_LISTEN", extra={"error": str(error)})
        return 1
    finally:
        await runner.cleanup()
        await background.end(tasks)
        await gateway.close()
        await lookout.close()
    return 1 if broken else 0


async def _run(work: Awaitable[None]) -> None:
    await work


if __name__ == "__main__":
    chosen = load_or_exit(GatewaySettings)
    log_to_stderr(chosen.log_level)
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 50)
    sys.exit(uvloop.run(serve(chosen)))

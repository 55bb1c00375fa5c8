"""The gateway process: starts, serves until it is told to stop, and lets requests under way finish."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys

import uvloop
from aiohttp import web
from prometheus_client import start_http_server

from gateway.assembly import Gateway
from gateway.connections import Doorway
from gateway.front_end import FrontEndUnusable
from gateway.parts import GrpcPart, Lookout, NatsPart
from gateway.settings import GatewaySettings
from gateway.vital import Vital
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
    wallet = GrpcPart("wallet", "keeps the players' money and sessions", settings.wallet_address)
    bus = NatsPart(str(settings.nats_url))
    lookout = Lookout([wallet, bus])
    vital = Vital(lookout)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, vital.stop)
    try:
        gateway = Gateway(settings, lookout, bus.client)
    except (NoSigningKey, FrontEndUnusable) as unusable:
        print(unusable, file=sys.stderr)
        return EX_CONFIG
    vital.begin([lookout.watch(), *gateway.background()])
    runner = web.AppRunner(gateway.application, shutdown_timeout=settings.stop_grace_s)
    try:
        await runner.setup()
        await Doorway(runner, gateway.entrance, settings.listen_host, settings.listen_port).start()
        _log.info("the gateway listens", extra={"address": settings.listen})
        await vital.stopping.wait()
        _log.info("the gateway stops")
        await vital.leave(settings.not_ready_s)
    except OSError as error:
        _log.error("cannot listen: free the address or set FELTRO_GATEWAY_LISTEN", extra={"error": str(error)})
        return 1
    finally:
        await runner.cleanup()
        await vital.end()
        await gateway.close()
        await lookout.close()
    return 1 if vital.broken else 0


if __name__ == "__main__":
    chosen = load_or_exit(GatewaySettings)
    log_to_stderr(chosen.log_level)
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 50)
    sys.exit(uvloop.run(serve(chosen)))

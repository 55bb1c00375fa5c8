"""The gateway process: serves until it is asked to stop, and lets requests in flight finish."""

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
from gateway.backends.readiness import GrpcDependency, NatsDependency, Readiness
from gateway.http.connection_limiter import LimitedSite
from gateway.http.front_end import FrontEndUnusable
from gateway.settings import GatewaySettings
from gateway.supervisor import TaskSupervisor
from services.kit.access.signing_key import NoSigningKey
from services.kit.logs import log_to_stderr
from services.kit.settings import load_or_exit

# Allocations between two collections of young objects: nearly all objects are freed with their request.
GC_FIRST_THRESHOLD = 50_000
# The exit status for wrong settings (sysexits.h).
EX_CONFIG = 78

_log = logging.getLogger("gateway")


async def serve(settings: GatewaySettings) -> int:
    """Serves until SIGTERM or SIGINT, and returns the exit status."""
    if settings.metrics_listen is not None:
        host, _, port = settings.metrics_listen.rpartition(":")
        start_http_server(int(port), host)
    wallet = GrpcDependency("wallet", "keeps the players' money and sessions", settings.wallet_address)
    bus = NatsDependency(str(settings.nats_url))
    readiness = Readiness([wallet, bus])
    supervisor = TaskSupervisor(readiness)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, supervisor.request_stop)
    try:
        gateway = Gateway(settings, readiness, bus.client)
    except (NoSigningKey, FrontEndUnusable) as unusable:
        print(unusable, file=sys.stderr)
        return EX_CONFIG
    supervisor.start([readiness.watch(), *gateway.background_tasks()])
    runner = web.AppRunner(gateway.application, shutdown_timeout=settings.stop_grace_s)
    try:
        await runner.setup()
        await LimitedSite(runner, gateway.connection_limiter, settings.listen_host, settings.listen_port).start()
        _log.info("the gateway listens", extra={"address": settings.listen})
        await supervisor.stopping.wait()
        _log.info("the gateway stops")
        await supervisor.announce_stop(settings.not_ready_s)
    except OSError as error:
        _log.error("cannot listen: free the address or set FELTRO_GATEWAY_LISTEN", extra={"error": str(error)})
        return 1
    finally:
        await runner.cleanup()
        await supervisor.cancel_all()
        await gateway.close()
        await readiness.close()
    return 1 if supervisor.has_failed else 0


if __name__ == "__main__":
    chosen = load_or_exit(GatewaySettings)
    log_to_stderr(chosen.log_level)
    gc.freeze()
    gc.set_threshold(GC_FIRST_THRESHOLD, 20, 50)
    sys.exit(uvloop.run(serve(chosen)))

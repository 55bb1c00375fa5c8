"""The gateway process: serves until it is asked to stop, and lets requests in flight finish."""

from __future__ import annotations

import logging
import sys

import uvloop
from aiohttp import web

from gateway.assembly import WALLET_SERVICE, Gateway
from gateway.backends.readiness import GrpcDependency, NatsDependency, Readiness, facts_dependency
from gateway.http.connection_limiter import LimitedSite
from gateway.http.front_end import FrontEndUnusable
from gateway.settings import GatewaySettings
from services.kit import background
from services.kit.access.signing_key import NoSigningKey
from services.kit.bus.permissions import GATEWAY
from services.kit.settings import load_or_exit
from services.kit.supervision import TaskSupervisor, prepare_memory, run_until_stopped
from services.kit.telemetry import trace_export
from services.kit.telemetry.logs import log_to_stderr

# The exit status for wrong settings (sysexits.h).
EX_CONFIG = 78

_log = logging.getLogger("gateway")


async def serve(settings: GatewaySettings) -> int:
    """Serves until SIGTERM or SIGINT, and returns the exit status."""
    purpose = "keeps the players' money and sessions"
    transport = settings.transport()
    wallet = GrpcDependency(WALLET_SERVICE, purpose, settings.wallet_address, transport)
    facts = facts_dependency(WALLET_SERVICE, settings.wallet_address, transport)
    bus = NatsDependency(settings.bus(GATEWAY))
    readiness = Readiness([wallet, facts, bus])
    supervisor = TaskSupervisor("gateway", readiness.mark_broken)
    try:
        gateway = Gateway(settings, readiness, bus.client)
    except (NoSigningKey, FrontEndUnusable) as unusable:
        print(unusable, file=sys.stderr)
        return EX_CONFIG
    serving = _serve(settings, gateway, readiness, supervisor)
    return await run_until_stopped(supervisor, serving, settings.metrics_listen)


async def _serve(settings: GatewaySettings, gateway: Gateway, readiness: Readiness, supervisor: TaskSupervisor) -> int:
    supervisor.start([readiness.watch(), *gateway.background_tasks()])
    runner = web.AppRunner(gateway.application, shutdown_timeout=settings.stop_grace_s)
    try:
        await runner.setup()
        await LimitedSite(runner, gateway.connection_limiter, settings.listen_host, settings.listen_port).start()
        supervisor.is_serving = True
        _log.info("the gateway listens", extra={"address": settings.listen})
        await supervisor.stopping.wait()
        _log.info("the gateway stops")
        # Every call is answered as ever, but no new client is to be sent here. A second request to stop ends the wait.
        readiness.mark_stopping()
        await background.wait_for_event(supervisor.stop_now, settings.not_ready_s)
    except OSError as error:
        _log.error("cannot listen: free the address or set FELTRO_GATEWAY_LISTEN", extra={"error": str(error)})
        return 1
    finally:
        await runner.cleanup()
        await supervisor.cancel_all()
        await gateway.close()
        await readiness.close()
    return 0 if supervisor.failure is None else 1


if __name__ == "__main__":
    chosen = load_or_exit(GatewaySettings)
    log_to_stderr(chosen.log_level)
    trace_export.start("gateway", chosen.otlp_endpoint)
    prepare_memory()
    sys.exit(uvloop.run(serve(chosen)))

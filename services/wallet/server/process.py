"""The wallet's process: connects its parts, starts them, and stops them in order."""

import asyncio
import logging
from collections.abc import Coroutine

from nats.aio.client import Client as Nats
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.bus.connection import connect
from services.kit.bus.permissions import WALLET
from services.kit.bus.stream_keeper import StreamKeeper
from services.kit.clock import Clock, SystemClock
from services.kit.database import postgresql, schema
from services.kit.refusal import Refused
from services.kit.rpc.methods import Service
from services.kit.rpc.publishing_watch import PublishingWatch
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.transport import Transport
from services.kit.settings import Environment
from services.kit.supervision import TaskSupervisor, run_until_stopped
from services.wallet.audit.watch import AuditWatch
from services.wallet.migrate import MIGRATIONS
from services.wallet.model import refusals
from services.wallet.outbox.publisher import OLDEST, OutboxPublisher
from services.wallet.revocations.sweep import RevocationSweep
from services.wallet.server.audit_service import AuditIntakeService, AuditService
from services.wallet.server.complaint_service import ComplaintService
from services.wallet.server.platform_service import PlatformService
from services.wallet.server.relevant_event_service import RelevantEventService
from services.wallet.server.revocation_service import RevocationService
from services.wallet.server.session_service import SessionService
from services.wallet.server.ticket_service import TicketService
from services.wallet.server.tournament_service import TournamentMoneyService
from services.wallet.server.wallet_service import WalletService
from services.wallet.sessions.clock import SessionClock
from services.wallet.sessions.ended_facts import EndedSessionFacts
from services.wallet.sessions.inactivity_watch import InactivityWatch
from services.wallet.settings import WalletSettings
from services.wallet.store import group_commit
from services.wallet.store.ledger_store import LedgerStore

# Connections for everything but the lanes: reads, sessions, complaints, the outbox's two, the watch.
OTHER_CONNECTIONS = 12

_log = logging.getLogger(__name__)


def database_refusal(failed: Exception) -> Refused | None:
    """Refuses a call whose database is unreachable: the same request, sent again, acts once (G3)."""
    return refusals.unavailable("The database") if group_commit.retry_cause(failed) is not None else None


class WalletServer:
    """One replica."""

    def __init__(self, settings: WalletSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.ready = asyncio.Event()
        self.port = 0

    async def run(self, supervisor: TaskSupervisor) -> None:
        """Serves, once its database has the schema, until it is asked to stop; then lets calls under way finish."""
        settings = self._settings
        url = str(settings.database_url)
        engine = postgresql.connect(url, "feltro-wallet", OTHER_CONNECTIONS, settings=postgresql.BY_INDEX)
        lanes = postgresql.connect(url, "feltro-wallet lane", settings.lanes, settings=postgresql.PLANNED_ONCE)
        try:
            transport = settings.transport()
            if await schema.wait_for_schema(
                engine, "wallet", MIGRATIONS, settings.listen, transport, supervisor.stopping
            ):
                bus = await connect(settings.bus(WALLET), "wallet")
                try:
                    await self._serve(engine, lanes, bus, transport, supervisor)
                finally:
                    await bus.close()
        finally:
            await lanes.dispose()
            await engine.dispose()

    async def _serve(
        self, engine: AsyncEngine, lanes: AsyncEngine, bus: Nats, transport: Transport, supervisor: TaskSupervisor
    ) -> None:
        settings, clock = self._settings, self._clock
        session_clock = SessionClock(engine, clock, settings.session_clock)
        await session_clock.refresh()
        outbox = OutboxPublisher(engine, bus, clock)
        store = LedgerStore(clock, session_clock, settings.limits, settings.payout_limits)
        commits = group_commit.GroupCommit(lanes, store, settings.lanes, outbox.wake)
        ended_facts = EndedSessionFacts(engine, outbox.wake)
        services: list[Service] = [
            WalletService(engine, commits, clock, settings.payout_limits),
            TournamentMoneyService(engine, commits),
            TicketService(engine),
            SessionService(engine, clock, session_clock, ended_facts),
            ComplaintService(engine, clock),
            AuditService(engine),
            AuditIntakeService(engine, clock),
            PlatformService(engine, clock),
            RelevantEventService(engine),
            RevocationService(engine, clock),
        ]
        server = GrpcServer(
            settings.listen,
            settings.verifier(),
            services,
            refusals.DOMAIN,
            database_refusal,
            transport,
            reflection=settings.environment is Environment.DEVELOPMENT,
        )
        self.port = server.port
        tasks: list[Coroutine[None, None, None]] = [
            commits.run(),
            StreamKeeper(bus, replicas=settings.stream_replicas).run(),
            outbox.run(),
            PublishingWatch("facts", outbox.oldest_s, OLDEST, server).run(),
            InactivityWatch(engine, clock, session_clock).run(),
            RevocationSweep(engine, clock).run(),
            ended_facts.run(),
            AuditWatch(str(settings.database_url), settings.audit_every_s, settings.audit_round_hours).run(),
        ]
        supervisor.start(tasks)
        await server.start()
        await server.set_serving(serving=True)
        supervisor.is_serving = True
        self.ready.set()
        _log.info("the wallet serves", extra={"listen": settings.listen, "port": server.port})
        try:
            await supervisor.wait_for_stop()
        finally:
            await server.stop(settings.stop_grace_s)
            await supervisor.cancel_all()
            _log.info("the wallet has stopped")


async def serve(settings: WalletSettings) -> None:
    """Runs the process until SIGTERM or SIGINT."""
    supervisor = TaskSupervisor("wallet")
    serving = WalletServer(settings, SystemClock()).run(supervisor)
    await run_until_stopped(supervisor, serving, settings.metrics_listen)

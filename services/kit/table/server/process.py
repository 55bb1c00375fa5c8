"""The process of a game service: builds the parts of the runtime, starts them, and stops them in order."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic

from nats.aio.client import Client as Nats
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.bus.connection import connect
from services.kit.bus.connections import Connections
from services.kit.bus.outages import Outage
from services.kit.clock import Clock, SystemClock
from services.kit.database import postgresql, schema
from services.kit.randomness.source import Randomness, SourceFailed
from services.kit.refusal import Refused
from services.kit.rpc.methods import Service
from services.kit.rpc.publishing_watch import PublishingWatch
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.transport import Transport
from services.kit.settings import Environment
from services.kit.supervision import TaskSupervisor, run_until_stopped
from services.kit.table import refusals
from services.kit.table.caves.table import CaveTables
from services.kit.table.chips.owned_tables import OwnedChipTables
from services.kit.table.configuration import initial_tables
from services.kit.table.configuration.cache import CatalogueCache
from services.kit.table.configuration.platform_switch import PlatformSwitch
from services.kit.table.configuration.switches import Switches
from services.kit.table.configuration.versions import Configurations
from services.kit.table.events.own_views import BusOwnViews
from services.kit.table.events.publisher import OLDEST, EventStream
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.journal.history import RoundHistory
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.seats import Seats
from services.kit.table.journal.tournament_facts import PostgresFacts
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.live.kinds import BankedTables, TableKind
from services.kit.table.owned.registry import TableRegistry
from services.kit.table.placement.ownership import Placement
from services.kit.table.schema import MIGRATIONS
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.cave_commands import CaveCommands
from services.kit.table.server.game_commands import EndedRounds, GameCommands
from services.kit.table.server.settings import GameSettings
from services.kit.table.server.table_clock import TableClock
from services.kit.table.server.table_service import TableService
from services.kit.table.server.tournaments import TournamentHost, TournamentParts
from services.kit.table.wallet.client import WalletUnanswered
from services.kit.table.wallet.grpc_client import WALLET_SERVICE, GrpcWallet
from services.kit.table.wallet.registration import TableRegistrar
from services.kit.telemetry import trace_export

READING_CONNECTIONS = 8
# The service that calls games: the certificates of others, such as another game's, are refused.
GATEWAY_SERVICE = "gateway"
# How soon it is tried again to register new tables at a wallet that does not answer.
REGISTRATION_RETRY_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GameDefinition(Generic[Bets, Outcome]):
    """Names a game and its own gRPC services to the process that serves it."""

    game: Game[Bets, Outcome]
    services: Callable[[GameCommands[Bets, Outcome]], Sequence[Service]]
    """Builds the game's own services, beside the TableService of every game."""
    tournaments: Callable[[TournamentParts], TournamentHost] | None = None
    """Builds what directs the game's tournaments, where it has any."""


def refusal_for_failure(failed: Exception) -> Refused | None:
    """Refuses calls that failed for a reason that passes: the caller sends the same request again."""
    if isinstance(failed, StaleOwner):
        return refusals.unavailable("The table has just moved to another process")
    if isinstance(failed, WalletUnanswered):
        return refusals.unavailable("The wallet does not answer")
    if isinstance(failed, postgresql.DATABASE_FAILURES):
        return refusals.unavailable("The database does not answer")
    return None


class GameProcess(Generic[Bets, Outcome]):
    """One replica of a game service."""

    def __init__(
        self,
        settings: GameSettings,
        definition: GameDefinition[Bets, Outcome],
        clock: Clock,
        randomness: Randomness | None = None,
    ) -> None:
        self._settings = settings
        self._definition = definition
        self._clock = clock
        self._randomness = randomness or Randomness()
        self.ready = asyncio.Event()
        self.port = 0

    async def run(self, supervisor: TaskSupervisor) -> None:
        """Serves, once its database has the schema, until it is asked to stop; then hands its tables over and ends."""
        settings, name = self._settings, self._definition.game.name
        url = str(settings.database_url)
        writing = postgresql.connect(url, f"feltro-{name} journal", 1, settings=postgresql.PLANNED_ONCE)
        reading = postgresql.connect(url, f"feltro-{name}", READING_CONNECTIONS, settings=postgresql.BY_INDEX)
        try:
            transport = settings.transport()
            if await schema.wait_for_schema(reading, name, MIGRATIONS, settings.listen, transport, supervisor.stopping):
                await self._work(writing, reading, transport, supervisor)
        finally:
            await writing.dispose()
            await reading.dispose()

    async def _work(
        self, writing: AsyncEngine, reading: AsyncEngine, transport: Transport, supervisor: TaskSupervisor
    ) -> None:
        settings = self._settings
        game = self._definition.game.name
        bus = await connect(settings.bus(game), game)
        # One channel: what all tables ask of the wallet in one moment travels together.
        wallet = RelayChannel(settings.wallet_address, WALLET_SERVICE, transport)
        try:
            await self._serve(writing, reading, bus, wallet, transport, supervisor)
        finally:
            await wallet.close()
            await bus.close()

    async def _serve(
        self,
        writing: AsyncEngine,
        reading: AsyncEngine,
        bus: Nats,
        channel: RelayChannel,
        transport: Transport,
        supervisor: TaskSupervisor,
    ) -> None:
        settings, game = self._settings, self._definition.game
        clock = TableClock(
            self._clock, bus, game.name, settings.table_clock, type(settings).variable_name("table_clock")
        )
        await clock.load(supervisor.stopping)
        journal = PostgresJournal(writing, reading, settings.entropy_keys())
        configurations, switches = Configurations(reading, clock), Switches(reading, clock)
        token = settings.token_source(game.name)
        wallet = GrpcWallet(channel, token.metadata)
        registrar = TableRegistrar(wallet)
        if not await self._enter_initial_tables(configurations, registrar, supervisor.stopping):
            return
        platform = PlatformSwitch(channel, token.metadata)
        catalogue: CatalogueCache[Bets, Outcome] = CatalogueCache(game, configurations, switches, platform, clock)
        await catalogue.refresh()
        # Before any table is claimed: tables would publish that they are off until the wallet has answered.
        await platform.refresh()
        event_stream, own_views, connections = (
            EventStream(bus, game.name),
            BusOwnViews(bus, game.name),
            Connections(bus, lambda: registry.wake()),  # noqa: PLW0108 - there is no registry yet
        )
        dependencies = RuntimeDependencies(
            game=game,
            kind=_kind_of(game),
            catalogue=catalogue,
            wallet=wallet,
            journal=journal,
            randomness=self._randomness,
            clock=clock,
            publisher_of=lambda table_id, epoch: event_stream.open_publisher(table_id, 0, epoch),
            own_views=own_views,
            seats=Seats(reading),
            individual_ids=IndividualTableIds(settings.table_key()),
            line_of=connections.line_of,
        )

        def address_of(placement_id: str) -> str | None:
            lease = placement.owner(placement_id)
            return None if lease is None else lease.address

        tournaments = self._tournament_host(
            TournamentParts(
                game,
                PostgresFacts(reading),
                wallet,
                own_views,
                self._randomness,
                clock,
                catalogue,
                configurations,
                registrar,
                address_of,
            )
        )

        registry: TableRegistry[Bets, Outcome] = TableRegistry(
            dependencies,
            catalogue.placement_ids,
            address_of,
            _tournament_tables(dependencies, tournaments),
            (lambda _: None) if tournaments is None else tournaments.verify_not_over,
        )
        history = RoundHistory(reading)
        commands = GameCommands(
            BetCommands(registry, journal, wallet, history.round_for_replay, history.list_table_rounds),
            CaveCommands(registry, wallet),
            EndedRounds(history.round_for_replay, catalogue.rules_of_version, settings.entropy_keys()),
        )
        server = GrpcServer(
            settings.listen,
            settings.verifier(),
            [
                TableService(
                    game,
                    registry,
                    catalogue,
                    configurations,
                    switches,
                    history,
                    wallet,
                    registrar,
                    clock,
                    lambda placement_id: placement.seated(placement_id),  # noqa: PLW0108 - there is no placement yet
                    settings.entropy_keys(),
                ),
                *self._definition.services(commands),
                *([] if tournaments is None else [tournaments.service]),
            ],
            refusals.DOMAIN,
            refusal_for_failure,
            transport,
            callers=(GATEWAY_SERVICE,),
            reflection=settings.environment is Environment.DEVELOPMENT,
        )
        self.port = server.port
        publishing = PublishingWatch("events of tables", event_stream.oldest_s, OLDEST, server)
        placement = Placement(
            bus,
            game.name,
            secrets.token_hex(8),
            settings.advertised(server.port),
            _placement_ids(catalogue, tournaments),
            registry.open_group,
            seated_here=registry.seated_counts,
            is_unheard=lambda: publishing.is_late,
        )
        catalogue.on_change = lambda: self._on_catalogue_change(registry, catalogue)
        platform.on_change = registry.wake
        clock.on_change = lambda: _wake(registry, tournaments)
        await registry.subscribe_to_sessions(bus)
        supervisor.start(
            [
                *(part.run() for part in (journal, catalogue, platform, placement, publishing, own_views)),
                *clock.coroutines(),
                # Only tables with caves ask who is connected.
                *([connections.run()] if wallet_types.PLAY_POKER in game.plays else []),
            ]
        )
        await server.start()
        await server.set_serving(serving=True)
        supervisor.is_serving = True
        self.ready.set()
        _log.info("the game is served", extra={"game": game.name, "listen": settings.listen, "port": server.port})
        try:
            await supervisor.wait_for_stop()
            try:
                async with asyncio.timeout(settings.handover_timeout_s):
                    await placement.drain()
            except TimeoutError:
                _log.warning("tables were left in the middle of a round, which their next owner ends")
            with suppress(TimeoutError):
                async with asyncio.timeout(settings.stop_grace_s):
                    await catalogue.log_switches()
        finally:
            await server.stop(settings.stop_grace_s)
            await supervisor.cancel_all()
            _log.info("the game has stopped", extra={"game": game.name})

    def _tournament_host(self, parts: TournamentParts) -> TournamentHost | None:
        """Builds what directs the game's tournaments, where it has any, and has it verify new ones."""
        if self._definition.tournaments is None:
            return None
        host = self._definition.tournaments(parts)
        parts.registrar.verify_tournament = host.verify_new
        return host

    async def _enter_initial_tables(
        self, configurations: Configurations, registrar: TableRegistrar, stopping: asyncio.Event
    ) -> bool:
        """Enters the tables of the deployment that have no rules yet; returns false if the process stops before.

        The wallet registers the id of a new table, so that is waited for.
        """
        if self._settings.tables is None:
            return True
        tables, outage = initial_tables.read(self._settings.tables), Outage(_log, "the wallet, for new tables")
        while not stopping.is_set():
            try:
                await configurations.add_initial_tables(tables, self._definition.game, registrar.register)
            except WalletUnanswered as unanswered:
                outage.failed(unanswered)
                await background.wait_for_event(stopping, REGISTRATION_RETRY_S)
            else:
                outage.recovered()
                return True
        return False

    def _on_catalogue_change(
        self, registry: TableRegistry[Bets, Outcome], catalogue: CatalogueCache[Bets, Outcome]
    ) -> None:
        # An operator who switches the game on after the source of randomness failed wants it tested again.
        if self._randomness.failure is not None and catalogue.game_enabled():
            try:
                self._randomness.restart()
            except SourceFailed as failed:
                _log.error("the source of randomness still fails", extra={"error": str(failed)})
        registry.wake()


def _kind_of(game: Game[Bets, Outcome]) -> TableKind[Bets, Outcome]:
    return CaveTables() if wallet_types.PLAY_POKER in game.plays else BankedTables()


def _tournament_tables(
    dependencies: RuntimeDependencies[Bets, Outcome], tournaments: TournamentHost | None
) -> Callable[[str], OwnedChipTables[Bets, Outcome]] | None:
    """Returns what creates the tables of a tournament; None for a game without tournaments."""
    if tournaments is None:
        return None
    director_of = tournaments.director_of
    return lambda placement_id: OwnedChipTables(placement_id, dependencies, director_of)


def _placement_ids(
    catalogue: CatalogueCache[Bets, Outcome], tournaments: TournamentHost | None
) -> Callable[[], Coroutine[None, None, frozenset[str]]]:
    """Returns what lists the placements of a game; tournaments that are over are run by nobody any more."""

    async def call() -> frozenset[str]:
        return catalogue.placement_ids() - (frozenset() if tournaments is None else await tournaments.closed())

    return call


def _wake(registry: TableRegistry[Bets, Outcome], tournaments: TournamentHost | None) -> None:
    registry.wake()
    if tournaments is not None:
        tournaments.wake()


async def serve(settings: GameSettings, definition: GameDefinition[Bets, Outcome]) -> None:
    """Runs the process until SIGTERM or SIGINT."""
    trace_export.start(definition.game.name, settings.otlp_endpoint)
    supervisor = TaskSupervisor(definition.game.name)
    serving = GameProcess(settings, definition, SystemClock()).run(supervisor)
    await run_until_stopped(supervisor, serving, settings.metrics_listen)

"""The roulette platform of these tests: the real wallet and the real roulette, and a driver of them for each test."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

import grpc
import nats
import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.bus.subjects import FACTS_STREAM
from services.kit.rpc.status import error_info, status_of
from tests.processes.game import Metadata
from tests.processes.roulette import RouletteClient, RouletteProcess, configuration
from tests.processes.wallet import DEMO, REAL, WalletClient, WalletProcess
from tests.service.roulette.table_watcher import TableWatcher

INDIVIDUAL = wallet_types.PLAY_INDIVIDUAL
MULTI_PLAYER = wallet_types.PLAY_MULTI_PLAYER
# No test outlives a betting window: the test ends it, by the clock of the tables, when it has done what it wants.
WINDOW_MS = 600_000
WINDOW_S = WINDOW_MS / 1000
# Individual tables that all tests share, by regulation.
INDIVIDUAL_TABLES = {"804": "single_804", "807": "single_807"}
WHEEL_BY_REGULATION = {"804": roulette_pb2.WHEEL_AMERICAN_38, "807": roulette_pb2.WHEEL_FRENCH}
# The rules of most tests' tables.
SPARE_TABLE_RULES: list[dict[str, Any]] = [
    {},
    {"play": INDIVIDUAL},
    {"play": INDIVIDUAL, "mode": DEMO, "minimum_cents": 1_000},
]
SPARE_TABLES_PER_RULES = 16
# What takes longer hangs.
TIMEOUT_S = 240.0
# A service refuses a call that has waited for a connection to its database for five seconds, and has but a few of them:
# of a hundred calls at once some would wait for as long on a busy machine.
CALLS_AT_ONCE = 4

T = TypeVar("T")

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Refusal:
    """How a service refuses a call."""

    reason: str
    facts: dict[str, str]
    domain: str = "table.feltro"
    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN


@dataclass(frozen=True)
class SeatedPlayer:
    """A player in a session at a table; an individual table is the player's own."""

    player_id: str
    account_id: str
    session_id: str
    table_id: str
    seat: int


@dataclass
class RoulettePlatform:
    """The processes of the wallet and the roulette, and how far the tests have moved the clock of their tables."""

    wallet: WalletProcess
    roulette: RouletteProcess
    nats_url: str
    spare_tables: dict[bytes, list[str]] = field(default_factory=dict)
    """Open tables at which nobody has played, by their rules."""
    tables_ahead: timedelta = timedelta()
    """How far the clock of the tables is ahead of the machine's, which is the ledger's; only these tests move it."""

    async def open_tables(self) -> None:
        """Opens the shared tables and spare ones: a process claims new tables only once a second."""
        async with self.driver() as driver:
            configured = {
                table_id: table_rules(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
                for regulation, table_id in INDIVIDUAL_TABLES.items()
            }
            for wheel, more in itertools.product(WHEEL_BY_REGULATION.values(), SPARE_TABLE_RULES):
                rules = table_rules(wheel=wheel, **more)
                spare = [driver.unique_name("table") for _ in range(SPARE_TABLES_PER_RULES)]
                self.spare_tables[rules.SerializeToString(deterministic=True)] = spare
                configured |= dict.fromkeys(spare, rules)
            await few_at_once(itertools.starmap(driver.roulette.configure, configured.items()))
            for table_id in configured:
                await driver.wait_until_open(table_id)

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[RouletteDriver]:
        """A driver for one test. Its players leave when the test ends."""
        bus = await nats.connect(self.nats_url)
        try:
            async with self.wallet.client() as wallet, self.roulette.client() as roulette:
                driver = RouletteDriver(self, wallet, roulette, bus)
                yield driver
                await driver.clean_up()
        finally:
            await bus.close()


def table_rules(**rules: object) -> types_pb2.TableConfiguration:
    """Specific rules whose betting window only a test ends, unless they say otherwise."""
    return configuration(**{"window_ms": WINDOW_MS, **rules})  # type: ignore[arg-type]


class RouletteDriver:
    """A test's clients, tables and players."""

    def __init__(self, platform: RoulettePlatform, wallet: WalletClient, roulette: RouletteClient, bus: Nats) -> None:
        self.platform = platform
        self.wallet = wallet
        self.roulette = roulette
        self.bus = bus
        self._players: set[str] = set()
        self._open: list[tuple[str, str]] = []

    # -- tables and players ------------------------------------------------------------------------------------------

    def unique_name(self, kind: str) -> str:
        """A name that nothing else on this platform has."""
        return f"{kind}_{os.getpid()}_{next(_numbers)}"

    async def new_table(self, **rules: object) -> str:
        """A new table, open for play."""
        configured = table_rules(**rules)
        spare = self.platform.spare_tables.get(configured.SerializeToString(deterministic=True))
        return spare.pop() if spare else await self.configure_table(self.unique_name("table"), configured)

    async def configure_table(self, table_id: str, rules: types_pb2.TableConfiguration) -> str:
        """A new table with these rules, open for play."""
        await self.roulette.configure(table_id, rules)
        await self.wait_until_open(table_id)
        return table_id

    async def wait_until_open(self, table_id: str) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while (await self.open_refusal(table_id)) == "TABLE_ELSEWHERE":
                # No event says that a process has claimed a table.
                await asyncio.sleep(0.02)

    async def open_refusal(self, table_id: str) -> str:
        request = table_pb2.GetTableRequest(table_id=table_id)
        try:
            await self.roulette.tables.GetTable(request, metadata=self.roulette.operator)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason
        return ""

    async def new_player(self, cents: int = 100_000) -> str:
        """A player with money, at no table yet."""
        player_id = self.unique_name("player")
        await self.wallet.open_account(player_id, cents, REAL)
        self._players.add(player_id)
        return player_id

    async def seat_new_player(self, table_id: str, cents: int = 100_000) -> SeatedPlayer:
        """A player with money, seated."""
        return await self.seat(await self.new_player(cents), table_id)

    async def seat_new_players(self, table_id: str, count: int, cents: int = 100_000) -> list[SeatedPlayer]:
        return await few_at_once(self.seat_new_player(table_id, cents) for _ in range(count))

    async def seat(self, player_id: str, table_id: str) -> SeatedPlayer:
        self._players.add(player_id)
        entered = await self.roulette.enter(player_id, table_id)
        own = entered.own_seat
        return SeatedPlayer(player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)

    async def clean_up(self) -> None:
        """Ends what this test began, so that its tables play no more rounds."""

        async def end_sessions(player_id: str) -> None:
            request = session_pb2.EndPlayerSessionsRequest(player_id=player_id)
            await self.wallet.sessions.EndPlayerSessions(request, metadata=self.wallet.operator)

        await few_at_once(map(end_sessions, self._players))
        for table_id, round_id in self._open:
            void = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason="the test is over")
            try:
                await self.roulette.tables.VoidOpenRound(void, metadata=self.roulette.operator)
            except grpc.aio.AioRpcError as refused:
                # An individual round without a bet leaves no record.
                if refusal_of(refused).reason not in {"ROUND_DECIDED", "ROUND_UNKNOWN"}:
                    raise

    # -- the clock of the tables -------------------------------------------------------------------------------------

    async def advance_tables(self, seconds: float) -> None:
        """Moves the clock of all tables forward."""
        await self.roulette.advance_tables(seconds)
        self.platform.tables_ahead += timedelta(seconds=seconds)

    async def end_betting(self) -> None:
        """Ends the betting windows of all rounds under way."""
        await self.advance_tables(WINDOW_S)

    def tables_now(self) -> datetime:
        """The time of the tables."""
        return datetime.now(UTC) + self.platform.tables_ahead

    def ledger_ns(self, moment: Timestamp) -> int:
        """A moment of the tables' clock by the clock of the ledger, in nanoseconds."""
        return moment.ToNanoseconds() - self.platform.tables_ahead // timedelta(microseconds=1) * 1000

    # -- playing -----------------------------------------------------------------------------------------------------

    def metadata_of(self, player: SeatedPlayer) -> Metadata:
        return self.roulette.player(player.player_id)

    async def get_table(self, player: SeatedPlayer) -> table_pb2.GetTableResponse:
        return await self.roulette.table(player.player_id, player.table_id)

    async def wait_for_open_round(self, player: SeatedPlayer) -> str:
        """The round that takes bets at the player's table, as soon as one does."""
        async with asyncio.timeout(TIMEOUT_S):
            while (shown := (await self.get_table(player)).table).phase != types_pb2.PHASE_BETTING:
                await asyncio.sleep(0.02)
        round_id: str = shown.round.round_id
        self._open.append((player.table_id, round_id))
        return round_id

    async def bet(
        self, player: SeatedPlayer, round_id: str, bets: Mapping[str, int], request_id: str | None = None
    ) -> roulette_pb2.PlaceBetsResponse:
        return await self.roulette.bet(player.player_id, player.table_id, round_id, bets, request_id)

    async def bet_in_open_round(self, player: SeatedPlayer, bets: Mapping[str, int]) -> str:
        """Bets in the round that takes bets; its id."""
        round_id = await self.wait_for_open_round(player)
        await self.bet(player, round_id, bets)
        return round_id

    async def cancel_bets(
        self, player: SeatedPlayer, round_id: str, bets: Mapping[str, int] | None = None, request_id: str | None = None
    ) -> roulette_pb2.CancelBetsResponse:
        request = roulette_pb2.CancelBetsRequest(
            request_id=request_id or str(uuid4()),
            table_id=player.table_id,
            round_id=round_id,
            bets=bet_messages(bets or {}),
        )
        return await self.roulette.roulette.CancelBets(request, metadata=self.metadata_of(player))

    async def repeat(
        self, player: SeatedPlayer, round_id: str, request_id: str | None = None
    ) -> roulette_pb2.RepeatBetsResponse:
        request = roulette_pb2.RepeatBetsRequest(
            request_id=request_id or str(uuid4()), table_id=player.table_id, round_id=round_id
        )
        return await self.roulette.roulette.RepeatBets(request, metadata=self.metadata_of(player))

    async def spin(self, player: SeatedPlayer, round_id: str) -> roulette_pb2.SpinResponse:
        return await self.roulette.spin(player.player_id, player.table_id, round_id)

    async def play(self, player: SeatedPlayer, bets: Mapping[str, int]) -> roulette_pb2.SpinResponse:
        """One round at an individual table."""
        round_id = await self.wait_for_open_round(player)
        await self.bet(player, round_id, bets)
        return await self.spin(player, round_id)

    async def void(self, table_id: str, round_id: str, reason: str = "the wheel stands still") -> None:
        request = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason=reason)
        await self.roulette.tables.VoidOpenRound(request, metadata=self.roulette.operator)

    async def rounds(self, player: SeatedPlayer, **more: object) -> list[table_pb2.PlayerRound]:
        """The last rounds in which the player took part, newest first."""
        return list((await self.roulette.rounds(player.player_id, **more)).rounds)

    # -- money and sessions ------------------------------------------------------------------------------------------

    async def balance(self, player: SeatedPlayer) -> tuple[int, int]:
        """The player's money, free and locked."""
        balance = await self.wallet.balance(player.account_id)
        return balance.free_cents, balance.locked_cents

    async def session(self, player: SeatedPlayer) -> session_pb2.GetSessionResponse:
        request = session_pb2.GetSessionRequest(session_id=player.session_id)
        return await self.wallet.sessions.GetSession(request, metadata=self.wallet.operator)

    async def leave(self, player: SeatedPlayer) -> session_pb2.EndSessionResponse:
        request = session_pb2.EndSessionRequest(session_id=player.session_id)
        metadata = self.wallet.bearer("player", player.player_id)
        return await self.wallet.sessions.EndSession(request, metadata=metadata)

    # -- the bus -----------------------------------------------------------------------------------------------------

    async def watch(self, table_id: str) -> TableWatcher:
        """A watcher of a table, from its first event on."""
        return await TableWatcher.start(self.bus, table_id)

    async def private_facts(self, player: SeatedPlayer) -> asyncio.Queue[wallet_events.PlayerFact]:
        """The facts for this player alone, from the first on."""
        facts: asyncio.Queue[wallet_events.PlayerFact] = asyncio.Queue()

        async def receive(message: Msg) -> None:
            facts.put_nowait(wallet_events.PlayerFact.FromString(message.data))

        await self.bus.jetstream(timeout=TIMEOUT_S).subscribe(
            _private_subject(player), cb=receive, ordered_consumer=True
        )
        return facts

    async def stored_private_facts(self, player: SeatedPlayer) -> list[wallet_events.PlayerFact]:
        """The facts for this player alone, when no more are to come."""
        subject = _private_subject(player)
        info = await self.bus.jetstream(timeout=TIMEOUT_S).stream_info(FACTS_STREAM, subjects_filter=subject)
        count = (info.state.subjects or {}).get(subject, 0)
        facts = await self.private_facts(player)
        async with asyncio.timeout(TIMEOUT_S):
            return [await facts.get() for _ in range(count)]


def _private_subject(player: SeatedPlayer) -> str:
    """The subject of the facts for this player alone."""
    return f"feltro.player.{player.player_id}.wallet"


async def few_at_once(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Makes calls, a few of them at a time, and returns their answers in order."""
    places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def make(call: Coroutine[Any, Any, T]) -> T:
        async with places:
            return await call

    return await asyncio.gather(*map(make, calls))


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Polls, where there is no event to wait for."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def refusal(call: Awaitable[object]) -> Refusal:
    """How a call is refused; fails if it is not."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refusal_of(refused.value)


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    status = status_of(error)
    info = None if status is None else error_info(status)
    if info is None:
        raise AssertionError(f"not a refusal: {error}")
    return Refusal(info.reason, dict(info.metadata), info.domain, error.code())


def bet_messages(bets: Mapping[str, int]) -> list[roulette_pb2.Bet]:
    return [roulette_pb2.Bet(place=place, amount_cents=cents) for place, cents in bets.items()]


def amounts_by_place(bets: roulette_pb2.Bets) -> dict[str, int]:
    """The amount at each place."""
    return {bet.place: bet.amount_cents for bet in bets.bets}


def unpack_bets(packed: Message) -> dict[str, int]:
    """The amounts by place of bets in an `Any`."""
    bets = roulette_pb2.Bets()
    assert packed.Unpack(bets)  # type: ignore[attr-defined]
    return amounts_by_place(bets)


def unpack_outcome(packed: Message) -> roulette_pb2.Outcome:
    outcome = roulette_pb2.Outcome()
    assert packed.Unpack(outcome)  # type: ignore[attr-defined]
    return outcome

"""The roulette platform of these tests: the real wallet and the real roulette, and a driver of them for each test."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import grpc
import nats
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.bus.subjects import FACTS_STREAM
from tests.processes.game import Metadata
from tests.processes.roulette import RouletteClient, RouletteProcess, configuration
from tests.processes.wallet import DEMO, WalletClient, WalletProcess
from tests.service.game_driver import TIMEOUT_S, BankedGameDriver, SeatedPlayer, few_at_once
from tests.service.refusals import refusal_of

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


class RouletteDriver(BankedGameDriver):
    """A test's clients, tables and players."""

    MONEY_CENTS = 100_000

    def __init__(self, platform: RoulettePlatform, wallet: WalletClient, roulette: RouletteClient, bus: Nats) -> None:
        super().__init__(wallet, bus)
        self.platform = platform
        self.roulette = roulette
        self._open: list[tuple[str, str]] = []

    @property
    def client(self) -> RouletteClient:
        return self.roulette

    # -- tables and players ------------------------------------------------------------------------------------------

    async def new_table(self, **rules: object) -> str:
        """A new table, open for play."""
        configured = table_rules(**rules)
        spare = self.platform.spare_tables.get(configured.SerializeToString(deterministic=True))
        return spare.pop() if spare else await self.configure_table(self.unique_name("table"), configured)

    async def clean_up(self) -> None:
        """Ends what this test began, so that its tables play no more rounds."""
        await super().clean_up()
        for table_id, round_id in self._open:
            try:
                await self.void(table_id, round_id, "the test is over")
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

    async def wait_for_open_round(self, player: SeatedPlayer) -> str:
        """The round that takes bets at the player's table, as soon as one does."""
        round_id = await super().wait_for_open_round(player)
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
        await super().void(table_id, round_id, reason)

    # -- the bus -----------------------------------------------------------------------------------------------------

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


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Polls, where there is no event to wait for."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.02)


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

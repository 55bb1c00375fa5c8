"""The baccarat platform of these tests: the real wallet and the real baccarat, and a driver of them for each test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import grpc
import nats
import psutil
from google.protobuf import any_pb2
from nats.aio.client import Client as Nats

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.engine import Chance, Table, deal
from services.kit.cards.card import Card
from tests.engine.baccarat.tables import CHAPTER_ONE
from tests.processes.baccarat import BaccaratClient, BaccaratProcess, configuration
from tests.processes.wallet import WalletClient, WalletProcess
from tests.service.game_driver import BankedGameDriver, SeatedPlayer
from tests.service.refusals import refusal_of

INDIVIDUAL = wallet_types.PLAY_INDIVIDUAL
# No test outlives a betting window: the test ends it, by the clock of the tables.
WINDOW_MS = 600_000
WINDOW_S = WINDOW_MS / 1000
# The table that all tests of players who play alone share: everybody has one of their own.
ALONE = "baccarat_alone"
CENTS = 10_000_000

T = TypeVar("T")


@dataclass
class BaccaratPlatform:
    """The processes of the wallet and the baccarat."""

    wallet: WalletProcess
    baccarat: BaccaratProcess
    nats_url: str

    async def open_tables(self) -> None:
        """Opens the shared table."""
        async with self.driver() as driver:
            await driver.configure_table(ALONE, table_rules(play=INDIVIDUAL))

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[BaccaratDriver]:
        """A driver for one test. Its players leave when the test ends."""
        bus = await nats.connect(self.nats_url)
        try:
            async with self.wallet.client() as wallet, self.baccarat.client() as baccarat:
                driver = BaccaratDriver(self, wallet, baccarat, bus)
                yield driver
                await driver.clean_up()
        finally:
            await bus.close()


def table_rules(**rules: object) -> types_pb2.TableConfiguration:
    """Specific rules whose betting window only a test ends, unless they say otherwise."""
    return configuration(**{"window_ms": WINDOW_MS, **rules})  # type: ignore[arg-type]


class BaccaratDriver(BankedGameDriver):
    """A test's clients, tables and players."""

    MONEY_CENTS = CENTS

    def __init__(self, platform: BaccaratPlatform, wallet: WalletClient, baccarat: BaccaratClient, bus: Nats) -> None:
        super().__init__(wallet, bus)
        self.platform = platform
        self.baccarat = baccarat

    @property
    def client(self) -> BaccaratClient:
        return self.baccarat

    # -- tables and players -------------------------------------------------------------------------------------------

    async def new_table(self, **rules: object) -> str:
        return await self.configure_table(self.unique_name("table"), table_rules(**rules))

    async def sent_at_once(self, player: SeatedPlayer, *calls: Awaitable[T]) -> list[T | BaseException]:
        """Sends calls in this order while the wallet answers nobody, and returns their answers.

        So all of them have arrived at the table before the wallet has accepted or refused any.
        """
        tasks = []
        with self._wallet_suspended():
            for call in calls:
                tasks.append(asyncio.ensure_future(call))
                # The connection is the same: by then the table has begun with what was sent before.
                for _ in range(3):
                    await self.get_table(player)
        return await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _wallet_suspended(self) -> Iterator[None]:
        """Suspends the wallet: it receives calls and does nothing."""
        child = self.platform.wallet.child
        assert child is not None
        suspended = psutil.Process(child.pid).children()
        for process in suspended:
            process.suspend()
        try:
            yield
        finally:
            for process in suspended:
                process.resume()

    # -- playing ------------------------------------------------------------------------------------------------------

    async def end_betting(self) -> None:
        """Ends the betting windows of all rounds under way."""
        await self.baccarat.advance_tables(WINDOW_S)

    async def bet(
        self, player: SeatedPlayer, round_id: str, bets: Mapping[str, int], request_id: str | None = None
    ) -> baccarat_pb2.PlaceBetsResponse:
        return await self.baccarat.bet(player.player_id, player.table_id, round_id, bets, request_id)

    async def cancel_bets(
        self,
        player: SeatedPlayer,
        round_id: str,
        bets: Mapping[str, int] | None = None,
        request_id: str | None = None,
    ) -> baccarat_pb2.CancelBetsResponse:
        return await self.baccarat.cancel_bets(player.player_id, player.table_id, round_id, bets, request_id)

    async def deal(self, player: SeatedPlayer, round_id: str) -> baccarat_pb2.DealResponse:
        return await self.baccarat.deal(player.player_id, player.table_id, round_id)

    async def play(self, player: SeatedPlayer, bets: Mapping[str, int]) -> baccarat_pb2.DealResponse:
        """One round at an individual table."""
        round_id = await self.wait_for_open_round(player)
        await self.bet(player, round_id, bets)
        return await self.deal(player, round_id)

    async def void(self, table_id: str, round_id: str, reason: str = "the shoe has fallen") -> None:
        await super().void(table_id, round_id, reason)


async def answer_of(call: Awaitable[object]) -> str:
    """The reason of a refusal; empty if the call is not refused."""
    try:
        await call
    except grpc.aio.AioRpcError as refused:
        return refusal_of(refused).reason
    return ""


def amounts(bets: baccarat_pb2.Bets) -> dict[str, int]:
    """The amount on each chance."""
    return {bet.place: bet.amount_cents for bet in bets.bets}


def unpack_outcome(packed: any_pb2.Any) -> baccarat_pb2.Outcome:
    outcome = baccarat_pb2.Outcome()
    assert packed.Unpack(outcome)
    return outcome


def expected_payout(outcome: baccarat_pb2.Outcome, bets: Mapping[str, int]) -> int:
    """What bets pay at a table of chapter I with 26.a, by the cards that were shown."""
    ponto, banca = ([Card.named(name) for name in names] for names in (outcome.ponto, outcome.banca))
    in_order = [ponto[0], banca[0], ponto[1], banca[1], *ponto[2:], *banca[2:]]
    dealt = deal([*in_order, *in_order])
    assert ([card.name for card in dealt.ponto], [card.name for card in dealt.banca]) == (
        list(outcome.ponto),
        list(outcome.banca),
    )
    return Table(CHAPTER_ONE).payout_cents(dealt, {Chance(place): cents for place, cents in bets.items()})

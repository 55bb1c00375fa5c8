"""What a test does at the tables of any game: it opens them, seats players with money, and watches."""

from __future__ import annotations

import asyncio
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from nats.aio.client import Client as Nats

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.processes.game import GameClient
from tests.processes.wallet import REAL, WalletClient
from tests.service.refusals import refusal_of
from tests.service.roulette.table_watcher import TableWatcher

# What takes longer hangs.
TIMEOUT_S = 240.0
# A service refuses a call that has waited for a connection to its database for five seconds, and has but a few of them:
# of a hundred calls at once some would wait for as long on a busy machine.
CALLS_AT_ONCE = 4

T = TypeVar("T")
M = TypeVar("M", bound=Message)

_numbers = itertools.count(1)


@dataclass(frozen=True)
class SeatedPlayer:
    """A player in a session at a table; an individual table is the player's own."""

    player_id: str
    account_id: str
    session_id: str
    table_id: str
    seat: int


class GameDriver(ABC):
    """A test's tables and players at one game."""

    MONEY_CENTS: ClassVar[int]
    """What a new player has, unless a test says otherwise."""

    def __init__(self, wallet: WalletClient, bus: Nats) -> None:
        self.wallet = wallet
        self.bus = bus
        self._players: set[str] = set()

    @property
    @abstractmethod
    def client(self) -> GameClient:
        """The client of the replica that has the tables."""

    def unique_name(self, kind: str) -> str:
        """A name that nothing else on this platform has."""
        return f"{self.client.game}_{kind}_{os.getpid()}_{next(_numbers)}"

    async def configure_table(self, table_id: str, rules: types_pb2.TableConfiguration) -> str:
        """A new table with these rules, open for play."""
        await self.client.configure(table_id, rules)
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
            await self.client.tables.GetTable(request, metadata=self.client.operator)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason
        return ""

    async def new_player(self, cents: int | None = None) -> str:
        """A player with money, at no table yet."""
        player_id = self.unique_name("player")
        await self.wallet.open_account(player_id, self.MONEY_CENTS if cents is None else cents, REAL)
        self._players.add(player_id)
        return player_id

    async def seat(self, player_id: str, table_id: str, seat: int = 0) -> SeatedPlayer:
        self._players.add(player_id)
        entered = await self.client.enter(player_id, table_id, seat)
        own = entered.own_seat
        return SeatedPlayer(player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)

    async def seat_new_player(self, table_id: str, cents: int | None = None, *, seat: int = 0) -> SeatedPlayer:
        """A player with money, seated."""
        return await self.seat(await self.new_player(cents), table_id, seat)

    async def seat_new_players(self, table_id: str, count: int, cents: int | None = None) -> list[SeatedPlayer]:
        return await few_at_once(self.seat_new_player(table_id, cents) for _ in range(count))

    async def session(self, player: SeatedPlayer) -> session_pb2.GetSessionResponse:
        request = session_pb2.GetSessionRequest(session_id=player.session_id)
        return await self.wallet.sessions.GetSession(request, metadata=self.wallet.operator)

    async def end_session(self, player: SeatedPlayer) -> session_pb2.EndSessionResponse:
        """Ends a session by the player's own word."""
        request = session_pb2.EndSessionRequest(session_id=player.session_id)
        metadata = self.wallet.bearer("player", player.player_id)
        return await self.wallet.sessions.EndSession(request, metadata=metadata)

    async def clean_up(self) -> None:
        """Ends what this test began, so that its tables play no more rounds."""

        async def end_sessions(player_id: str) -> None:
            request = session_pb2.EndPlayerSessionsRequest(player_id=player_id)
            await self.wallet.sessions.EndPlayerSessions(request, metadata=self.wallet.operator)

        await few_at_once(map(end_sessions, self._players))

    async def watch(self, table_id: str) -> TableWatcher:
        """A watcher of a table, from its first event on."""
        return await TableWatcher.start(self.bus, table_id, self.client.game)

    async def void(self, table_id: str, round_id: str, reason: str) -> None:
        """Has an operator declare a round void."""
        request = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason=reason)
        await self.client.tables.VoidOpenRound(request, metadata=self.client.operator)

    async def rounds(self, player: SeatedPlayer, **more: object) -> list[table_pb2.PlayerRound]:
        """The last rounds in which the player took part, newest first."""
        return list((await self.client.rounds(player.player_id, **more)).rounds)

    async def ended(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        """The player's round, as soon as it has ended."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                for found in await self.rounds(player):
                    if found.round.round_id == round_id and found.round.HasField("ended_at"):
                        return found
                await asyncio.sleep(0.01)


class BankedGameDriver(GameDriver):
    """A test's tables and players at a game against the house."""

    async def leave(self, player: SeatedPlayer) -> session_pb2.EndSessionResponse:
        return await self.end_session(player)

    async def balance(self, player: SeatedPlayer) -> tuple[int, int]:
        """The player's money, free and locked."""
        balance = await self.wallet.balance(player.account_id)
        return balance.free_cents, balance.locked_cents

    async def get_table(self, player: SeatedPlayer) -> table_pb2.GetTableResponse:
        return await self.client.table(player.player_id, player.table_id)

    async def wait_for_phase(
        self, player: SeatedPlayer, phase: types_pb2.Phase.ValueType
    ) -> table_pb2.GetTableResponse:
        async with asyncio.timeout(TIMEOUT_S):
            while (shown := await self.get_table(player)).table.phase != phase:
                await asyncio.sleep(0.01)
        return shown

    async def wait_for_open_round(self, player: SeatedPlayer) -> str:
        """The round that takes bets at the player's table, as soon as one does."""
        shown = await self.wait_for_phase(player, types_pb2.PHASE_BETTING)
        round_id: str = shown.table.round.round_id
        return round_id


async def few_at_once(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Makes calls, a few of them at a time, and returns their answers in order."""
    places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def make(call: Coroutine[Any, Any, T]) -> T:
        async with places:
            return await call

    return await asyncio.gather(*map(make, calls))


def unpacked(packed: any_pb2.Any, message: M) -> M:
    assert packed.Unpack(message)
    return message

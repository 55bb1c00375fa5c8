"""The real poker service as a process of its own for tests and benches, and a client that plays there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc

from feltro.poker.v1 import poker_pb2, poker_pb2_grpc, tournament_pb2_grpc
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.issuer import DevelopmentIssuer
from tests.processes.game import CardGameProcess, GameClient
from tests.processes.service import CHANNEL_OPTIONS

HOLDEM, OMAHA = "806/2015", "811/2015"
BIG_BLIND_CENTS, CAVE_MIN_CENTS, CAVE_MAX_CENTS = 100, 2_000, 10_000


@dataclass
class PokerProcess(CardGameProcess):
    """One `python -m services.poker`, a replica."""

    name = "poker"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[PokerClient]:
        async with self.transport.open_channel(self.address, self.name, CHANNEL_OPTIONS) as channel:
            yield PokerClient(channel, self.issuer)


def configuration(
    *,
    regulation: str = HOLDEM,
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
    seats: int = 6,
    decision_ms: int = 20_000,
    result_shown_ms: int = 0,
    dealing_ms: int = 0,
    **rules: object,
) -> types_pb2.TableConfiguration:
    """Builds the specific rules of a table; more rules are fields of poker's own."""
    built = types_pb2.TableConfiguration(
        game="poker",
        regulation=regulation,
        mode=mode,
        play=wallet_types.PLAY_POKER,
        name=types_pb2.LocalizedText(pt="Mesa", en="Table"),
        seats=seats,
        decision_ms=decision_ms,
        result_shown_ms=result_shown_ms,
        dealing_ms=dealing_ms,
    )
    usual: dict[str, object] = {
        "big_blind_cents": BIG_BLIND_CENTS,
        "cave_min_cents": CAVE_MIN_CENTS,
        "cave_max_cents": CAVE_MAX_CENTS,
        "entry_mode": poker_pb2.ENTRY_MODE_IMMEDIATE,
    }
    built.rules.Pack(poker_pb2.SpecificRules(**{**usual, **rules}))  # type: ignore[arg-type]
    return built


class PokerClient(GameClient):
    """A client that plays poker."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        super().__init__("poker", channel, issuer)
        self.poker: poker_pb2_grpc.PokerServiceAsyncStub = poker_pb2_grpc.PokerServiceStub(channel)
        self.tournaments: tournament_pb2_grpc.TournamentServiceAsyncStub = tournament_pb2_grpc.TournamentServiceStub(
            channel
        )

    async def buy_in(
        self, player_id: str, table_id: str, cents: int, request_id: str | None = None
    ) -> poker_pb2.BuyInResponse:
        request = poker_pb2.BuyInRequest(request_id=request_id or str(uuid4()), table_id=table_id, amount_cents=cents)
        return await self.poker.BuyIn(request, metadata=self.player(player_id))

    async def set_presence(
        self, player_id: str, table_id: str, presence: poker_pb2.Presence.ValueType, **more: bool
    ) -> poker_pb2.SetPresenceResponse:
        request = poker_pb2.SetPresenceRequest(table_id=table_id, presence=presence, **more)
        return await self.poker.SetPresence(request, metadata=self.player(player_id))

    async def export(self, player_id: str, table_id: str, round_id: str) -> str:
        """Returns a hand as its player may have it."""
        request = poker_pb2.ExportHandRequest(table_id=table_id, round_id=round_id)
        return (await self.poker.ExportHand(request, metadata=self.player(player_id))).phh

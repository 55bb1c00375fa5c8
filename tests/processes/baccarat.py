"""The real baccarat service as a process of its own for tests and benches, and a client that plays there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc

from feltro.baccarat.v1 import baccarat_pb2, baccarat_pb2_grpc
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.issuer import DevelopmentIssuer
from tests.processes.game import CardGameProcess, GameClient
from tests.processes.service import CHANNEL_OPTIONS

# The tables of Macau in tests: what ponto and banca of all players may differ by.
PRIZE_CAP_CENTS = 100_000


@dataclass
class BaccaratProcess(CardGameProcess):
    """One `python -m services.baccarat`, a replica."""

    name = "baccarat"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[BaccaratClient]:
        async with self.transport.open_channel(self.address, self.name, CHANNEL_OPTIONS) as channel:
            yield BaccaratClient(channel, self.issuer)


def configuration(
    *,
    play: wallet_types.Play.ValueType = wallet_types.PLAY_MULTI_PLAYER,
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
    window_ms: int = 3_000,
    result_shown_ms: int = 0,
    dealing_ms: int = 0,
    macau: bool = False,
    minimum_cents: int = 100,
    rules: Mapping[str, object] | None = None,
    **more: object,
) -> types_pb2.TableConfiguration:
    """Builds the specific rules of a table of nine places; `rules` are fields of baccarat's own."""
    for_many = play == wallet_types.PLAY_MULTI_PLAYER
    own: dict[str, object] = {
        "packs": 8,
        "places": 9,
        "minimum_cents": minimum_cents,
        "commission": baccarat_pb2.COMMISSION_FIVE_PERCENT,
    }
    if macau:
        own |= {"macau": True, "prize_cap_cents": PRIZE_CAP_CENTS, "player_maximum_cents": 1_000_000}
    built = types_pb2.TableConfiguration(
        game="baccarat",
        regulation="812/2015",
        mode=mode,
        play=play,
        name=types_pb2.LocalizedText(pt="Mesa", en="Table"),
        betting_window_ms=window_ms if for_many else 0,
        result_shown_ms=result_shown_ms,
        dealing_ms=dealing_ms,
        seats=9 if for_many else 0,
        **more,  # type: ignore[arg-type]
    )
    built.rules.Pack(baccarat_pb2.SpecificRules(**(own | dict(rules or {}))))  # type: ignore[arg-type]
    return built


class BaccaratClient(GameClient):
    """A client that plays baccarat."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        super().__init__("baccarat", channel, issuer)
        self.baccarat: baccarat_pb2_grpc.BaccaratServiceAsyncStub = baccarat_pb2_grpc.BaccaratServiceStub(channel)

    async def bet(
        self, player_id: str, table_id: str, round_id: str, bets: Mapping[str, int], request_id: str | None = None
    ) -> baccarat_pb2.PlaceBetsResponse:
        request = baccarat_pb2.PlaceBetsRequest(
            request_id=request_id or str(uuid4()), table_id=table_id, round_id=round_id, bets=bet_messages(bets)
        )
        return await self.baccarat.PlaceBets(request, metadata=self.player(player_id))

    async def repeat_bets(
        self, player_id: str, table_id: str, round_id: str, request_id: str | None = None
    ) -> baccarat_pb2.RepeatBetsResponse:
        request = baccarat_pb2.RepeatBetsRequest(
            request_id=request_id or str(uuid4()), table_id=table_id, round_id=round_id
        )
        return await self.baccarat.RepeatBets(request, metadata=self.player(player_id))

    async def cancel_bets(
        self,
        player_id: str,
        table_id: str,
        round_id: str,
        bets: Mapping[str, int] | None = None,
        request_id: str | None = None,
    ) -> baccarat_pb2.CancelBetsResponse:
        request = baccarat_pb2.CancelBetsRequest(
            request_id=request_id or str(uuid4()), table_id=table_id, round_id=round_id, bets=bet_messages(bets or {})
        )
        return await self.baccarat.CancelBets(request, metadata=self.player(player_id))

    async def deal(self, player_id: str, table_id: str, round_id: str) -> baccarat_pb2.DealResponse:
        request = baccarat_pb2.DealRequest(table_id=table_id, round_id=round_id)
        return await self.baccarat.Deal(request, metadata=self.player(player_id))

    async def roads(self, player_id: str, table_id: str) -> baccarat_pb2.GetRoadsResponse:
        request = baccarat_pb2.GetRoadsRequest(table_id=table_id)
        return await self.baccarat.GetRoads(request, metadata=self.player(player_id))


def bet_messages(bets: Mapping[str, int]) -> list[baccarat_pb2.Bet]:
    return [baccarat_pb2.Bet(place=place, amount_cents=cents) for place, cents in bets.items()]

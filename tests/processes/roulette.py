"""The real roulette service as a process of its own for tests and benches, and a client that plays there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc

from feltro.roulette.v1 import roulette_pb2, roulette_pb2_grpc
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.issuer import DevelopmentIssuer
from tests.processes.game import GameClient, GameProcess
from tests.processes.service import CHANNEL_OPTIONS


@dataclass
class RouletteProcess(GameProcess):
    """One `python -m services.roulette`, a replica."""

    name = "roulette"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[RouletteClient]:
        async with self.transport.open_channel(self.address, self.name, CHANNEL_OPTIONS) as channel:
            yield RouletteClient(channel, self.issuer)


def configuration(
    *,
    wheel: roulette_pb2.Wheel.ValueType = roulette_pb2.WHEEL_FRENCH,
    play: wallet_types.Play.ValueType = wallet_types.PLAY_MULTI_PLAYER,
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
    window_ms: int = 3_000,
    result_shown_ms: int = 0,
    seats: int = 200,
    minimum_cents: int = 100,
    call_bets: bool = True,
    **more: object,
) -> types_pb2.TableConfiguration:
    """The specific rules of a table, with windows as short as the regulation allows."""
    regulation = "807/2015" if wheel == roulette_pb2.WHEEL_FRENCH else "804/2015"
    rules = roulette_pb2.SpecificRules(
        wheel=wheel, minimum_cents=minimum_cents, call_bets=call_bets and regulation == "807/2015"
    )
    built = types_pb2.TableConfiguration(
        game="roulette",
        regulation=regulation,
        mode=mode,
        play=play,
        name=types_pb2.LocalizedText(pt="Mesa", en="Table"),
        betting_window_ms=window_ms if play == wallet_types.PLAY_MULTI_PLAYER else 0,
        result_shown_ms=result_shown_ms,
        seats=seats,
        **more,  # type: ignore[arg-type]
    )
    built.rules.Pack(rules)
    return built


class RouletteClient(GameClient):
    """A client that plays roulette."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        super().__init__("roulette", channel, issuer)
        self.roulette: roulette_pb2_grpc.RouletteServiceAsyncStub = roulette_pb2_grpc.RouletteServiceStub(channel)

    async def bet(
        self, player_id: str, table_id: str, round_id: str, bets: Mapping[str, int], request_id: str | None = None
    ) -> roulette_pb2.PlaceBetsResponse:
        request = roulette_pb2.PlaceBetsRequest(
            request_id=request_id or str(uuid4()),
            table_id=table_id,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place=place, amount_cents=cents) for place, cents in bets.items()],
        )
        return await self.roulette.PlaceBets(request, metadata=self.player(player_id))

    async def spin(self, player_id: str, table_id: str, round_id: str) -> roulette_pb2.SpinResponse:
        request = roulette_pb2.SpinRequest(table_id=table_id, round_id=round_id)
        return await self.roulette.Spin(request, metadata=self.player(player_id))

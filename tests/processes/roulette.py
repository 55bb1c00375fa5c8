"""The real roulette service as a process of its own for tests and benches, and a client that plays there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc

from feltro.roulette.v1 import roulette_pb2, roulette_pb2_grpc
from feltro.table.v1 import table_pb2, table_pb2_grpc, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.issuer import DevelopmentIssuer
from stack.table_key import table_key_file
from tests.processes.service import CHANNEL_OPTIONS, ServiceProcess

Metadata = tuple[tuple[str, str], ...]


@dataclass
class RouletteProcess(ServiceProcess):
    """One `python -m services.roulette`, a replica."""

    name = "roulette"
    # It finishes its rounds first, and waits ten seconds for bets at individual tables: see `leave_within_s`.
    stop_timeout_s = 60.0

    wallet_address: str = ""

    def variables(self) -> dict[str, str]:
        return {
            "FELTRO_WALLET_ADDRESS": self.wallet_address,
            "FELTRO_ROULETTE_TOKEN_FILE": str(self.issuer.service_token_file("roulette")),
            "FELTRO_ROULETTE_TABLE_KEY_FILE": str(table_key_file(self.home, "roulette")),
            "FELTRO_ROULETTE_TABLE_CLOCK": "advanceable",
        }

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


class RouletteClient:
    """Stubs of both services, tokens, and the steps that nearly every test begins with."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        self.tables: table_pb2_grpc.TableServiceAsyncStub = table_pb2_grpc.TableServiceStub(channel)
        self.roulette: roulette_pb2_grpc.RouletteServiceAsyncStub = roulette_pb2_grpc.RouletteServiceStub(channel)
        self._issuer = issuer
        self.operator = self.bearer("operator", "back-office")
        self._players: dict[str, Metadata] = {}

    def bearer(self, scope: str, subject: str, minutes: float = 60) -> Metadata:
        """Call metadata with a token."""
        return (("authorization", f"Bearer {self._issuer.token([scope], subject, minutes)}"),)

    def player(self, player_id: str) -> Metadata:
        """Call metadata of a player."""
        if player_id not in self._players:
            self._players[player_id] = self.bearer("player", player_id)
        return self._players[player_id]

    async def configure(self, table_id: str, rules: types_pb2.TableConfiguration) -> types_pb2.ConfigurationVersion:
        """Enters specific rules that take effect at once."""
        request = table_pb2.ConfigureTableRequest(
            request_id=str(uuid4()), table_id=table_id, configuration=rules, approval_reference="SRIJ/test"
        )
        return (await self.tables.ConfigureTable(request, metadata=self.operator)).version

    async def advance_tables(self, seconds: float) -> None:
        """Moves the clock of all tables forward."""
        request = table_pb2.AdvanceTableClockRequest(game="roulette", by_ms=round(seconds * 1000))
        await self.tables.AdvanceTableClock(request, metadata=self.operator)

    async def enter(self, player_id: str, table_id: str) -> table_pb2.EnterTableResponse:
        request = table_pb2.EnterTableRequest(request_id=str(uuid4()), table_id=table_id)
        return await self.tables.EnterTable(request, metadata=self.player(player_id))

    async def table(self, player_id: str, table_id: str) -> table_pb2.GetTableResponse:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return await self.tables.GetTable(request, metadata=self.player(player_id))

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

    async def rounds(self, player_id: str, **more: object) -> table_pb2.ListPlayerRoundsResponse:
        request = table_pb2.ListPlayerRoundsRequest(game="roulette", player_id=player_id, **more)  # type: ignore[arg-type]
        return await self.tables.ListPlayerRounds(request, metadata=self.player(player_id))

    async def replay(self, round_id: str) -> table_pb2.ReplayRoundResponse:
        request = table_pb2.ReplayRoundRequest(game="roulette", round_id=round_id)
        return await self.tables.ReplayRound(request, metadata=self.operator)

"""The real blackjack service as a process of its own for tests and benches, and a client that plays there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc

from feltro.blackjack.v1 import blackjack_pb2, blackjack_pb2_grpc
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.issuer import DevelopmentIssuer
from tests.processes.game import CardGameProcess, GameClient
from tests.processes.service import CHANNEL_OPTIONS


@dataclass
class BlackjackProcess(CardGameProcess):
    """One `python -m services.blackjack`, a replica."""

    name = "blackjack"

    @asynccontextmanager
    async def client(self) -> AsyncIterator[BlackjackClient]:
        async with self.transport.open_channel(self.address, self.name, CHANNEL_OPTIONS) as channel:
            yield BlackjackClient(channel, self.issuer)


def configuration(
    *,
    play: wallet_types.Play.ValueType = wallet_types.PLAY_MULTI_PLAYER,
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
    window_ms: int = 3_000,
    decision_ms: int = 3_000,
    open_hand_hours: int = 24,
    result_shown_ms: int = 0,
    dealing_ms: int = 0,
    places: int = 7,
    places_per_player: int = 1,
    **rules: int | bool,
) -> types_pb2.TableConfiguration:
    """Builds the specific rules of a table; more rules are fields of blackjack's own."""
    for_many = play == wallet_types.PLAY_MULTI_PLAYER
    built = types_pb2.TableConfiguration(
        game="blackjack",
        regulation="805/2015",
        mode=mode,
        play=play,
        name=types_pb2.LocalizedText(pt="Mesa", en="Table"),
        betting_window_ms=window_ms if for_many else 0,
        decision_ms=decision_ms if for_many else 0,
        open_hand_hours=0 if for_many else open_hand_hours,
        result_shown_ms=result_shown_ms,
        dealing_ms=dealing_ms,
        seats=places if for_many else 0,
    )
    limits = {"packs": 6, "minimum_cents": 500, "maximum_cents": 50_000, "step_cents": 2, "splits_limit": 3}
    own = blackjack_pb2.SpecificRules(
        **{"places": places, "places_per_player": places_per_player, **limits, **rules}  # type: ignore[arg-type]
    )
    built.rules.Pack(own)
    return built


class BlackjackClient(GameClient):
    """A client that plays blackjack."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        super().__init__("blackjack", channel, issuer)
        self.blackjack: blackjack_pb2_grpc.BlackjackServiceAsyncStub = blackjack_pb2_grpc.BlackjackServiceStub(channel)

    async def bet(
        self, player_id: str, table_id: str, round_id: str, place: str, cents: int, request_id: str | None = None
    ) -> blackjack_pb2.PlaceBetsResponse:
        request = blackjack_pb2.PlaceBetsRequest(
            request_id=request_id or str(uuid4()),
            table_id=table_id,
            round_id=round_id,
            bets=[blackjack_pb2.Bet(place=place, amount_cents=cents)],
        )
        return await self.blackjack.PlaceBets(request, metadata=self.player(player_id))

    async def cancel_bets(
        self, player_id: str, table_id: str, round_id: str, request_id: str
    ) -> blackjack_pb2.CancelBetsResponse:
        """Takes all bets of the player back."""
        request = blackjack_pb2.CancelBetsRequest(request_id=request_id, table_id=table_id, round_id=round_id)
        return await self.blackjack.CancelBets(request, metadata=self.player(player_id))

    async def deal(self, player_id: str, table_id: str, round_id: str) -> blackjack_pb2.DealResponse:
        request = blackjack_pb2.DealRequest(table_id=table_id, round_id=round_id)
        return await self.blackjack.Deal(request, metadata=self.player(player_id))

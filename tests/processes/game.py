"""The real service of a game as a process of its own for tests, and what every game's client can do there."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import uuid4

import grpc
from google.protobuf.message import Message

from feltro.table.v1 import table_pb2, table_pb2_grpc, types_pb2
from stack.entropy_keys import entropy_keys_file
from stack.issuer import DevelopmentIssuer
from stack.table_key import table_key_file
from tests.processes.service import ServiceProcess

Metadata = tuple[tuple[str, str], ...]


@dataclass
class GameProcess(ServiceProcess):
    """One `python -m services.<game>`, a replica."""

    # It finishes its rounds first, and waits ten seconds for bets at individual tables: see `leave_within_s`.
    stop_timeout_s = 60.0

    wallet_address: str = ""

    def variables(self) -> dict[str, str]:
        prefix = f"FELTRO_{self.name.upper()}"
        return {
            "FELTRO_WALLET_ADDRESS": self.wallet_address,
            f"{prefix}_TOKEN_FILE": str(self.issuer.service_token_file(self.name)),
            f"{prefix}_TABLE_KEY_FILE": str(table_key_file(self.home, self.name)),
            f"{prefix}_TABLE_CLOCK": "advanceable",
        }

    def client(self) -> AbstractAsyncContextManager[GameClient]:
        """Opens a client of the game; each game has its own."""
        raise NotImplementedError


@dataclass
class CardGameProcess(GameProcess):
    """A replica of a game that seals the cards of its shoes."""

    def variables(self) -> dict[str, str]:
        keys = entropy_keys_file(self.home, self.name)
        return {**super().variables(), f"FELTRO_{self.name.upper()}_ENTROPY_KEYS_FILE": str(keys)}


class GameClient:
    """The stub of the table service, tokens, and the steps that nearly every test begins with."""

    def __init__(self, game: str, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        self.game = game
        self.tables: table_pb2_grpc.TableServiceAsyncStub = table_pb2_grpc.TableServiceStub(channel)
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
        request = table_pb2.AdvanceTableClockRequest(game=self.game, by_ms=round(seconds * 1000))
        await self.tables.AdvanceTableClock(request, metadata=self.operator)

    async def enter(self, player_id: str, table_id: str, seat: int = 0) -> table_pb2.EnterTableResponse:
        request = table_pb2.EnterTableRequest(request_id=str(uuid4()), table_id=table_id, seat=seat)
        return await self.tables.EnterTable(request, metadata=self.player(player_id))

    async def table(self, player_id: str, table_id: str) -> table_pb2.GetTableResponse:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return await self.tables.GetTable(request, metadata=self.player(player_id))

    async def act(
        self, player_id: str, table_id: str, round_id: str, turn: int, move: Message, request_id: str | None = None
    ) -> table_pb2.ActResponse:
        """Decides in a turn."""
        request = table_pb2.ActRequest(
            request_id=request_id or str(uuid4()), table_id=table_id, round_id=round_id, turn=turn
        )
        request.move.Pack(move)
        return await self.tables.Act(request, metadata=self.player(player_id))

    async def rounds(self, player_id: str, **more: object) -> table_pb2.ListPlayerRoundsResponse:
        request = table_pb2.ListPlayerRoundsRequest(game=self.game, player_id=player_id, **more)  # type: ignore[arg-type]
        return await self.tables.ListPlayerRounds(request, metadata=self.player(player_id))

    async def replay(self, round_id: str) -> table_pb2.ReplayRoundResponse:
        request = table_pb2.ReplayRoundRequest(game=self.game, round_id=round_id)
        return await self.tables.ReplayRound(request, metadata=self.operator)

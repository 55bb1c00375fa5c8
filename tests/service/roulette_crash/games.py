"""What a crash run has to know of a game: its service, its tables, and how a bot bets there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, Protocol, TypeVar

from google.protobuf.message import Message

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.game import GameClient, GameProcess
from tests.processes.roulette import RouletteClient, RouletteProcess, configuration

Client = TypeVar("Client", bound=GameClient)

# Name, tables, players at each, play, mode.
KINDS = (
    ("many", 8, 3, wallet_types.PLAY_MULTI_PLAYER, wallet_types.MODE_REAL),
    ("demo", 3, 2, wallet_types.PLAY_MULTI_PLAYER, wallet_types.MODE_DEMO),
    ("solo", 6, 2, wallet_types.PLAY_INDIVIDUAL, wallet_types.MODE_REAL),
    ("demo-solo", 3, 2, wallet_types.PLAY_INDIVIDUAL, wallet_types.MODE_DEMO),
)
TABLES = sum(count for _, count, *_ in KINDS)


class PlacedStake(Protocol):
    """A stake as every game's answer has it."""

    stake_id: str
    round_id: str
    amount_cents: int


class Launched(Protocol):
    """The result of a round as the answer of an individual table has it."""

    round_id: str
    void_reason: str

    @property
    def outcome(self) -> Message: ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What a player decides in a game with turns."""

    move: Message
    cents: int
    """What it stakes."""


class CrashGame(ABC, Generic[Client]):
    """One banked game; in one with turns the bots also decide."""

    name: str
    process: type[GameProcess]
    bets: Sequence[Mapping[str, int]]
    """What bots choose from; any few of them are allowed together."""
    tolerated: frozenset[str] = frozenset()
    """Refusals that a bet may meet because of other players' bets."""
    has_turns = False
    """Whether players decide after the deal."""

    @abstractmethod
    def configuration(
        self, number: int, play: wallet_types.Play.ValueType, mode: wallet_types.Mode.ValueType
    ) -> types_pb2.TableConfiguration:
        """The rules of one of the tables of a kind, with the shortest window."""

    def tables(self) -> dict[str, types_pb2.TableConfiguration]:
        """Twenty tables: multi-player and individual, real money and demonstration."""
        return {
            f"{kind}{number}": self.configuration(number, play, mode)
            for kind, count, _, play, mode in KINDS
            for number in range(count)
        }

    @abstractmethod
    async def place(
        self, client: Client, player_id: str, table_id: str, round_id: str, bets: Mapping[str, int], request_id: str
    ) -> PlacedStake: ...

    @abstractmethod
    async def cancel(self, client: Client, player_id: str, table_id: str, round_id: str, request_id: str) -> int:
        """Takes all bets of the player back; returns how much that was."""

    @abstractmethod
    async def launch(self, client: Client, player_id: str, table_id: str, round_id: str) -> Launched | None:
        """Starts the draw at an individual table; None where it only deals, and players decide the outcome."""

    def decide(self, shown: table_pb2.GetTableResponse, dice: Random) -> Decision | None:
        """Chooses a decision that the player may make now; None if there is none, as in every game without turns."""
        return None

    def verify_bets(self, table: types_pb2.TableConfiguration, bets: Mapping[str, Sequence[bytes]]) -> None:
        """Fails if the bets of a round, by player, break a rule about several of them; most games have none."""


class CrashRoulette(CrashGame[RouletteClient]):
    """Roulette: every wheel."""

    name = "roulette"
    process: type[GameProcess] = RouletteProcess
    bets: Sequence[Mapping[str, int]] = (
        {"17": 100},
        {"red": 200},
        {"dozen-1": 100, "odd": 200},
        {"0": 100, "1-2": 100, "column-3": 300},
        {"low": 200, "high": 200, "32": 100},
    )
    _wheels = (roulette_pb2.WHEEL_FRENCH, roulette_pb2.WHEEL_AMERICAN_37, roulette_pb2.WHEEL_AMERICAN_38)

    def configuration(
        self, number: int, play: wallet_types.Play.ValueType, mode: wallet_types.Mode.ValueType
    ) -> types_pb2.TableConfiguration:
        return configuration(wheel=self._wheels[number % 3], play=play, mode=mode)

    async def place(
        self,
        client: RouletteClient,
        player_id: str,
        table_id: str,
        round_id: str,
        bets: Mapping[str, int],
        request_id: str,
    ) -> PlacedStake:
        return (await client.bet(player_id, table_id, round_id, bets, request_id)).stake

    async def cancel(
        self, client: RouletteClient, player_id: str, table_id: str, round_id: str, request_id: str
    ) -> int:
        request = roulette_pb2.CancelBetsRequest(request_id=request_id, table_id=table_id, round_id=round_id)
        answer = await client.roulette.CancelBets(request, metadata=client.player(player_id))
        return answer.cancelled_cents

    async def launch(self, client: RouletteClient, player_id: str, table_id: str, round_id: str) -> Launched:
        return await client.spin(player_id, table_id, round_id)


ROULETTE = CrashRoulette()

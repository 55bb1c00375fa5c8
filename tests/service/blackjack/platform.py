"""The blackjack platform of these tests: the real wallet and the real blackjack, and a driver of them for each test.

Cards are drawn for real, so that a test plays rounds until one has the cards that it needs: with seven places in a
round that takes a few of them.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import grpc
import nats
from google.protobuf import any_pb2
from google.protobuf.message import Message
from nats.aio.client import Client as Nats

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.blackjack import BlackjackClient, BlackjackProcess, configuration
from tests.processes.wallet import REAL, WalletClient, WalletProcess
from tests.service.roulette.platform import refusal_of
from tests.service.roulette.table_watcher import TableWatcher

INDIVIDUAL = wallet_types.PLAY_INDIVIDUAL
# No test outlives a betting window or a decision: the test ends it, by the clock of the tables.
WINDOW_MS, DECISION_MS = 600_000, 120_000
WINDOW_S, DECISION_S = WINDOW_MS / 1000, DECISION_MS / 1000
# Tables that all tests of players who play alone share: everybody has one of their own.
ALONE, ALONE_ON_SEVEN = "alone", "alone_on_seven"
EVERY_PLACE = tuple(map(str, range(1, 8)))
# What takes longer hangs.
TIMEOUT_S = 240.0
# A situation that has not come in so many rounds does not come: the rarest that a test waits for, a blackjack against
# an ace at one of seven places, comes in 1 of 52.
ROUNDS_LIMIT = 2_000

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


@dataclass(frozen=True)
class Playing:
    """A table while players decide, as one of them sees it."""

    round_id: str
    turn: int
    seats: tuple[int, ...]
    view: blackjack_pb2.View
    options: Sequence[blackjack_pb2.Option]

    def costs(self, decision: str, place: int = 0) -> list[tuple[int, int]]:
        """Returns the places that may decide this, each with what it costs."""
        number = blackjack_pb2.Decision.Value(f"DECISION_{decision}")
        found = (option for option in self.options if option.decision == number and place in {0, option.place})
        return [(option.place, option.cost_cents) for option in found]


@dataclass
class BlackjackPlatform:
    """The processes of the wallet and the blackjack."""

    wallet: WalletProcess
    blackjack: BlackjackProcess
    nats_url: str

    async def open_tables(self) -> None:
        """Opens the shared tables."""
        async with self.driver() as driver:
            await driver.configure_table(ALONE, table_rules(play=INDIVIDUAL, places=1))
            await driver.configure_table(ALONE_ON_SEVEN, table_rules(play=INDIVIDUAL, places_per_player=7))

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[BlackjackDriver]:
        """A driver for one test. Its players leave when the test ends."""
        bus = await nats.connect(self.nats_url)
        try:
            async with self.wallet.client() as wallet, self.blackjack.client() as blackjack:
                driver = BlackjackDriver(wallet, blackjack, bus)
                yield driver
                await driver.clean_up()
        finally:
            await bus.close()


def table_rules(**rules: object) -> types_pb2.TableConfiguration:
    """Specific rules whose times only a test ends, unless they say otherwise."""
    return configuration(**{"window_ms": WINDOW_MS, "decision_ms": DECISION_MS, **rules})  # type: ignore[arg-type]


class BlackjackDriver:
    """A test's clients, tables and players."""

    def __init__(self, wallet: WalletClient, blackjack: BlackjackClient, bus: Nats) -> None:
        self.wallet = wallet
        self.blackjack = blackjack
        self.bus = bus
        self._players: set[str] = set()

    # -- tables and players -------------------------------------------------------------------------------------------

    def unique_name(self, kind: str) -> str:
        """A name that nothing else on this platform has."""
        return f"blackjack_{kind}_{os.getpid()}_{next(_numbers)}"

    async def configure_table(self, table_id: str, rules: types_pb2.TableConfiguration) -> str:
        """A new table with these rules, open for play."""
        await self.blackjack.configure(table_id, rules)
        request = table_pb2.GetTableRequest(table_id=table_id)
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                try:
                    await self.blackjack.tables.GetTable(request, metadata=self.blackjack.operator)
                except grpc.aio.AioRpcError as refused:
                    if refusal_of(refused).reason != "TABLE_ELSEWHERE":
                        return table_id
                    # No event says that a process has claimed a table.
                    await asyncio.sleep(0.02)
                else:
                    return table_id

    async def new_table(self, **rules: object) -> str:
        return await self.configure_table(self.unique_name("table"), table_rules(**rules))

    async def seat_new_player(self, table_id: str, cents: int = 100_000_000, seat: int = 0) -> SeatedPlayer:
        """A player with money, seated."""
        player_id = self.unique_name("player")
        await self.wallet.open_account(player_id, cents, REAL)
        return await self.seat(player_id, table_id, seat)

    async def seat(self, player_id: str, table_id: str, seat: int = 0) -> SeatedPlayer:
        self._players.add(player_id)
        entered = await self.blackjack.enter(player_id, table_id, seat)
        own = entered.own_seat
        return SeatedPlayer(player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)

    async def leave(self, player: SeatedPlayer) -> session_pb2.EndSessionResponse:
        request = session_pb2.EndSessionRequest(session_id=player.session_id)
        metadata = self.wallet.bearer("player", player.player_id)
        return await self.wallet.sessions.EndSession(request, metadata=metadata)

    async def clean_up(self) -> None:
        """Ends what this test began, so that its tables play no more rounds."""
        for player_id in self._players:
            request = session_pb2.EndPlayerSessionsRequest(player_id=player_id)
            await self.wallet.sessions.EndPlayerSessions(request, metadata=self.wallet.operator)

    async def balance(self, player: SeatedPlayer) -> tuple[int, int]:
        """The player's money, free and locked."""
        balance = await self.wallet.balance(player.account_id)
        return balance.free_cents, balance.locked_cents

    async def watch(self, table_id: str) -> TableWatcher:
        """A watcher of a table, from its first event on."""
        return await TableWatcher.start(self.bus, table_id, "blackjack")

    # -- playing ------------------------------------------------------------------------------------------------------

    async def get_table(self, player: SeatedPlayer) -> table_pb2.GetTableResponse:
        return await self.blackjack.table(player.player_id, player.table_id)

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

    async def bet(
        self, player: SeatedPlayer, round_id: str, place: str, cents: int, request_id: str | None = None
    ) -> blackjack_pb2.PlaceBetsResponse:
        return await self.blackjack.bet(player.player_id, player.table_id, round_id, place, cents, request_id)

    async def deal(self, player: SeatedPlayer, bets: Mapping[str, int]) -> str:
        """Bets at an individual table and has the cards dealt; the round."""
        round_id = await self.wait_for_open_round(player)
        for place, cents in bets.items():
            await self.bet(player, round_id, place, cents)
        await self.blackjack.deal(player.player_id, player.table_id, round_id)
        return round_id

    async def playing(self, player: SeatedPlayer, round_id: str) -> Playing | None:
        """The round as the player sees it while somebody decides; None when it is decided."""
        shown = await self.get_table(player)
        table = shown.table
        if table.phase != types_pb2.PHASE_PLAYING or table.round.round_id != round_id:
            return None
        view = unpacked(table.round.view, blackjack_pb2.View())
        options: Sequence[blackjack_pb2.Option] = ()
        if shown.own_seat.HasField("own_view"):
            options = unpacked(shown.own_seat.own_view, blackjack_pb2.OwnView()).options
        return Playing(round_id, table.round.turn.turn, tuple(table.round.turn.seats), view, options)

    async def act(
        self,
        player: SeatedPlayer,
        playing: Playing,
        decision: str,
        place: int,
        insurance_cents: int = 0,
        request_id: str | None = None,
    ) -> table_pb2.ActResponse:
        move = blackjack_pb2.Move(
            place=place,
            decision=blackjack_pb2.Decision.ValueType(blackjack_pb2.Decision.Value(f"DECISION_{decision}")),
            insurance_cents=insurance_cents,
        )
        return await self.blackjack.act(
            player.player_id, player.table_id, playing.round_id, playing.turn, move, request_id
        )

    async def finish(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        """Takes the published defaults of an individual table until the round is decided and paid."""
        while (playing := await self.playing(player, round_id)) is not None:
            place, decision = default_of(playing)
            await self.act(player, playing, decision, place)
        return await self.settled(player, round_id)

    async def settled(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        """The player's round, as soon as it has ended."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                for found in (await self.blackjack.rounds(player.player_id)).rounds:
                    if found.round.round_id == round_id and found.round.HasField("ended_at"):
                        return found
                await asyncio.sleep(0.01)

    async def deal_until(
        self, player: SeatedPlayer, wanted: Callable[[Playing], object], bets: Mapping[str, int]
    ) -> Playing:
        """Plays rounds at an individual table until somebody has to decide in a situation that is wanted."""
        for _ in range(ROUNDS_LIMIT):
            round_id = await self.deal(player, bets)
            while (playing := await self.playing(player, round_id)) is not None:
                if wanted(playing):
                    return playing
                place, decision = default_of(playing)
                await self.act(player, playing, decision, place)
        raise AssertionError(f"no round of {ROUNDS_LIMIT} had what the test needs")


def default_of(playing: Playing) -> tuple[int, str]:
    """Returns the published default: to decline, to stand where one may, and otherwise to draw (B17)."""
    for decision in ("DECLINE", "STAND", "DRAW"):
        if found := playing.costs(decision):
            return found[0][0], decision
    raise AssertionError(f"the player has nothing to decide: {playing}")


def unpacked(packed: any_pb2.Any, message: M) -> M:
    assert packed.Unpack(message)
    return message

"""The blackjack platform of these tests: the real wallet and the real blackjack, and a driver of them for each test.

Cards are drawn for real, so that a test plays rounds until one has the cards that it needs: with seven places in a
round that takes a few of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import nats
from nats.aio.client import Client as Nats

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.blackjack import BlackjackClient, BlackjackProcess, configuration
from tests.processes.wallet import WalletClient, WalletProcess
from tests.service.game_driver import BankedGameDriver, SeatedPlayer, unpacked

INDIVIDUAL = wallet_types.PLAY_INDIVIDUAL
# No test outlives a betting window or a decision: the test ends it, by the clock of the tables.
WINDOW_MS, DECISION_MS = 600_000, 120_000
WINDOW_S, DECISION_S = WINDOW_MS / 1000, DECISION_MS / 1000
# Tables that all tests of players who play alone share: everybody has one of their own.
ALONE, ALONE_ON_SEVEN = "alone", "alone_on_seven"
EVERY_PLACE = tuple(map(str, range(1, 8)))
# A situation that has not come in so many rounds does not come: the rarest that a test waits for, a blackjack against
# an ace at one of seven places, comes in 1 of 52.
ROUNDS_LIMIT = 2_000


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


class BlackjackDriver(BankedGameDriver):
    """A test's clients, tables and players."""

    MONEY_CENTS = 100_000_000

    def __init__(self, wallet: WalletClient, blackjack: BlackjackClient, bus: Nats) -> None:
        super().__init__(wallet, bus)
        self.blackjack = blackjack

    @property
    def client(self) -> BlackjackClient:
        return self.blackjack

    # -- tables and players -------------------------------------------------------------------------------------------

    async def new_table(self, **rules: object) -> str:
        return await self.configure_table(self.unique_name("table"), table_rules(**rules))

    # -- playing ------------------------------------------------------------------------------------------------------

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
        return await self.ended(player, round_id)

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

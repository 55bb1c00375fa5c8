"""The poker platform of these tests: the real wallet and the real poker, and a driver of them for each test.

A hand begins as soon as two caves are filled. A test that wants everybody in its first hand has the table switched off
until all have bought in; the next hand begins when the test moves the clock of the tables over the time of the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import nats
from nats.aio.client import Client as Nats

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.processes.poker import CAVE_MAX_CENTS, PokerClient, PokerProcess, configuration
from tests.processes.wallet import WalletClient, WalletProcess
from tests.service.game_driver import TIMEOUT_S, GameDriver, SeatedPlayer, unpacked

# No test outlives a decision or a result: the test ends them, by the clock of the tables.
DECISION_MS, RESULT_SHOWN_MS = 120_000, 60_000
DECISION_S, RESULT_SHOWN_S = DECISION_MS / 1000, RESULT_SHOWN_MS / 1000
MONEY_CENTS = 1_000_000
FOLD, CHECK, CALL, RAISE = (poker_pb2.Action.Value(f"ACTION_{name}") for name in ("FOLD", "CHECK", "CALL", "RAISE"))


@dataclass(frozen=True)
class Playing:
    """A table while players decide."""

    round_id: str
    turn: int
    # Whose turn it is.
    seat: int
    view: poker_pb2.View

    @property
    def legal(self) -> poker_pb2.Legal:
        return self.view.legal


@dataclass
class PokerPlatform:
    """The processes of the wallet and of poker."""

    wallet: WalletProcess
    poker: PokerProcess
    nats_url: str

    async def open_tables(self) -> None:
        """Every test has tables of its own."""

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[PokerDriver]:
        """A driver for one test. Its players leave when the test ends."""
        bus = await nats.connect(self.nats_url)
        try:
            async with self.wallet.client() as wallet, self.poker.client() as poker:
                driver = PokerDriver(wallet, poker, bus)
                try:
                    yield driver
                finally:
                    await driver.clean_up()
        finally:
            await bus.close()


def table_rules(**rules: object) -> types_pb2.TableConfiguration:
    """Specific rules whose times only a test ends, unless they say otherwise."""
    times = {"decision_ms": DECISION_MS, "result_shown_ms": RESULT_SHOWN_MS}
    return configuration(**{**times, **rules})  # type: ignore[arg-type]


class PokerDriver(GameDriver):
    """A test's clients, tables and players."""

    MONEY_CENTS = MONEY_CENTS

    def __init__(self, wallet: WalletClient, poker: PokerClient, bus: Nats) -> None:
        super().__init__(wallet, bus)
        self.poker = poker
        self._seated: dict[str, SeatedPlayer] = {}

    @property
    def client(self) -> PokerClient:
        return self.poker

    async def seat(self, player_id: str, table_id: str, seat: int = 0) -> SeatedPlayer:
        self._seated[player_id] = seated = await super().seat(player_id, table_id, seat)
        return seated

    # -- tables and players -------------------------------------------------------------------------------------------

    async def new_table(self, **rules: object) -> str:
        return await self.configure_table(self.unique_name("table"), table_rules(**rules))

    async def switch(self, table_id: str, *, enabled: bool) -> None:
        request = table_pb2.SetSwitchRequest(
            request_id=str(uuid4()),
            game="poker",
            scope=types_pb2.SWITCH_SCOPE_TABLE,
            table_id=table_id,
            enabled=enabled,
            reason="a test",
        )
        await self.poker.tables.SetSwitch(request, metadata=self.poker.operator)

    async def begin(self, *caves: int, table_id: str = "", **rules: object) -> Sequence[SeatedPlayer]:
        """Players in the seats 1, 2, … of a new table with these caves, all of them dealt into its first hand."""
        table_id = table_id or await self.new_table(**rules)
        players = [await self.seat_new_player(table_id, seat=seat) for seat in range(1, len(caves) + 1)]
        await self.switch(table_id, enabled=False)
        for player, cents in zip(players, caves, strict=True):
            await self.buy_in(player, cents)
        await self.switch(table_id, enabled=True)
        return players

    async def buy_in(
        self, player: SeatedPlayer, cents: int = CAVE_MAX_CENTS, request_id: str | None = None
    ) -> poker_pb2.BuyInResponse:
        return await self.poker.buy_in(player.player_id, player.table_id, cents, request_id)

    async def set_presence(self, player: SeatedPlayer, name: str) -> types_pb2.CaveAtSeat:
        presence = poker_pb2.Presence.ValueType(poker_pb2.Presence.Value(f"PRESENCE_{name}"))
        return (await self.poker.set_presence(player.player_id, player.table_id, presence)).cave

    async def leave(self, player: SeatedPlayer) -> None:
        """Ends the player's session; returns when the table knows."""
        await self.end_session(player)
        async with asyncio.timeout(TIMEOUT_S):
            while (await self.standings(player.table_id)).get(player.seat, "LEAVING") != "LEAVING":
                await asyncio.sleep(0.01)

    async def end_result(self, table_id: str) -> None:
        """Ends the time for which a result is shown: what players have asked for meanwhile is done then."""
        await self.wait_for(table_id, lambda table: table.HasField("next_round_opens_at"))
        await self.poker.advance_tables(RESULT_SHOWN_S)

    async def session_ended(self, player: SeatedPlayer) -> session_pb2.GetSessionResponse:
        """The player's session, as soon as it has ended: the cave is cashed out then."""
        async with asyncio.timeout(TIMEOUT_S):
            while (found := await self.session(player)).session.state != session_pb2.SESSION_STATE_ENDED:
                await asyncio.sleep(0.01)
        return found

    def players_at(self, table_id: str) -> list[SeatedPlayer]:
        """The players whom this test has seated at a table."""
        return [player for player in self._seated.values() if player.table_id == table_id]

    async def balance(self, player: SeatedPlayer) -> int:
        """The money in the player's account, without the cave."""
        return (await self.wallet.balance(player.account_id)).free_cents

    async def caves(self, table_id: str) -> dict[int, int]:
        """What is in the caves, by seat."""
        return {cave.seat: cave.cave_cents for cave in (await self.table(table_id)).caves}

    async def standings(self, table_id: str) -> dict[int, str]:
        """How the players take part, by seat."""
        names = types_pb2.CaveStanding.Name
        caves = (await self.table(table_id)).caves
        return {cave.seat: names(cave.standing).removeprefix("CAVE_STANDING_") for cave in caves}

    # -- playing ------------------------------------------------------------------------------------------------------

    async def table(self, table_id: str) -> types_pb2.TableSnapshot:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return (await self.poker.tables.GetTable(request, metadata=self.poker.operator)).table

    async def wait_for(
        self, table_id: str, wanted: Callable[[types_pb2.TableSnapshot], object]
    ) -> types_pb2.TableSnapshot:
        """The table as soon as it is as wanted."""
        async with asyncio.timeout(TIMEOUT_S):
            while not wanted(table := await self.table(table_id)):
                await asyncio.sleep(0.01)
        return table

    async def playing(self, table_id: str, after: str = "") -> Playing:
        """A hand in which somebody has to decide, as soon as there is one; another one than `after`."""
        table = await self.wait_for(
            table_id, lambda table: table.round.HasField("turn") and table.round.round_id != after
        )
        view = unpacked(table.round.view, poker_pb2.View())
        turn = table.round.turn
        return Playing(table.round.round_id, turn.turn, turn.seats[0], view)

    async def turn_over(self, table_id: str, playing: Playing) -> None:
        """Waits until a turn is over: another one has come, or the hand has ended."""

        def is_over(table: types_pb2.TableSnapshot) -> bool:
            return table.round.turn.turn > playing.turn or table.HasField("next_round_opens_at")

        await self.wait_for(table_id, is_over)

    async def act(
        self,
        player: SeatedPlayer,
        playing: Playing,
        action: int,
        to_cents: int = 0,
        request_id: str | None = None,
    ) -> table_pb2.ActResponse:
        move = poker_pb2.Move(action=poker_pb2.Action.ValueType(action), to_cents=to_cents)
        return await self.poker.act(player.player_id, player.table_id, playing.round_id, playing.turn, move, request_id)

    async def play(self, players: Sequence[SeatedPlayer], actions: str) -> str:
        """Makes actions in turn: `f`, `c` (checks, too) or `r300`; returns the hand."""
        by_seat = {player.seat: player for player in players}
        playing = None
        for word in actions.split():
            playing = await self.playing(players[0].table_id)
            action, to_cents = FOLD, 0
            if word == "c":
                action = CALL if playing.legal.to_call_cents else CHECK
            elif word != "f":
                action, to_cents = RAISE, int(word[1:])
            await self.act(by_seat[playing.seat], playing, action, to_cents)
        assert playing is not None
        return playing.round_id

    async def play_to_showdown(self, players: Sequence[SeatedPlayer]) -> table_pb2.PlayerRound:
        """Has everybody call and check until the cards are turned up; returns the first player's round."""
        round_id = (await self.playing(players[0].table_id)).round_id
        await self.call_down(players, round_id)
        return await self.ended(players[0], round_id)

    async def call_down(self, players: Sequence[SeatedPlayer], round_id: str) -> None:
        """Has these players call and check in a hand until nobody is left to decide."""
        by_seat, table_id = {player.seat: player for player in players}, players[0].table_id
        while (table := await self.table(table_id)).round.round_id == round_id:
            if not table.round.HasField("turn") or table.round.turn.seats[0] not in by_seat:
                # Cards are dealt, or the platform decides for a player who has left.
                await asyncio.sleep(0.01)
                continue
            playing = await self.playing(table_id)
            action = CALL if playing.legal.to_call_cents else CHECK
            await self.act(by_seat[playing.seat], playing, action)

    async def next_hand(self, table_id: str, after: str) -> Playing:
        """Ends the time of the result, so that the next hand begins."""
        await self.end_result(table_id)
        return await self.playing(table_id, after)

    async def own_view(self, player: SeatedPlayer) -> poker_pb2.OwnView:
        """What the player alone sees of the hand."""
        own = (await self.poker.table(player.player_id, player.table_id)).own_seat
        return unpacked(own.own_view, poker_pb2.OwnView())


def outcome_of(played: table_pb2.PlayerRound) -> poker_pb2.Outcome:
    """The outcome of a hand that is over."""
    return unpacked(played.round.outcome, poker_pb2.Outcome())

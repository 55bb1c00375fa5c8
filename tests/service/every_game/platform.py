"""Each game as the tests of this folder play it: one stake of the same amount in a round, whatever it is put on.

Poker's is the cave that is brought to a hand: what of it is bet follows from the blinds.

A game is added with a class here, and a line in `GAMES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

import nats
from google.protobuf.message import Message
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.baccarat.v1 import baccarat_pb2
from feltro.blackjack.v1 import blackjack_pb2
from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.baccarat import BaccaratClient, BaccaratProcess
from tests.processes.blackjack import BlackjackClient, BlackjackProcess
from tests.processes.game import GameClient, GameProcess
from tests.processes.poker import PokerClient, PokerProcess
from tests.processes.wallet import DEMO, WalletClient, WalletProcess
from tests.service.baccarat import platform as baccarat
from tests.service.blackjack import platform as blackjack
from tests.service.game_driver import SeatedPlayer
from tests.service.poker import platform as poker
from tests.service.roulette.table_watcher import TableWatcher

INDIVIDUAL, FOR_MANY = wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER
CENTS, STAKE_CENTS = 10_000_000, 1_000
# What takes longer hangs.
TIMEOUT_S = 240.0


class Player(Protocol):
    """A player in a session at a table."""

    @property
    def player_id(self) -> str: ...
    @property
    def account_id(self) -> str: ...
    @property
    def session_id(self) -> str: ...
    @property
    def table_id(self) -> str: ...


@dataclass(frozen=True)
class Articles:
    """The articles of a regulation that are the same for every game, by what they are about; empty if it has none."""

    approval: str
    idle: str
    missed_rounds: str
    warning: str


class PlayedGame(Protocol):
    """A game, its tables and its players. All of them leave when the test ends."""

    articles: Articles
    wallet: WalletClient
    bus: Nats
    # What lies at a seat in a round, what of it can be bet there, and what of the account is locked meanwhile.
    stake_cents: int
    bets_cents: Collection[int]
    locked_cents: int

    @property
    def client(self) -> GameClient: ...
    def rules(self, **rules: object) -> types_pb2.TableConfiguration:
        """Specific rules whose times only a test ends."""

    async def new_table(self, **rules: object) -> str: ...
    def with_cut_card(self, cards: int) -> Mapping[str, object]:
        """Rules under which a shoe goes on until so many of its cards have been dealt."""

    async def sit_down(self, table_id: str, cents: int = CENTS) -> Player:
        """A new player with so much money, at the table."""

    async def enter(self, player_id: str, table_id: str) -> Player:
        """Seats a player, who may have no account yet."""

    async def open_round(self, player: Player) -> str:
        """The round that takes bets at the player's table, as soon as one does."""

    async def bet(self, player: Player, round_id: str) -> None:
        """Places the stake."""

    async def draw(self, player: Player, round_id: str) -> table_pb2.PlayerRound:
        """Has the cards dealt at an individual table, and plays the round to its end."""

    async def end_betting(self, players: Sequence[Player], round_id: str) -> None:
        """Ends the betting at a table for many, and plays the round to its end."""

    async def layout(self, table_id: str) -> Message:
        """What anybody may bet at a table, with its limits."""

    async def clean_up(self) -> None:
        """Ends the sessions of all players."""


class PlayedBaccarat:
    """Baccarat, with the stake on ponto."""

    name = "baccarat"
    articles = Articles("812/2015:P.3", "812/2015:35.a", "812/2015:35.b", "812/2015:36")
    stake_cents = locked_cents = STAKE_CENTS
    bets_cents = (STAKE_CENTS,)

    def __init__(self, driver: baccarat.BaccaratDriver) -> None:
        self._driver = driver
        self.client: BaccaratClient = driver.baccarat
        self.wallet, self.bus = driver.wallet, driver.bus
        self.new_table, self.open_round, self.clean_up = driver.new_table, driver.wait_for_open_round, driver.clean_up
        self.rules = baccarat.table_rules
        self.enter = driver.seat

    def with_cut_card(self, cards: int) -> Mapping[str, object]:
        return {"rules": {"cut_card": cards}}

    async def sit_down(self, table_id: str, cents: int = CENTS) -> SeatedPlayer:
        return await self._driver.seat_new_player(table_id, cents)

    async def bet(self, player: SeatedPlayer, round_id: str) -> None:
        await self._driver.bet(player, round_id, {"ponto": STAKE_CENTS})

    async def draw(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        await self._driver.deal(player, round_id)
        return (await self._driver.rounds(player))[0]

    async def end_betting(self, players: Sequence[SeatedPlayer], round_id: str) -> None:
        watcher = await self._driver.watch(players[0].table_id)
        await self._driver.end_betting()
        await watcher.wait_for("round_settled", round_id)

    async def layout(self, table_id: str) -> Message:
        request = baccarat_pb2.GetLayoutRequest(table_id=table_id)
        return await self.client.baccarat.GetLayout(request, metadata=self.client.operator)


class PlayedBlackjack:
    """Blackjack, with the stake on the place of the seat; decisions are the published defaults."""

    name = "blackjack"
    articles = Articles("805/2015:P.3", "805/2015:35.a", "805/2015:35.b", "805/2015:36")
    stake_cents = locked_cents = STAKE_CENTS
    bets_cents = (STAKE_CENTS,)

    def __init__(self, driver: blackjack.BlackjackDriver) -> None:
        self._driver = driver
        self.client: BlackjackClient = driver.blackjack
        self.wallet, self.bus = driver.wallet, driver.bus
        self.new_table, self.open_round, self.clean_up = driver.new_table, driver.wait_for_open_round, driver.clean_up
        self.rules = blackjack.table_rules
        self.enter = driver.seat

    def with_cut_card(self, cards: int) -> Mapping[str, object]:
        return {"cut_card": cards}

    async def sit_down(self, table_id: str, cents: int = CENTS) -> SeatedPlayer:
        return await self._driver.seat_new_player(table_id, cents)

    async def bet(self, player: SeatedPlayer, round_id: str) -> None:
        await self._driver.bet(player, round_id, str(player.seat or 1), STAKE_CENTS)

    async def draw(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        await self.client.deal(player.player_id, player.table_id, round_id)
        return await self._driver.finish(player, round_id)

    async def end_betting(self, players: Sequence[SeatedPlayer], round_id: str) -> None:
        watcher = await self._driver.watch(players[0].table_id)
        await self.client.advance_tables(blackjack.WINDOW_S)
        # Where nobody has anything to decide, the outcome follows at once.
        first = [asyncio.create_task(watcher.wait_for(kind, round_id)) for kind in ("round_dealt", "outcome_drawn")]
        done, waiting = await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*done)
        async with asyncio.timeout(TIMEOUT_S):
            while playing := await self._hands(players, round_id):
                acting = next(((player, hand) for player, hand in playing if hand.options), None)
                if acting is None:
                    # The platform decides for a player who has left.
                    await asyncio.sleep(0.01)
                    continue
                place, decision = blackjack.default_of(acting[1])
                await self._driver.act(*acting, decision, place)
        await watcher.wait_for("round_settled", round_id)

    async def _hands(
        self, players: Sequence[SeatedPlayer], round_id: str
    ) -> list[tuple[SeatedPlayer, blackjack.Playing]]:
        """The round as each player sees it; empty when it is decided."""
        seen = [(player, await self._driver.playing(player, round_id)) for player in players]
        return [(player, playing) for player, playing in seen if playing is not None]

    async def layout(self, table_id: str) -> Message:
        request = blackjack_pb2.GetLayoutRequest(table_id=table_id)
        return await self.client.blackjack.GetLayout(request, metadata=self.client.operator)


class PlayedPoker:
    """Hold'em, in which everybody calls and checks. A player who has nobody to play with gets an opponent."""

    name = "poker"
    articles = Articles("806/2015:R3", "", "806/2015:70.b", "806/2015:71")
    stake_cents = 5_000
    # The blinds.
    bets_cents = (50, 100)
    # Chips are in the caves before a hand and during it.
    locked_cents = 0

    def __init__(self, driver: poker.PokerDriver) -> None:
        self._driver = driver
        self.client: PokerClient = driver.poker
        self.wallet, self.bus = driver.wallet, driver.bus
        self.clean_up = driver.clean_up
        self.rules = poker.table_rules
        self.enter = driver.seat

    async def new_table(self, **rules: object) -> str:
        # All its tables are for several players.
        return await self._driver.new_table(**{name: rule for name, rule in rules.items() if name != "play"})

    def with_cut_card(self, cards: int) -> Mapping[str, object]:
        raise AssertionError("poker is dealt from a new pack in every hand (`806/2015:2.j`)")

    async def sit_down(self, table_id: str, cents: int = CENTS) -> SeatedPlayer:
        return await self._driver.seat_new_player(table_id, cents=cents)

    async def open_round(self, player: SeatedPlayer) -> str:
        """A hand into which everybody at the table is dealt, each with the same cave."""
        table_id = player.table_id
        if len(self._driver.players_at(table_id)) == 1:
            is_demo = (await self._driver.table(table_id)).configuration.mode == DEMO
            opponent = f"guest-{uuid4()}" if is_demo else await self._driver.new_player()
            await self._driver.seat(opponent, table_id)
        await self._driver.switch(table_id, enabled=False)
        for each in self._driver.players_at(table_id):
            await self._driver.buy_in(each, self.stake_cents)
        await self._driver.switch(table_id, enabled=True)
        return (await self._driver.playing(table_id)).round_id

    async def bet(self, player: SeatedPlayer, round_id: str) -> None:
        """The cave was brought to the hand, and the blinds are posted."""

    async def draw(self, player: SeatedPlayer, round_id: str) -> table_pb2.PlayerRound:
        await self._driver.call_down(self._driver.players_at(player.table_id), round_id)
        return await self._driver.ended(player, round_id)

    async def end_betting(self, players: Sequence[SeatedPlayer], round_id: str) -> None:
        watcher = await self._driver.watch(players[0].table_id)
        await self._driver.call_down(players, round_id)
        await watcher.wait_for("round_settled", round_id)

    async def layout(self, table_id: str) -> Message:
        request = poker_pb2.GetLayoutRequest(table_id=table_id)
        return await self.client.poker.GetLayout(request, metadata=self.client.operator)


BANKED_GAMES = (PlayedBaccarat.name, PlayedBlackjack.name)
GAMES = (*BANKED_GAMES, PlayedPoker.name)


@dataclass
class Platform:
    """One wallet, and a replica of every game."""

    wallet: WalletProcess
    baccarat: BaccaratProcess
    blackjack: BlackjackProcess
    poker: PokerProcess
    nats_url: str

    @property
    def games(self) -> Sequence[GameProcess]:
        return self.baccarat, self.blackjack, self.poker

    @asynccontextmanager
    async def play(self, game: str) -> AsyncIterator[PlayedGame]:
        """Connects to a game for one test."""
        bus = await nats.connect(self.nats_url)
        try:
            async with AsyncExitStack() as open_clients:
                wallet = await open_clients.enter_async_context(self.wallet.client())
                played: PlayedGame
                if game == PlayedBaccarat.name:
                    own = baccarat.BaccaratPlatform(self.wallet, self.baccarat, self.nats_url)
                    client = await open_clients.enter_async_context(self.baccarat.client())
                    played = PlayedBaccarat(baccarat.BaccaratDriver(own, wallet, client, bus))  # type: ignore[assignment]
                elif game == PlayedPoker.name:
                    caves = await open_clients.enter_async_context(self.poker.client())
                    played = PlayedPoker(poker.PokerDriver(wallet, caves, bus))  # type: ignore[assignment]
                else:
                    cards = await open_clients.enter_async_context(self.blackjack.client())
                    played = PlayedBlackjack(blackjack.BlackjackDriver(wallet, cards, bus))  # type: ignore[assignment]
                yield played
                await played.clean_up()
        finally:
            await bus.close()


# -- what the tests ask of every game -----------------------------------------------------------------------------


async def watch(game: PlayedGame, table_id: str) -> TableWatcher:
    """A watcher of a table, from its first event on."""
    return await TableWatcher.start(game.bus, table_id, game.client.game)


async def balance(game: PlayedGame, player: Player) -> tuple[int, int]:
    """The player's money: free or in a cave, and locked."""
    request = wallet_pb2.GetBalanceRequest(account_id=player.account_id)
    found = await game.wallet.wallet.GetBalance(request, metadata=game.wallet.operator)
    caves_cents = sum(cave.cave_cents for cave in found.caves)
    return found.balance.free_cents + caves_cents, found.balance.locked_cents


async def rounds(game: PlayedGame, player: Player) -> list[table_pb2.PlayerRound]:
    """The rounds in which the player took part, newest first."""
    return list((await game.client.rounds(player.player_id)).rounds)


async def leave(game: PlayedGame, player: Player) -> session_pb2.EndSessionResponse:
    request = session_pb2.EndSessionRequest(session_id=player.session_id)
    return await game.wallet.sessions.EndSession(request, metadata=game.wallet.bearer("player", player.player_id))


async def session(game: PlayedGame, player: Player) -> session_pb2.GetSessionResponse:
    request = session_pb2.GetSessionRequest(session_id=player.session_id)
    return await game.wallet.sessions.GetSession(request, metadata=game.wallet.operator)


async def advance_sessions(game: PlayedGame, seconds: int) -> None:
    """Moves the clock of sessions forward."""
    request = session_pb2.AdvanceSessionClockRequest(by_ms=1000 * seconds)
    await game.wallet.sessions.AdvanceSessionClock(request, metadata=game.wallet.operator)


class OwnNotices:
    """The notices of one player's session, from the first on."""

    def __init__(self) -> None:
        self._facts: asyncio.Queue[wallet_events.PlayerFact] = asyncio.Queue()

    @classmethod
    async def of(cls, game: PlayedGame, player: Player) -> OwnNotices:
        notices = cls()
        subject = f"feltro.player.{player.player_id}.wallet"
        await game.bus.jetstream(timeout=TIMEOUT_S).subscribe(subject, cb=notices._receive, ordered_consumer=True)
        return notices

    async def _receive(self, message: Msg) -> None:
        self._facts.put_nowait(wallet_events.PlayerFact.FromString(message.data))

    async def next(self) -> wallet_events.PlayerFact:
        """The next one, or the end of the session."""
        async with asyncio.timeout(TIMEOUT_S):
            while (fact := await self._facts.get()).WhichOneof("fact") not in {"session_notice", "session_ended"}:
                pass
        return fact

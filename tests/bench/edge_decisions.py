"""`make bench-games`, decisions: from a player's click to the answer and to everybody at the table, over WebSockets.

One table, here of blackjack, whose players decide one after the other; the floor is that of a lone bet in `make
bench-edge`, taken once right before every bet and every decision: both find the processes as a moment without calls has
left them, and whatever else the machine does slows both. A decision without a stake calls the game and commits once;
one with a stake goes on to the wallet and commits twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import grpc
import uvloop

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import edge_floor, wallet
from tests.bench.edge_bets import UNLIMITED
from tests.bench.edge_clients import WebSocketClient
from tests.bench.tables.runtime import MONEY_CENTS, database_of, make_database
from tests.bench.wallet import Measured
from tests.processes.blackjack import BlackjackProcess, configuration
from tests.processes.game import GameClient, GameProcess
from tests.processes.gateway import GatewayProcess
from tests.processes.wallet import WalletProcess

TABLE_ID, PLAYERS = "decisions", 7
# The clock of the tables is moved on when all have bet, and no decision is ever late.
WINDOW_MS, DECISION_MS = 600_000, 120_000
BET_CENTS = 500
OPEN_WITHIN_S = 20.0
MOVE = "type.googleapis.com/feltro.blackjack.v1.Move"
_MOVE_MADE = b'"move_made":'

Game = TypeVar("Game", bound=GameProcess)


@dataclass
class Told:
    """Which of the players have received a decision, and how long decisions and bets have taken."""

    waiting_for: int = 0
    everybody: asyncio.Event = field(default_factory=asyncio.Event)
    decisions_s: list[float] = field(default_factory=list)
    answers_s: list[float] = field(default_factory=list)
    staking_decisions_s: list[float] = field(default_factory=list)
    bets_s: list[float] = field(default_factory=list)
    floors_s: list[float] = field(default_factory=list)

    def expect(self, players: int) -> None:
        self.waiting_for = players
        self.everybody.clear()

    def count(self) -> None:
        self.waiting_for -= 1
        if not self.waiting_for:
            self.everybody.set()


class Player(WebSocketClient):
    """A player who sits at the table and watches it."""

    told: Told
    # The round and the turn that the player was last asked in.
    question: tuple[str, int] = ("", 0)
    # Set for the one whose events tell the bench how the round goes on.
    events: asyncio.Queue[bytes] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def wait_until_asked(self, round_id: str, turn: int) -> None:
        """Returns when the player alone has been told what they may decide: nobody clicks before."""
        async with asyncio.timeout(OPEN_WITHIN_S):
            while self.question != (round_id, turn):
                self.asked.clear()
                await self.asked.wait()

    def notified(self, payload: bytes) -> None:
        if payload.startswith(b'{"jsonrpc":"2.0","method":"own_view"'):
            own = json.loads(payload)["params"]
            self.question = own["round_id"], own["turn"]
            self.asked.set()
        if not payload.startswith(b'{"jsonrpc":"2.0","method":"table"'):
            return
        if _MOVE_MADE in payload:
            self.told.count()
        if self.events is not None:
            self.events.put_nowait(payload)


class LoneDecisions(ABC):
    """One table whose players call one after the other."""

    def __init__(self, players: list[Player], told: Told, floor: edge_floor.Floor) -> None:
        self.players = players
        self.told = told
        self._floor = floor
        self._calls = 0
        self._events = players[0].events = asyncio.Queue()

    @abstractmethod
    async def play(self, seconds: float) -> None:
        """Plays for as long as this, and at least one decision."""

    async def watch(self) -> None:
        """Subscribes all players to the table."""
        for number, player in enumerate(self.players):
            await player.call(number, "subscribe", f'{{"table_id":"{TABLE_ID}"}}')

    async def call(self, player: Player, method: str, params: str) -> float:
        """Makes a call with the floor right before it; the moment when it began."""
        started = time.perf_counter()
        await self._floor.hops_and_commit(0, self._calls)
        self.told.floors_s.append(time.perf_counter() - started)
        self._calls += 1
        named = f'{{"request_id":"d{self._calls}","table_id":"{TABLE_ID}",{params}}}'
        started = time.perf_counter()
        await player.call(self._calls, method, named)
        return started

    async def decide(self, round_id: str, turn: dict[str, Any], move: str, *, stakes: bool = False) -> None:
        """Decides for the seat in turn, once its player is asked; a decision with a stake is counted apart."""
        player = self.players[turn["seats"][0] - 1]
        await player.wait_until_asked(round_id, turn["turn"])
        self.told.expect(len(self.players))
        params = f'"round_id":"{round_id}","turn":{turn["turn"]},"move":{move}'
        started = await self.call(player, "TableService.Act", params)
        if not stakes:
            self.told.answers_s.append(time.perf_counter() - started)
        await self.told.everybody.wait()
        (self.told.staking_decisions_s if stakes else self.told.decisions_s).append(time.perf_counter() - started)

    async def next_event(self, *kinds: str) -> dict[str, Any]:
        """Returns the next event of one of these kinds."""
        async with asyncio.timeout(OPEN_WITHIN_S):
            while True:
                event = json.loads(await self._events.get())["params"]
                for kind in kinds:
                    if kind in event:
                        return dict(event[kind])


class BlackjackRounds(LoneDecisions):
    """Whole rounds of blackjack: all bet, and then all decide."""

    def __init__(
        self, players: list[Player], told: Told, floor: edge_floor.Floor, advance: Callable[[float], Awaitable[None]]
    ) -> None:
        """`advance` moves the clock of the tables forward."""
        super().__init__(players, told, floor)
        self._advance = advance

    async def play(self, seconds: float) -> None:
        """Plays whole rounds for as long as this, and at least one."""
        until = time.perf_counter() + seconds
        while True:
            await self._play_round()
            if time.perf_counter() >= until:
                return

    async def _play_round(self) -> None:
        opened = await self.next_event("round_opened")
        round_id = opened["round"]["round_id"]
        for seat, player in enumerate(self.players, start=1):
            bet = f'"bets":[{{"place":"{seat}","amount_cents":{BET_CENTS}}}]'
            started = await self.call(player, "BlackjackService.PlaceBets", f'"round_id":"{round_id}",{bet}')
            self.told.bets_s.append(time.perf_counter() - started)
        await self._advance(WINDOW_MS / 1_000)
        event = await self.next_event("round_dealt", "outcome_drawn")
        while event.get("turn"):
            # A seat is a place.
            decision, seat = _decision(event["view"]), event["turn"]["seats"][0]
            move = f'{{"@type":"{MOVE}","place":{seat},"decision":"{decision}"}}'
            await self.decide(round_id, event["turn"], move, stakes=decision == "DECISION_DOUBLE")
            event = await self.next_event("move_made")


def _decision(view: dict[str, Any]) -> str:
    """Declines every offer, doubles where that is always possible, and draws up to 16."""
    if not view.get("hand"):
        return "DECISION_DECLINE"
    hand = next(each for each in view["hands"] if (each["place"], each["number"]) == (view["place"], view["hand"]))
    if len(hand["cards"]) == 2 and hand["score"] in {9, 10, 11}:
        return "DECISION_DOUBLE"
    return "DECISION_STAND" if hand["score"] > 16 else "DECISION_DRAW"


@dataclass(frozen=True)
class Platform(Generic[Game]):
    """The processes."""

    wallet: WalletProcess
    game: Game
    gateway: GatewayProcess


@contextmanager
def running_platform(postgres: EmbeddedPostgres, home: Path, game_class: type[Game]) -> Iterator[Platform[Game]]:
    """Runs a game behind a gateway."""
    database, game_database = wallet.DATABASE, database_of(game_class.name)
    with ephemeral.nats() as bus:
        quiet = {"FELTRO_LOG_LEVEL": "warning", "FELTRO_WALLET_AUDIT_EVERY_S": "86400"}
        wallet_process = WalletProcess(postgres.url(wallet.USER, database), bus.url, home, quiet)
        address, game_url = wallet_process.address, postgres.url(game_database, game_database)
        game = game_class(game_url, bus.url, home, wallet_address=address)
        gateway = GatewayProcess("", bus.url, home, dict(UNLIMITED), wallet_address=address)
        processes = (wallet_process, game, gateway)
        try:
            for process in processes:
                process.start()
                asyncio.run(process.ready())
            yield Platform(wallet_process, game, gateway)
        finally:
            for process in reversed(processes):
                process.kill()


async def seated_players(running: Platform[Game], game: GameClient, number: int, told: Told) -> list[Player]:
    """Seats players at the table, connected over WebSockets, in the order of their seats."""
    players: list[Player] = []
    async with running.wallet.client() as wallet_client:
        for seat in range(1, number + 1):
            player_id = f"player-{seat}"
            await wallet_client.open_account(player_id, MONEY_CENTS)
            async with asyncio.timeout(OPEN_WITHIN_S):
                await _enter(game, player_id, seat)
            token = running.gateway.issuer.token(["player"], player_id)
            player = await Player.connect("127.0.0.1", running.gateway.port, token)
            player.told = told
            players.append(player)
    return players


async def _enter(game: GameClient, player_id: str, seat: int) -> None:
    """Returns when the player has entered: no event says that a process has claimed a table."""
    while True:
        try:
            await game.enter(player_id, TABLE_ID, seat)
        except grpc.aio.AioRpcError:
            await asyncio.sleep(0.05)
        else:
            return


async def measured_ratios(game: str, lone: LoneDecisions, seconds: float) -> dict[str, float]:
    """Warms up, plays, and compares each kind of call with the floor beside it."""
    told = lone.told
    await lone.play(seconds / 4)
    for kind in (told.answers_s, told.decisions_s, told.staking_decisions_s, told.bets_s, told.floors_s):
        kind.clear()
    await lone.play(seconds)
    for player in lone.players:
        player.close()
    floor_ms = Measured("floor", latencies_s=told.floors_s).percentile_ms(0.5)
    ratios = {}
    for name, latencies_s in (
        ("bet", told.bets_s),
        ("decision-answer", told.answers_s),
        ("decision", told.decisions_s),
        ("staking-decision", told.staking_decisions_s),
    ):
        if latencies_s:
            measured = Measured(name, latencies_s=latencies_s)
            p50, p99 = measured.percentile_ms(0.5), measured.percentile_ms(0.99)
            print(f"  {game}, one {name} at a time: p50 {p50:.2f} ms, p99 {p99:.2f} ms, of {len(latencies_s)};", end="")
            print(f" the floor (d): p50 {floor_ms:.2f} ms", flush=True)
            ratios[f"{game}-{name}-p50-to-floor"] = p50 / floor_ms
    return ratios


@contextmanager
def prepared_platform(postgres: EmbeddedPostgres, game_class: type[Game]) -> Iterator[tuple[Platform[Game], str, str]]:
    """Runs a platform with databases of its own; also the address of the floor's echo, and its database's."""
    postgres.ensure_database(wallet.DATABASE, wallet.OWNER, wallet.USER)
    owner_url = postgres.url(wallet.OWNER, wallet.DATABASE)
    wallet.migrate(owner_url)
    make_database(postgres, game_class.name)
    with (
        tempfile.TemporaryDirectory() as home,
        running_platform(postgres, Path(home), game_class) as running,
        edge_floor.echo_server() as echo,
    ):
        yield running, echo, owner_url


async def _blackjack_ratios(
    running: Platform[BlackjackProcess], echo: str, owner_url: str, seconds: float
) -> dict[str, float]:
    told = Told()
    async with running.game.client() as blackjack, edge_floor.floor(echo, owner_url) as floor:
        rules = configuration(window_ms=WINDOW_MS, decision_ms=DECISION_MS, places=PLAYERS, splits_limit=1)
        await blackjack.configure(TABLE_ID, rules)
        players = await seated_players(running, blackjack, PLAYERS, told)
        lone = BlackjackRounds(players, told, floor, blackjack.advance_tables)
        await lone.watch()
        # A round that opened before anybody watched.
        await blackjack.advance_tables(WINDOW_MS / 1_000)
        return await measured_ratios("blackjack", lone, seconds)


def bench(postgres: EmbeddedPostgres, seconds: float) -> dict[str, float]:
    """Measures bets and decisions of blackjack on a platform of its own."""
    with prepared_platform(postgres, BlackjackProcess) as (running, echo, owner_url):
        return uvloop.run(_blackjack_ratios(running, echo, owner_url, seconds))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each phase, 30 at most")
    options = parser.parse_args()
    with ephemeral.postgres() as postgres:
        for name, value in bench(postgres, options.seconds).items():
            print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

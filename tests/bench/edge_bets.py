"""`make bench-edge`, bets: from a client's send to the durable acknowledgement, beside a floor that no platform beats.

Prints lines `ratio <name> <value>` at the end. Everything runs on one machine: other work on it changes the CPU time of
all processes for a bet less than the time that a bet takes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import grpc
import uvloop

from feltro.table.v1 import types_pb2
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.bench import edge_floor, wallet
from tests.bench.edge_clients import BetClient, RestClient, WebSocketClient
from tests.bench.tables.runtime import database_of, make_database
from tests.bench.wallet import Measured, measure
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.roulette import RouletteClient, configuration

TABLES, PLAYERS_PER_TABLE = 8, 16
# Far fewer than one player may place in one round.
LONE_BETS = 300
# The processes whose CPU time is counted.
BOTH_SIDES = "load generator", "edge_floor"
PLATFORM = "gateway", "roulette", "wallet", "NATS", "PostgreSQL"
WINDOW_MS = 600_000
MONEY_CENTS = 10**10
MINIMUM_CENTS = 100
# The limits of these places are so high that no phase reaches them.
PLACES = ("red", "odd", "low")
# The lone player, the floor and the lone player over REST take turns, so that a busy machine slows all of them.
TURNS = 3
OPEN_WITHIN_S = 20.0
GROUP_METRIC = "feltro_wallet_group_commands"
# A bench calls as fast as it can.
UNLIMITED = {
    "FELTRO_GATEWAY_PLAYER_CALLS_PER_S": "10000",
    "FELTRO_GATEWAY_PLAYER_CALLS_AT_ONCE": "100000",
    "FELTRO_GATEWAY_CONNECTION_MESSAGES_PER_S": "10000",
    "FELTRO_GATEWAY_CONNECTION_MESSAGES_AT_ONCE": "100000",
    "FELTRO_GATEWAY_ADDRESS_TOKENS_PER_S": "100000",
    "FELTRO_GATEWAY_ADDRESS_TOKENS_AT_ONCE": "100000",
}


@dataclass(frozen=True)
class ConnectedPlayer:
    """A player at a table, and the player's client."""

    table_id: str
    round_id: str
    client: BetClient


class Tables:
    """Players at a few tables who bet with one kind of client."""

    def __init__(self, players: Sequence[ConnectedPlayer]) -> None:
        self._players = players
        self._made = 0

    @property
    def player_count(self) -> int:
        return len(self._players)

    async def lone_bet(self, _caller: int, turn: int) -> int:
        """One bet of one player at a time; the next player takes over before the limit of bets is reached."""
        return await self.bet(self._made // LONE_BETS % self.player_count, turn)

    async def bet(self, caller: int, turn: int) -> int:
        """One bet."""
        player = self._players[caller]
        self._made += 1
        place = PLACES[turn % len(PLACES)]
        await player.client.bet(self._made, player.table_id, player.round_id, place, MINIMUM_CENTS)
        return 1

    def disconnect(self) -> None:
        for player in self._players:
            player.client.close()


async def open_tables(running: Platform, kind: str) -> Tables:
    """Opens tables whose round takes bets for longer than the bench lasts, and connects players."""
    connects: dict[str, Callable[[str, int, str], Awaitable[BetClient]]]
    connects = {"ws": WebSocketClient.connect, "rest": RestClient.connect}
    connect = connects[kind]
    connected: list[ConnectedPlayer] = []
    async with running.roulette.client() as roulette, running.wallet.client() as wallet_client:
        table_ids = [f"{kind}_{number}" for number in range(TABLES)]
        for table_id in table_ids:
            rules = configuration(window_ms=WINDOW_MS, minimum_cents=MINIMUM_CENTS, seats=PLAYERS_PER_TABLE)
            await roulette.configure(table_id, rules)
        for table_id in table_ids:
            player_ids = [f"{table_id}-{number}" for number in range(PLAYERS_PER_TABLE)]
            await asyncio.gather(*(wallet_client.open_account(player_id, MONEY_CENTS) for player_id in player_ids))
            async with asyncio.timeout(OPEN_WITHIN_S):
                await _open(roulette, player_ids[0], table_id)
                await asyncio.gather(*(roulette.enter(player_id, table_id) for player_id in player_ids))
                round_id = await _round_of(roulette, player_ids[0], table_id)
            for player_id in player_ids:
                token = running.gateway.issuer.token(["player"], player_id)
                client = await connect("127.0.0.1", running.gateway.port, token)
                connected.append(ConnectedPlayer(table_id, round_id, client))
    return Tables(_in_turn(connected))


def _in_turn(players: Sequence[ConnectedPlayer]) -> list[ConnectedPlayer]:
    """Orders the players so that neighbours sit at different tables."""
    return [
        players[table * PLAYERS_PER_TABLE + player] for player in range(PLAYERS_PER_TABLE) for table in range(TABLES)
    ]


async def _open(roulette: RouletteClient, player: str, table_id: str) -> None:
    """Returns when the player has entered: no event says that a process has claimed a table."""
    while True:
        try:
            await roulette.enter(player, table_id)
        except grpc.aio.AioRpcError:
            await asyncio.sleep(0.05)
        else:
            return


async def _round_of(roulette: RouletteClient, player: str, table_id: str) -> str:
    """The round that takes bets, as soon as one does."""
    while True:
        table = (await roulette.table(player, table_id)).table
        if table.phase == types_pb2.PHASE_BETTING:
            return table.round.round_id
        await asyncio.sleep(0.05)


def _merged(name: str, parts: Sequence[Measured]) -> Measured:
    return Measured(
        name,
        sum(part.seconds for part in parts),
        sum(part.count for part in parts),
        [latency for part in parts for latency in part.latencies_s],
    )


def _cpu_us(measured: Measured, processes: Collection[str]) -> float:
    return sum(measured.cpu_s.get(process, 0.0) for process in processes) / measured.count * 1e6


async def stakes_per_group(running: Platform) -> Callable[[], Awaitable[float]]:
    """Begins to count; the function returns how many commands the ledger has committed together on average since.

    A bet costs the wallet less in a larger group, and the size varies between runs: it explains their differences.
    """
    commands, groups = await _ledger_groups(running)

    async def average() -> float:
        commands_now, groups_now = await _ledger_groups(running)
        return (commands_now - commands) / max(1.0, groups_now - groups)

    return average


async def _ledger_groups(running: Platform) -> tuple[float, float]:
    """The commands that the ledger has committed so far, and the groups."""
    url = f"http://127.0.0.1:{running.wallet.metrics_port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        text = await answer.text()
    values = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name.startswith(GROUP_METRIC):
            values[name.removeprefix(GROUP_METRIC)] = float(value)
    return values["_sum"], values["_count"]


async def phases(running: Platform, echo: str, owner_url: str, seconds: float) -> dict[str, float]:
    """Measures the floor and both kinds of clients; the ratios."""
    by_way = {"ws": await open_tables(running, "ws"), "rest": await open_tables(running, "rest")}
    ratios: dict[str, float] = {}
    try:
        async with edge_floor.floor(echo, owner_url) as floor:
            for way, tables in by_way.items():
                await measure(f"(warming up, {way})", tables.player_count, seconds / 4, tables.bet)
            lone: dict[str, list[Measured]] = {"floor": [], "ws": [], "rest": []}
            for _ in range(TURNS):
                each = seconds / TURNS
                lone["floor"].append(
                    await measure("(d) two bare gRPC hops and a plain commit", 1, each, floor.hops_and_commit)
                )
                for way, tables in by_way.items():
                    lone[way].append(await measure(f"(c) one bet at a time, {way}", 1, each, tables.lone_bet))
            floor_p50_ms = _merged("(d)", lone["floor"]).percentile_ms(0.5)
            # As many callers as there are players: calls that travel together cost less.
            callers = by_way["ws"].player_count
            echoed = await measure(f"(f) bare gRPC echo, {callers} callers", callers, seconds / 2, floor.one_hop)
            for way, tables in by_way.items():
                alone = _merged(way, lone[way])
                print(
                    f"  (c) one bet at a time, {way}: p50 {alone.percentile_ms(0.5):.2f} ms,"
                    f" p99 {alone.percentile_ms(0.99):.2f} ms; the floor (d): p50 {floor_p50_ms:.2f} ms"
                )
                groups = await stakes_per_group(running)
                many = await measure(
                    f"(c) {tables.player_count} players, {way}", tables.player_count, seconds, tables.bet
                )
                print(f"      {await groups():.1f} stakes per group of the ledger", flush=True)
                ratios[f"edge-bet-{way}-lone-p50-to-floor"] = alone.percentile_ms(0.5) / floor_p50_ms
                spent, bare = _cpu_us(many, many.cpu_s), _cpu_us(echoed, BOTH_SIDES)
                ratios[f"edge-bet-{way}-cpu-to-echo"] = spent / bare
                ratios[f"edge-bet-{way}-cpu-without-clients-to-echo"] = _cpu_us(many, PLATFORM) / bare
                print(f"      {spent:.0f} µs in all; an echo, both sides: {bare:.0f} µs", flush=True)
    finally:
        for tables in by_way.values():
            tables.disconnect()
    return ratios


def bench(postgres: EmbeddedPostgres, seconds: float) -> dict[str, float]:
    """Runs all phases on one platform."""
    postgres.ensure_database(wallet.DATABASE, wallet.OWNER, wallet.USER)
    owner_url = postgres.url(wallet.OWNER, wallet.DATABASE)
    wallet.migrate(owner_url)
    make_database(postgres, "roulette")
    templates = wallet.DATABASE, database_of("roulette")
    with (
        tempfile.TemporaryDirectory() as home,
        running_platform(postgres, templates, Path(home), UNLIMITED) as running,
        edge_floor.echo_server() as echo,
    ):
        return uvloop.run(phases(running, echo, owner_url, seconds))


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

"""`make bench-games`: every game's engine, live tables and memory, and one decision through the gateway, in one run.

Prints lines `ratio <name> <value>` at the end: engines beside roulette's, stakes and rounds of live tables beside the
wallet's batch, a decision beside the floor of a lone bet. Everything shares the machine with what it is measured by.
At live tables every bot places the same number of stakes in a round, and then betting closes: stakes per second of two
games, or of two releases, are for the same number of stakes in a round. CPU time per stake and per round are separate,
for it is steadier than a rate on a machine that does other work.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import AsyncExitStack
from typing import Any

import uvloop

from services.kit.supervision import prepare_memory
from stack.servers import ephemeral
from tests.bench import edge_decisions, engines
from tests.bench.tables import phases
from tests.bench.tables.games import GAMES, ROULETTE, BenchGame
from tests.bench.tables.runtime import bench_tables


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-games", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each phase, 30 at most")
    parser.add_argument("--tables", type=int, default=phases.TABLES, help="multi-player tables of each game")
    parser.add_argument("--games", nargs="+", choices=[game.name for game in GAMES], help="only these")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    options = parser.parse_args()
    games = [game for game in GAMES if not options.games or game.name in options.games]
    ratios: dict[str, float] = {}
    if "engines" in options.parts:
        ratios |= engine_ratios(games, options.seconds)
    if "tables" in options.parts:
        # As in the service.
        prepare_memory()
        ratios |= uvloop.run(table_ratios(games, options.tables, options.seconds))
    if "decisions" in options.parts:
        with ephemeral.postgres() as postgres:
            ratios |= edge_decisions.bench(postgres, options.seconds)
    for name, value in ratios.items():
        print(f"ratio {name} {value:.4f}")
    return 0


PARTS = ("engines", "tables", "decisions")


def engine_ratios(games: list[BenchGame[Any, Any]], seconds: float) -> dict[str, float]:
    """Compares the engines with roulette's."""
    others = [game for game in games if game is not ROULETTE]
    rates = engines.rounds_per_s([ROULETTE, *others], seconds)
    return {f"{game.name}-engine-to-roulette": rates[game.name] / rates[ROULETTE.name] for game in others}


async def table_ratios(games: list[BenchGame[Any, Any]], number_of_tables: int, seconds: float) -> dict[str, float]:
    """Compares live tables with the wallet alone."""
    ratios: dict[str, float] = {}
    async with phases.running_servers() as servers:
        async with AsyncExitStack() as running:
            opened = []
            # All of them before any is played: memory that one game frees would seem to cost another one nothing.
            for game in games:
                tables = await running.enter_async_context(
                    bench_tables(game, servers.postgres, servers.nats_url, servers.wallet)
                )
                owned, memory = await phases.open_multi_player(tables, number_of_tables)
                ratios[f"{game.name}-table-memory-kib"] = memory / 1024
                opened.append((game, tables, owned))
            measured = {
                game.name: await phases.measure_multi_player(tables, owned, game.players, seconds)
                for game, tables, owned in opened
            }
        alone = await phases.wallet_alone(servers, seconds)
    for name, phase in measured.items():
        ratios[f"{name}-stakes-to-wallet-batch"] = phase.stakes_per_s / alone
        ratios[f"{name}-rounds-to-wallet-batch"] = phase.rounds_per_s / alone
        ratios[f"{name}-cpu-to-all"] = phase.cpu_of_tables_to_all
        for part, share in phase.shares.items():
            ratios[f"{name}-cpu-share-{part.replace(' ', '-')}"] = share
    return ratios


if __name__ == "__main__":
    sys.exit(main())

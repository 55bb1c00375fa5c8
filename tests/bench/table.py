"""`make bench-table`: live tables with bots on the real wallet, beside the same wallet without tables in the same run.

Prints lines `ratio <name> <value>` at the end. The tables, their bots and the load generator of the wallet share the
machine with what they measure. Bots run in the process of the tables: the runtime is measured and not the way to it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

import uvloop

from services.kit.supervision import prepare_memory
from tests.bench.tables import phases
from tests.bench.tables.games import ROULETTE
from tests.bench.tables.runtime import bench_tables

INDIVIDUAL_TABLES = 200


async def bench(options: argparse.Namespace, draws: BinaryIO | None) -> dict[str, float]:
    """Runs all phases on one server."""
    async with phases.running_servers() as servers:
        async with bench_tables(ROULETTE, servers.postgres, servers.nats_url, servers.wallet, draws) as tables:
            owned, memory = await phases.open_multi_player(tables, options.tables)
            multi = await phases.measure_multi_player(tables, owned, options.bots, options.seconds)
            individual = await phases.measure_individual(tables, INDIVIDUAL_TABLES, options.seconds)
        alone = await phases.wallet_alone(servers, options.seconds)
    return {
        "table-stakes-to-wallet-batch": multi.stakes_per_s / alone,
        "table-cpu-to-all": multi.cpu_of_tables_to_all,
        "individual-rounds-to-wallet-batch": individual.rounds_per_s / alone,
        "table-memory-kib": memory / 1024,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-table", description=__doc__)
    parser.add_argument("--seconds", type=float, default=12.0, help="of each phase")
    parser.add_argument("--tables", type=int, default=phases.TABLES, help="multi-player tables")
    parser.add_argument("--bots", type=int, default=ROULETTE.players, help="at each of them")
    parser.add_argument("--draws", type=Path, help="a file to which the entropy of every draw is appended")
    options = parser.parse_args()
    # As in the service.
    prepare_memory()
    if options.draws is None:
        ratios = uvloop.run(bench(options, None))
    else:
        with options.draws.open("ab", buffering=0) as draws:
            ratios = uvloop.run(bench(options, draws))
    for name, value in ratios.items():
        print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

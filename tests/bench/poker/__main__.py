"""`make bench-poker`: evaluations, hands, bursts, live tables and one decision over the gateway, in one run.

Prints lines `ratio <name> <value>` at the end: the evaluator beside those of PyPI, the engine beside pokerkit's, a
hand's last move beside any other, live tables beside the wallet's batch, and a decision beside the floor of a lone bet.
"""

from __future__ import annotations

import argparse
import sys

from tests.bench.poker import bursts, decisions, evaluators, hands, tables
from tests.bench.tables import phases

PARTS = ("bursts", "evaluators", "hands", "tables", "decisions")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-poker", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of CPU time for each program that is measured")
    parser.add_argument("--live-seconds", type=float, default=10.0, help="of live tables and of decisions, 30 at most")
    parser.add_argument("--tables", type=int, default=phases.TABLES, help="live tables")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    # First of all: before others have seen the same boards.
    if "bursts" in options.parts:
        ratios |= bursts.ratios(options.seconds)
    if "evaluators" in options.parts:
        ratios |= evaluators.ratios(options.seconds)
    if "hands" in options.parts:
        ratios |= hands.ratios(options.seconds)
    if "tables" in options.parts:
        ratios |= tables.ratios(options.tables, options.live_seconds)
    if "decisions" in options.parts:
        ratios |= decisions.ratios(options.live_seconds)
    for name, value in ratios.items():
        print(f"ratio {name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`make bench-tournament`: tables of a tournament beside tables for money, and a director beside its bare writes.

Prints lines `ratio <name> <value>` at the end: hands and decisions of tournament tables to those for money with the
same bots in the same run, and the CPU time of a hand; registrations, facts and moves of players between tables to bare
writes of facts; and the memory of a player with the share of a table.
"""

from __future__ import annotations

import argparse
import sys

from tests.bench.tournament import director, tables

PARTS = ("tables", "director")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-tournament", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of live tables of each kind, 30 at most")
    parser.add_argument("--tables", type=int, default=100, help="live tables of each kind")
    parser.add_argument("--players", type=int, default=1_000, help="of the director alone")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    if "tables" in options.parts:
        ratios |= tables.ratios(options.tables, options.seconds)
    if "director" in options.parts:
        ratios |= director.ratios(options.players)
    for name, value in ratios.items():
        print(f"ratio {name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

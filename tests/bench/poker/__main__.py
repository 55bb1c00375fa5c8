"""`make bench-poker`: evaluations and hands per second, against pokerkit and the fastest evaluators of PyPI.

Prints lines `ratio <name> <value>` at the end. All take turns in one run, so that a busy machine slows them all alike.
"""

from __future__ import annotations

import argparse
import sys

from tests.bench.poker import evaluators, hands

PARTS = {"evaluators": evaluators.ratios, "hands": hands.ratios}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-poker", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of CPU time for each program that is measured")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    for part in options.parts:
        ratios |= PARTS[part](options.seconds)
    for name, value in ratios.items():
        print(f"ratio {name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

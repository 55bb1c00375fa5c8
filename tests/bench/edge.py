"""`make bench-edge`: the cost of the gateway beside the least that it could be, in one run.

(a) a bare loop that writes one frame to sockets; (b) the same by the gateway; (c) bets over WebSocket and REST; (d) two
bare gRPC calls and a plain commit; (e) memory of an idle connection; (f) processor time of all processes for a bet,
beside that of one bare gRPC call. Prints lines `ratio <name> <value>` at the end.
"""

from __future__ import annotations

import argparse
import sys

from stack.servers import ephemeral
from tests.bench import edge_bets, edge_fanout, edge_idle


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-edge", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each phase, 30 at most")
    parser.add_argument("--runs", type=int, default=3, help="of each number of watchers")
    parser.add_argument("--idle", type=int, default=4_000, help="connections")
    options = parser.parse_args()
    ratios = edge_fanout.bench(edge_fanout.WATCHERS, options.seconds / 2, options.runs)
    ratios |= edge_idle.bench(options.idle)
    with ephemeral.postgres() as postgres:
        ratios |= edge_bets.bench(postgres, options.seconds)
    for name, value in ratios.items():
        print(f"ratio {name} {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

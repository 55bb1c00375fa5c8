"""`python -m services.roulette`: reads the settings and serves."""

from __future__ import annotations

import gc
import sys

import uvloop

from services.kit.logs import log_to_stderr
from services.kit.settings import load_or_exit
from services.kit.table.server.process import serve
from services.roulette.definition import ROULETTE
from services.roulette.settings import RouletteSettings

# Objects made before the collector looks at the young ones: most are dropped together, when a round ends.
GC_YOUNG_THRESHOLD = 50_000


def main() -> int:
    settings = load_or_exit(RouletteSettings)
    log_to_stderr(settings.log_level)
    gc.freeze()
    gc.set_threshold(GC_YOUNG_THRESHOLD, 20, 50)
    uvloop.run(serve(settings, ROULETTE))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Starts the roulette service (`python -m services.roulette`)."""

from __future__ import annotations

import sys

import uvloop

from services.kit.settings import load_or_exit
from services.kit.supervision import prepare_memory
from services.kit.table.server.process import serve
from services.kit.telemetry.logs import log_to_stderr
from services.roulette.definition import ROULETTE
from services.roulette.settings import RouletteSettings


def main() -> int:
    settings = load_or_exit(RouletteSettings)
    log_to_stderr(settings.log_level)
    prepare_memory()
    uvloop.run(serve(settings, ROULETTE))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Starts the baccarat service (`python -m services.baccarat`)."""

from __future__ import annotations

import sys

import uvloop

from services.baccarat.definition import BACCARAT
from services.baccarat.settings import BaccaratSettings
from services.kit.settings import load_or_exit
from services.kit.supervision import prepare_memory
from services.kit.table.server.process import serve
from services.kit.telemetry.logs import log_to_stderr


def main() -> int:
    settings = load_or_exit(BaccaratSettings)
    log_to_stderr(settings.log_level)
    prepare_memory()
    uvloop.run(serve(settings, BACCARAT))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Starts the blackjack service (`python -m services.blackjack`)."""

from __future__ import annotations

import sys

import uvloop

from services.blackjack.definition import BLACKJACK
from services.blackjack.settings import BlackjackSettings
from services.kit.settings import load_or_exit
from services.kit.supervision import prepare_memory
from services.kit.table.server.process import serve
from services.kit.telemetry.logs import log_to_stderr


def main() -> int:
    settings = load_or_exit(BlackjackSettings)
    log_to_stderr(settings.log_level)
    prepare_memory()
    uvloop.run(serve(settings, BLACKJACK))
    return 0


if __name__ == "__main__":
    sys.exit(main())

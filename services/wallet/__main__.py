"""`python -m services.wallet`: reads the settings and serves."""

import sys

import uvloop

from services.kit.settings import load_or_exit
from services.kit.supervision import prepare_memory
from services.kit.telemetry import trace_export
from services.kit.telemetry.logs import log_to_stderr
from services.wallet.server.process import serve
from services.wallet.settings import WalletSettings


def main() -> int:
    settings = load_or_exit(WalletSettings)
    log_to_stderr(settings.log_level)
    trace_export.start("wallet", settings.otlp_endpoint)
    prepare_memory()
    uvloop.run(serve(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m services.wallet`: reads the settings and serves."""

import gc
import sys

import uvloop

from services.kit.logs import log_to_stderr
from services.kit.settings import load_or_exit
from services.wallet.server.process import serve
from services.wallet.settings import WalletSettings

# Allocations between collections of young objects: a group makes tens of thousands of objects and drops them together.
GC_THRESHOLD = 50_000


def main() -> int:
    settings = load_or_exit(WalletSettings)
    log_to_stderr(settings.log_level)
    # Imported modules live as long as the process: collections skip them.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)
    uvloop.run(serve(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())

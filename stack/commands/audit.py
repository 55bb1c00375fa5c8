"""`make audit`: `feltro audit` on the ledger of the platform that runs on this machine."""

from __future__ import annotations

import sys

from services.kit.settings import load_or_exit
from services.wallet.audit.command import NOT_CHECKED, command
from stack.commands.programs import AUDIT_ROUND_HOURS
from stack.data_folder import DataFolder
from stack.databases import WALLET_DATABASE, WALLET_ROLE
from stack.servers.postgres import EmbeddedPostgres
from stack.settings import StackSettings


def main(argv: list[str]) -> int:
    """Audits; the arguments are those of `feltro audit`."""
    settings = load_or_exit(StackSettings)
    postgres = EmbeddedPostgres(DataFolder(settings.data).postgres, settings.postgres_port)
    if not postgres.ready():
        print("The platform is not running here: start it with `make run`, then audit it.", file=sys.stderr)
        return NOT_CHECKED
    ledger = ["--database-url", postgres.url(WALLET_ROLE, WALLET_DATABASE), "--round-hours", str(AUDIT_ROUND_HOURS)]
    return command([*ledger, *argv])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

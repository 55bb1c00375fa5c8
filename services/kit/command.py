"""The `feltro` command: finds a subcommand and hands over to it."""

import importlib
import sys
from collections.abc import Callable
from typing import cast

# name: (module, function, what it does). Loaded when asked for: an image holds only what its service needs.
SUBCOMMANDS = {
    "audit": ("services.wallet.audit.auditor", "command", "check the ledger and name every violation"),
    "replay": (
        "services.kit.table.journal.replay.command",
        "command",
        "compute rounds again and hold them against the ledger",
    ),
    "migrate": ("services.kit.database.migration", "command", "bring a service's database to the newest schema"),
    "run": ("stack.commands.run", "command", "start the whole platform on this machine (development)"),
    "token": ("stack.commands.token", "command", "print a token of the development issuer"),
    "call": ("stack.commands.call", "command", "call a method of a running service"),
}


def _usage() -> str:
    lines = [f"  {name:<10}{what}" for name, (_, _, what) in SUBCOMMANDS.items()]
    return "\n".join(["usage: feltro <command> [options]", "", *lines])


def main(argv: list[str] | None = None) -> int:
    """Runs `feltro …` and returns its exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(_usage())
        return 0 if arguments else 2
    name, *rest = arguments
    if name not in SUBCOMMANDS:
        print(f"feltro: there is no command {name!r}.\n\n{_usage()}", file=sys.stderr)
        return 2
    module, function, _ = SUBCOMMANDS[name]
    try:
        command = cast("Callable[[list[str]], int]", getattr(importlib.import_module(module), function))
    except ModuleNotFoundError as missing:
        print(f"feltro: {name!r} is not installed here ({missing.name} is missing).", file=sys.stderr)
        return 1
    return command(rest)


if __name__ == "__main__":
    sys.exit(main())

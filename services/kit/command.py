"""The `feltro` command: finds the subcommand that a package has registered, and runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import cast

# Packages register their commands under this name; each is loaded when it is asked for, because an image holds only
# what its service needs.
COMMANDS_GROUP = "feltro.commands"

Command = Callable[[list[str]], int]


def main(argv: list[str] | None = None) -> int:
    """Runs `feltro …` and returns its exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    commands = {point.name: point for point in entry_points(group=COMMANDS_GROUP)}
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(_usage(commands))
        return 0 if arguments else 2
    name, *rest = arguments
    if name not in commands:
        print(f"feltro: there is no command {name!r}.\n\n{_usage(commands)}", file=sys.stderr)
        return 2
    try:
        command = cast("Command", commands[name].load())
    except ModuleNotFoundError as missing:
        print(f"feltro: {name!r} is not installed here ({missing.name} is missing).", file=sys.stderr)
        return 1
    return command(rest)


def _usage(commands: dict[str, EntryPoint]) -> str:
    lines = [f"  {name:<18}{_description(commands[name])}" for name in sorted(commands)]
    return "\n".join(["usage: feltro <command> [options]", "", *lines])


def _description(point: EntryPoint) -> str:
    try:
        words = point.load().__doc__ or ""
    except ModuleNotFoundError:
        return "(not installed here)"
    return str(words).partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())

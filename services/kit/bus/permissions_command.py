"""`feltro nats-permissions`: prints the users and permissions for the configuration of a NATS server."""

from __future__ import annotations

import argparse
import sys

from services.kit.bus import permissions, server_configuration
from services.kit.bus.permissions import MONITOR, OPERATOR, WrongGame


def command(argv: list[str]) -> int:
    """Prints the accounts that a NATS server needs for the platform."""
    parser = argparse.ArgumentParser(
        prog="feltro nats-permissions",
        description="Print the accounts, users and permissions for the configuration of a NATS server. The passwords"
        " are variables of the server's environment (FELTRO_NATS_PASSWORD_WALLET …), never part of what is printed.",
    )
    parser.add_argument("games", nargs="+", metavar="game", help="the games of this platform, each by its name")
    try:
        processes = permissions.platform(parser.parse_args(argv).games)
    except WrongGame as wrong:
        print(f"feltro nats-permissions: {wrong}", file=sys.stderr)
        return 2
    users = [*(process.user for process in processes), OPERATOR, MONITOR]
    print(server_configuration.accounts(processes, {user: f"${variable_of(user)}" for user in users}), end="")
    return 0


def variable_of(user: str) -> str:
    """Returns the variable of the server's environment that holds a user's password."""
    return f"FELTRO_NATS_PASSWORD_{user.upper().replace('-', '_')}"

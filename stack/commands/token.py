"""`feltro token`: prints a token of the development issuer."""

from __future__ import annotations

import argparse
import sys

from services.kit.access.signing_key import NoSigningKey
from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder
from stack.issuer import DEFAULT_MINUTES, SCOPES, DevelopmentIssuer
from stack.settings import StackSettings


def command(argv: list[str]) -> int:
    """Prints a token of the development issuer."""
    parser = argparse.ArgumentParser(prog="feltro token", description="Print a token of the development issuer.")
    parser.add_argument("--scope", action="append", choices=SCOPES, required=True, help="may be given more than once")
    parser.add_argument("--subject", help="who it is for: the player's id, or the game")
    parser.add_argument("--minutes", type=int, default=DEFAULT_MINUTES, help=f"how long it holds ({DEFAULT_MINUTES})")
    chosen = parser.parse_args(argv)
    if "player" in chosen.scope and not chosen.subject:
        parser.error("a player's token needs --subject, the player's id")
    if "game" in chosen.scope and (chosen.scope != ["game"] or not chosen.subject):
        parser.error("a game's token has no other scope, and needs --subject, the game")
    if chosen.minutes < 1:
        parser.error("--minutes must be 1 or more")
    folder = DataFolder(load_or_exit(StackSettings).data)
    try:
        issued = DevelopmentIssuer(folder.issuer).token(chosen.scope, chosen.subject or "developer", chosen.minutes)
        is_running = folder.is_in_use
    except (RuntimeError, OSError, NoSigningKey) as error:
        print(error, file=sys.stderr)
        return 1
    if not is_running:
        print(f"No platform runs with the data folder {folder.root} now: no other one accepts this.", file=sys.stderr)
    print(issued)
    return 0

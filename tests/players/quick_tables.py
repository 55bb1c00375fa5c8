"""The tables of a fresh platform, for players who look at no cards and results."""

from __future__ import annotations

import json
from typing import Any

from stack.games import StackGame

# What a table waits for, so that people can see something.
_SHOWN = ("result_shown_ms", "dealing_ms")


def quick_tables(game: StackGame) -> list[dict[str, Any]]:
    """Returns the tables of a game, each with its configuration."""
    tables: list[dict[str, Any]] = json.loads(game.tables.read_text())
    for table in tables:
        table["configuration"] |= {name: 0 for name in _SHOWN if name in table["configuration"]}
    return tables

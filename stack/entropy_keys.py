"""The keys with which a card game seals the entropy of its rounds: made at the first start, and kept."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from stack.data_folder import write_private
from stack.games import GAMES

KEY_BYTES = 32


def entropy_keys(folder: Path) -> Mapping[str, str]:
    """Returns the variables that name the keys of the games that hide cards."""
    hiding = (game for game in GAMES if game.hides_cards)
    return {game.variable("ENTROPY_KEYS_FILE"): str(entropy_keys_file(folder, game.name)) for game in hiding}


def entropy_keys_file(folder: Path, game: str) -> Path:
    """Returns the file of a game's keys; makes one key if there is none: rounds in progress need the key they have."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{game}-entropy.keys"
    if not path.exists():
        write_private(path, f"1 {secrets.token_hex(KEY_BYTES)}\n".encode())
    return path

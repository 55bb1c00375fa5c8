"""The secret key with which a game names players' own tables: made at the first start, and kept."""

from __future__ import annotations

import secrets
from pathlib import Path

from stack.data_folder import write_private

KEY_BYTES = 32


def table_key_file(folder: Path, game: str) -> Path:
    """Returns the file of a game's key; makes the key if there is none: another one would give players other tables."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{game}-tables.key"
    if not path.exists():
        write_private(path, secrets.token_hex(KEY_BYTES).encode())
    return path

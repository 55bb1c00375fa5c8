"""Names players' own tables, so that nobody can compute the id of another player's table (G7)."""

from __future__ import annotations

import hashlib

# Sixteen digits that stand for a player, behind the configured table's id and a hyphen.
_DIGEST_BYTES = 8
SUFFIX_CHARACTERS = 1 + 2 * _DIGEST_BYTES


class IndividualTableIds:
    """Derives the id of a player's own table from the player and a secret key of the game service."""

    def __init__(self, key: bytes) -> None:
        """`key` may have any length, and all replicas of a game have to share it."""
        # BLAKE2b takes 64 bytes.
        self._key = hashlib.blake2b(key, person=b"feltro tables").digest()

    def table_id(self, placement_id: str, player_id: str) -> str:
        """Returns the id of a player's own table: the configured table's, and digits that stand for the player.

        The digits differ from one configured table to the next, so that ids do not show who plays where.
        """
        player = f"{placement_id}\0{player_id}".encode()
        digits = hashlib.blake2b(player, key=self._key, digest_size=_DIGEST_BYTES).hexdigest()
        return f"{placement_id}-{digits}"

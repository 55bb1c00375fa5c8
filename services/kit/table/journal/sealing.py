"""Seals the entropy of rounds in the journal: until a round has ended it decides cards that nobody may see (G6, G7).

AES-256-GCM, with the round's id as associated data: entropy that was copied to another round cannot be unsealed. The
nonce follows from key, round and entropy, so that an entry that is written again is the same entry, and no nonce serves
two rounds. A file names the keys of a game, a line for each: its id, a space, 64 hexadecimal digits. The first key
seals; the others unseal what was sealed before the keys were rotated.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.kit.table.journal.entries import Drawn

KEY_BYTES = 32
NONCE_BYTES = 12
# Keys of one game; a key is needed for as long as its rounds are replayed (G11).
KEYS_LIMIT = 1_000

_LINE = re.compile(r"(?P<id>[A-Za-z0-9_.-]{1,32}) +(?P<key>[0-9a-fA-F]{64})")


class CannotSeal(Exception):
    """There is no key to seal with: nothing may be dealt (G12)."""


class CannotUnseal(Exception):
    """The entropy of a round cannot be read; the message says why, and never what (G7)."""


@dataclass(frozen=True, slots=True)
class EntropyKey:
    """A secret, and the id under which sealed rounds name it."""

    key_id: str
    secret: bytes = field(repr=False)

    def seal(self, round_id: str, entropy: bytes) -> bytes:
        nonce = self._nonce(round_id, entropy)
        return nonce + self._cipher().encrypt(nonce, entropy, round_id.encode())

    def unseal(self, round_id: str, sealed: bytes) -> bytes:
        """Raises `InvalidTag` for another key's bytes, another round's, and bytes that were changed.

        Bytes that are too short raise `ValueError`.
        """
        return self._cipher().decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], round_id.encode())

    def _cipher(self) -> AESGCM:
        return AESGCM(hmac.digest(self.secret, b"feltro entropy: cipher", "sha256"))

    def _nonce(self, round_id: str, entropy: bytes) -> bytes:
        nonce_key = hmac.digest(self.secret, b"feltro entropy: nonce", "sha256")
        return hmac.digest(nonce_key, round_id.encode() + b"\0" + entropy, "sha256")[:NONCE_BYTES]


class EntropyKeys:
    """The keys of one game."""

    def __init__(self, keys: Iterable[EntropyKey]) -> None:
        """The first key seals; all of them unseal."""
        self._keys = {key.key_id: key for key in keys}

    @classmethod
    def read(cls, path: Path) -> EntropyKeys:
        """Reads a file of keys; raises `ValueError`, with a sentence that holds no key, for a file that is none."""
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except OSError as failed:
            raise ValueError(f"cannot be read: {failed.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError("has to be a text of lines such as `2026-11 <64 hexadecimal digits>`") from None
        keys: dict[str, EntropyKey] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            match = _LINE.fullmatch(line.strip())
            if match is None or match["id"] in keys:
                command = f"openssl rand -hex {KEY_BYTES}"
                raise ValueError(f"line {number} has to be an id of its own and a key, as `{command}` makes it")
            keys[match["id"]] = EntropyKey(match["id"], bytes.fromhex(match["key"]))
        if not 0 < len(keys) <= KEYS_LIMIT:
            raise ValueError(f"has to name 1 to {KEYS_LIMIT} keys")
        return cls(keys.values())

    def seal(self, drawn: Drawn) -> Drawn:
        """Returns a draw as the journal keeps it: sealed if its entropy hides cards, or if decisions follow.

        The entropy of a shoe that goes on is on record already, with the round for which it was shuffled.
        """
        if drawn.drawn_in != drawn.round_id:
            return replace(drawn, entropy=b"")
        if drawn.is_sealed or drawn.is_lost or not (drawn.hides_cards or drawn.outcome is None):
            return drawn
        if not self._keys:
            raise CannotSeal(f"{drawn.round_id} hides cards, and there is no key to seal its entropy with")
        key = next(iter(self._keys.values()))
        return replace(drawn, entropy=key.seal(drawn.round_id, drawn.entropy), hides_cards=True, sealed_with=key.key_id)

    def unseal(self, drawn: Drawn) -> Drawn:
        """Returns a draw with the entropy that it was written with; raises `CannotUnseal`."""
        if not drawn.is_sealed:
            return drawn
        key = self._keys.get(drawn.sealed_with)
        if key is None:
            sentence = f"the entropy of {drawn.round_id} is sealed with key {drawn.sealed_with}, which is missing"
            raise CannotUnseal(sentence)
        try:
            entropy = key.unseal(drawn.drawn_in, drawn.entropy)
        except (InvalidTag, ValueError):
            raise CannotUnseal(
                f"the entropy of {drawn.round_id} was not sealed with this key {key.key_id} for this round"
            ) from None
        return replace(drawn, entropy=entropy, sealed_with="")


# For games whose rounds hide nothing.
NO_KEYS = EntropyKeys(())

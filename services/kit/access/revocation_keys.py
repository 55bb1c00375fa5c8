"""Under which keys revocations are recorded: digests, which tell nobody whose tokens they are about."""

from __future__ import annotations

import hashlib

from services.kit.access.identity import DEMO, Caller

# No revocation is kept longer, and so no token that was issued longer ago is accepted.
REVOCATIONS_KEPT_S = 30 * 24 * 3600
DEMO_KEY_PREFIX = "demo."


def token_key(caller: Caller) -> str:
    """Returns the key of the caller's own token."""
    kind = DEMO_KEY_PREFIX if DEMO in caller.scopes else "token."
    return f"{kind}{_digest(caller.token_id)}"


def subject_key(subject: str) -> str:
    """Returns the key of all tokens of a subject."""
    return f"subject.{_digest(subject)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

"""The spelling of the ids that the wallet gives out."""

from collections.abc import Iterable
from uuid import UUID


def is_wallet_id(text: str) -> bool:
    """Returns whether a text is spelled like an id of the wallet; any other text names nothing that exists."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def valid_uuids(texts: Iterable[str]) -> list[UUID]:
    """Returns the texts that are spelled like ids of the wallet, as UUIDs."""
    return [UUID(text) for text in texts if is_wallet_id(text)]

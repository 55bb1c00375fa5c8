"""Pages of lists that only grow, newest first: their size, and the token that says where the next page begins."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.kit.table.refusals import invalid

DEFAULT_PAGE_SIZE, PAGE_SIZE_LIMIT = 50, 500
_HIGHEST = 2**63 - 1

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, and how to ask for older ones."""

    items: list[Item]
    next_page_token: str
    """Empty on the last page."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for items below a position."""

    size: int = DEFAULT_PAGE_SIZE
    before: int = _HIGHEST

    @property
    def row_limit(self) -> int:
        """One more than fits, which shows whether there is a next page."""
        return self.size + 1

    def page(self, found: list[tuple[int, Item]], *, more: bool = False) -> Page[Item]:
        """Builds the page from items with their positions, highest first; `more` if others follow these."""
        shown = found[: self.size]
        token = token_of(shown[-1][0]) if len(found) > self.size or (more and shown) else ""
        return Page([item for _, item in shown], token)


def page_request(page_size: int, page_token: str) -> PageRequest:
    """Reads the two fields of a request; refused if they are not valid."""
    if not 0 <= page_size <= PAGE_SIZE_LIMIT:
        raise invalid("page_size", f"has to be from 0 to {PAGE_SIZE_LIMIT}.")
    return PageRequest(page_size or DEFAULT_PAGE_SIZE, position_of(page_token) if page_token else _HIGHEST)


def token_of(position: int) -> str:
    return base64.urlsafe_b64encode(str(position).encode()).decode().rstrip("=")


def position_of(token: str) -> int:
    """Reads the position of a token, which is above 0."""
    try:
        position = int(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, binascii.Error):
        position = 0
    if not 0 < position <= _HIGHEST:
        raise invalid("page_token", "is not one that these tables have given out.")
    return position

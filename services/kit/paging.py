"""Pages of long lists: how many items a page has, and the token that says where the next page begins."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.kit.refusal import Refused

DEFAULT_PAGE_SIZE, PAGE_SIZE_LIMIT = 50, 500
# The largest number of a row.
_HIGHEST = 2**63 - 1

# Words the refusal of a field of the request: its name, and what is wrong with it.
FieldRefusal = Callable[[str, str], Refused]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, and the token of the next page."""

    items: list[Item]
    next_page_token: str
    """Empty on the last page."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items are wanted, and the position of the last item of the page before; None for the first page."""

    size: int = DEFAULT_PAGE_SIZE
    position: int | None = None

    @property
    def before(self) -> int:
        """For lists with the newest first: all items of the page are below this position."""
        return _HIGHEST if self.position is None else self.position

    @property
    def row_limit(self) -> int:
        """One more than fits: it shows whether there is a next page."""
        return self.size + 1

    def page(self, found: list[tuple[int, Item]], *, more: bool = False) -> Page[Item]:
        """The page out of up to `row_limit` items with their positions; `more` if others follow these."""
        shown = found[: self.size]
        token = token_of(shown[-1][0]) if len(found) > self.size or (more and shown) else ""
        return Page([item for _, item in shown], token)


def page_request(
    page_size: int, token: str, invalid: FieldRefusal, *, default_size: int = DEFAULT_PAGE_SIZE
) -> PageRequest:
    """Reads `page_size` and `page_token` of a request."""
    if not 0 <= page_size <= PAGE_SIZE_LIMIT:
        raise invalid("page_size", f"has to be from 0 to {PAGE_SIZE_LIMIT}.")
    return PageRequest(page_size or default_size, position_of(token, invalid) if token else None)


def page_by_key(items: Iterable[tuple[str, Item]], page_size: int, token: str, invalid: FieldRefusal) -> Page[Item]:
    """The page of items that are known by names, in the order of these; the list may change between two pages."""
    size = page_request(page_size, "", invalid).size
    after = _key_of(token, invalid) if token else ""
    following = sorted((each for each in items if each[0] > after), key=lambda each: each[0])
    more = len(following) > size
    return Page([item for _, item in following[:size]], _encoded(following[size - 1][0]) if more else "")


def token_of(position: int) -> str:
    """The token of the page that begins after a position above 0."""
    return _encoded(str(position))


def position_of(token: str, invalid: FieldRefusal) -> int:
    """The position that a token names."""
    try:
        position = int(_decoded(token))
    except ValueError:
        position = 0
    if not 0 < position <= _HIGHEST:
        raise _unknown_token(invalid)
    return position


def _key_of(token: str, invalid: FieldRefusal) -> str:
    """The name that a token holds."""
    try:
        key = _decoded(token)
    except ValueError:
        key = ""
    if not key:
        raise _unknown_token(invalid)
    return key


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(token: str) -> str:
    """Raises a ValueError for what `_encoded` cannot have returned: bad base64 and bad UTF-8 are ValueErrors too."""
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()


def _unknown_token(invalid: FieldRefusal) -> Refused:
    return invalid("page_token", "is not one that this service has given out.")

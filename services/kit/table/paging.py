"""Pages of what a table keeps, with the table's own refusal of a request that is not valid."""

from collections.abc import Iterable
from typing import TypeVar

from services.kit import paging
from services.kit.paging import Page, PageRequest
from services.kit.table.refusals import invalid

Item = TypeVar("Item")


def page_request(page_size: int, page_token: str) -> PageRequest:
    """Reads `page_size` and `page_token` of a request."""
    return paging.page_request(page_size, page_token, invalid)


def page_by_key(items: Iterable[tuple[str, Item]], page_size: int, page_token: str) -> Page[Item]:
    """The page of items that are known by names, in the order of these."""
    return paging.page_by_key(items, page_size, page_token, invalid)


def position_of(token: str) -> int:
    """The position that a token names."""
    return paging.position_of(token, invalid)

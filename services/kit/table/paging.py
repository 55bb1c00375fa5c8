"""Pages of what a table keeps, with the table's own refusal of a request that is not valid."""

from services.kit import paging
from services.kit.paging import PageRequest
from services.kit.table.refusals import invalid


def page_request(page_size: int, page_token: str) -> PageRequest:
    """Reads `page_size` and `page_token` of a request."""
    return paging.page_request(page_size, page_token, invalid)


def position_of(token: str) -> int:
    """The position that a token names."""
    return paging.position_of(token, invalid)

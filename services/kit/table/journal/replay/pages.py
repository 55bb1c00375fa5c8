"""A replayed round in pages, each of which one message holds: all its stakes, then those that were taken back (G11)."""

from __future__ import annotations

from feltro.table.v1 import table_pb2
from services.kit.paging import token_of
from services.kit.table.paging import position_of

PAGE_BYTES_LIMIT = 2 * 1024 * 1024
DIFFERENCES_LIMIT = 1_000


def page(response: table_pb2.ReplayRoundResponse, page_token: str) -> table_pb2.ReplayRoundResponse:
    """The page that begins where the token says."""
    first = position_of(page_token) if page_token else 0
    shown = table_pb2.ReplayRoundResponse(
        round=response.round,
        entropy=response.entropy,
        configuration=response.configuration,
        differences=_told(response, first),
    )
    if response.HasField("computed_outcome"):
        shown.computed_outcome.CopyFrom(response.computed_outcome)
    size, at, stakes = 0, first, len(response.stakes)
    while at < stakes + len(response.cancelled_stakes):
        each = response.stakes[at] if at < stakes else response.cancelled_stakes[at - stakes]
        size += each.ByteSize()
        if size > PAGE_BYTES_LIMIT and at > first:
            shown.next_page_token = token_of(at)
            break
        if isinstance(each, table_pb2.ReplayedStake):
            shown.stakes.append(each)
        else:
            shown.cancelled_stakes.append(each)
        at += 1
    return shown


def _told(whole: table_pb2.ReplayRoundResponse, first: int) -> list[str]:
    if first:
        return []
    told = list(whole.differences[:DIFFERENCES_LIMIT])
    more = len(whole.differences) - len(told)
    return [*told, f"{more} more: `feltro replay` tells all of them"] if more else told

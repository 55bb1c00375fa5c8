"""A replayed round in pages, each of which one message holds: all its stakes, then those that were taken back (G11)."""

from __future__ import annotations

from feltro.table.v1 import table_pb2
from services.kit.table.paging import position_of, token_of

PAGE_BYTES_LIMIT = 2 * 1024 * 1024
DIFFERENCES_LIMIT = 1_000


def page(whole: table_pb2.ReplayRoundResponse, page_token: str) -> table_pb2.ReplayRoundResponse:
    """The page that begins where the token says."""
    first = position_of(page_token) if page_token else 0
    shown = table_pb2.ReplayRoundResponse(
        round=whole.round, entropy=whole.entropy, configuration=whole.configuration, differences=_told(whole, first)
    )
    if whole.HasField("computed_outcome"):
        shown.computed_outcome.CopyFrom(whole.computed_outcome)
    size, at, stakes = 0, first, len(whole.stakes)
    while at < stakes + len(whole.taken_back):
        each = whole.stakes[at] if at < stakes else whole.taken_back[at - stakes]
        size += each.ByteSize()
        if size > PAGE_BYTES_LIMIT and at > first:
            shown.next_page_token = token_of(at)
            break
        if isinstance(each, table_pb2.ReplayedStake):
            shown.stakes.append(each)
        else:
            shown.taken_back.append(each)
        at += 1
    return shown


def _told(whole: table_pb2.ReplayRoundResponse, first: int) -> list[str]:
    if first:
        return []
    told = list(whole.differences[:DIFFERENCES_LIMIT])
    more = len(whole.differences) - len(told)
    return [*told, f"{more} more: `feltro replay` tells all of them"] if more else told

"""Splits a replayed round into pages that one message holds: its stakes, then its cancelled stakes (G11)."""

from __future__ import annotations

import sys

from feltro.table.v1 import table_pb2
from services.kit.batching import BatchLimits, first_batch
from services.kit.paging import token_of
from services.kit.table.paging import position_of

PAGE_BYTES_LIMIT = 2 * 1024 * 1024
DIFFERENCES_LIMIT = 1_000


def page(response: table_pb2.ReplayRoundResponse, page_token: str) -> table_pb2.ReplayRoundResponse:
    """Returns the page at which the token points; the first if it is empty."""
    first = position_of(page_token) if page_token else 0
    shown = table_pb2.ReplayRoundResponse(
        round=response.round,
        entropy=response.entropy,
        configuration=response.configuration,
        differences=[] if first else _first_differences(response),
        moves=[] if first else response.moves,
    )
    if response.HasField("computed_outcome"):
        shown.computed_outcome.CopyFrom(response.computed_outcome)
    stakes: list[table_pb2.ReplayedStake | table_pb2.CancelledStake] = [*response.stakes, *response.cancelled_stakes]
    rest = stakes[first:]
    limits = BatchLimits(items=sys.maxsize, weight=PAGE_BYTES_LIMIT)
    count = first_batch(rest, lambda each: each.ByteSize(), limits)
    for each in rest[:count]:
        if isinstance(each, table_pb2.ReplayedStake):
            shown.stakes.append(each)
        else:
            shown.cancelled_stakes.append(each)
    if count < len(rest):
        shown.next_page_token = token_of(first + count)
    return shown


def _first_differences(response: table_pb2.ReplayRoundResponse) -> list[str]:
    shown = list(response.differences[:DIFFERENCES_LIMIT])
    more = len(response.differences) - len(shown)
    return [*shown, f"{more} more: `feltro replay` tells all of them"] if more else shown

"""`RelevantEventService`: the largest prizes, and large deposits and withdrawals, to read."""

from typing import Any

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import relevant_events_pb2 as pb
from services.kit.access.identity import Caller
from services.wallet.model import refusals
from services.wallet.model.state import RelevantKind
from services.wallet.server import fields as edge
from services.wallet.sessions.messages import timestamp
from services.wallet.store import relevant_events
from services.wallet.store.relevant_events import EventFilter


class RelevantEventService:
    """For whoever has to look at what is large."""

    descriptor = pb.DESCRIPTOR.services_by_name["RelevantEventService"]

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_relevant_events(
        self, request: pb.ListRelevantEventsRequest, caller: Caller
    ) -> pb.ListRelevantEventsResponse:
        """Events, newest first."""
        del caller
        size = edge.page_size(request.page_size)
        choice = EventFilter(
            kind=_kind(request.kind),
            since=edge.optional_time("since", request),
            until=edge.optional_time("until", request),
            before_no=edge.page_position(request.page_token),
        )
        async with self._engine.connect() as connection:
            # One more than asked for tells whether there is another page.
            found = [_message(row) for row in await relevant_events.page(connection, choice, size + 1)]
        return pb.ListRelevantEventsResponse(
            events=found[:size],
            next_page_token=edge.page_token(found[size - 1].event_no) if len(found) > size else "",
        )


def _kind(value: int) -> RelevantKind | None:
    if not value:
        return None
    try:
        return RelevantKind(value)
    except ValueError:
        raise refusals.invalid("kind", "has to be one of those that there are.") from None


def _message(row: Row[Any]) -> pb.RelevantEvent:
    return pb.RelevantEvent(
        event_no=row.event_no,
        kind=row.kind,
        at=timestamp(row.at),
        player_id=row.player_id,
        account_id=row.account_id,
        amount_cents=row.amount_cents,
        limit_cents=row.limit_cents,
        transfer_id=row.transfer_no,
        request_id=row.request_id,
        ordered_by=row.caller,
        reference=row.reference or "",
        staked_cents=row.staked_cents,
        round_id=row.round_id or "",
        table_id=row.table_id or "",
        game=row.game or "",
        session_id=row.session_id or "",
    )

"""`RelevantEventService`: lists the largest prizes, large deposits and withdrawals, and shared devices."""

from typing import Any

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import relevant_events_pb2 as pb
from feltro.wallet.v1 import session_pb2
from services.kit.access.identity import Caller
from services.kit.wire_format import timestamp
from services.wallet.model import refusals
from services.wallet.model.state import RelevantKind
from services.wallet.server import fields
from services.wallet.store import relevant_events
from services.wallet.store.relevant_events import EventFilter


class RelevantEventService:
    """Lists relevant events for operators."""

    descriptor = pb.DESCRIPTOR.services_by_name["RelevantEventService"]

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_relevant_events(
        self, request: pb.ListRelevantEventsRequest, caller: Caller
    ) -> pb.ListRelevantEventsResponse:
        """Lists events, newest first."""
        del caller
        wanted = fields.page_request(request)
        event_filter = EventFilter(
            kind=_kind(request.kind),
            since=fields.optional_time("since", request),
            until=fields.optional_time("until", request),
            before_no=wanted.position,
        )
        async with self._engine.connect() as connection:
            rows = await relevant_events.page(connection, event_filter, wanted.row_limit)
        page = wanted.page([(row.event_no, _message(row)) for row in rows])
        return pb.ListRelevantEventsResponse(events=page.items, next_page_token=page.next_page_token)


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
        device=_device(row),
        other_player_id=row.other_player_id or "",
        other_session_id=row.other_session_id or "",
        refused=row.other_session_id is not None and row.session_id is None,
    )


def _device(row: Row[Any]) -> session_pb2.Device | None:
    if row.other_session_id is None:
        return None
    return session_pb2.Device(
        kind=row.device_kind, agent=row.device_agent, address=row.device_address, fingerprint=row.device_fingerprint
    )

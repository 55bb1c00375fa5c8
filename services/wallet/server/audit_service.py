"""`AuditService` and `AuditIntakeService`: the log of operators' commands, to read and to write."""

import json
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import audit_pb2 as pb
from services.kit.access.identity import SUBJECT_CHARACTERS_LIMIT, Caller
from services.kit.clock import Clock
from services.wallet.audit import operator_actions
from services.wallet.audit.operator_actions import ActionFilter, Intent, OperatorAction, Outcome
from services.wallet.model import refusals
from services.wallet.server import fields as edge
from services.wallet.sessions.messages import timestamp

REQUEST_CHARACTERS_LIMIT = 64 * 1024
# Of everything else that is written down or asked for.
FIELD_CHARACTERS_LIMIT = 256


class AuditService:
    """For whoever wants to know what operators did."""

    descriptor = pb.DESCRIPTOR.services_by_name["AuditService"]

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_operator_actions(
        self, request: pb.ListOperatorActionsRequest, caller: Caller
    ) -> pb.ListOperatorActionsResponse:
        """Commands, newest first."""
        del caller
        size = edge.page_size(request.page_size)
        edge.verify_length("subject", request.subject, SUBJECT_CHARACTERS_LIMIT)
        for field in ("method", "object"):
            if getattr(request, field):
                edge.printable_id(field, getattr(request, field))
        choice = ActionFilter(
            actor=request.subject or None,
            method=request.method or None,
            object_id=request.object or None,
            since=edge.optional_time("since", request),
            until=edge.optional_time("until", request),
            before_no=edge.page_position(request.page_token),
        )
        async with self._engine.connect() as connection:
            # One more than asked for tells whether there is another page.
            found = await operator_actions.page(connection, choice, size + 1)
        return pb.ListOperatorActionsResponse(
            actions=[_message(action) for action in found[:size]],
            next_page_token=edge.page_token(found[size - 1].no) if len(found) > size else "",
        )


class AuditIntakeService:
    """For gateways. Who it was is the bearer of the token, and nothing else can be said of anybody."""

    descriptor = pb.DESCRIPTOR.services_by_name["AuditIntakeService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def record_intent(self, request: pb.RecordIntentRequest, caller: Caller) -> pb.RecordIntentResponse:
        """Before the command."""
        edge.verify_length("request", request.request, REQUEST_CHARACTERS_LIMIT)
        for field in ("method", "request_id", "address", "trace_id"):
            edge.verify_length(field, getattr(request, field), FIELD_CHARACTERS_LIMIT)
        if not request.method:
            raise refusals.invalid("method", "has to be given.")
        intent = Intent(
            action_id=_action_id(request.action_id),
            actor=caller.subject,
            method=request.method,
            request=_json(request.request),
            request_id=request.request_id,
            address=request.address,
            trace_id=request.trace_id,
        )
        async with self._engine.begin() as connection:
            if not await operator_actions.insert_intent(connection, intent, self._clock.now()):
                raise refusals.request_reused(request.action_id)
        return pb.RecordIntentResponse()

    async def record_outcome(self, request: pb.RecordOutcomeRequest, caller: Caller) -> pb.RecordOutcomeResponse:
        """After the command."""
        for field in ("status", "reason"):
            edge.verify_length(field, getattr(request, field), FIELD_CHARACTERS_LIMIT)
        if not request.status:
            raise refusals.invalid("status", "has to be given.")
        ended = Outcome(self._clock.now(), request.status, request.reason)
        async with self._engine.begin() as connection:
            await operator_actions.insert_outcome(connection, _action_id(request.action_id), caller.subject, ended)
        return pb.RecordOutcomeResponse()


def _action_id(said: str) -> UUID:
    try:
        return UUID(said)
    except ValueError:
        raise refusals.invalid("action_id", "has to be a UUID.") from None


def _json(said: str) -> str:
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        raise refusals.invalid("request", "has to be JSON.") from None
    return said


def _message(action: OperatorAction) -> pb.OperatorAction:
    intent, ended = action.intent, action.outcome
    message = pb.OperatorAction(
        action_no=action.no,
        action_id=str(intent.action_id),
        subject=intent.actor,
        at=timestamp(action.at),
        address=intent.address,
        method=intent.method,
        request=intent.request,
        request_id=intent.request_id,
        trace_id=intent.trace_id,
    )
    if ended is not None:
        message.outcome.CopyFrom(
            pb.OperatorActionOutcome(at=timestamp(ended.at), status=ended.status, reason=ended.reason)
        )
    return message

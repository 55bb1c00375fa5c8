"""`AuditService` and `AuditIntakeService`: the log of operators' commands, to read and to write."""

import json
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import audit_pb2 as pb
from services.kit.clock import Clock
from services.kit.identity import SUBJECT_CHARACTERS_LIMIT, Caller
from services.wallet import edge, operator_actions, refusals
from services.wallet.operator_actions import Action, Choice, End, Intent
from services.wallet.session_facts import timestamp

REQUEST_CHARACTERS_LIMIT = 64 * 1024
# Of everything else that is written down or asked for.
WORD_CHARACTERS_LIMIT = 256


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
        edge.size("subject", request.subject, SUBJECT_CHARACTERS_LIMIT)
        for field in ("method", "object"):
            if getattr(request, field):
                edge.identifier(field, getattr(request, field))
        choice = Choice(
            actor=request.subject or None,
            method=request.method or None,
            about=request.object or None,
            since=edge.moment("since", request),
            until=edge.moment("until", request),
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
        edge.size("request", request.request, REQUEST_CHARACTERS_LIMIT)
        for field in ("method", "request_id", "address", "trace_id"):
            edge.size(field, getattr(request, field), WORD_CHARACTERS_LIMIT)
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
            if not await operator_actions.intend(connection, intent, self._clock.now()):
                raise refusals.request_reused(request.action_id)
        return pb.RecordIntentResponse()

    async def record_outcome(self, request: pb.RecordOutcomeRequest, caller: Caller) -> pb.RecordOutcomeResponse:
        """After the command."""
        for field in ("status", "reason"):
            edge.size(field, getattr(request, field), WORD_CHARACTERS_LIMIT)
        if not request.status:
            raise refusals.invalid("status", "has to be given.")
        ended = End(self._clock.now(), request.status, request.reason)
        async with self._engine.begin() as connection:
            await operator_actions.end(connection, _action_id(request.action_id), caller.subject, ended)
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


def _message(action: Action) -> pb.OperatorAction:
    intent, ended = action.intent, action.end
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
        message.end.CopyFrom(pb.OperatorActionEnd(at=timestamp(ended.at), status=ended.status, reason=ended.reason))
    return message

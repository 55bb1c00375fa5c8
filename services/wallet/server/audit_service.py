"""`AuditService` and `AuditIntakeService`: list and write the log of operators' commands (`903-B/2015:6.3.6.7`)."""

from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import audit_pb2 as pb
from services.kit.access.identity import SUBJECT_CHARACTERS_LIMIT, Caller
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.audit import operator_actions
from services.wallet.audit.operator_actions import ActionFilter, Intent, OperatorAction, Outcome
from services.wallet.model import refusals
from services.wallet.server import fields

REQUEST_CHARACTERS_LIMIT = 64 * 1024
# Of every other field.
FIELD_CHARACTERS_LIMIT = 256


class AuditService:
    """Lists operators' commands."""

    descriptor = pb.DESCRIPTOR.services_by_name["AuditService"]

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_operator_actions(
        self, request: pb.ListOperatorActionsRequest, caller: Caller
    ) -> pb.ListOperatorActionsResponse:
        """Lists commands, newest first."""
        del caller
        wanted = fields.page_request(request)
        fields.verify_length("subject", request.subject, SUBJECT_CHARACTERS_LIMIT)
        for field in ("method", "object"):
            if getattr(request, field):
                fields.printable_id(field, getattr(request, field))
        action_filter = ActionFilter(
            actor=request.subject or None,
            method=request.method or None,
            object_id=request.object or None,
            since=fields.optional_time("since", request),
            until=fields.optional_time("until", request),
            before_no=wanted.position,
        )
        async with self._engine.connect() as connection:
            found = await operator_actions.page(connection, action_filter, wanted.row_limit)
        page = wanted.page([(action.no, _message(action)) for action in found])
        return pb.ListOperatorActionsResponse(actions=page.items, next_page_token=page.next_page_token)


class AuditIntakeService:
    """Writes the log for gateways. The actor is always the bearer of the token: no request names another."""

    descriptor = pb.DESCRIPTOR.services_by_name["AuditIntakeService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def record_intent(self, request: pb.RecordIntentRequest, caller: Caller) -> pb.RecordIntentResponse:
        """Logs a command before it is sent on."""
        fields.verify_length("request", request.request, REQUEST_CHARACTERS_LIMIT)
        for field in ("method", "request_id", "address", "trace_id"):
            fields.verify_length(field, getattr(request, field), FIELD_CHARACTERS_LIMIT)
        if not request.method:
            raise refusals.invalid("method", "has to be given.")
        intent = Intent(
            action_id=fields.uuid("action_id", request.action_id),
            actor=caller.subject,
            method=request.method,
            request=fields.json_text("request", request.request),
            request_id=request.request_id,
            address=request.address,
            trace_id=request.trace_id,
        )
        async with self._engine.begin() as connection:
            if not await operator_actions.insert_intent(connection, intent, self._clock.now()):
                raise refusals.request_reused(request.action_id)
        return pb.RecordIntentResponse()

    async def record_outcome(self, request: pb.RecordOutcomeRequest, caller: Caller) -> pb.RecordOutcomeResponse:
        """Logs the outcome of a command."""
        for field in ("status", "reason"):
            fields.verify_length(field, getattr(request, field), FIELD_CHARACTERS_LIMIT)
        if not request.status:
            raise refusals.invalid("status", "has to be given.")
        action_id = fields.uuid("action_id", request.action_id)
        outcome = Outcome(self._clock.now(), request.status, request.reason)
        async with self._engine.begin() as connection:
            await operator_actions.insert_outcome(connection, action_id, caller.subject, outcome)
        return pb.RecordOutcomeResponse()


def _message(action: OperatorAction) -> pb.OperatorAction:
    intent, outcome = action.intent, action.outcome
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
    if outcome is not None:
        message.outcome.CopyFrom(
            pb.OperatorActionOutcome(at=timestamp(outcome.at), status=outcome.status, reason=outcome.reason)
        )
    return message

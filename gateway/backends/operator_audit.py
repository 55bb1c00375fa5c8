"""Records the operator's commands before they are passed on, and their outcomes after (`903-B/2015:6.3.6.7`).

A command is every method that is not bound to GET alone, so that a new service needs nothing here. A command that
cannot be recorded is not carried out (G12). The wallet keeps the record, and is called with the operator's own token:
the issuer vouches for who the operator is, not the gateway.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import replace

from google.protobuf.message import Message
from prometheus_client import Counter

from feltro.wallet.v1 import audit_pb2
from gateway.backends.dispatcher import CallContext, CallDispatcher
from gateway.contracts import json_codec, refusals
from gateway.contracts.methods import Method
from gateway.contracts.refusals import GatewayRefused, code_of
from services.kit.access.identity import OPERATOR
from services.kit.refusal import Refused
from services.kit.telemetry import trace

# A larger command is refused, for none is recorded in part (G11). The wallet takes no larger one either.
REQUEST_CHARACTERS_LIMIT = 64 * 1024
COMMANDS_IN_FLIGHT_LIMIT = 1_000
RECORDED_WITHIN_S = 10.0
STATUS_OK = "OK"

_COMMANDS = Counter("feltro_edge_operator_commands", "Commands of operators, by how they ended", ["status"])
_UNRECORDED = Counter(
    "feltro_edge_operator_unrecorded", "Commands of operators that could not be recorded, by the step", ["step"]
)
# A series has to be there before its first event: the first of all would not count as an increase.
for _step in ("intent", "outcome"):
    _UNRECORDED.labels(_step)
_INTAKE = audit_pb2.DESCRIPTOR.services_by_name["AuditIntakeService"].methods_by_name
_INTENT, _OUTCOME = (Method(_INTAKE[name], {}) for name in ("RecordIntent", "RecordOutcome"))

_log = logging.getLogger(__name__)


class OperatorAudit:
    """Stands in front of the dispatcher: every call goes through it, and operators' commands are recorded."""

    def __init__(self, dispatcher: CallDispatcher) -> None:
        self._dispatcher = dispatcher
        self._in_flight: set[asyncio.Task[bytes]] = set()

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        """Returns the answer's bytes; every failure is a `Refused`."""
        caller = context.principal.caller
        if caller is None or OPERATOR not in caller.scopes or method.is_read_only:
            return await self._dispatcher.dispatch(method, request, context)
        if len(self._in_flight) >= COMMANDS_IN_FLIGHT_LIMIT:
            sentence = "Too many commands of operators are under way: try again in a moment."
            raise GatewayRefused("OVERLOADED", sentence, limit=COMMANDS_IN_FLIGHT_LIMIT)
        command = asyncio.create_task(self._dispatch_recorded(method, request, context))
        self._in_flight.add(command)
        command.add_done_callback(self._ended)
        # A client that hangs up, or revokes its own token, does not keep the outcome from being recorded.
        return await asyncio.shield(command)

    def _ended(self, command: asyncio.Task[bytes]) -> None:
        self._in_flight.discard(command)
        if not command.cancelled():
            # If the client is gone nobody retrieves the exception, and asyncio would complain.
            command.exception()

    async def _dispatch_recorded(self, method: Method, request: Message, context: CallContext) -> bytes:
        if trace.parse(context.traceparent) is None:
            context = replace(context, traceparent=trace.header_of(trace.begin(method.rpc_name)))
        action_id = str(uuid.uuid4())
        intent = audit_pb2.RecordIntentRequest(
            action_id=action_id,
            method=method.path,
            request=_text(request),
            request_id=str(getattr(request, "request_id", "")),
            address=context.client_address,
            trace_id=context.traceparent.split("-")[1],
        )
        await self._record_intent(intent, context)
        try:
            answer = await self._dispatcher.dispatch(method, request, context)
        except Refused as refused:
            await self._record_outcome(action_id, code_of(refused).name, refused.reason, context)
            raise
        await self._record_outcome(action_id, STATUS_OK, "", context)
        return answer

    async def _record_intent(self, intent: audit_pb2.RecordIntentRequest, context: CallContext) -> None:
        try:
            async with asyncio.timeout(RECORDED_WITHIN_S):
                await self._dispatcher.dispatch(_INTENT, intent, context)
        except (Refused, TimeoutError) as failed:
            _UNRECORDED.labels("intent").inc()
            error = str(failed) or "no answer in time"
            facts = {"method": intent.method, "action_id": intent.action_id, "error": error}
            _log.error("a command of an operator cannot be recorded, and is refused", extra=facts)
            sentence = "The command could not be recorded, so nothing was done: send the same request again."
            raise refusals.unavailable(sentence) from None

    async def _record_outcome(self, action_id: str, status: str, reason: str, context: CallContext) -> None:
        """An outcome that cannot be recorded stays unknown: the command is over all the same."""
        _COMMANDS.labels(status).inc()
        outcome = audit_pb2.RecordOutcomeRequest(action_id=action_id, status=status, reason=reason)
        try:
            async with asyncio.timeout(RECORDED_WITHIN_S):
                await self._dispatcher.dispatch(_OUTCOME, outcome, context)
        except (Refused, TimeoutError) as failed:
            _UNRECORDED.labels("outcome").inc()
            error = str(failed) or "no answer in time"
            facts = {"action_id": action_id, "status": status, "reason": reason, "error": error}
            _log.error("the end of a command of an operator cannot be recorded", extra=facts)


def _text(request: Message) -> str:
    """Returns the whole request as JSON, or refuses it as too large."""
    text = json_codec.encode(request).decode()
    if len(text) > REQUEST_CHARACTERS_LIMIT:
        sentence = "The command is larger than is recorded of an operator's commands, so nothing was done."
        raise GatewayRefused("TOO_LARGE", sentence, limit=REQUEST_CHARACTERS_LIMIT)
    return text

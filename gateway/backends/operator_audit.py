"""The operator's commands are recorded before they are passed on, and how they ended after (`903-B/2015:6.3.6.7`).

Whatever the service: a command is every method that is not bound to GET alone, so that a new one needs nothing here.
What cannot be recorded is not done (G12). The wallet keeps the record; it is asked with the operator's own token, so
that who he was is his issuer's word and not the gateway's.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Protocol

from google.protobuf.message import Message
from prometheus_client import Counter

from feltro.wallet.v1 import audit_pb2
from gateway.access.principals import Principal
from gateway.contracts import json_codec, refusals
from gateway.contracts.methods import Method
from gateway.contracts.refusals import GatewayRefused, code_of
from services.kit import trace
from services.kit.access.identity import OPERATOR
from services.kit.refusal import Refused

# A command that is larger is refused, for none is recorded in part (G11). The wallet takes no more either.
REQUEST_CHARACTERS_LIMIT = 64 * 1024
# Commands that wait for their ends (G11).
COMMANDS_IN_FLIGHT_LIMIT = 1_000
RECORDED_WITHIN_S = 10.0
STATUS_OK = "OK"

_COMMANDS = Counter("feltro_edge_operator_commands", "Commands of operators, by how they ended", ["status"])
_UNRECORDED = Counter(
    "feltro_edge_operator_unrecorded", "Commands of operators that could not be recorded, by what of them", ["part"]
)
_INTAKE = audit_pb2.DESCRIPTOR.services_by_name["AuditIntakeService"].methods_by_name
_INTENT, _OUTCOME = (Method(_INTAKE[name], {}) for name in ("RecordIntent", "RecordOutcome"))

_log = logging.getLogger(__name__)


class TokenDispatcher(Protocol):
    """What answers calls: `Desk`."""

    async def dispatch(
        self, method: Method, request: Message, token: str, traceparent: str = "", address: str = ""
    ) -> bytes: ...


class OperatorAudit:
    """Stands before the desk: every call goes through here."""

    def __init__(self, dispatcher: TokenDispatcher) -> None:
        self._desk = dispatcher
        self._under_way: set[asyncio.Task[bytes]] = set()

    async def dispatch(
        self, method: Method, request: Message, principal: Principal, traceparent: str = "", address: str = ""
    ) -> bytes:
        """The answer's bytes; every failure is a `Refused`."""
        caller = principal.caller
        if caller is None or OPERATOR not in caller.scopes or method.is_read_only:
            return await self._desk.dispatch(method, request, principal.token, traceparent, address)
        if len(self._under_way) >= COMMANDS_IN_FLIGHT_LIMIT:
            sentence = "Too many commands of operators are under way: try again in a moment."
            raise GatewayRefused("OVERLOADED", sentence, limit=COMMANDS_IN_FLIGHT_LIMIT)
        command = asyncio.create_task(self._recorded(method, request, principal, traceparent, address))
        self._under_way.add(command)
        command.add_done_callback(self._ended)
        # Whoever hangs up, or takes his own token back and is cut off, does not keep the end from being recorded.
        return await asyncio.shield(command)

    def _ended(self, command: asyncio.Task[bytes]) -> None:
        self._under_way.discard(command)
        if not command.cancelled():
            # Who asked may be gone, and then nobody else looks at how it failed.
            command.exception()

    async def _recorded(
        self, method: Method, request: Message, visitor: Principal, traceparent: str, address: str
    ) -> bytes:
        begun = trace.parse(traceparent) or trace.start_span()
        action_id = str(uuid.uuid4())
        intent = audit_pb2.RecordIntentRequest(
            action_id=action_id,
            method=method.path,
            request=_text(request),
            request_id=str(getattr(request, "request_id", "")),
            address=address,
            trace_id=begun.trace_id,
        )
        await self._intend(intent, visitor, begun.header)
        try:
            answer = await self._desk.dispatch(method, request, visitor.token, begun.header, address)
        except Refused as refused:
            await self._end(action_id, code_of(refused).name, refused.reason, visitor, begun.header)
            raise
        await self._end(action_id, STATUS_OK, "", visitor, begun.header)
        return answer

    async def _intend(self, intent: audit_pb2.RecordIntentRequest, visitor: Principal, traceparent: str) -> None:
        try:
            async with asyncio.timeout(RECORDED_WITHIN_S):
                await self._desk.dispatch(_INTENT, intent, visitor.token, traceparent)
        except (Refused, TimeoutError) as failed:
            _UNRECORDED.labels("intent").inc()
            said = {"method": intent.method, "action_id": intent.action_id, "error": str(failed) or "no answer in time"}
            _log.error("a command of an operator cannot be recorded, and is refused", extra=said)
            sentence = "The command could not be recorded, so nothing was done: send the same request again."
            raise refusals.unavailable(sentence) from None

    async def _end(self, action_id: str, status: str, reason: str, visitor: Principal, traceparent: str) -> None:
        """What cannot be written down stays unknown: the command is over all the same."""
        _COMMANDS.labels(status).inc()
        outcome = audit_pb2.RecordOutcomeRequest(action_id=action_id, status=status, reason=reason)
        try:
            async with asyncio.timeout(RECORDED_WITHIN_S):
                await self._desk.dispatch(_OUTCOME, outcome, visitor.token, traceparent)
        except (Refused, TimeoutError) as failed:
            _UNRECORDED.labels("end").inc()
            said = {"action_id": action_id, "status": status, "reason": reason}
            error = str(failed) or "no answer in time"
            _log.error("the end of a command of an operator cannot be recorded", extra={**said, "error": error})


def _text(request: Message) -> str:
    """The whole request, or a refusal."""
    said = json_codec.encode(request).decode()
    if len(said) > REQUEST_CHARACTERS_LIMIT:
        sentence = "The command is larger than is recorded of an operator's commands, so nothing was done."
        raise GatewayRefused("TOO_LARGE", sentence, limit=REQUEST_CHARACTERS_LIMIT)
    return said

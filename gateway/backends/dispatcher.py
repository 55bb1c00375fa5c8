"""Passes a client's call to the service that answers it, and follows a table that is changing owners."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import grpc
from google.protobuf.message import Message

from gateway.access.principals import Principal
from gateway.backends.directory import AddressUntrusted, Directory, NoReplicaKnown
from gateway.backends.trusted_addresses import ServiceAddress
from gateway.backends.upstream import Upstream
from gateway.contracts.methods import Method
from gateway.contracts.refusals import code_of, unavailable
from services.kit.refusal import Refused
from services.kit.rpc.relay_connection import NoAnswer, PeerUntrusted
from services.kit.telemetry import trace

_log = logging.getLogger(__name__)

# How long a call is retried while a table changes owners: longer than a takeover lasts (G11).
RETRY_FOR_S = 6.0
RETRY_EVERY_S = 0.1

_NOBODY_ANSWERS = "No service answers for this at the moment: try again."
_ADDRESS_UNTRUSTED = (
    "The process that should answer is at an address that this gateway does not trust, so nothing was sent there:"
    " the operator finds the address in the gateway's log."
)
_PEER_UNTRUSTED = (
    "The process that should answer did not prove that it belongs to the platform, so nothing was sent to it:"
    " the operator finds the cause in the gateway's log."
)
# Another process may run the table, or soon will.
_TRY_ANOTHER = frozenset({"TABLE_ELSEWHERE", "TABLE_UNKNOWN"})


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who makes a call, in which trace, and from which address."""

    principal: Principal
    traceparent: str = ""
    client_address: str = ""


LocalMethod = Callable[[Message, CallContext], Awaitable[Message]]


class CallDispatcher(Protocol):
    """Passes calls to the services that answer them: `Dispatcher`, or `OperatorAudit` in front of it."""

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        """Returns the answer's bytes; every failure is a `Refused`."""
        ...


class _NotAnswered(Exception):
    """No process has answered; `problem` is what the caller reads if none does."""

    def __init__(self, problem: Refused) -> None:
        super().__init__()
        self.problem = problem


class Dispatcher:
    """Passes calls to services, or to the gateway's own methods."""

    def __init__(self, directory: Directory, upstream: Upstream) -> None:
        self._directory = directory
        self._upstream = upstream
        self._local: dict[str, LocalMethod] = {}

    def register_local(self, methods: Mapping[str, LocalMethod]) -> None:
        """Registers methods, by their paths, that the gateway answers itself."""
        self._local.update(methods)

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        """Returns the answer's bytes; every failure is a `Refused`."""
        method.set_client_address(request, context.client_address)
        local = self._local.get(method.path)
        if local is not None:
            return (await local(request, context)).SerializeToString()
        return await self._pass_on(method, request, context)

    async def _pass_on(self, method: Method, request: Message, context: CallContext) -> bytes:
        payload, token = request.SerializeToString(), context.principal.token
        traceparent = context.traceparent or trace.traceparent()
        give_up_at = asyncio.get_running_loop().time() + RETRY_FOR_S
        while True:
            try:
                return await self._try_once(
                    method, self._directory.addresses(method, request), token, payload, traceparent
                )
            except AddressUntrusted:
                problem: Refused = unavailable(_ADDRESS_UNTRUSTED)
            except NoReplicaKnown:
                problem = unavailable(_NOBODY_ANSWERS)
            except _NotAnswered as unanswered:
                problem = unanswered.problem
            if asyncio.get_running_loop().time() >= give_up_at:
                raise problem
            await asyncio.sleep(RETRY_EVERY_S)

    async def _try_once(
        self, method: Method, addresses: Sequence[ServiceAddress], token: str, payload: bytes, traceparent: str
    ) -> bytes:
        """Asks one process after the other; raises `_NotAnswered` if it is worth while to try again in a moment."""
        problem: Refused = unavailable(_NOBODY_ANSWERS)
        for address in addresses:
            try:
                return await self._upstream.call(address, method.path, token, payload, traceparent)
            except Refused as refused:
                if refused.reason not in _TRY_ANOTHER and code_of(refused) != grpc.StatusCode.UNIMPLEMENTED:
                    raise
                # A game that knows the table counts more than all that do not: nobody may run it just yet.
                if problem.reason != "TABLE_ELSEWHERE":
                    problem = refused
            except PeerUntrusted as untrusted:
                facts = {"method": method.path, "address": address.address, "error": str(untrusted)}
                _log.error("a process did not prove which service it is: nothing was sent to it", extra=facts)
                raise _NotAnswered(unavailable(_PEER_UNTRUSTED)) from None
            except NoAnswer as silent:
                # The address and the error are for the log only (G7).
                _log.warning("a service has gone away", extra={"method": method.path, "error": str(silent)})
                problem = unavailable("The service has gone away: send the same request again.")
                if not method.is_retryable:
                    raise problem from silent
                raise _NotAnswered(problem) from None
        if problem.reason == "TABLE_UNKNOWN" or code_of(problem) == grpc.StatusCode.UNIMPLEMENTED:
            raise problem
        raise _NotAnswered(problem)

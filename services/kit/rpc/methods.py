"""The methods of a process, called alone or over a relay: access, decoding, answers, refusals and metrics."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, cast

import grpc
from google.api import annotations_pb2
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from prometheus_client import Counter, Histogram

from services.kit.access.authorization import Guard
from services.kit.access.identity import PLAYER_SCOPES, Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused, code_of, codes_of
from services.kit.telemetry import trace
from services.kit.telemetry.logs import AboutCall

# A larger request or answer is refused, alone or over a relay (G11). gRPC clients accept as much by default.
CALL_BYTES_LIMIT = 4 * 1024 * 1024

_log = logging.getLogger(__name__)
_CALLS = Counter("feltro_grpc_calls", "Calls by method and outcome", ["method", "code"])
_REFUSED = Counter("feltro_grpc_refused", "Calls that were refused or failed, by reason", ["method", "reason"])
_SECONDS = Histogram(
    "feltro_grpc_seconds",
    "Time to answer",
    ["method"],
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0),
)

# A method returns its response message, or the bytes of one where a stored answer has to go out as it was (G3).
Answer = Message | bytes
# Returns the refusal for a failure of the database or the bus; None for a fault of the service itself.
RefusalFor = Callable[[Exception], Refused | None]
Implementation = Callable[[Message, Caller], Awaitable[Answer]]


class Service(Protocol):
    """An implementation: for each method `DoThing` of its descriptor an `async def do_thing(request, caller)`."""

    descriptor: ServiceDescriptor


_FAULT = "The service has failed and it is not known whether anything was done: send the same request again."
_TOO_LARGE_TO_SAY = (
    f"It was done, but the answer has more than {CALL_BYTES_LIMIT} bytes, and the same request again has no other:"
    " look at what it has come to with a call that reads."
)


async def _within(answering: Awaitable[Answer], time_limit_s: float | None) -> Answer:
    limit = asyncio.timeout(time_limit_s)
    try:
        async with limit:
            return await answering
    except TimeoutError:
        if limit.expired():
            raise late() from None
        raise


def late() -> StatusRefused:
    """The refusal of a call whose caller does not wait any more."""
    return StatusRefused("", grpc.StatusCode.DEADLINE_EXCEEDED, "The time limit of the call has passed.")


class MethodNotImplemented(Exception):
    """A service does not implement what its proto declares."""


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def request_too_large() -> StatusRefused:
    """The refusal of a request that is too large to be read."""
    sentence = f"The request has more than {CALL_BYTES_LIMIT} bytes: send less at once."
    return StatusRefused("INVALID", grpc.StatusCode.INVALID_ARGUMENT, sentence, {"limit": str(CALL_BYTES_LIMIT)})


def _answer_too_large() -> Refused:
    sentence = f"The answer has more than {CALL_BYTES_LIMIT} bytes: ask for less at once, such as a smaller page."
    return Refused("ANSWER_TOO_LARGE", sentence, {"limit": str(CALL_BYTES_LIMIT)})


class Method:
    """One method."""

    def __init__(
        self,
        implementation: Service,
        method: MethodDescriptor,
        verifier: TokenVerifier,
        domain: str,
        refusal_for: RefusalFor,
    ) -> None:
        """`domain` is that of the refusals; `refusal_for` turns failures that a caller can react to into them."""
        function = getattr(implementation, _snake_case(method.name), None)
        if function is None:
            raise MethodNotImplemented(f"{type(implementation).__name__} does not implement {method.full_name}.")
        self.path = f"{method.containing_service.full_name}/{method.name}"
        self._implementation = cast("Implementation", function)
        self._guard = Guard(method, verifier)
        self._request_class = GetMessageClass(method.input_type)
        # A method that can be called by GET changes nothing.
        self.is_read = method.GetOptions().Extensions[annotations_pb2.http].WhichOneof("pattern") == "get"
        self._name = method.full_name
        self._domain = domain
        # Fails now, and not at the first refusal, where the protos declare no reasons for the domain.
        codes_of(domain)
        self._refusal_for = refusal_for
        self._succeeded = _CALLS.labels(method.full_name, "OK")
        self._seconds = _SECONDS.labels(method.full_name)

    async def answer(
        self, request: bytes, token: str, traceparent: str = "", time_limit_s: float | None = None
    ) -> bytes:
        """Returns the answer to one call, or raises `Refused`.

        A read ends at its time limit, for nobody waits for its answer any more; a command is carried out (G3).
        """
        if trace.is_recording():
            with trace.start_span(self.path, traceparent):
                return await self._answer(request, token, time_limit_s)
        if not traceparent:
            return await self._answer(request, token, time_limit_s)
        with trace.continued(traceparent):
            return await self._answer(request, token, time_limit_s)

    async def _answer(self, request: bytes, token: str, time_limit_s: float | None) -> bytes:
        started = time.perf_counter()
        with AboutCall() as about:
            try:
                caller = await self._guard.admit(token)
                if PLAYER_SCOPES & caller.scopes:
                    about.player_id = caller.subject
                read = about.request = self._read(request)
                answering = self._implementation(read, caller)
                limited = self.is_read and time_limit_s is not None
                answer = self._written(await (_within(answering, time_limit_s) if limited else answering))
            except Refused as refused:
                raise self._counted(refused) from None
            except Exception as failed:  # noqa: BLE001 - whatever it was, the caller gets an answer
                refusal = self._refusal_for(failed)
                if refusal is None:
                    _log.exception("a call failed", extra={"method": self._name})
                    # The error is for the log alone: it may hold secrets (G7).
                    refusal = StatusRefused("", grpc.StatusCode.INTERNAL, _FAULT)
                raise self._counted(refusal) from None
        self._succeeded.inc()
        self._seconds.observe(time.perf_counter() - started)
        return answer

    def _read(self, request: bytes) -> Message:
        if len(request) > CALL_BYTES_LIMIT:
            raise request_too_large()
        try:
            return self._request_class.FromString(request)
        except DecodeError:
            sentence = "The request is not a message of this method."
            raise Refused("INVALID", sentence) from None

    def _written(self, answer: Answer) -> bytes:
        written = answer if isinstance(answer, bytes) else answer.SerializeToString()
        if len(written) > CALL_BYTES_LIMIT:
            _log.error("an answer is too large to be sent", extra={"method": self._name, "bytes": len(written)})
            # A refusal says that nothing has changed (G12).
            raise (
                _answer_too_large() if self.is_read else StatusRefused("", grpc.StatusCode.INTERNAL, _TOO_LARGE_TO_SAY)
            )
        return written

    def _counted(self, refused: Refused) -> Refused:
        if refused.domain == Refused.domain:
            # A refusal passed on from another service keeps the domain of its reason.
            refused.domain = self._domain
        try:
            code = code_of(refused)
        except KeyError:
            _log.exception("a refusal has a reason that its protos do not declare", extra={"method": self._name})
            refused = StatusRefused("", grpc.StatusCode.INTERNAL, _FAULT)
            code = refused.code
        _CALLS.labels(self._name, code.name).inc()
        # A reason of the contracts; a fault has its code alone (G11).
        _REFUSED.labels(self._name, refused.reason or code.name).inc()
        return refused

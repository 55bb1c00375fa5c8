"""The methods of a process, whatever way a call comes in: who may make it, what it is given, and what it answers.

Access rules are read from the protos, refusals are told apart from faults, and every call is counted.
"""

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

from services.kit import trace
from services.kit.access.authorization import Guard
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused, code_of, codes_of

# A request or an answer that is larger is refused, whichever way the call came in (G11). It is as much as clients of
# gRPC take unless they are told otherwise.
CALL_BYTES_LIMIT = 4 * 1024 * 1024

_log = logging.getLogger(__name__)
_CALLS = Counter("feltro_grpc_calls", "Calls by method and outcome", ["method", "code"])
_SECONDS = Histogram(
    "feltro_grpc_seconds",
    "Time to answer",
    ["method"],
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0),
)

# A method returns its response message, or the bytes of one where a stored answer has to go out as it was (G3).
Answer = Message | bytes
# The refusal that a failure of database or bus means to a caller, or None if it is a fault of ours.
RefusalFor = Callable[[Exception], Refused | None]
Implementation = Callable[[Message, Caller], Awaitable[Answer]]


class Service(Protocol):
    """An implementation: for each method `DoThing` of its descriptor an `async def do_thing(request, caller)`."""

    descriptor: ServiceDescriptor


_FAULT = "The service has failed and it is not known whether anything was done: send the same request again."
_NOT_SAID = (
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
    """The refusal of a call whose caller waits no longer."""
    return StatusRefused("", grpc.StatusCode.DEADLINE_EXCEEDED, "The time limit of the call has passed.")


class MethodNotImplemented(Exception):
    """A service does not implement what its proto declares."""


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def request_too_large() -> StatusRefused:
    """The refusal of a request that nobody reads."""
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
        """`domain` is that of the refusals; `explain` turns failures that callers can do something about into them."""
        function = getattr(implementation, _snake_case(method.name), None)
        if function is None:
            raise MethodNotImplemented(f"{type(implementation).__name__} does not implement {method.full_name}.")
        self.path = f"{method.containing_service.full_name}/{method.name}"
        self._implemented = cast("Implementation", function)
        self._guard = Guard(method, verifier)
        self._request_class = GetMessageClass(method.input_type)
        # What can be called by GET says that it changes nothing.
        self.is_read = method.GetOptions().Extensions[annotations_pb2.http].WhichOneof("pattern") == "get"
        self._name = method.full_name
        self._domain = domain
        # Fails now, and not at the first refusal, where the protos declare no reasons for the domain.
        codes_of(domain)
        self._explain = refusal_for
        self._succeeded = _CALLS.labels(method.full_name, "OK")
        self._seconds = _SECONDS.labels(method.full_name)

    async def answer(
        self, request: bytes, token: str, traceparent: str = "", time_limit_s: float | None = None
    ) -> bytes:
        """Returns the answer to one call, or raises `Refused`.

        A read ends at its time limit, for nobody waits for its answer any more; a command is carried out (G3).
        """
        traced = trace.parse(traceparent) if traceparent else None
        if traced is None:
            return await self._answer(request, token, time_limit_s)
        with traced:
            return await self._answer(request, token, time_limit_s)

    async def _answer(self, request: bytes, token: str, time_limit_s: float | None) -> bytes:
        started = time.perf_counter()
        try:
            caller = await self._guard.admit(token)
            answering = self._implemented(self._read(request), caller)
            limited = self.is_read and time_limit_s is not None
            answer = self._written(await (_within(answering, time_limit_s) if limited else answering))
        except Refused as refused:
            raise self._counted(refused) from None
        except Exception as failed:  # noqa: BLE001 - whatever it was, the caller is told
            refusal = self._explain(failed)
            if refusal is None:
                _log.exception("a call failed", extra={"method": self._name})
                # What went wrong is for the log: an error may hold what nobody was to see (G7).
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
            # A refusal only where nothing has changed (G12).
            raise _answer_too_large() if self.is_read else StatusRefused("", grpc.StatusCode.INTERNAL, _NOT_SAID)
        return written

    def _counted(self, refused: Refused) -> Refused:
        if refused.domain == Refused.domain:
            # One that another service gave, passed on, keeps the domain of its reason.
            refused.domain = self._domain
        try:
            code = code_of(refused)
        except KeyError:
            _log.exception("a refusal has a reason that its protos do not declare", extra={"method": self._name})
            refused = StatusRefused("", grpc.StatusCode.INTERNAL, _FAULT)
            code = refused.code
        _CALLS.labels(self._name, code.name).inc()
        return refused

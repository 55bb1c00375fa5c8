"""The gRPC server shell: access rules read from the protos, refusals, health, reflection, metrics, graceful stop."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, cast

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import Counter, Histogram

from feltro.access.v1 import access_pb2
from services.kit.identity import Caller, TokenInvalid, TokenVerifier
from services.kit.refusal import STATUS_DETAILS_KEY, Refused

# A request larger than this is refused by gRPC itself (G11).
MESSAGE_BYTES_LIMIT = 4 * 1024 * 1024
# Calls beyond this are refused with RESOURCE_EXHAUSTED before they are read (G11).
CONCURRENT_CALLS_LIMIT = 10_000

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
Explain = Callable[[Exception], Refused | None]
Method = Callable[[Message, Caller], Awaitable[Answer]]


class Service(Protocol):
    """An implementation: for each method `DoThing` of its descriptor an `async def do_thing(request, caller)`."""

    descriptor: ServiceDescriptor


_FAULT = "The service has failed and it is not known whether anything was done: send the same request again."
# Stands for a request that is not a message of its method: gRPC itself would answer INTERNAL to it.
_UNREADABLE = Empty()


class MethodMissing(Exception):
    """A service does not implement what its proto declares."""


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _readable(request: Message) -> Message:
    if request is _UNREADABLE:
        raise Refused("INVALID", grpc.StatusCode.INVALID_ARGUMENT, "The request is not a message of this method.")
    return request


def _serialize(answer: Answer) -> bytes:
    return answer if isinstance(answer, bytes) else answer.SerializeToString()


class _Guard:
    """The access rule of one method."""

    def __init__(self, method: MethodDescriptor, verifier: TokenVerifier) -> None:
        rule = method.GetOptions().Extensions[access_pb2.access]
        self._scopes = frozenset(
            access_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower() for scope in rule.scopes if scope
        )
        self._expired_accepted = rule.expired_token_accepted
        self._verifier = verifier

    def caller(self, context: grpc.aio.ServicerContext[Message, Answer]) -> Caller:
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                return self._admit(str(value))
        raise Refused("TOKEN_INVALID", grpc.StatusCode.UNAUTHENTICATED, "Send a bearer token as `authorization`.")

    def _admit(self, header: str) -> Caller:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            sentence = "Send the token as `authorization: Bearer …`."
            raise Refused("TOKEN_INVALID", grpc.StatusCode.UNAUTHENTICATED, sentence)
        try:
            caller = self._verifier.verify(token)
        except TokenInvalid as invalid:
            raise Refused("TOKEN_INVALID", grpc.StatusCode.UNAUTHENTICATED, str(invalid)) from None
        if not self._scopes & caller.scopes:
            needed = " or ".join(sorted(self._scopes)) or "nobody"
            sentence = f"This call needs a token of scope {needed}."
            raise Refused("SCOPE_MISSING", grpc.StatusCode.PERMISSION_DENIED, sentence, {"needed": needed})
        if not self._expired_accepted and caller.expired(self._verifier.now()):
            raise Refused("TOKEN_EXPIRED", grpc.StatusCode.UNAUTHENTICATED, "The token has expired: get a new one.")
        return caller


async def _abort(context: grpc.aio.ServicerContext[Message, Answer], refused: Refused) -> None:
    status = refused.status()
    await context.abort(refused.code, refused.sentence, ((STATUS_DETAILS_KEY, status.SerializeToString()),))


def _handler(
    implementation: Service, method: MethodDescriptor, verifier: TokenVerifier, domain: str, explain: Explain
) -> grpc.RpcMethodHandler[Message, Answer]:
    function = getattr(implementation, _snake_case(method.name), None)
    if function is None:
        raise MethodMissing(f"{type(implementation).__name__} does not implement {method.full_name}.")
    implemented = cast("Method", function)
    guard = _Guard(method, verifier)
    request_class = GetMessageClass(method.input_type)
    succeeded = _CALLS.labels(method.full_name, "OK")
    seconds = _SECONDS.labels(method.full_name)

    async def answer(request: Message, context: grpc.aio.ServicerContext[Message, Answer]) -> Answer:
        started = time.perf_counter()
        try:
            response = await implemented(_readable(request), guard.caller(context))
        except Refused as refused:
            if refused.domain == Refused.domain:
                # One that another service gave, passed on, keeps the domain of its reason.
                refused.domain = domain
            _CALLS.labels(method.full_name, refused.code.name).inc()
            await _abort(context, refused)
            raise
        except Exception as failed:
            refusal = explain(failed)
            if refusal is not None:
                refusal.domain = domain
                _CALLS.labels(method.full_name, refusal.code.name).inc()
                await _abort(context, refusal)
            _CALLS.labels(method.full_name, "INTERNAL").inc()
            _log.exception("a call failed", extra={"method": method.full_name})
            # What went wrong is for the log: an error may hold what nobody was to see (G7).
            await context.abort(grpc.StatusCode.INTERNAL, _FAULT)
            raise
        succeeded.inc()
        seconds.observe(time.perf_counter() - started)
        return response

    def parse(data: bytes) -> Message:
        try:
            return request_class.FromString(data)
        except DecodeError:
            return _UNREADABLE

    return grpc.unary_unary_rpc_method_handler(answer, parse, _serialize)


class GrpcServer:
    """Services behind one address."""

    def __init__(
        self, listen: str, verifier: TokenVerifier, services: Iterable[Service], domain: str, explain: Explain
    ) -> None:
        """`domain` is that of the refusals; `explain` turns failures that callers can do something about into them."""
        self._server = grpc.aio.server(
            maximum_concurrent_rpcs=CONCURRENT_CALLS_LIMIT,
            options=[
                ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.max_send_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.so_reuseport", 0),
            ],
        )
        names = [health.SERVICE_NAME, reflection.SERVICE_NAME]
        for service in services:
            handlers = {
                method.name: _handler(service, method, verifier, domain, explain)
                for method in service.descriptor.methods
            }
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers),)
            )
            names.append(service.descriptor.full_name)
        self._names = ["", *names]
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(names, self._server)
        self.port = self._server.add_insecure_port(listen)

    async def start(self) -> None:
        await self._server.start()

    async def say(self, *, serving: bool) -> None:
        """Tells health checks whether to send calls here."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in self._names:
            await self._health.set(name, status)

    async def stop(self, grace_s: float) -> None:
        """Takes no new calls, lets those under way finish, then ends."""
        await self.say(serving=False)
        await self._server.stop(grace_s)

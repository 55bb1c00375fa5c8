"""The gRPC server of a process: calls alone and over a relay, health, reflection, graceful stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.reflection import SERVICE_NAME as REFLECTION_SERVICE
from grpc_reflection.v1alpha.reflection import enable_server_reflection

from services.kit import background
from services.kit.access.identity import TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, Method, RefusalFor, Service
from services.kit.rpc.relay_handler import RELAY_SERVICE, relay_handler
from services.kit.rpc.status import STATUS_DETAILS_KEY, code_of, status_from
from services.kit.rpc.transport import KEEPALIVE, PLAINTEXT, Transport

# gRPC itself refuses a larger message, without a reason (G11). It is far above the limit of a call, so that a call that
# is too large is refused with a reason, and calls that travel together never break their stream.
MESSAGE_BYTES_LIMIT = 2 * CALL_BYTES_LIMIT
# Calls beyond this are refused with RESOURCE_EXHAUSTED before they are read (G11).
CONCURRENT_CALLS_LIMIT = 10_000
# The name under which health checks ask whether what the process has to tell is published.
PUBLISHING_HEALTH = "feltro.publishing"

_Context = grpc.aio.ServicerContext[bytes, bytes]


def _token(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    if authorization and scheme.lower() != "bearer":
        raise Refused("TOKEN_INVALID", "Send the token as `authorization: Bearer …`.")
    return token


def _unary(
    method: Method, domain: str, refusal_of_caller: Callable[[_Context], str]
) -> grpc.RpcMethodHandler[bytes, bytes]:
    async def answer(request: bytes, context: _Context) -> bytes:
        if refusal := refusal_of_caller(context):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, refusal)
        try:
            sent = {key: str(value) for key, value in context.invocation_metadata() or ()}
            return await method.answer(request, _token(sent.get("authorization", "")), sent.get("traceparent", ""))
        except Refused as refused:
            if refused.domain == Refused.domain:
                refused.domain = domain
            details = ((STATUS_DETAILS_KEY, status_from(refused).SerializeToString()),) if refused.reason else ()
            await context.abort(code_of(refused), refused.sentence, details)
            raise

    # Bytes in, bytes out: the method decodes and encodes them, as it does for relayed calls.
    return grpc.unary_unary_rpc_method_handler(answer)


class _Health(health.aio.HealthServicer):  # type: ignore[misc]  # gRPC's class has no types
    """Answers health checks; a watch ends when the server begins to stop, as nothing else would end it."""

    def __init__(self, stopping: asyncio.Event) -> None:
        super().__init__()
        self._stopping = stopping

    async def Watch(  # noqa: N802 - as in gRPC
        self, request: health_pb2.HealthCheckRequest, context: grpc.aio.ServicerContext[object, object]
    ) -> None:
        await background.run_until(self._stopping, super().Watch(request, context))


class GrpcServer:
    """Services behind one address."""

    def __init__(
        self,
        listen: str,
        verifier: TokenVerifier,
        services: Iterable[Service],
        domain: str,
        refusal_for: RefusalFor,
        transport: Transport = PLAINTEXT,
        callers: Collection[str] = (),
        *,
        reflection: bool = False,
    ) -> None:
        """`domain` is that of the refusals; `refusal_for` turns failures that a caller can react to into them.

        `callers` are the services that may call, by their certificates; without any, all of the platform may. With
        `reflection` anybody who reaches the process can list its methods.
        """

        def refusal_of_caller(context: _Context) -> str:
            return transport.refusal_of_caller(context, callers)

        self._server = grpc.aio.server(
            maximum_concurrent_rpcs=CONCURRENT_CALLS_LIMIT,
            options=[
                ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.max_send_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.so_reuseport", 0),
                *KEEPALIVE,
            ],
        )
        names = [health.SERVICE_NAME]
        methods: dict[str, Method] = {}
        self._stopping = asyncio.Event()
        for service in services:
            made = {
                method.name: Method(service, method, verifier, domain, refusal_for)
                for method in service.descriptor.methods
            }
            handlers = {name: _unary(method, domain, refusal_of_caller) for name, method in made.items()}
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers),)
            )
            methods |= {method.path: method for method in made.values()}
            names.append(service.descriptor.full_name)
        relay = relay_handler(methods, refusal_of_caller, self._stopping)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(RELAY_SERVICE, {"Relay": relay}),))
        names.append(RELAY_SERVICE)
        self._names = ["", *names, PUBLISHING_HEALTH]
        self._health = _Health(self._stopping)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if reflection:
            enable_server_reflection([*names, REFLECTION_SERVICE], self._server)
        # It keeps what the server's handshakes refer to.
        self._transport = transport
        self.port = transport.listen(self._server, listen)

    async def start(self) -> None:
        await self._server.start()

    async def set_serving(self, *, serving: bool) -> None:
        """Tells health checks whether to send calls here."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in self._names:
            await self._health.set(name, status)

    async def set_publishing(self, *, publishing: bool) -> None:
        """Tells health checks whether what the process has to tell is published; calls are answered all the same."""
        status = health_pb2.HealthCheckResponse.SERVING if publishing else health_pb2.HealthCheckResponse.NOT_SERVING
        await self._health.set(PUBLISHING_HEALTH, status)

    async def stop(self, grace_s: float) -> None:
        """Takes no new calls, ends all streams, lets calls under way finish for so long, then stops."""
        self._stopping.set()
        await self.set_serving(serving=False)
        await self._server.stop(grace_s)

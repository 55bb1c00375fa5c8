"""The gRPC server of a process: calls alone and over a relay, health, reflection, graceful stop."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.kit.access.identity import TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, Method, RefusalFor, Service
from services.kit.rpc.relay_handler import RELAY_SERVICE, relay_handler
from services.kit.rpc.status import STATUS_DETAILS_KEY, code_of, status_from

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


def _unary(method: Method, domain: str) -> grpc.RpcMethodHandler[bytes, bytes]:
    async def answer(request: bytes, context: _Context) -> bytes:
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


class GrpcServer:
    """Services behind one address."""

    def __init__(
        self, listen: str, verifier: TokenVerifier, services: Iterable[Service], domain: str, refusal_for: RefusalFor
    ) -> None:
        """`domain` is that of the refusals; `refusal_for` turns failures that a caller can react to into them."""
        self._server = grpc.aio.server(
            maximum_concurrent_rpcs=CONCURRENT_CALLS_LIMIT,
            options=[
                ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.max_send_message_length", MESSAGE_BYTES_LIMIT),
                ("grpc.so_reuseport", 0),
            ],
        )
        names = [health.SERVICE_NAME, reflection.SERVICE_NAME]
        methods: dict[str, Method] = {}
        for service in services:
            made = {
                method.name: Method(service, method, verifier, domain, refusal_for)
                for method in service.descriptor.methods
            }
            handlers = {name: _unary(method, domain) for name, method in made.items()}
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service.descriptor.full_name, handlers),)
            )
            methods |= {method.path: method for method in made.values()}
            names.append(service.descriptor.full_name)
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(RELAY_SERVICE, {"Relay": relay_handler(methods)}),)
        )
        names.append(RELAY_SERVICE)
        self._names = ["", *names, PUBLISHING_HEALTH]
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(names, self._server)
        self.port = self._server.add_insecure_port(listen)

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
        """Takes no new calls, lets those under way finish, then stops."""
        await self.set_serving(serving=False)
        await self._server.stop(grace_s)

"""A server that answers health checks and calls with `not serving` while the service itself cannot serve yet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.kit.rpc.transport import KEEPALIVE, Transport

_Context = grpc.aio.ServicerContext[bytes, bytes]


class _RefuseAll(grpc.GenericRpcHandler):
    """Refuses every call: nothing was done."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        del call

        async def refuse(_: object, context: _Context) -> NoReturn:
            await context.abort(grpc.StatusCode.UNAVAILABLE, self._sentence)

        # For gRPC a call with one request and one answer is a stream of each.
        return grpc.stream_stream_rpc_method_handler(refuse)


@asynccontextmanager
async def not_serving_server(listen: str, sentence: str, transport: Transport) -> AsyncIterator[None]:
    """Answers NOT_SERVING to health checks and UNAVAILABLE with the sentence to calls; then frees the address."""
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0), *KEEPALIVE])
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    server.add_generic_rpc_handlers((_RefuseAll(sentence),))
    await checks.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    transport.listen(server, listen)
    await server.start()
    try:
        yield
    finally:
        await server.stop(None)

"""A relay that looks like a gRPC channel: a stub makes its calls over it as over any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from feltro.relay.v1 import relay_pb2
from services.kit.rpc.relay_connection import NoAnswer, NoAnswerInTime, RelayConnection
from services.kit.rpc.status import STATUS_DETAILS_KEY, StatusRefused
from services.kit.rpc.transport import PLAINTEXT, Transport

_NO_METADATA = grpc.aio.Metadata()
Metadata = tuple[tuple[str, str], ...]


class RelayChannel:
    """Makes calls to one process, and fails as a channel does, with `AioRpcError`."""

    def __init__(self, address: str, service: str = "", transport: Transport = PLAINTEXT) -> None:
        """`service` is the one whose certificate the process has to show."""
        self._connection = RelayConnection(address, service, transport)

    async def close(self) -> None:
        await self._connection.close()

    def unary_unary(
        self,
        path: str,
        request_serializer: Callable[[Any], bytes],
        response_deserializer: Callable[[bytes], Any],
        **_: object,
    ) -> Callable[..., Awaitable[Any]]:
        """Returns the function that calls a method; a stub asks for it once for each."""
        method = path.removeprefix("/")

        async def call(request: object, *, metadata: Metadata, timeout: float) -> object:  # noqa: ASYNC109 - as in gRPC
            relayed = relay_pb2.Call(method=method, request=request_serializer(request))
            for key, value in metadata:
                if key == "authorization":
                    relayed.token = value.removeprefix("Bearer ")
                elif key == "traceparent":
                    relayed.traceparent = value
            try:
                return response_deserializer(await self._connection.send(relayed, timeout))
            except NoAnswerInTime as late:
                raise _failed(grpc.StatusCode.DEADLINE_EXCEEDED, str(late)) from None
            except NoAnswer as silent:
                raise _failed(grpc.StatusCode.UNAVAILABLE, str(silent)) from None
            except StatusRefused as refused:
                details = refused.status().SerializeToString() if refused.reason else None
                raise _failed(refused.code, refused.sentence, details) from None
            finally:
                self._connection.discard(relayed)

        return call

    def unary_stream(self, *_: object, **__: object) -> Callable[..., Any]:
        return _only_unary

    stream_unary = stream_stream = unary_stream


def _only_unary(*_: object, **__: object) -> Any:  # noqa: ANN401
    raise NotImplementedError("streams are not relayed")


def _failed(code: grpc.StatusCode, details: str, status: bytes | None = None) -> grpc.aio.AioRpcError:
    trailing = _NO_METADATA if status is None else grpc.aio.Metadata((STATUS_DETAILS_KEY, status))
    return grpc.aio.AioRpcError(code, _NO_METADATA, trailing, details)

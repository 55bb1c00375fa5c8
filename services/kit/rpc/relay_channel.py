"""A relay as gRPC's own stubs know a channel: whoever has a stub makes his calls over it without knowing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from feltro.relay.v1 import relay_pb2
from services.kit.rpc.relay_connection import NoAnswer, RelayConnection
from services.kit.rpc.status import STATUS_DETAILS_KEY, StatusRefused

_NO_METADATA = grpc.aio.Metadata()
Metadata = tuple[tuple[str, str], ...]


class RelayChannel:
    """Calls to one process. Fails as a channel does, with `AioRpcError`."""

    def __init__(self, address: str) -> None:
        self._line = RelayConnection(address)

    async def close(self) -> None:
        await self._line.close()

    def unary_unary(
        self,
        path: str,
        request_serializer: Callable[[Any], bytes],
        response_deserializer: Callable[[bytes], Any],
        **_: object,
    ) -> Callable[..., Awaitable[Any]]:
        """What a stub asks its channel for, once for each method."""
        method = path.removeprefix("/")

        async def call(request: object, *, metadata: Metadata, timeout: float) -> object:  # noqa: ASYNC109 - as gRPC has it
            asked = relay_pb2.Call(method=method, request=request_serializer(request))
            for key, value in metadata:
                if key == "authorization":
                    asked.token = value.removeprefix("Bearer ")
                elif key == "traceparent":
                    asked.traceparent = value
            try:
                async with asyncio.timeout(timeout):
                    return response_deserializer(await self._line.send(asked))
            except TimeoutError:
                raise _failed(grpc.StatusCode.DEADLINE_EXCEEDED, f"no answer within {timeout:.0f} s") from None
            except NoAnswer as silent:
                raise _failed(grpc.StatusCode.UNAVAILABLE, str(silent)) from None
            except StatusRefused as refused:
                details = refused.status().SerializeToString() if refused.reason else None
                raise _failed(refused.code, refused.sentence, details) from None
            finally:
                self._line.discard(asked)

        return call

    def unary_stream(self, *_: object, **__: object) -> Callable[..., Any]:
        return _only_unary

    stream_unary = stream_stream = unary_stream


def _only_unary(*_: object, **__: object) -> Any:  # noqa: ANN401
    raise NotImplementedError("streams are not relayed")


def _failed(code: grpc.StatusCode, details: str, status: bytes | None = None) -> grpc.aio.AioRpcError:
    trailing = _NO_METADATA if status is None else grpc.aio.Metadata((STATUS_DETAILS_KEY, status))
    return grpc.aio.AioRpcError(code, _NO_METADATA, trailing, details)

"""A gRPC channel to the wallet in memory, so that the runtime's own wallet client takes part in the simulation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import grpc
from google.protobuf.message import Message

from services.kit.refusal import Refused
from services.kit.rpc.status import STATUS_DETAILS_KEY, code_of, status_from
from services.kit.table.wallet.grpc_client import GrpcWallet
from tests.simulation.environment.network import Network, NoAnswer
from tests.simulation.environment.virtual_time import Process
from tests.simulation.environment.wallet import InMemoryWallet


def wallet_client(process: Process, network: Network, wallet: InMemoryWallet) -> GrpcWallet:
    """Builds the wallet client of one process."""
    return GrpcWallet(cast("grpc.aio.Channel", _Channel(process, network, wallet)), lambda: ())


class _Channel:
    def __init__(self, process: Process, network: Network, wallet: InMemoryWallet) -> None:
        self._process = process
        self._network = network
        self._wallet = wallet

    def unary_unary(
        self,
        path: str,
        request_serializer: Callable[[Any], bytes],
        response_deserializer: Callable[[bytes], Message],
        **_: object,
    ) -> Callable[..., Awaitable[Message]]:
        method = path.rpartition("/")[2]

        async def call(request: Message, *, metadata: object, timeout: float) -> Message:  # noqa: ASYNC109 - as in gRPC
            payload = request_serializer(request)

            def handle() -> bytes:
                return self._wallet.handle(method, payload)

            try:
                answer = await self._network.call(
                    self._process, "wallet", method, handle, about=_about(request), timeout_s=timeout
                )
            except NoAnswer as unanswered:
                raise _failed(grpc.StatusCode.DEADLINE_EXCEEDED, str(unanswered)) from None
            except Refused as refused:
                raise _failed(code_of(refused), refused.sentence, status_from(refused).SerializeToString()) from None
            return response_deserializer(answer)

        return call


def _failed(code: grpc.StatusCode, details: str, status: bytes | None = None) -> grpc.aio.AioRpcError:
    trailing = grpc.aio.Metadata() if status is None else grpc.aio.Metadata((STATUS_DETAILS_KEY, status))
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details)


def _about(request: Message) -> str:
    """Returns the id that a request is about, for the trace."""
    for field in ("stake_id", "round_id", "session_id", "table_id", "player_id"):
        value = getattr(request, field, "")
        if value:
            return str(value)
    message = cast("Any", request)
    if hasattr(request, "round"):
        return str(message.round.round_id)
    return str(message.table.table_id) if hasattr(request, "table") else ""

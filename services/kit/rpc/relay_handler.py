"""The server's end of a relay: carries out the calls of a stream, and sends answers of one moment together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.batching import BatchLimits, Outbound
from services.kit.refusal import Refused
from services.kit.rpc.methods import Method, late
from services.kit.rpc.status import StatusRefused, status_from

_DESCRIPTOR: ServiceDescriptor = relay_pb2.DESCRIPTOR.services_by_name["RelayService"]
RELAY_SERVICE = _DESCRIPTOR.full_name
RELAY_PATH = f"/{RELAY_SERVICE}/Relay"
# Calls under way on one stream; more are refused (G11).
CALLS_IN_FLIGHT_LIMIT = 5_000
# Calls or answers that leave together; one alone may be as large as any call (`methods`). Both limits are far below
# what gRPC takes as one message: one that is too large would break the stream for all who share it. While more answers
# than the last number wait to leave, no more calls are read.
BATCH_LIMITS = BatchLimits(items=1_000, weight=1024 * 1024, waiting_items=10_000)
# How much of the name of a method that does not exist is repeated.
METHOD_NAME_CHARACTERS_LIMIT = 100

_ALL_UNDER_WAY: set[asyncio.Task[None]] = set()
_Context = grpc.aio.ServicerContext[bytes, bytes]


class _Stream:
    """One stream of calls."""

    def __init__(self, methods: Mapping[str, Method], context: _Context) -> None:
        self._methods = methods
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._under_way: set[asyncio.Task[None]] = set()
        # Each is a message of its own; concatenated they are one message with all of them, of known size.
        self._answers: Outbound[bytes] = Outbound(len, BATCH_LIMITS)

    async def read(self, requests: AsyncIterator[bytes], stopping: asyncio.Event) -> None:
        """Begins every call that comes; returns when the caller sends no more, or the process stops."""
        async for message in requests:
            if stopping.is_set():
                return
            received_at = self._loop.time()
            for call in relay_pb2.RelayRequest.FromString(message).calls:
                self._begin(call, received_at)
            await self._answers.wait_for_room()

    async def finish(self) -> None:
        """Returns when all calls that have begun are answered."""
        while self._under_way:
            await asyncio.wait(self._under_way)
        self._answers.close()

    async def write(self) -> None:
        """Sends answers, as many together as are known; returns after the last one."""
        while await self._answers.wait_for_items():
            await self._context.write(b"".join(self._answers.take_batch()))

    def _begin(self, call: relay_pb2.Call, received_at: float) -> None:
        method = self._methods.get(call.method)
        if method is None:
            sentence = f"There is no method {call.method[:METHOD_NAME_CHARACTERS_LIMIT]} here."
            self._refuse(call.call_id, StatusRefused("", grpc.StatusCode.UNIMPLEMENTED, sentence))
            return
        if len(self._under_way) >= CALLS_IN_FLIGHT_LIMIT:
            sentence = "Too many calls are under way on this stream: try again in a moment."
            facts = {"limit": str(CALLS_IN_FLIGHT_LIMIT)}
            self._refuse(call.call_id, StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, sentence, facts))
            return
        task = asyncio.create_task(self._carry_out(method, call, received_at))
        self._under_way.add(task)
        # The caller may go away: its command is carried out all the same, and it learns the answer by sending it again.
        _ALL_UNDER_WAY.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        _ALL_UNDER_WAY.discard(task)

    async def _carry_out(self, method: Method, call: relay_pb2.Call, received_at: float) -> None:
        time_limit_s = call.time_limit_ms / 1000 if call.time_limit_ms else None
        try:
            if time_limit_s is not None and self._loop.time() - received_at >= time_limit_s:
                raise late()
            response = await method.answer(call.request, call.token, call.traceparent, time_limit_s)
        except Refused as refused:
            self._refuse(call.call_id, refused)
            return
        message = relay_pb2.RelayResponse()
        message.answers.add(call_id=call.call_id, response=response)
        self._send(message)

    def _refuse(self, call_id: int, refused: Refused) -> None:
        message = relay_pb2.RelayResponse()
        message.answers.add(call_id=call_id, refused=status_from(refused))
        self._send(message)

    def _send(self, message: relay_pb2.RelayResponse) -> None:
        self._answers.put(message.SerializeToString())


def relay_handler(
    methods: Mapping[str, Method], refusal_of_caller: Callable[[_Context], str], stopping: asyncio.Event
) -> grpc.RpcMethodHandler[bytes, bytes]:
    """Returns the handler of the RelayService's one method, over these methods by their paths.

    `refusal_of_caller` says why the process at the other end may not call; it is empty if it may. Once `stopping` is
    set every stream reads no more calls and ends with its last answer: callers would keep it open for ever.
    """

    async def relay(requests: AsyncIterator[bytes], context: _Context) -> None:
        if refusal := refusal_of_caller(context):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, refusal)
        stream = _Stream(methods, context)
        writing = asyncio.create_task(stream.write())
        try:
            await background.run_until(stopping, stream.read(requests, stopping))
            await stream.finish()
            await writing
        finally:
            await background.cancel_and_wait([writing])

    return grpc.stream_stream_rpc_method_handler(relay)

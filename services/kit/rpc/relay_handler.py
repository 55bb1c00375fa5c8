"""Carries many calls over one stream: those of a moment travel together, and so do their answers (relay.proto)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.rpc.methods import Method
from services.kit.rpc.status import StatusRefused, status_from

_DESCRIPTOR: ServiceDescriptor = relay_pb2.DESCRIPTOR.services_by_name["RelayService"]
RELAY_SERVICE = _DESCRIPTOR.full_name
RELAY_PATH = f"/{RELAY_SERVICE}/Relay"
# Calls under way on one stream; more are refused (G11).
CALLS_IN_FLIGHT_LIMIT = 5_000
# Calls or answers that leave together, by number and by size; one alone may be as large as any call (`methods`). Both
# are far below what gRPC takes as one message: one that is too large would break the stream for all who share it.
BATCH_ITEMS_LIMIT = 1_000
BATCH_BYTES_LIMIT = 1024 * 1024
# Answers that may wait to leave before no more calls are read.
UNSENT_ANSWERS_LIMIT = 10_000
# What is said again of the name of a method that does not exist.
METHOD_NAME_CHARACTERS_LIMIT = 100

_ALL_UNDER_WAY: set[asyncio.Task[None]] = set()
_Item = TypeVar("_Item")
_Context = grpc.aio.ServicerContext[bytes, bytes]


def first_batch(waiting: Sequence[_Item], size: Callable[[_Item], int]) -> list[_Item]:
    """The first of them that one message can hold; at least one."""
    taken, total = 0, 0
    for item in waiting[:BATCH_ITEMS_LIMIT]:
        total += size(item)
        if taken and total > BATCH_BYTES_LIMIT:
            break
        taken += 1
    return list(waiting[:taken])


class _Stream:
    """One stream of calls."""

    def __init__(self, methods: Mapping[str, Method], context: _Context) -> None:
        self._methods = methods
        self._context = context
        self._under_way: set[asyncio.Task[None]] = set()
        # Each is a message of its own; one after the other they are one message with all of them, of known size.
        self._answers: list[bytes] = []
        self._answered = asyncio.Event()
        self._room = asyncio.Event()
        self._no_more = False

    async def read(self, requests: AsyncIterator[bytes]) -> None:
        """Begins every call that comes; ends when the other side says no more and all are answered."""
        async for message in requests:
            for call in relay_pb2.RelayRequest.FromString(message).calls:
                self._begin(call)
            while len(self._answers) > UNSENT_ANSWERS_LIMIT:
                self._room.clear()
                await self._room.wait()
        while self._under_way:
            await asyncio.wait(self._under_way)
        self._no_more = True
        self._answered.set()

    async def write(self) -> None:
        """Sends what is answered, as much together as there is; ends after the last answer."""
        while not self._no_more:
            await self._answered.wait()
            self._answered.clear()
            while self._answers:
                leaving = first_batch(self._answers, len)
                del self._answers[: len(leaving)]
                self._room.set()
                await self._context.write(b"".join(leaving))

    def _begin(self, call: relay_pb2.Call) -> None:
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
        task = asyncio.create_task(self._carry_out(method, call))
        self._under_way.add(task)
        # The other side may go: what it asked for is done all the same, and it will ask again to be told.
        _ALL_UNDER_WAY.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        _ALL_UNDER_WAY.discard(task)

    async def _carry_out(self, method: Method, call: relay_pb2.Call) -> None:
        try:
            response = await method.answer(call.request, call.token, call.traceparent)
        except Refused as refused:
            self._refuse(call.call_id, refused)
            return
        message = relay_pb2.RelayResponse()
        message.answers.add(call_id=call.call_id, response=response)
        self._say(message)

    def _refuse(self, call_id: int, refused: Refused) -> None:
        message = relay_pb2.RelayResponse()
        message.answers.add(call_id=call_id, refused=status_from(refused))
        self._say(message)

    def _say(self, message: relay_pb2.RelayResponse) -> None:
        self._answers.append(message.SerializeToString())
        self._answered.set()


def relay_handler(methods: Mapping[str, Method]) -> grpc.RpcMethodHandler[bytes, bytes]:
    """The one method of the RelayService, over these methods by their paths."""

    async def relay(requests: AsyncIterator[bytes], context: _Context) -> None:
        stream = _Stream(methods, context)
        writing = asyncio.create_task(stream.write())
        try:
            await stream.read(requests)
            await writing
        finally:
            await background.cancel_and_wait([writing])

    return grpc.stream_stream_rpc_method_handler(relay)

"""Calls services on behalf of clients: over one stream to each process, so that calls of a moment travel together."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator

import grpc
from google.rpc.status_pb2 import Status

from feltro.relay.v1 import relay_pb2, relay_pb2_grpc
from services.kit import background
from services.kit.refusal import Refused, refused_from

# Calls to one process that may wait for an answer (G11).
UNDER_WAY_LIMIT = 10_000
TOGETHER_LIMIT = 500
ANSWERED_WITHIN_S = 15.0
CONNECT_AGAIN_S = 0.1
MESSAGE_BYTES_LIMIT = 4 * 1024 * 1024
# A process that is asked nothing for so long, and is not there any more, is forgotten.
_OPTIONS = [
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
]

_log = logging.getLogger(__name__)


class NoAnswer(Exception):
    """The process went away: it is not known whether anything was done."""


class _Line:
    """The stream to one process."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        self._stub: relay_pb2_grpc.RelayServiceAsyncStub = relay_pb2_grpc.RelayServiceStub(self._channel)
        self._numbers = itertools.count(1)
        self._leaving: list[relay_pb2.Call] = []
        self._asked: dict[int, asyncio.Future[bytes]] = {}
        self._something = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def ask(self, call: relay_pb2.Call) -> asyncio.Future[bytes]:
        if len(self._asked) >= UNDER_WAY_LIMIT:
            sentence = "The gateway waits for too many answers: try again in a moment."
            facts = {"limit": str(UNDER_WAY_LIMIT)}
            raise Refused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, sentence, facts)
        call.call_id = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._asked[call.call_id] = answer
        self._leaving.append(call)
        self._something.set()
        return answer

    def forget(self, call: relay_pb2.Call) -> None:
        self._asked.pop(call.call_id, None)

    async def close(self) -> None:
        await background.end([self._task])
        self._fail("the gateway stops")
        await self._channel.close()

    async def _run(self) -> None:
        while True:
            await self._something.wait()
            try:
                async for message in self._stub.Relay(self._messages()):
                    for answer in message.answers:
                        self._heard(answer)
                self._fail("the stream was closed")
            except grpc.aio.AioRpcError as failed:
                self._fail(f"{failed.code().name}: {failed.details()}"[:200])
            await asyncio.sleep(CONNECT_AGAIN_S)

    async def _messages(self) -> AsyncIterator[relay_pb2.RelayRequest]:
        while True:
            while self._leaving:
                together, self._leaving = self._leaving[:TOGETHER_LIMIT], self._leaving[TOGETHER_LIMIT:]
                yield relay_pb2.RelayRequest(calls=together)
            self._something.clear()
            await self._something.wait()

    def _heard(self, answer: relay_pb2.Answer) -> None:
        asked = self._asked.pop(answer.call_id, None)
        if asked is None or asked.done():
            return
        if answer.WhichOneof("answer") == "refused":
            asked.set_exception(_refusal(answer.refused))
        else:
            asked.set_result(answer.response)

    def _fail(self, why: str) -> None:
        """Whatever was asked on a stream that broke has no answer any more; what waits goes over the next one."""
        waiting = {call.call_id for call in self._leaving}
        for number, asked in list(self._asked.items()):
            if number not in waiting:
                del self._asked[number]
                if not asked.done():
                    asked.set_exception(NoAnswer(why))
        if not self._leaving:
            self._something.clear()


class Upstream:
    """The lines to all processes."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    async def call(self, address: str, method: str, token: str, request: bytes, traceparent: str = "") -> bytes:
        """The answer's bytes; `Refused` as the service said it, or `NoAnswer`."""
        line = self._lines.get(address)
        if line is None:
            line = self._lines[address] = _Line(address)
        call = relay_pb2.Call(method=method, token=token, request=request, traceparent=traceparent)
        answer = line.ask(call)
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                return await answer
        except TimeoutError:
            raise NoAnswer(f"no answer within {ANSWERED_WITHIN_S:.0f} s") from None
        finally:
            line.forget(call)

    async def keep(self, addresses: set[str]) -> None:
        """Lets go of the lines to processes that are gone."""
        for address in set(self._lines) - addresses:
            await self._lines.pop(address).close()

    async def close(self) -> None:
        await self.keep(set())


def _refusal(status: Status) -> Refused:
    refused = refused_from(status)
    if not refused.domain:
        refused.domain = Refused.domain
    return refused

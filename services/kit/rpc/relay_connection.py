"""The caller's end of a relay: calls of one moment leave together over one stream, and each gets its own answer."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import grpc
from google.rpc.status_pb2 import Status

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, request_too_large
from services.kit.rpc.relay_handler import RELAY_PATH, first_batch
from services.kit.rpc.status import StatusRefused, refused_from

# Calls to one process that may wait for an answer (G11).
CALLS_IN_FLIGHT_LIMIT = 10_000
CALL_TIMEOUT_S = 15.0
RECONNECT_DELAY_S = 0.1
MESSAGE_BYTES_LIMIT = 16 * 1024 * 1024
_OPTIONS = [
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
]

_NOBODY: tuple[None, float] = (None, 0.0)


class NoAnswer(Exception):
    """The process went away: it is not known whether anything was done."""


class RelayConnection:
    """The stream to one process."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        # Bytes out: what leaves together is put together from calls that are bytes already.
        self._relay: grpc.aio.StreamStreamMultiCallable[bytes, relay_pb2.RelayResponse] = self._channel.stream_stream(
            RELAY_PATH, response_deserializer=relay_pb2.RelayResponse.FromString
        )
        self._numbers = itertools.count(1)
        # With their numbers. Each is a message of its own; one after the other they are one message with all of them.
        self._leaving: list[tuple[int, bytes]] = []
        # How often the stream broke.
        self._broken = 0
        # In the order of asking; when each has waited for too long.
        self._asked: dict[int, tuple[asyncio.Future[bytes], float]] = {}
        self._loop = asyncio.get_running_loop()
        # One for all: a timer for each call costs more than what it is good for.
        self._giving_up: asyncio.TimerHandle | None = None
        self._something = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def send(self, call: relay_pb2.Call) -> asyncio.Future[bytes]:
        """The answer, in a while; refused at once where the call is one too many or too large for the stream."""
        if len(self._asked) >= CALLS_IN_FLIGHT_LIMIT:
            sentence = "Too many answers are waited for: try again in a moment."
            facts = {"limit": str(CALLS_IN_FLIGHT_LIMIT)}
            raise StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, sentence, facts)
        call.call_id = next(self._numbers)
        carried = relay_pb2.RelayRequest(calls=(call,)).SerializeToString()
        if len(carried) > CALL_BYTES_LIMIT:
            raise request_too_large()
        answer: asyncio.Future[bytes] = self._loop.create_future()
        until = self._loop.time() + CALL_TIMEOUT_S
        self._asked[call.call_id] = answer, until
        if self._giving_up is None:
            self._giving_up = self._loop.call_at(until, self._give_up)
        self._leaving.append((call.call_id, carried))
        self._something.set()
        return answer

    @property
    def idle(self) -> bool:
        """Nobody waits for an answer."""
        return not self._asked

    @property
    def run_task(self) -> asyncio.Task[None]:
        """What carries the calls: it ends when the line is closed, and otherwise only if it is broken for good."""
        return self._task

    def discard(self, call: relay_pb2.Call) -> None:
        self._asked.pop(call.call_id, None)

    async def close(self) -> None:
        await background.cancel_and_wait([self._task])
        self._fail("the caller stops")
        if self._giving_up is not None:
            self._giving_up.cancel()
        await self._channel.close()

    async def _run(self) -> None:
        while True:
            await self._something.wait()
            try:
                async for message in self._relay(self._messages(self._broken)):
                    for answer in message.answers:
                        self._heard(answer)
                self._fail("the stream was closed")
            except grpc.aio.AioRpcError as failed:
                self._fail(f"{failed.code().name}: {failed.details()}"[:200])
            await asyncio.sleep(RECONNECT_DELAY_S)

    async def _messages(self, broken: int) -> AsyncIterator[bytes]:
        # gRPC goes on asking for the messages of a stream that broke: those said since are for the next one.
        while broken == self._broken:
            if self._leaving:
                together = first_batch(self._leaving, lambda call: len(call[1]))
                del self._leaving[: len(together)]
                yield b"".join(carried for _, carried in together)
            else:
                self._something.clear()
                await self._something.wait()

    def _heard(self, answer: relay_pb2.Answer) -> None:
        asked, _ = self._asked.pop(answer.call_id, _NOBODY)
        if asked is None or asked.done():
            return
        if answer.WhichOneof("answer") == "refused":
            asked.set_exception(_refusal(answer.refused))
        else:
            asked.set_result(answer.response)

    def _fail(self, why: str) -> None:
        """Whatever was asked on a stream that broke has no answer any more; what waits goes over the next one."""
        self._broken += 1
        waiting = {number for number, _ in self._leaving}
        for number, (asked, _) in list(self._asked.items()):
            if number not in waiting:
                del self._asked[number]
                if not asked.done():
                    asked.set_exception(NoAnswer(why))
        if not self._leaving:
            self._something.clear()

    def _give_up(self) -> None:
        """Tells those who have waited for too long, and looks again when the next one will have."""
        self._giving_up = None
        now = self._loop.time()
        for number, (asked, until) in list(self._asked.items()):
            if until > now:
                self._giving_up = self._loop.call_at(until, self._give_up)
                return
            del self._asked[number]
            if not asked.done():
                asked.set_exception(NoAnswer(f"no answer within {CALL_TIMEOUT_S:.0f} s"))


def _refusal(status: Status) -> StatusRefused:
    refused = refused_from(status)
    if not refused.domain:
        refused.domain = Refused.domain
    return refused

"""The caller's end of a relay: calls of one moment leave together over one stream, and each gets its own answer."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
from google.rpc.status_pb2 import Status
from prometheus_client import Histogram

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.batching import Outbound
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, request_too_large
from services.kit.rpc.relay_handler import BATCH_LIMITS, RELAY_PATH
from services.kit.rpc.status import StatusRefused, refused_from
from services.kit.rpc.transport import PLAINTEXT, PeerChannel, Transport

# Calls to one process that may wait for an answer (G11).
CALLS_IN_FLIGHT_LIMIT = 10_000
CALL_TIMEOUT_S = 15.0
RECONNECT_DELAY_S = 0.1
MESSAGE_BYTES_LIMIT = 16 * 1024 * 1024
# How much of gRPC's own words is repeated in the log.
REASON_CHARACTERS_LIMIT = 300
# What gRPC says of a peer whose certificate is missing, of another authority or of another service. It has no code.
_HANDSHAKE_FAILED = re.compile("handshake|verification check", re.IGNORECASE)
_OPTIONS = [
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_LIMIT),
]


_BATCHES = Histogram(
    "feltro_relay_batch_calls",
    "Calls to another process that left together",
    buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
)


class NoAnswer(Exception):
    """There was no answer: it is not known whether anything was done."""


class NoAnswerInTime(NoAnswer):
    """There was no answer within the call's time limit."""


class PeerUntrusted(NoAnswer):
    """The process at the address did not prove that it is the service it should be: nothing was sent to it."""


@dataclass(frozen=True, slots=True)
class _PendingCall:
    answer: asyncio.Future[bytes]
    timeout_s: float


class RelayConnection:
    """The stream to one process."""

    def __init__(self, address: str, service: str = "", transport: Transport = PLAINTEXT) -> None:
        """`service` is the one whose certificate the process has to show."""
        self._peer = PeerChannel(transport, address, service, _OPTIONS)
        self._transport = transport
        self._call_ids = itertools.count(1)
        # With their ids. Each is a message of its own; concatenated they are one message with all of them.
        self._outbound: Outbound[tuple[int, bytes]] = Outbound(lambda call: len(call[1]), BATCH_LIMITS)
        # How often the stream broke.
        self._broken = 0
        self._pending: dict[int, _PendingCall] = {}
        # When calls expire, by their time limit: those with the same limit expire in the order of sending. There are
        # only a few limits, each a constant of some caller.
        self._expiries: dict[float, dict[int, float]] = {}
        self._loop = asyncio.get_running_loop()
        # One timer for all: one for each call would cost more than it is good for.
        self._timer: asyncio.TimerHandle | None = None
        self._task = asyncio.create_task(self._run())

    def send(self, call: relay_pb2.Call, timeout_s: float = CALL_TIMEOUT_S) -> asyncio.Future[bytes]:
        """Returns the answer to come. A call that is one too many, or too large for the stream, is refused at once.

        The other end heeds the time limit, too. A call that is discarded or expires before it has left never leaves.
        """
        if len(self._pending) >= CALLS_IN_FLIGHT_LIMIT:
            sentence = "Too many answers are waited for: try again in a moment."
            facts = {"limit": str(CALLS_IN_FLIGHT_LIMIT)}
            raise StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, sentence, facts)
        call.call_id = next(self._call_ids)
        call.time_limit_ms = max(round(timeout_s * 1000), 1)
        encoded = relay_pb2.RelayRequest(calls=(call,)).SerializeToString()
        if len(encoded) > CALL_BYTES_LIMIT:
            raise request_too_large()
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._pending[call.call_id] = _PendingCall(answer, timeout_s)
        expires_at = self._loop.time() + timeout_s
        self._expiries.setdefault(timeout_s, {})[call.call_id] = expires_at
        self._set_timer(expires_at)
        if len(self._outbound) >= CALLS_IN_FLIGHT_LIMIT:
            # While no stream is open: only calls that somebody still waits for are kept (G11).
            self._outbound.keep(lambda waiting: waiting[0] in self._pending)
        self._outbound.put((call.call_id, encoded))
        return answer

    @property
    def idle(self) -> bool:
        """Whether no call waits for an answer."""
        return not self._pending

    @property
    def run_task(self) -> asyncio.Task[None]:
        """The task that carries the calls: it ends when the connection is closed, and otherwise only by a fault."""
        return self._task

    def discard(self, call: relay_pb2.Call) -> None:
        """Forgets a call: nobody waits for its answer any more."""
        self._remove(call.call_id)

    async def close(self) -> None:
        """Ends the stream; calls without an answer get none."""
        await background.cancel_and_wait([self._task])
        self._fail("the caller stops")
        if self._timer is not None:
            self._timer.cancel()
        await self._peer.close()

    async def _run(self) -> None:
        while await self._outbound.wait_for_items():
            try:
                async for message in await self._open_stream():
                    for answer in message.answers:
                        self._receive(answer)
                self._fail("the stream was closed")
            except grpc.aio.AioRpcError as failed:
                self._fail_stream(failed)
            await asyncio.sleep(RECONNECT_DELAY_S)

    async def _open_stream(self) -> AsyncIterator[relay_pb2.RelayResponse]:
        channel = await self._peer.current()
        # Bytes out: a message is put together from calls that are bytes already.
        relay: grpc.aio.StreamStreamMultiCallable[bytes, relay_pb2.RelayResponse] = channel.stream_stream(
            RELAY_PATH, response_deserializer=relay_pb2.RelayResponse.FromString
        )
        return aiter(relay(self._messages(self._broken)))

    async def _messages(self, broken: int) -> AsyncIterator[bytes]:
        # gRPC goes on asking for the messages of a stream that broke: calls made since then are for the next one.
        while await self._outbound.wait_for_items() and broken == self._broken:
            batch = [encoded for call_id, encoded in self._outbound.take_batch() if call_id in self._pending]
            if batch:
                _BATCHES.observe(len(batch))
                yield b"".join(batch)

    def _receive(self, answer: relay_pb2.Answer) -> None:
        pending = self._remove(answer.call_id)
        if pending is None or pending.answer.done():
            return
        if answer.WhichOneof("answer") == "refused":
            pending.answer.set_exception(_refusal(answer.refused))
        else:
            pending.answer.set_result(answer.response)

    def _remove(self, call_id: int) -> _PendingCall | None:
        pending = self._pending.pop(call_id, None)
        if pending is not None:
            del self._expiries[pending.timeout_s][call_id]
        return pending

    def _fail_stream(self, failed: grpc.aio.AioRpcError) -> None:
        details = failed.details() or ""
        reason = f"{failed.code().name}: {details}"[:REASON_CHARACTERS_LIMIT]
        if self._transport.is_secure and _HANDSHAKE_FAILED.search(details):
            self._fail(reason, PeerUntrusted)
        else:
            self._fail(reason)

    def _fail(self, reason: str, failure: type[NoAnswer] = NoAnswer) -> None:
        """Fails the calls of a stream that broke; those that still wait to leave go over the next one."""
        self._broken += 1
        waiting = {call_id for call_id, _ in self._outbound}
        for call_id in self._pending.keys() - waiting:
            self._fail_call(call_id, failure(reason))

    def _fail_call(self, call_id: int, failure: NoAnswer) -> None:
        pending = self._remove(call_id)
        if pending is not None and not pending.answer.done():
            pending.answer.set_exception(failure)

    def _set_timer(self, expires_at: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= expires_at:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(expires_at, self._expire)

    def _expire(self) -> None:
        """Fails the calls whose time is over, and sets the timer for the next one."""
        self._timer = None
        now = self._loop.time()
        for timeout_s, expiries in list(self._expiries.items()):
            for call_id, expires_at in list(expiries.items()):
                if expires_at > now:
                    self._set_timer(expires_at)
                    break
                self._fail_call(call_id, NoAnswerInTime(f"no answer within {timeout_s:g} s"))
            if not expiries:
                del self._expiries[timeout_s]


def _refusal(status: Status) -> StatusRefused:
    refused = refused_from(status)
    if not refused.domain:
        refused.domain = Refused.domain
    return refused

"""Follows a stream from one message on: in order, each message once, and noticing when one was lost on the way.

It subscribes to what the bus stores, and then reads what was stored before. That needs no consumer, which no process
of the platform may create.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import nats.errors
import nats.js.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.js.api import StreamInfo

from services.kit import background
from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.stored import StoredMessage, UnreadableAnswer, from_headers, read_page
from services.kit.bus.subjects import API_PREFIX, stored_subject

WHOLE_STREAM = ">"
# How often it is looked whether the connection is still the same.
CONNECTION_CHECK_S = 0.1
# Messages that may come while earlier ones are read (G11).
WAITING_MESSAGES_LIMIT = 10_000
# How often the earlier messages are read again because a replica of the stream was behind.
READ_ATTEMPTS_LIMIT = 20


class StreamLost(nats.errors.Error):
    """The follower does not receive what is in the stream: begin again."""


class StreamFollower:
    """One attempt to follow a stream, which ends with an exception."""

    def __init__(
        self,
        bus: Nats,
        stream: str,
        subject: str,
        on_message: Callable[[StoredMessage], None],
        *,
        check_every_s: float,
        answered_within_s: float,
    ) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(prefix=API_PREFIX, timeout=answered_within_s)
        self._stream = stream
        self._subject = subject
        self._on_message = on_message
        self._check_every_s = check_every_s
        self._answered_within_s = answered_within_s
        self._last_seq = 0
        # Messages that came before the earlier ones were read; None from then on.
        self._waiting: list[StoredMessage] | None = []
        # The messages after `_counted_from` that were received, and how many of them the bus has counted.
        self._counted_from = 0
        self._received = 0
        self._counted = 0
        self._ended = asyncio.Event()
        self._failure: Exception | None = None

    async def follow(self, info: StreamInfo, after: int, on_caught_up: Callable[[], None]) -> NoReturn:
        """Passes every message after a sequence on, until that fails.

        `info` is the stream's as it was when the caller chose the sequence; `on_caught_up` is called when everything
        that was stored before now has been passed on.
        """
        connection = self._connection()
        self._last_seq = self._counted_from = after
        subscription = await self._bus.subscribe(stored_subject(self._stream, self._subject), cb=self._receive)
        try:
            async with asyncio.timeout(self._answered_within_s):
                await self._bus.flush()
            await self._read_earlier(info)
            on_caught_up()
            await self._check_forever(info, connection)
        finally:
            # What still arrives is received again by the next attempt.
            self._ended.set()
            with suppress(*BUS_FAILURES):
                await subscription.unsubscribe()

    async def _read_earlier(self, info: StreamInfo) -> None:
        for _ in range(READ_ATTEMPTS_LIMIT):
            await self._read_pages()
            if await self._has_read_all():
                break
        else:
            raise StreamLost("what is stored cannot be read")
        if self._subject == WHOLE_STREAM:
            # Messages that have expired count as received.
            self._last_seq = max(self._last_seq, info.state.last_seq)
        waiting, self._waiting = self._waiting or [], None
        for message in waiting:
            if message.seq > self._last_seq:
                self._pass_on(message)

    async def _read_pages(self) -> None:
        pending = 1
        while pending:
            page = await read_page(
                self._bus, self._stream, self._subject, within_s=self._answered_within_s, after=self._last_seq
            )
            for message in page.messages:
                self._pass_on(message)
            pending = page.pending if page.messages else 0

    async def _has_read_all(self) -> bool:
        """Asks the leader of the stream: pages may come from a replica that is behind it."""
        try:
            missing = await self._jetstream.get_msg(self._stream, self._last_seq + 1, self._subject, next=True)
        except nats.js.errors.NotFoundError:
            return True
        return any(message.seq == missing.seq for message in self._waiting or ())

    async def _receive(self, message: Msg) -> None:
        if self._ended.is_set():
            return
        try:
            self._take(from_headers(message.headers or {}, message.data))
        except UnreadableAnswer:
            # Without these headers it does not come from the bus, which adds them when it has stored a message.
            return
        except Exception as failed:  # noqa: BLE001 - the client would only print it
            self._failure = failed
            self._ended.set()

    def _take(self, stored: StoredMessage) -> None:
        if self._waiting is not None:
            if len(self._waiting) >= WAITING_MESSAGES_LIMIT:
                raise StreamLost("more is stored than can be read")
            self._waiting.append(stored)
        elif stored.seq > self._last_seq:
            if self._subject == WHOLE_STREAM and stored.seq != self._last_seq + 1:
                raise StreamLost("messages were lost on the way")
            self._pass_on(stored)

    def _pass_on(self, message: StoredMessage) -> None:
        self._last_seq = message.seq
        self._received += 1
        self._on_message(message)

    async def _check_forever(self, info: StreamInfo, connection: int) -> NoReturn:
        stored_at_last_check = 0
        while True:
            for _ in range(max(1, round(self._check_every_s / CONNECTION_CHECK_S))):
                await background.wait_for_event(self._ended, CONNECTION_CHECK_S)
                if self._failure is not None:
                    raise self._failure
                if self._connection() != connection:
                    raise nats.errors.ConnectionReconnectingError
            # A message may arrive while the answer is on its way, which knows nothing of it.
            received_before = self._last_seq
            now = await self._jetstream.stream_info(self._stream)
            if now.created != info.created or now.state.last_seq < received_before:
                raise StreamLost("the stream is another one")
            if self._subject == WHOLE_STREAM:
                if stored_at_last_check > self._last_seq:
                    raise StreamLost("messages are not delivered")
                stored_at_last_check = now.state.last_seq
            else:
                await self._count()

    async def _count(self) -> None:
        """Counts the messages on the subject: their numbers have gaps, so a lost one shows in nothing else."""
        if self._received < self._counted:
            raise StreamLost("messages are not delivered")
        page = await read_page(
            self._bus, self._stream, self._subject, within_s=self._answered_within_s, after=self._counted_from, limit=1
        )
        self._counted = len(page.messages) + page.pending
        if self._received >= self._counted:
            self._counted_from, self._received, self._counted = self._last_seq, 0, 0

    def _connection(self) -> int:
        """Returns the number of the present connection to the bus."""
        require_connection(self._bus)
        return self._bus.stats["reconnects"]

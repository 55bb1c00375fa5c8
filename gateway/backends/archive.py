"""Reads the recent events of a table back, for a client that resumes at a gateway that did not receive them."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime, timedelta

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.subjects import EVENTS_STREAM, table_subject

# How far back a client can resume, even if the stream keeps more; and how many messages are read for it (G11).
RESUME_WINDOW_S = 300
MESSAGES_LIMIT = 500
ANSWERED_WITHIN_S = 1.0
# Where there are more messages, the start of the last ones is found by bisecting the stream.
SEARCH_STEPS_LIMIT = 24
# Room for messages that are published between the search and the reading.
HEADROOM_MESSAGES = 10
CONCURRENT_READS_LIMIT = 8


class _TooManyMessages(Exception):
    """There are more than MESSAGES_LIMIT."""


class Archive:
    """Reads messages of tables from the stream of events."""

    def __init__(self, bus: Nats) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(timeout=ANSWERED_WITHIN_S)
        self._reading = asyncio.Semaphore(CONCURRENT_READS_LIMIT)

    async def recent_messages(self, table_id: str) -> list[bytes]:
        """Returns a table's last messages, oldest first; none if they cannot be read in time."""
        if not self._bus.is_connected:
            return []
        try:
            async with asyncio.timeout(2 * ANSWERED_WITHIN_S), self._reading:
                return await self._latest(table_subject(table_id))
        except (*BUS_FAILURES, nats.js.errors.Error):
            return []

    async def _latest(self, subject: str) -> list[bytes]:
        since = datetime.now(UTC) - timedelta(seconds=RESUME_WINDOW_S)
        try:
            return await self._read(_consumer(subject, DeliverPolicy.BY_START_TIME, opt_start_time=since))
        except _TooManyMessages:
            # A busy table: most often the last messages are enough.
            start = await self._find_start(subject)
        try:
            return await self._read(_consumer(subject, DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=start))
        except _TooManyMessages:
            return []

    async def _find_start(self, subject: str) -> int:
        """Finds the place in the stream after which the table has about MESSAGES_LIMIT messages, and no more.

        A consumer without a subject to deliver to says how many messages there are, without reading them.
        """
        state = (await self._jetstream.stream_info(EVENTS_STREAM)).state
        low, high = state.first_seq, state.last_seq + 1
        for _ in range(SEARCH_STEPS_LIMIT):
            if high - low <= 1:
                break
            middle = (low + high) // 2
            consumer = _consumer(subject, DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=middle)
            pending = (await self._jetstream.add_consumer(EVENTS_STREAM, consumer)).num_pending or 0
            if pending > MESSAGES_LIMIT - HEADROOM_MESSAGES:
                low = middle
            else:
                high = middle
                if pending > MESSAGES_LIMIT // 2:
                    break
        return high

    async def _read(self, consumer: ConsumerConfig) -> list[bytes]:
        payloads: list[bytes] = []
        received = asyncio.Event()

        async def receive(message: Msg) -> None:
            payloads.append(message.data)
            received.set()

        inbox = self._bus.new_inbox()
        subscription = await self._bus.subscribe(inbox, cb=receive)
        try:
            info = await self._jetstream.add_consumer(EVENTS_STREAM, consumer, deliver_subject=inbox)
            # Messages that are already on their way are not pending any more.
            wanted = (info.num_pending or 0) + (info.delivered.consumer_seq if info.delivered else 0)
            if wanted > MESSAGES_LIMIT:
                raise _TooManyMessages
            while len(payloads) < wanted:
                received.clear()
                await received.wait()
            return payloads
        finally:
            await subscription.unsubscribe()


def _consumer(
    subject: str, policy: DeliverPolicy, opt_start_time: datetime | None = None, opt_start_seq: int | None = None
) -> ConsumerConfig:
    return ConsumerConfig(
        name=f"edge-{secrets.token_hex(8)}",
        filter_subject=subject,
        deliver_policy=policy,
        opt_start_time=opt_start_time,
        opt_start_seq=opt_start_seq,
        ack_policy=AckPolicy.NONE,
        max_deliver=1,
        inactive_threshold=ANSWERED_WITHIN_S,
        mem_storage=True,
        num_replicas=1,
    )

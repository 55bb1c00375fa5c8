"""What was told at a table lately, read back for one who comes back to a gateway that did not hear it."""

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

# How far back one can take up, however long the stream keeps more; and how many messages are read for it (G11).
RESUME_WINDOW_S = 300
MESSAGES_LIMIT = 500
ANSWERED_WITHIN_S = 1.0
# Where more has happened it is looked for where the last of it begins: so often, each time in half of the stream.
SEARCH_STEPS_LIMIT = 24
# Messages for which room is left, because they are said between looking and reading.
HEADROOM_MESSAGES = 10
CONCURRENT_READS_LIMIT = 8


class _TooMany(Exception):
    """More messages than are read."""


class Archive:
    """Reads messages back."""

    def __init__(self, bus: Nats) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(timeout=ANSWERED_WITHIN_S)
        self._reading = asyncio.Semaphore(CONCURRENT_READS_LIMIT)

    async def recent_messages(self, table_id: str) -> list[bytes]:
        """The table's last messages, oldest first; none if they cannot be had."""
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
        except _TooMany:
            # A busy table: what was missed is most often among the last.
            start = await self._start_of_the_last(subject)
        try:
            return await self._read(_consumer(subject, DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=start))
        except _TooMany:
            return []

    async def _start_of_the_last(self, subject: str) -> int:
        """From where in the stream no more than are read are this table's, and not much fewer.

        A consumer that delivers nothing says how many there are, and nothing is read for it.
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
        found: list[bytes] = []
        more = asyncio.Event()

        async def receive(message: Msg) -> None:
            found.append(message.data)
            more.set()

        inbox = self._bus.new_inbox()
        subscription = await self._bus.subscribe(inbox, cb=receive)
        try:
            info = await self._jetstream.add_consumer(EVENTS_STREAM, consumer, deliver_subject=inbox)
            # Those on their way already are pending no more.
            wanted = (info.num_pending or 0) + (info.delivered.consumer_seq if info.delivered else 0)
            if wanted > MESSAGES_LIMIT:
                raise _TooMany
            while len(found) < wanted:
                more.clear()
                await more.wait()
            return found
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

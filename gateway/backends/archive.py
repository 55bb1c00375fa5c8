"""Reads the recent events of a table back, for a client that resumes at a gateway that did not receive them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from nats.aio.client import Client as Nats

from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.stored import StoredMessage, read_page
from services.kit.bus.subjects import API_PREFIX, EVENTS_STREAM, table_subject

# How far back a client can resume, even if the stream keeps more; and how many messages are read for it (G11).
RESUME_WINDOW_S = 300
MESSAGES_LIMIT = 500
ANSWERED_WITHIN_S = 1.0
# Where there are more messages, the start of the last ones is found by bisecting the stream.
SEARCH_STEPS_LIMIT = 24
# Room for messages that are published between the search and the reading.
HEADROOM_MESSAGES = 10
CONCURRENT_READS_LIMIT = 8


class Archive:
    """Reads messages of tables from the stream of events."""

    def __init__(self, bus: Nats) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(prefix=API_PREFIX, timeout=ANSWERED_WITHIN_S)
        self._reading = asyncio.Semaphore(CONCURRENT_READS_LIMIT)

    async def recent_messages(self, game: str, table_id: str) -> list[bytes]:
        """Returns a table's last messages, oldest first; none if they cannot be read in time."""
        if not self._bus.is_connected:
            return []
        try:
            async with asyncio.timeout(2 * ANSWERED_WITHIN_S), self._reading:
                return [message.data for message in await self._latest(table_subject(game, table_id))]
        except BUS_FAILURES:
            return []

    async def _latest(self, subject: str) -> list[StoredMessage]:
        since = datetime.now(UTC) - timedelta(seconds=RESUME_WINDOW_S)
        first = await read_page(self._bus, EVENTS_STREAM, subject, within_s=ANSWERED_WITHIN_S, since=since, limit=1)
        if not first.messages:
            return []
        after = first.messages[0].seq - 1
        if len(first.messages) + first.pending > MESSAGES_LIMIT:
            # A busy table: most often the last messages are enough.
            after = await self._find_start(subject)
        return await self._read(subject, after)

    async def _find_start(self, subject: str) -> int:
        """Finds the place in the stream after which the table has about MESSAGES_LIMIT messages, and no more."""
        state = (await self._jetstream.stream_info(EVENTS_STREAM)).state
        low, high = state.first_seq, state.last_seq + 1
        for _ in range(SEARCH_STEPS_LIMIT):
            if high - low <= 1:
                break
            middle = (low + high) // 2
            page = await read_page(
                self._bus, EVENTS_STREAM, subject, within_s=ANSWERED_WITHIN_S, after=middle - 1, limit=1
            )
            pending = len(page.messages) + page.pending
            if pending > MESSAGES_LIMIT - HEADROOM_MESSAGES:
                low = middle
            else:
                high = middle
                if pending > MESSAGES_LIMIT // 2:
                    break
        return high - 1

    async def _read(self, subject: str, after: int) -> list[StoredMessage]:
        """Reads all messages after a sequence; none if there are too many by now."""
        messages: list[StoredMessage] = []
        pending = 1
        while pending:
            page = await read_page(self._bus, EVENTS_STREAM, subject, within_s=ANSWERED_WITHIN_S, after=after)
            messages += page.messages
            if len(messages) + page.pending > MESSAGES_LIMIT:
                return []
            if page.messages:
                after = page.messages[-1].seq
            pending = page.pending if page.messages else 0
        return messages

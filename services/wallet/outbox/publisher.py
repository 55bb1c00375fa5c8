"""Carries committed facts from the outbox to JetStream: each exactly once, for one account in order, none lost.

One replica publishes at a time (an advisory lock says which). It sends a batch as a chain, each message expecting the
sequence of the one before it, so the acknowledgement of the last one vouches for all, and a publisher that was
believed dead can add nothing. Only then are the rows removed and the stream's sequence noted. Whoever takes over
reads what the stream holds beyond that note: those facts have left already. This does not depend on how long the
stream remembers message ids.
"""

import asyncio
import logging
from collections import Counter as Tally
from dataclasses import dataclass

import nats.errors
import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js import JetStreamContext
from nats.js.api import Header, StorageType, StreamConfig
from prometheus_client import Counter, Gauge
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.bus.streams import ensure_stream
from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.wallet.outbox import facts
from services.wallet.outbox.facts import Fact

# Rows and messages that leave together (G11). One row holds a whole transaction, so the second is a soft limit.
ROWS_LIMIT = 64
MESSAGES_LIMIT = 2_000
# How long facts of other replicas may wait to be seen, and how long a replica waits to become the publisher.
POLL_INTERVAL_S = 0.05
LEADER_RETRY_S = 1.0
# How long the first fact after a quiet moment waits for company: to publish costs more than to commit.
GATHER_S = 0.01
ACK_TIMEOUT_S = 10.0
# How long the stream keeps facts for those who were away.
RETENTION_S = 7 * 24 * 3600

_ONE_PUBLISHER = 0x464F5554

_log = logging.getLogger(__name__)
_PUBLISHED = Counter("feltro_wallet_facts_published", "Facts that have left for the bus")
_LEADING = Gauge("feltro_wallet_outbox_leading", "1 in the replica that publishes")

_LEAD = "SELECT pg_try_advisory_lock($1)"
_FIRST_CURSOR = """
UPDATE outbox_cursor SET ledger_id = gen_random_uuid(), stream_seq = $1 WHERE stream_seq IS NULL
"""
# The stream has begun again: what it holds beyond the note could not be told from what it held before.
_CURSOR_BACK = "UPDATE outbox_cursor SET stream_seq = $1"
_CURSOR = "SELECT ledger_id::text, stream_seq FROM outbox_cursor"
_NEXT = "SELECT outbox_no, facts FROM outbox ORDER BY outbox_no LIMIT $1"
_REMOVE = """
WITH removed AS (DELETE FROM outbox WHERE outbox_no = ANY($1::bigint[]))
UPDATE outbox_cursor SET stream_seq = $2
"""


@dataclass(slots=True)
class _Place:
    """Where the publisher stands in the stream."""

    ledger_id: str
    stream_seq: int
    # Facts of rows still in the outbox that the stream already holds, by row.
    already_there: Tally[int]


class OutboxPublisher:
    """Publishes for as long as it runs, whatever happens to database and bus in the meantime."""

    def __init__(self, engine: AsyncEngine, bus: Nats) -> None:
        self._engine = engine
        self._bus = bus
        self._jetstream: JetStreamContext = bus.jetstream()
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """There is something new in the outbox."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            try:
                # The lock belongs to the connection and ends with it.
                connection = await DirectConnection.open(self._engine)
                try:
                    ((leading,),) = await connection.fetch(_LEAD, _ONE_PUBLISHER)
                    if leading:
                        await self._lead(connection)
                finally:
                    await connection.discard()
            except (*DATABASE_FAILURES, nats.errors.Error) as failed:
                error = f"{type(failed).__name__}: {failed}"[:300]
                _log.warning("facts are waiting in the outbox", extra={"error": error})
            finally:
                _LEADING.set(0)
            await asyncio.sleep(LEADER_RETRY_S)

    async def _lead(self, connection: DirectConnection) -> None:
        place = await self._find_place(connection)
        _LEADING.set(1)
        while True:
            self._woken.clear()
            if not await self._publish_next(connection, place):
                await background.wait_for_event(self._woken, POLL_INTERVAL_S)
                await asyncio.sleep(GATHER_S)

    async def _find_place(self, connection: DirectConnection) -> _Place:
        """Where the stream ends, and which facts it holds that are still in the outbox."""
        await self._ensure_stream()
        last = (await self._jetstream.stream_info(facts.STREAM)).state.last_seq
        await connection.fetch(_FIRST_CURSOR, last)
        ((ledger_id, noted),) = await connection.fetch(_CURSOR)
        place = _Place(ledger_id, last, Tally())
        if last < noted:
            _log.error("the stream has lost messages that had left the outbox", extra={"noted": noted, "last": last})
            await connection.fetch(_CURSOR_BACK, last)
        for seq in range(noted + 1, last + 1):
            message_id = await self._message_id(seq)
            if message_id.startswith(f"{ledger_id}."):
                place.already_there[int(message_id.split(".")[1])] += 1
        return place

    async def _ensure_stream(self) -> None:
        config = StreamConfig(
            name=facts.STREAM,
            subjects=facts.SUBJECTS,
            storage=StorageType.FILE,
            max_age=RETENTION_S,
            duplicate_window=120,
        )
        await ensure_stream(self._jetstream, config)

    async def _message_id(self, seq: int) -> str:
        try:
            message = await self._jetstream.get_msg(facts.STREAM, seq)
        except nats.js.errors.NotFoundError:
            return ""
        return str((message.headers or {}).get(Header.MSG_ID, ""))

    async def _publish_next(self, connection: DirectConnection, place: _Place) -> bool:
        """Publishes a batch and removes it; false if there was none."""
        numbers: list[int] = []
        messages: list[tuple[str, Fact]] = []
        for number, packed in await connection.fetch(_NEXT, ROWS_LIMIT):
            if len(messages) >= MESSAGES_LIMIT:
                break
            numbers.append(number)
            gone = place.already_there.pop(number, 0)
            for index, fact in enumerate(facts.unpack(packed)):
                if index >= gone:
                    messages.append((f"{place.ledger_id}.{number}.{index}", fact))
        if not numbers:
            return False
        await self._send(messages, place)
        await connection.fetch(_REMOVE, numbers, place.stream_seq)
        _PUBLISHED.inc(len(messages))
        return True

    async def _send(self, messages: list[tuple[str, Fact]], place: _Place) -> None:
        """Sends a chain; raises unless the whole of it is in the stream."""
        expected = place.stream_seq
        for message_id, fact in messages[:-1]:
            headers = {Header.MSG_ID.value: message_id, Header.EXPECTED_LAST_SEQUENCE.value: str(expected)}
            await self._bus.publish(fact.subject, fact.payload, headers=headers)
            expected += 1
        if messages:
            message_id, fact = messages[-1]
            headers = {Header.MSG_ID.value: message_id, Header.EXPECTED_LAST_SEQUENCE.value: str(expected)}
            acknowledged = await self._jetstream.publish(
                fact.subject, fact.payload, timeout=ACK_TIMEOUT_S, stream=facts.STREAM, headers=headers
            )
            place.stream_seq = acknowledged.seq

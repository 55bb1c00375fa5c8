"""Publishes committed facts from the outbox to JetStream: each exactly once, in order for each account, none lost.

One replica publishes at a time, chosen by an advisory lock. It sends a batch as a chain: each message expects the
sequence of the one before it, so the acknowledgement of the last one confirms all, and a publisher that was believed
dead cannot add anything. Only then are the rows removed and the stream's sequence recorded. A new publisher reads the
messages beyond the recorded sequence: their facts are published already. This does not depend on how long the stream
remembers message ids.
"""

import asyncio
import logging
from collections import Counter as Tally
from contextlib import ExitStack
from dataclasses import dataclass

import nats.errors
import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js import JetStreamContext
from nats.js.api import Header
from opentelemetry.trace import SpanKind
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.bus.subjects import API_PREFIX, FACTS_STREAM
from services.kit.clock import Clock, SystemClock
from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.kit.telemetry import trace
from services.wallet.outbox import facts
from services.wallet.outbox.facts import Fact

# Rows and messages that leave together (G11). One row holds a whole transaction, so the second is a soft limit.
ROWS_LIMIT = 64
MESSAGES_LIMIT = 2_000
# How often the outbox is read for facts of other replicas, and how often a replica tries to become the publisher.
POLL_INTERVAL_S = 0.05
LEADER_RETRY_S = 1.0
# How long facts wait for others before a batch that is not full leaves: publishing costs more than committing.
GATHER_S = 0.01
ACK_TIMEOUT_S = 10.0
# Of a row's number, an int64.
ROW_DIGITS_LIMIT = 19

_PUBLISHER_LOCK = 0x464F5554

_log = logging.getLogger(__name__)
_PUBLISHED = Counter("feltro_wallet_facts_published", "Facts published to the bus")
_FAILURES = Counter("feltro_wallet_outbox_failures", "Attempts to publish facts that have failed")
_BATCHES = Histogram(
    "feltro_wallet_outbox_batch_facts", "Facts published together", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
)
OLDEST = Gauge(
    "feltro_wallet_outbox_oldest_seconds", "Age of the oldest fact that waits to be published; 0 if none does"
)
_LEADING = Gauge("feltro_wallet_outbox_leading", "1 in the replica that publishes")

_TRY_LOCK = "SELECT pg_try_advisory_lock($1)"
_FIRST_CURSOR = """
UPDATE outbox_cursor SET ledger_id = gen_random_uuid(), stream_seq = $1 WHERE stream_seq IS NULL
"""
# A stream that lost messages reuses sequences: beyond the recorded one, new messages would look like published ones.
_RESET_CURSOR = "UPDATE outbox_cursor SET stream_seq = $1"
_CURSOR = "SELECT ledger_id::text, stream_seq FROM outbox_cursor"
_OLDEST = text("SELECT at FROM outbox ORDER BY outbox_no LIMIT 1")
_NEXT = "SELECT outbox_no, facts, traces FROM outbox ORDER BY outbox_no LIMIT $1"
_REMOVE = """
WITH removed AS (DELETE FROM outbox WHERE outbox_no = ANY($1::bigint[]))
UPDATE outbox_cursor SET stream_seq = $2
"""


@dataclass(slots=True)
class _Position:
    """The publisher's position in the stream."""

    ledger_id: str
    stream_seq: int
    # How many facts of a row that is still in the outbox the stream holds already, by row.
    published: Tally[int]


class OutboxPublisher:
    """Publishes as long as it runs, through failures of the database and the bus."""

    def __init__(self, engine: AsyncEngine, bus: Nats, clock: Clock | None = None) -> None:
        self._engine = engine
        self._clock = clock or SystemClock()
        self._last_oldest_s = 0.0
        self._bus = bus
        self._jetstream: JetStreamContext = bus.jetstream(prefix=API_PREFIX)
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Announces new facts in the outbox."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            try:
                # The lock belongs to the connection and ends with it.
                connection = await DirectConnection.open(self._engine)
                try:
                    ((leading,),) = await connection.fetch(_TRY_LOCK, _PUBLISHER_LOCK)
                    if leading:
                        await self._lead(connection)
                finally:
                    await connection.discard()
            except (*DATABASE_FAILURES, nats.errors.Error) as failed:
                _FAILURES.inc()
                error = f"{type(failed).__name__}: {failed}"[:300]
                _log.warning("facts are waiting in the outbox", extra={"error": error})
            finally:
                _LEADING.set(0)
            await asyncio.sleep(LEADER_RETRY_S)

    async def oldest_s(self) -> float:
        """Returns the age of the oldest fact that waits; the last known one while the database does not answer."""
        try:
            async with self._engine.connect() as connection:
                at = (await connection.execute(_OLDEST)).scalar_one_or_none()
        except DATABASE_FAILURES:
            return self._last_oldest_s
        self._last_oldest_s = 0.0 if at is None else max(0.0, (self._clock.now() - at).total_seconds())
        return self._last_oldest_s

    async def _lead(self, connection: DirectConnection) -> None:
        position = await self._find_position(connection)
        _LEADING.set(1)
        while True:
            self._woken.clear()
            more_may_wait = await self._publish_next(connection, position)
            if not more_may_wait:
                await background.wait_for_event(self._woken, POLL_INTERVAL_S)
                await asyncio.sleep(GATHER_S)

    async def _find_position(self, connection: DirectConnection) -> _Position:
        """Returns the end of the stream, with the facts it holds that are still in the outbox."""
        last = (await self._jetstream.stream_info(FACTS_STREAM)).state.last_seq
        await connection.fetch(_FIRST_CURSOR, last)
        ((ledger_id, recorded),) = await connection.fetch(_CURSOR)
        position = _Position(ledger_id, last, Tally())
        if last < recorded:
            _log.error("the stream has lost published messages", extra={"recorded": recorded, "last": last})
            await connection.fetch(_RESET_CURSOR, last)
        for seq in range(recorded + 1, last + 1):
            row = _row_of(await self._message_id(seq), ledger_id)
            if row is not None:
                position.published[row] += 1
        return position

    async def _message_id(self, seq: int) -> str:
        try:
            message = await self._jetstream.get_msg(FACTS_STREAM, seq)
        except nats.js.errors.NotFoundError:
            return ""
        return str((message.headers or {}).get(Header.MSG_ID, ""))

    async def _publish_next(self, connection: DirectConnection, position: _Position) -> bool:
        """Publishes a batch and removes it; returns whether it was full, so that more facts may wait."""
        numbers: list[int] = []
        messages: list[tuple[str, Fact]] = []
        rows = await connection.fetch(_NEXT, ROWS_LIMIT)
        for number, packed, traces in rows:
            if len(messages) >= MESSAGES_LIMIT:
                break
            numbers.append(number)
            published = position.published.pop(number, 0)
            for index, fact in enumerate(facts.unpack(packed, traces)):
                if index >= published:
                    messages.append((f"{position.ledger_id}.{number}.{index}", fact))
        if not numbers:
            return False
        await self._send(messages, position)
        await connection.fetch(_REMOVE, numbers, position.stream_seq)
        _PUBLISHED.inc(len(messages))
        _BATCHES.observe(len(messages))
        return len(rows) == ROWS_LIMIT or len(numbers) < len(rows)

    async def _send(self, messages: list[tuple[str, Fact]], position: _Position) -> None:
        """Sends a chain; raises unless all of it is in the stream."""
        with ExitStack() as spans:
            await self._send_chain([(*message, _begin_span(message[1], spans)) for message in messages], position)

    async def _send_chain(self, messages: list[tuple[str, Fact, str]], position: _Position) -> None:
        expected = position.stream_seq
        for message_id, fact, traceparent in messages[:-1]:
            headers = _headers(message_id, expected, traceparent)
            await self._bus.publish(fact.subject, fact.payload, headers=headers)
            expected += 1
        if messages:
            message_id, fact, traceparent = messages[-1]
            headers = _headers(message_id, expected, traceparent)
            acknowledged = await self._jetstream.publish(
                fact.subject, fact.payload, timeout=ACK_TIMEOUT_S, stream=FACTS_STREAM, headers=headers
            )
            position.stream_seq = acknowledged.seq


def _begin_span(fact: Fact, spans: ExitStack) -> str:
    """Begins the span of a fact that has a trace, until `spans` are closed, and returns what leads on from it."""
    if not fact.traceparent or not trace.is_recording():
        return fact.traceparent
    span = trace.begin("publish a fact", fact.traceparent, kind=SpanKind.PRODUCER)
    spans.callback(span.end)
    return trace.header_of(span)


def _headers(message_id: str, expected: int, traceparent: str) -> dict[str, str]:
    headers = {Header.MSG_ID.value: message_id, Header.EXPECTED_LAST_SEQUENCE.value: str(expected)}
    if traceparent:
        headers[trace.HEADER] = traceparent
    return headers


def _row_of(message_id: str, ledger_id: str) -> int | None:
    """Returns the outbox row of a message; None if this ledger did not publish it."""
    ledger, _, rest = message_id.partition(".")
    row = rest.partition(".")[0]
    is_number = row.isascii() and row.isdecimal() and len(row) <= ROW_DIGITS_LIMIT
    return int(row) if ledger == ledger_id and is_number else None

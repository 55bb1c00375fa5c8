"""What was told at a table lately, read back for one who comes back to a gateway that did not hear it."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime, timedelta

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from services.kit.table.outages import BUS_FAILURES
from services.kit.table.table_bus import STREAM, table_subject

# How far back one can take up, however long the stream keeps more; and how many messages are read for it (G11).
KEPT_FOR_S = 300
MESSAGES_LIMIT = 500
ANSWERED_WITHIN_S = 1.0
READ_AT_ONCE = 8


class Archive:
    """Reads messages back."""

    def __init__(self, bus: Nats) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(timeout=ANSWERED_WITHIN_S)
        self._reading = asyncio.Semaphore(READ_AT_ONCE)

    async def lately(self, table_id: str) -> list[bytes]:
        """The table's last messages, oldest first; none if they cannot be had."""
        if not self._bus.is_connected:
            return []
        try:
            async with self._reading, asyncio.timeout(2 * ANSWERED_WITHIN_S):
                return await self._read(table_subject(table_id))
        except (*BUS_FAILURES, nats.js.errors.Error):
            return []

    async def _read(self, subject: str) -> list[bytes]:
        found: list[bytes] = []
        more = asyncio.Event()

        async def receive(message: Msg) -> None:
            found.append(message.data)
            more.set()

        inbox = self._bus.new_inbox()
        subscription = await self._bus.subscribe(inbox, cb=receive)
        try:
            info = await self._jetstream.add_consumer(
                STREAM,
                ConsumerConfig(
                    name=f"edge-{secrets.token_hex(8)}",
                    deliver_subject=inbox,
                    filter_subject=subject,
                    deliver_policy=DeliverPolicy.BY_START_TIME,
                    opt_start_time=datetime.now(UTC) - timedelta(seconds=KEPT_FOR_S),
                    ack_policy=AckPolicy.NONE,
                    max_deliver=1,
                    inactive_threshold=ANSWERED_WITHIN_S,
                    mem_storage=True,
                    num_replicas=1,
                ),
            )
            # Those on their way already are pending no more.
            wanted = (info.num_pending or 0) + (info.delivered.consumer_seq if info.delivered else 0)
            if wanted > MESSAGES_LIMIT:
                return []
            while len(found) < wanted:
                more.clear()
                await more.wait()
            return found
        finally:
            await subscription.unsubscribe()

"""A key-value bucket that processes share: written over a known revision, and watched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js.api import Header
from nats.js.kv import KV_DEL, KV_OP

from services.kit.bus.connection import require_connection
from services.kit.bus.follower import WHOLE_STREAM, StreamFollower
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.stored import StoredMessage
from services.kit.bus.streams import is_sequence_conflict
from services.kit.bus.subjects import API_PREFIX, bucket_stream, key_subject
from services.kit.clock import seconds_since_boot

# How long a request to the bus waits for its answer (G11).
REQUEST_TIMEOUT_S = 0.6
# How often the bucket itself is asked whether the watch has received everything.
WATCH_CHECK_INTERVAL_S = 0.5

# JetStream's code for a stream that does not exist.
_NO_STREAM = 10059


class RevisionConflict(Exception):
    """Another value was written under the key in the meantime: nothing was changed."""


@dataclass(frozen=True, slots=True)
class BucketEntry:
    """The value of a key."""

    value: bytes
    """Empty if the key is deleted or was never written."""
    revision: int
    """0 if the key was never written."""
    seen_at: float
    """When this process learnt of it, by its own clock."""


class Bucket:
    """One bucket, as this process sees it."""

    def __init__(
        self,
        bus: Nats,
        name: str,
        on_change: Callable[[], None],
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self.entries: dict[str, BucketEntry] = {}
        """The last known value of every key, deleted ones included."""
        self.watched_since: float | None = None
        """Since when every change has been received; None while the watch is broken."""
        self.last_changed_key: str | None = None
        """The key that changed last; None after all entries were read again."""
        self._bus = bus
        self._on_change = on_change
        self._clock = clock
        self._jetstream = bus.jetstream(prefix=API_PREFIX, timeout=REQUEST_TIMEOUT_S)
        self._stream = bucket_stream(name)
        self._subjects = key_subject(name, "")
        self._watched_connection = -1

    @property
    def is_current(self) -> bool:
        """Whether the entries are, as far as this process can know, what the bucket holds."""
        return self.watched_since is not None and self._bus.is_connected and self._same_connection()

    async def read(self, key: str) -> BucketEntry:
        """Reads the value from the bucket, whatever the watch has received."""
        require_connection(self._bus)
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                message = await self._jetstream.get_last_msg(self._stream, self._subjects + key)
        except nats.js.errors.NotFoundError as missing:
            if missing.err_code == _NO_STREAM:
                raise
            return BucketEntry(b"", 0, self._clock())
        deleted = KV_OP in (message.headers or {})
        return BucketEntry(b"" if deleted else message.data or b"", message.seq or 0, self._clock())

    async def write(self, key: str, value: bytes, expected_revision: int) -> int:
        """Writes over a revision (0: no value yet) and returns the new one."""
        return await self._publish(key, value, {Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(expected_revision)})

    async def put(self, key: str, value: bytes, ttl_s: int | None = None) -> None:
        """Writes over any revision; after `ttl_s` the key is as if it had never been written."""
        await self._publish(key, value, {} if ttl_s is None else {Header.MSG_TTL.value: str(ttl_s)})

    async def remove(self, key: str, expected_revision: int | None = None) -> None:
        """Deletes the value: of this revision only, if one is given."""
        headers = {KV_OP: KV_DEL}
        if expected_revision is not None:
            headers[Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value] = str(expected_revision)
        await self._publish(key, b"", headers)

    async def _publish(self, key: str, value: bytes, headers: dict[str, str]) -> int:
        require_connection(self._bus)
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                return (await self._jetstream.publish(self._subjects + key, value, headers=headers)).seq
        except nats.js.errors.APIError as refused:
            if is_sequence_conflict(refused):
                raise RevisionConflict from refused
            raise

    async def watch(self) -> None:
        """Receives every change, until that fails with an exception."""
        require_connection(self._bus)
        self._watched_connection = self._bus.stats["reconnects"]
        info = await self._jetstream.stream_info(self._stream)
        # Collected first: a part of the entries would be a worse picture than the last known ones.
        read: dict[str, BucketEntry] = {}

        def receive(message: StoredMessage) -> None:
            key = message.subject.removeprefix(self._subjects)
            value = b"" if KV_OP in message.headers else message.data
            entry = BucketEntry(value, message.seq, self._clock())
            if self.watched_since is None:
                known = self.entries.get(key)
                # An entry that was known before is no newer because this watch has received it, too.
                read[key] = known if known is not None and known.revision == entry.revision else entry
            else:
                self.entries[key] = entry
                self.last_changed_key = key
                self._on_change()

        def replace_entries() -> None:
            self.entries = read
            self.watched_since, self.last_changed_key = self._clock(), None
            self._on_change()

        follower = StreamFollower(
            self._bus,
            self._stream,
            WHOLE_STREAM,
            receive,
            check_every_s=WATCH_CHECK_INTERVAL_S,
            answered_within_s=REQUEST_TIMEOUT_S,
        )
        try:
            await follower.follow(info, 0, replace_entries)
        finally:
            self.watched_since = None

    async def watch_forever(self, outage: Outage) -> None:
        """Watches, and begins again whenever that fails, until it is cancelled."""
        while True:
            try:
                await self.watch()
            except BUS_FAILURES as failed:
                outage.failed(failed)
            await asyncio.sleep(RETRY_DELAY_S)

    def _same_connection(self) -> bool:
        return bool(self._bus.stats["reconnects"] == self._watched_connection)

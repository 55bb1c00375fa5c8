"""A key-value bucket that processes share: written only over a known revision, watched, and made again when lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import nats.errors
import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js.api import Header, KeyValueConfig, StreamInfo
from nats.js.kv import KV_DEL, KV_OP, KeyValue

from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.streams import is_sequence_conflict
from services.kit.clock import seconds_since_boot

# How long a request to the bus waits for its answer (G11).
REQUEST_TIMEOUT_S = 0.6
# How long a watch may receive nothing before the bucket itself is asked whether it should have.
WATCH_CHECK_INTERVAL_S = 0.5

# JetStream's code for a stream that does not exist.
_NO_STREAM = 10059


class RevisionConflict(Exception):
    """Another value was written under the key in the meantime: nothing was changed."""


class WatchBroken(nats.errors.Error):
    """The watch does not receive what is in the bucket."""


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
        config: KeyValueConfig,
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
        self._config = config
        self._on_change = on_change
        self._clock = clock
        self._jetstream = bus.jetstream(timeout=REQUEST_TIMEOUT_S)
        self._stream = f"KV_{config.bucket}"
        self._subjects = f"$KV.{config.bucket}."
        self._watched_connection = -1
        self._received_up_to = 0

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
        """Receives every change, until that fails with an exception; makes the bucket if there is none."""
        require_connection(self._bus)
        self._watched_connection = self._bus.stats["reconnects"]
        bucket = await self.create_if_missing()
        start = await self._jetstream.stream_info(self._stream)
        watcher = await bucket.watchall()
        try:
            await self._read_all(watcher, start)
            await self._follow(watcher, start)
        finally:
            self.watched_since = None
            with suppress(*BUS_FAILURES):
                await watcher.stop()  # type: ignore[no-untyped-call]

    async def watch_forever(self, outage: Outage) -> None:
        """Watches, and begins again whenever that fails, until it is cancelled."""
        while True:
            try:
                await self.watch()
            except BUS_FAILURES as failed:
                outage.failed(failed)
            await asyncio.sleep(RETRY_DELAY_S)

    async def create_if_missing(self) -> KeyValue:
        """Returns the bucket, which is made if there is none."""
        require_connection(self._bus)
        try:
            return await self._jetstream.create_key_value(self._config)
        except nats.js.errors.BadRequestError:
            # It exists with another configuration, which is the operator's to choose.
            return await self._jetstream.key_value(self._config.bucket)

    async def _read_all(self, watcher: KeyValue.KeyWatcher, start: StreamInfo) -> None:
        """Reads all entries and replaces the known ones at once: a part of the new ones would be a worse picture."""
        entries: dict[str, BucketEntry] = {}
        self._received_up_to = start.state.last_seq
        while (entry := await _next(watcher, REQUEST_TIMEOUT_S)) is not None:
            known, received = self.entries.get(entry.key), self._received(entry)
            # An entry that was known before is no newer because this watch has received it, too.
            entries[entry.key] = known if known is not None and known.revision == received.revision else received
        self.entries = entries
        self.watched_since, self.last_changed_key = self._clock(), None
        self._on_change()

    async def _follow(self, watcher: KeyValue.KeyWatcher, start: StreamInfo) -> None:
        unreceived = 0
        while self._same_connection():
            try:
                entry = await _next(watcher, WATCH_CHECK_INTERVAL_S)
            except nats.errors.TimeoutError:
                unreceived = await self._check(start, unreceived)
                continue
            if entry is not None:
                self.entries[entry.key] = self._received(entry)
                self.last_changed_key = entry.key
                self._on_change()
        raise WatchBroken

    async def _check(self, start: StreamInfo, unreceived: int) -> int:
        """Returns the last revision; raises `WatchBroken` if that of the last check has not been received since."""
        if unreceived > self._received_up_to:
            raise WatchBroken
        now = await self._jetstream.stream_info(self._stream)
        if now.created != start.created:
            raise WatchBroken
        return now.state.last_seq

    def _received(self, entry: KeyValue.Entry) -> BucketEntry:
        revision = entry.revision or 0
        self._received_up_to = max(self._received_up_to, revision)
        return BucketEntry((entry.value or b"") if entry.operation is None else b"", revision, self._clock())

    def _same_connection(self) -> bool:
        return bool(self._bus.stats["reconnects"] == self._watched_connection)


async def _next(watcher: KeyValue.KeyWatcher, within_s: float) -> KeyValue.Entry | None:
    """Returns the next change; None after the last of the entries that existed when the watch began."""
    entry: KeyValue.Entry | None = await watcher.updates(timeout=within_s)  # type: ignore[no-untyped-call]
    return entry

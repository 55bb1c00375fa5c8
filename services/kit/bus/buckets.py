"""A key-value bucket that several processes agree in: written only over what is known, watched, made anew when lost."""

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

# No question to the bus waits longer for its answer (G11).
REQUEST_TIMEOUT_S = 0.6
# How long a watch may see nothing before the bucket itself is asked whether there is anything to see.
WATCH_CHECK_INTERVAL_S = 0.5

# JetStream's code for a stream that does not exist.
_NO_STREAM = 10059


class RevisionConflict(Exception):
    """Something else was written under the key in the meantime: nothing was changed."""


class WatchBroken(nats.errors.Error):
    """The watch does not see what is in the bucket."""


@dataclass(frozen=True, slots=True)
class BucketEntry:
    """What is under a key."""

    value: bytes
    """Empty if there is nothing."""
    revision: int
    """0 if there never was anything."""
    seen_at: float
    """When it came to be known here, by our own clock."""


class Bucket:
    """One bucket, as this process sees and changes it."""

    def __init__(
        self,
        bus: Nats,
        config: KeyValueConfig,
        on_change: Callable[[], None],
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self.entries: dict[str, BucketEntry] = {}
        """What was seen under every key, deleted ones included."""
        self.watched_since: float | None = None
        """Since when every change has been seen; None while the watch is broken."""
        self.last_changed_key: str | None = None
        """The key that changed last; None after all that is there was looked at anew."""
        self._bus = bus
        self._config = config
        self._noticed = on_change
        self._clock = clock
        self._jetstream = bus.jetstream(timeout=REQUEST_TIMEOUT_S)
        self._stream = f"KV_{config.bucket}"
        self._subjects = f"$KV.{config.bucket}."
        self._connection = -1
        self._seen_up_to = 0

    @property
    def is_current(self) -> bool:
        """Whether what was seen is, as far as one can know, what is there."""
        return self.watched_since is not None and self._bus.is_connected and self._same_connection()

    async def read(self, key: str) -> BucketEntry:
        """What is there now, whatever the watch has seen."""
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
        """Writes over a revision (0: over nothing) and returns the new one."""
        return await self._publish(key, value, {Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(expected_revision)})

    async def put(self, key: str, value: bytes, ttl_s: int | None = None) -> None:
        """Writes, whatever is there; after `lives_for_s` it is as if it had never been there."""
        await self._publish(key, value, {} if ttl_s is None else {Header.MSG_TTL.value: str(ttl_s)})

    async def remove(self, key: str, expected_revision: int | None = None) -> None:
        """Deletes what was written as a revision, or whatever is there."""
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
        """Sees every change, in a bucket that is made if there is none, until that fails with an exception."""
        require_connection(self._bus)
        self._connection = self._bus.stats["reconnects"]
        bucket = await self.create_if_missing()
        start = await self._jetstream.stream_info(self._stream)
        watcher = await bucket.watchall()
        try:
            await self._look_around(watcher, start)
            await self._look_on(watcher, start)
        finally:
            self.watched_since = None
            with suppress(*BUS_FAILURES):
                await watcher.stop()  # type: ignore[no-untyped-call]

    async def watch_forever(self, outage: Outage) -> None:
        """Watches, and does so anew whenever that fails, until it is cancelled."""
        while True:
            try:
                await self.watch()
            except BUS_FAILURES as failed:
                outage.failed(failed)
            await asyncio.sleep(RETRY_DELAY_S)

    async def create_if_missing(self) -> KeyValue:
        """The bucket, made if there is none."""
        require_connection(self._bus)
        try:
            return await self._jetstream.create_key_value(self._config)
        except nats.js.errors.BadRequestError:
            # It is there with another configuration, which is the operator's to choose.
            return await self._jetstream.key_value(self._config.bucket)

    async def _look_around(self, watcher: KeyValue.KeyWatcher, start: StreamInfo) -> None:
        """All that is there when the watch begins, at once: until then what was seen before is the better picture."""
        found: dict[str, BucketEntry] = {}
        self._seen_up_to = start.state.last_seq
        while (entry := await _next(watcher, REQUEST_TIMEOUT_S)) is not None:
            known, noted = self.entries.get(entry.key), self._note(entry)
            # What another watch has seen already is no newer for being seen again.
            found[entry.key] = known if known is not None and known.revision == noted.revision else noted
        self.entries = found
        self.watched_since, self.last_changed_key = self._clock(), None
        self._noticed()

    async def _look_on(self, watcher: KeyValue.KeyWatcher, start: StreamInfo) -> None:
        unseen = 0
        while self._same_connection():
            try:
                entry = await _next(watcher, WATCH_CHECK_INTERVAL_S)
            except nats.errors.TimeoutError:
                unseen = await self._check(start, unseen)
                continue
            if entry is not None:
                self.entries[entry.key] = self._note(entry)
                self.last_changed_key = entry.key
                self._noticed()
        raise WatchBroken

    async def _check(self, start: StreamInfo, unseen: int) -> int:
        """Whether there is something that the watch should have shown; raises if it was there at the last check."""
        if unseen > self._seen_up_to:
            raise WatchBroken
        now = await self._jetstream.stream_info(self._stream)
        if now.created != start.created:
            raise WatchBroken
        return now.state.last_seq

    def _note(self, entry: KeyValue.Entry) -> BucketEntry:
        revision = entry.revision or 0
        self._seen_up_to = max(self._seen_up_to, revision)
        return BucketEntry((entry.value or b"") if entry.operation is None else b"", revision, self._clock())

    def _same_connection(self) -> bool:
        return bool(self._bus.stats["reconnects"] == self._connection)


async def _next(watcher: KeyValue.KeyWatcher, within_s: float) -> KeyValue.Entry | None:
    """The next change; None when all that was there has been shown."""
    entry: KeyValue.Entry | None = await watcher.updates(timeout=within_s)  # type: ignore[no-untyped-call]
    return entry

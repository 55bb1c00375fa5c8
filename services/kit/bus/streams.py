"""The streams and buckets of the platform, as they are created where they are missing.

Everything that a stream stores is published again under `stored_subject`, numbered: this is how processes follow a
stream. None may create a consumer: its deliveries go to a subject of the creator's choice, past every permission.
"""

from __future__ import annotations

import nats.js.errors
from nats.js.api import DiscardPolicy, RePublish, StorageType, StreamConfig

from services.kit.bus import subjects
from services.kit.bus.subjects import bucket_stream, key_subject, stored_subject

# How long the stream of events keeps the messages of one table, and how many, for watchers who were away.
EVENTS_KEPT_S = 2 * 3600
EVENTS_KEPT_MESSAGES = 2_000
# How long the stream of facts keeps them for readers that are down.
FACTS_KEPT_S = 7 * 24 * 3600
# What one entry of a bucket, and one bucket, may hold (G11).
ENTRY_BYTES_LIMIT = 8 * 1024
BUCKET_BYTES_LIMIT = 64 * 1024 * 1024
# A login that was not active for so long is the same as none: more than the gateway's limit of thirty minutes.
ACTIVITY_KEPT_S = 31 * 60
# How long the entry of a gateway that has died says that nobody knows about its players.
CONNECTIONS_KEPT_S = 10 * 60

_EVENTS_DUPLICATES_S = 10
_FACTS_DUPLICATES_S = 120
# JetStream's codes for "wrong last sequence": of a stream's subject, and of the whole stream.
_WRONG_LAST_SEQUENCE = frozenset({10071, 10164})


def _stream(name: str, **more: object) -> StreamConfig:
    return StreamConfig(
        name=name,
        allow_direct=True,
        deny_delete=True,
        republish=RePublish(src=">", dest=stored_subject(name, ">")),
        **more,  # type: ignore[arg-type]
    )


def _bucket(name: str, storage: StorageType = StorageType.FILE, kept_s: float | None = None) -> StreamConfig:
    # No roll-ups: with one a writer of a single key would delete all others.
    return _stream(
        bucket_stream(name),
        subjects=[key_subject(name, ">")],
        storage=storage,
        max_age=kept_s,
        max_msgs_per_subject=1,
        max_msg_size=ENTRY_BYTES_LIMIT,
        max_bytes=BUCKET_BYTES_LIMIT,
        discard=DiscardPolicy.NEW,
        duplicate_window=min(kept_s or _FACTS_DUPLICATES_S, _FACTS_DUPLICATES_S),
        allow_msg_ttl=True,
    )


PLATFORM_STREAMS: tuple[StreamConfig, ...] = (
    _stream(
        subjects.FACTS_STREAM,
        subjects=["feltro.player.*.wallet", "feltro.wallet.>"],
        storage=StorageType.FILE,
        max_age=FACTS_KEPT_S,
        duplicate_window=_FACTS_DUPLICATES_S,
    ),
    _stream(
        subjects.EVENTS_STREAM,
        subjects=["feltro.table.*.*"],
        storage=StorageType.FILE,
        max_age=EVENTS_KEPT_S,
        max_msgs_per_subject=EVENTS_KEPT_MESSAGES,
        discard=DiscardPolicy.OLD,
        duplicate_window=_EVENTS_DUPLICATES_S,
    ),
    _bucket(subjects.LEASES_BUCKET),
    _bucket(subjects.REPLICAS_BUCKET, StorageType.MEMORY, subjects.HEARTBEAT_LIFETIME_S),
    # On disk: after a restart the tables would otherwise live through the same hours again.
    _bucket(subjects.TABLE_CLOCKS_BUCKET),
    _bucket(subjects.ACTIVITY_BUCKET, kept_s=ACTIVITY_KEPT_S),
    _bucket(subjects.CONNECTIONS_BUCKET, StorageType.MEMORY, CONNECTIONS_KEPT_S),
)


def is_sequence_conflict(error: nats.js.errors.APIError) -> bool:
    """Whether a message was refused because another one was stored in the meantime."""
    return error.err_code in _WRONG_LAST_SEQUENCE

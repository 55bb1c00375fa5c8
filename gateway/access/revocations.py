"""Which tokens were taken back: one by its bearer who logs out, or all of somebody's by the operator.

Gateways tell each other through a bucket on the bus, where a note disappears when the last token it is about has
expired. A gateway that has not seen the bucket since it started lets nobody in; one that loses sight of it goes on with
what it knows for `BLIND_FOR_S` and then lets nobody in either (G12), as it would for a key that may have been
withdrawn. Nothing that settles or refunds comes this way, so no win waits for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats
from nats.js.api import KeyValueConfig, StorageType

from feltro.gateway.v1 import gateway_pb2
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import CLOCK_SKEW_S, DEMO, Caller
from services.kit.access.published_keys import BLOCKING_REFRESH_AFTER_S
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.clock import seconds_since_boot

BUCKET = "feltro_revocations"
# No note is kept longer, and so no token that was issued longer ago is let in.
NOTES_KEPT_S = 30 * 24 * 3600
STALE_VIEW_LIMIT_S = BLOCKING_REFRESH_AFTER_S
CLEANUP_EVERY_S = 1.0
# A bucket that is full takes no more notes, and says so (G11): some hundred thousand.
BUCKET_BYTES_LIMIT = 64 * 1024 * 1024
# Whoever comes to try may do so again and again: his logouts take a part of it and leave the rest to the operator.
DEMO_REVOCATIONS_LIMIT = 20_000

_DEMO = "demo."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    revoked_at: float
    until: float
    content: bytes


class Revocations:
    """The notes, as this gateway knows them."""

    def __init__(
        self, bus: Nats, wall_time: Callable[[], float] = time.time, clock: Callable[[], float] = seconds_since_boot
    ) -> None:
        self._wall_time = wall_time
        self._clock = clock
        config = KeyValueConfig(
            bucket=BUCKET, history=1, storage=StorageType.FILE, ttl=NOTES_KEPT_S, max_bytes=BUCKET_BYTES_LIMIT
        )
        self._bucket = Bucket(bus, config, self._noticed, clock)
        self._notes: dict[str, _Note] = {}
        self._demo_notes = 0
        self._in_view_at: float | None = None
        self._look_for_lost = False
        self._outage = Outage(_log, "the revocations")
        self._waiting: dict[str, dict[asyncio.Future[GatewayRefused], Caller]] = {}

    async def run(self) -> None:
        """Watches for ever."""
        await asyncio.gather(self._bucket.watch_forever(self._outage), self._tidy())

    # -- asking ------------------------------------------------------------------------------------------------------

    def verify(self, caller: Caller) -> None:
        """Refused if his token was taken back, or if that cannot be told."""
        refused = self._refusal(caller)
        if refused is not None:
            raise refused
        if self._in_view_at is None or self._clock() - self._in_view_at > STALE_VIEW_LIMIT_S:
            raise refusals.unavailable("It cannot be told whether the token was taken back: try again in a moment.")

    @contextmanager
    def watch(self, caller: Caller) -> Iterator[asyncio.Future[GatewayRefused]]:
        """What has its result as soon as his token is taken back, wherever that is done."""
        future: asyncio.Future[GatewayRefused] = asyncio.get_running_loop().create_future()
        keys = _keys(caller)
        for key in keys:
            self._waiting.setdefault(key, {})[future] = caller
        refused = self._refusal(caller)
        if refused is not None:
            future.set_result(refused)
        try:
            yield future
        finally:
            for key in keys:
                del self._waiting[key][future]
                if not self._waiting[key]:
                    del self._waiting[key]

    def _refusal(self, caller: Caller) -> GatewayRefused | None:
        token_key, subject_key = _keys(caller)
        note = self._notes.get(token_key)
        if note is None:
            note = self._notes.get(subject_key)
            # What does not say when it was issued counts as issued before (G12).
            if note is None or caller.issued_at > note.revoked_at:
                return None
        at = datetime.fromtimestamp(note.revoked_at, UTC).isoformat(timespec="milliseconds")
        return GatewayRefused("TOKEN_REVOKED", "The token was taken back: get a new one.", revoked_at=at)

    # -- taking back -------------------------------------------------------------------------------------------------

    def verify_capacity(self, caller: Caller) -> None:
        """Refused if his own token cannot be noted, for too many who came to try have taken theirs back."""
        if DEMO in caller.scopes and self._demo_notes >= DEMO_REVOCATIONS_LIMIT:
            sentence = "Too many who came to try have logged out of late: the token opens nothing when it has expired."
            raise GatewayRefused("OVERLOADED", sentence, limit=DEMO_REVOCATIONS_LIMIT)

    async def revoke_token(self, caller: Caller, reason: str) -> None:
        """His own. When it returns every gateway that sees the bus will know."""
        self.verify_capacity(caller)
        until = min(caller.expires_at + CLOCK_SKEW_S, self._wall_time() + NOTES_KEPT_S)
        await self._write(_keys(caller)[0], until, caller.subject, reason)

    async def revoke_subject(self, subject: str, revoked_by: str, reason: str) -> float:
        """All that was issued to somebody up to now; returns the moment. Tokens know seconds only: this one is over."""
        return await self._write(_subject_key(subject), self._wall_time() + NOTES_KEPT_S, revoked_by, reason)

    async def _write(self, key: str, until: float, revoked_by: str, reason: str) -> float:
        now = self._wall_time()
        note = gateway_pb2.Revocation(revoked_by=revoked_by, reason=reason)
        note.revoked_at.FromMilliseconds(int(now * 1000))
        note.expires_at.FromMilliseconds(int(until * 1000))
        content = note.SerializeToString()
        try:
            await self._put(key, content, until)
        except BUS_FAILURES as failed:
            _log.warning("a token cannot be taken back", extra={"error": f"{type(failed).__name__}: {failed}"[:300]})
            raise refusals.unavailable(
                "The token could not be taken back, for the bus does not answer: send the same request again."
            ) from None
        self._learn(key, content)
        return now

    async def _put(self, key: str, content: bytes, until: float) -> None:
        lives_for_s = math.ceil(until - self._wall_time())
        if lives_for_s > 0:
            await self._bucket.put(key, content, lives_for_s)

    # -- what others say ---------------------------------------------------------------------------------------------

    def _noticed(self) -> None:
        self._outage.recovered()
        self._in_view_at = self._clock()
        changed = self._bucket.last_changed_key
        if changed is None:
            self._look_for_lost = True
        for key in list(self._bucket.entries) if changed is None else [changed]:
            self._learn(key, self._bucket.entries[key].value)

    def _learn(self, key: str, content: bytes) -> None:
        """Once known it stays until it has no more to say, whatever becomes of the bucket."""
        try:
            message = gateway_pb2.Revocation.FromString(content)
        except DecodeError:
            _log.error("a revocation cannot be read", extra={"key": key})
            return
        note = _Note(message.revoked_at.ToMilliseconds() / 1000, message.expires_at.ToMilliseconds() / 1000, content)
        known = self._notes.get(key)
        if not content or note.until <= self._wall_time() or (known and known.revoked_at >= note.revoked_at):
            return
        if known is None and key.startswith(_DEMO):
            self._demo_notes += 1
        self._notes[key] = note
        for future, caller in list(self._waiting.get(key, {}).items()):
            refused = self._refusal(caller)
            if refused is not None and not future.done():
                future.set_result(refused)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(CLEANUP_EVERY_S)
            if self._bucket.is_current:
                self._in_view_at = self._clock()
            now = self._wall_time()
            for key in [key for key, note in self._notes.items() if note.until <= now]:
                del self._notes[key]
                self._demo_notes -= key.startswith(_DEMO)
                self._bucket.entries.pop(key, None)
            if self._look_for_lost:
                await self._tell_again()

    async def _tell_again(self) -> None:
        """A bucket that was lost and made anew lacks what we know."""
        try:
            for key, note in list(self._notes.items()):
                if key not in self._bucket.entries:
                    await self._put(key, note.content, note.until)
            self._look_for_lost = False
        except BUS_FAILURES as failed:
            self._outage.failed(failed)


def _keys(caller: Caller) -> tuple[str, str]:
    kind = _DEMO if DEMO in caller.scopes else "token."
    return f"{kind}{_digest(caller.token_id)}", _subject_key(caller.subject)


def _subject_key(subject: str) -> str:
    return f"subject.{_digest(subject)}"


def _digest(words: str) -> str:
    """A key may not hold whatever an issuer may write."""
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()

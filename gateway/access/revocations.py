"""Which tokens were revoked: one by logging out, or all of a subject's by the operator.

Gateways share revocations through a bucket on the bus, where an entry expires with the last token that it is about. A
gateway that has not seen the bucket since it started refuses every token; one that loses sight of it goes on with what
it knows for `STALE_VIEW_LIMIT_S`, and then refuses every token too (G12), as for a signing key that may have been
withdrawn. Settling and refunding need no token of a client, so no win waits for it.
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

from feltro.gateway.v1 import gateway_pb2
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import CLOCK_SKEW_S, DEMO, Caller
from services.kit.access.published_keys import BLOCKING_REFRESH_AFTER_S
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.streams import REVOCATIONS_KEPT_S
from services.kit.bus.subjects import REVOCATIONS_BUCKET
from services.kit.clock import seconds_since_boot

STALE_VIEW_LIMIT_S = BLOCKING_REFRESH_AFTER_S
CLEANUP_EVERY_S = 1.0
# Guests can come and log out without end: they may fill a part of the bucket, and leave the rest to the operator.
DEMO_REVOCATIONS_LIMIT = 20_000

_DEMO = "demo."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Note:
    revoked_at: float
    until: float
    content: bytes


class Revocations:
    """The revocations that this gateway knows."""

    def __init__(
        self, bus: Nats, wall_time: Callable[[], float] = time.time, clock: Callable[[], float] = seconds_since_boot
    ) -> None:
        self._wall_time = wall_time
        self._clock = clock
        self._bucket = Bucket(bus, REVOCATIONS_BUCKET, self._on_change, clock)
        self._notes: dict[str, _Note] = {}
        self._demo_notes = 0
        self._last_current_at: float | None = None
        self._bucket_recreated = False
        self._outage = Outage(_log, "the revocations")
        self._waiting: dict[str, dict[asyncio.Future[GatewayRefused], Caller]] = {}

    async def run(self) -> None:
        """Follows the bucket until cancelled."""
        await asyncio.gather(self._bucket.watch_forever(self._outage), self._clean_up())

    # -- verifying ---------------------------------------------------------------------------------------------------

    def verify(self, caller: Caller) -> None:
        """Refuses a caller whose token was revoked, or may have been."""
        refused = self._refusal(caller)
        if refused is not None:
            raise refused
        if self._last_current_at is None or self._clock() - self._last_current_at > STALE_VIEW_LIMIT_S:
            raise refusals.unavailable("It cannot be told whether the token was taken back: try again in a moment.")

    @contextmanager
    def watch(self, caller: Caller) -> Iterator[asyncio.Future[GatewayRefused]]:
        """A future that gets its result as soon as the caller's token is revoked, at whichever gateway."""
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
            # A token of unknown age has `issued_at` 0, and counts as issued before (G12).
            if note is None or caller.issued_at > note.revoked_at:
                return None
        at = datetime.fromtimestamp(note.revoked_at, UTC).isoformat(timespec="milliseconds")
        return GatewayRefused("TOKEN_REVOKED", "The token was taken back: get a new one.", revoked_at=at)

    # -- revoking ----------------------------------------------------------------------------------------------------

    def verify_capacity(self, caller: Caller) -> None:
        """Refuses a guest's log-out while too many revocations of guests are kept."""
        if DEMO in caller.scopes and self._demo_notes >= DEMO_REVOCATIONS_LIMIT:
            sentence = "Too many who came to try have logged out of late: the token opens nothing when it has expired."
            raise GatewayRefused("OVERLOADED", sentence, limit=DEMO_REVOCATIONS_LIMIT)

    async def revoke_token(self, caller: Caller, reason: str) -> None:
        """Revokes the caller's own token. When it returns, every gateway that sees the bus will know."""
        self.verify_capacity(caller)
        until = min(caller.expires_at + CLOCK_SKEW_S, self._wall_time() + REVOCATIONS_KEPT_S)
        await self._write(_keys(caller)[0], until, caller.subject, reason)

    async def revoke_subject(self, subject: str, revoked_by: str, reason: str) -> float:
        """Revokes all tokens issued to a subject up to the end of this second, and returns the time."""
        return await self._write(_subject_key(subject), self._wall_time() + REVOCATIONS_KEPT_S, revoked_by, reason)

    async def _write(self, key: str, until: float, revoked_by: str, reason: str) -> float:
        now = self._wall_time()
        note = gateway_pb2.Revocation(revoked_by=revoked_by, reason=reason)
        note.revoked_at.FromMilliseconds(int(now * 1000))
        note.expires_at.FromMilliseconds(int(until * 1000))
        content = note.SerializeToString()
        try:
            await self._put(key, content, until)
        except BUS_FAILURES as failed:
            _log.warning("a token cannot be revoked", extra={"error": f"{type(failed).__name__}: {failed}"[:300]})
            raise refusals.unavailable(
                "The token could not be taken back, for the bus does not answer: send the same request again."
            ) from None
        self._learn(key, content)
        return now

    async def _put(self, key: str, content: bytes, until: float) -> None:
        lifetime_s = math.ceil(until - self._wall_time())
        if lifetime_s > 0:
            await self._bucket.put(key, content, lifetime_s)

    # -- following the bucket ----------------------------------------------------------------------------------------

    def _on_change(self) -> None:
        self._outage.recovered()
        self._last_current_at = self._clock()
        changed = self._bucket.last_changed_key
        if changed is None:
            self._bucket_recreated = True
        for key in list(self._bucket.entries) if changed is None else [changed]:
            self._learn(key, self._bucket.entries[key].value)

    def _learn(self, key: str, content: bytes) -> None:
        """Takes over an entry; it stays known until it expires, whatever becomes of the bucket."""
        try:
            message = gateway_pb2.Revocation.FromString(content)
            message.revoked_at.ToDatetime()
            message.expires_at.ToDatetime()
        except (DecodeError, ValueError, OverflowError):
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

    async def _clean_up(self) -> None:
        while True:
            await asyncio.sleep(CLEANUP_EVERY_S)
            if self._bucket.is_current:
                self._last_current_at = self._clock()
            now = self._wall_time()
            for key in [key for key, note in self._notes.items() if note.until <= now]:
                del self._notes[key]
                self._demo_notes -= key.startswith(_DEMO)
                self._bucket.entries.pop(key, None)
            if self._bucket_recreated:
                await self._restore()

    async def _restore(self) -> None:
        """Writes what this gateway knows to a bucket that was lost and created again."""
        try:
            for key, note in list(self._notes.items()):
                if key not in self._bucket.entries:
                    await self._put(key, note.content, note.until)
            self._bucket_recreated = False
        except BUS_FAILURES as failed:
            self._outage.failed(failed)


def _keys(caller: Caller) -> tuple[str, str]:
    kind = _DEMO if DEMO in caller.scopes else "token."
    return f"{kind}{_digest(caller.token_id)}", _subject_key(caller.subject)


def _subject_key(subject: str) -> str:
    return f"subject.{_digest(subject)}"


def _digest(text: str) -> str:
    """Makes a key of any text: an issuer's ids may hold characters that keys may not."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

"""Which tokens were revoked: one by logging out, or all of a subject's by the operator.

The wallet keeps them in its database, and every gateway reads from there what is new. A gateway that has not read them
since it started refuses every token; one that loses sight of the wallet goes on with what it knows for
`STALE_VIEW_LIMIT_S`, and then refuses every token too (G12), as for a signing key that may have been withdrawn. The bus
has no part in it: who reaches the bus revokes nobody, and what the bus loses revokes nobody's token any less. Settling
and refunding need no token of a client, so no win waits for this.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from feltro.wallet.v1 import revocation_pb2
from gateway.access.principals import Principal
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import DEMO, Caller
from services.kit.access.published_keys import BLOCKING_REFRESH_AFTER_S
from services.kit.access.revocation_keys import DEMO_KEY_PREFIX, subject_key, token_key
from services.kit.bus.outages import Outage
from services.kit.clock import seconds_since_boot
from services.kit.refusal import Refused

STALE_VIEW_LIMIT_S = BLOCKING_REFRESH_AFTER_S
# How soon a gateway learns what another one has revoked.
POLL_EVERY_S = 0.5
ANSWER_TIMEOUT_S = 5.0
PAGE_SIZE = 1_000
CLEANUP_EVERY_S = 1.0
# Guests can come and log out without end: they leave room for the operator's revocations (G11).
DEMO_REVOCATIONS_LIMIT = 20_000

_log = logging.getLogger(__name__)


class RevocationStore(Protocol):
    """Keeps revocations durably: the wallet. Every failure is a `Refused`."""

    async def page(self, request: revocation_pb2.ListRevocationsRequest) -> revocation_pb2.ListRevocationsResponse:
        """Returns revocations in the order of their numbers."""

    async def revoke_token(self, principal: Principal, reason: str) -> revocation_pb2.Revocation:
        """Revokes the principal's own token."""

    async def revoke_subject(self, principal: Principal, subject: str, reason: str) -> revocation_pb2.Revocation:
        """Revokes all tokens of a subject, as this operator."""


@dataclass(frozen=True, slots=True)
class _Note:
    revoked_at: float
    until: float


class Revocations:
    """The revocations that this gateway knows."""

    def __init__(
        self,
        store: RevocationStore,
        wall_time: Callable[[], float] = time.time,
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self._store = store
        self._wall_time = wall_time
        self._clock = clock
        self._notes: dict[str, _Note] = {}
        self._demo_notes = 0
        # The number up to which all are known.
        self._read_up_to = 0
        self._last_current_at: float | None = None
        self._outage = Outage(_log, "the revocations")
        self._waiting: dict[str, dict[asyncio.Future[GatewayRefused], Caller]] = {}

    async def run(self) -> None:
        """Reads what is new until cancelled."""
        await asyncio.gather(self._follow(), self._clean_up())

    @property
    def is_known(self) -> bool:
        """Whether this gateway has read all revocations since it started."""
        return self._last_current_at is not None

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
        own_key, all_key = _keys(caller)
        note = self._notes.get(own_key)
        if note is None:
            note = self._notes.get(all_key)
            # A token of unknown age has `issued_at` 0, and counts as issued before (G12).
            if note is None or caller.issued_at > note.revoked_at:
                return None
        at = datetime.fromtimestamp(note.revoked_at, UTC).isoformat(timespec="milliseconds")
        return GatewayRefused("TOKEN_REVOKED", "The token was taken back: get a new one.", revoked_at=at)

    # -- revoking ----------------------------------------------------------------------------------------------------

    def verify_capacity(self, caller: Caller) -> None:
        """Refuses a guest's log-out while too many revocations of guests are kept."""
        if DEMO in caller.scopes and self._demo_notes >= DEMO_REVOCATIONS_LIMIT:
            raise _too_many_guests()

    async def revoke_token(self, principal: Principal, reason: str) -> None:
        """Revokes the principal's own token. When it returns, it is durable (G5), and every gateway will know."""
        try:
            revocation = await self._store.revoke_token(principal, reason)
        except Refused as refused:
            raise _gateway_refusal(refused) from None
        self._learn(revocation)

    async def revoke_subject(self, principal: Principal, subject: str, reason: str) -> float:
        """Revokes all tokens issued to a subject up to the end of this second, and returns the time."""
        try:
            revocation = await self._store.revoke_subject(principal, subject, reason)
        except Refused as refused:
            raise _gateway_refusal(refused) from None
        self._learn(revocation)
        return revocation.revoked_at.ToMilliseconds() / 1000

    # -- following the wallet ----------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(POLL_EVERY_S)

    async def refresh(self) -> None:
        """Reads what is new; without an answer what is known stays."""
        began = self._clock()
        try:
            await self._read_new()
        except (Refused, TimeoutError) as failed:
            self._outage.failed(failed)
            # Whatever became of the wallet meanwhile, its numbers may be given anew.
            self._read_up_to = 0
        else:
            self._outage.recovered()
            self._last_current_at = began

    async def _read_new(self) -> None:
        while True:
            request = revocation_pb2.ListRevocationsRequest(after_no=self._read_up_to, page_size=PAGE_SIZE)
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = await self._store.page(request)
            if answer.last_no < self._read_up_to:
                self._read_up_to = 0
                continue
            for revocation in answer.revocations:
                self._learn(revocation)
                self._read_up_to = revocation.revocation_no
            if len(answer.revocations) < PAGE_SIZE:
                return

    def _learn(self, revocation: revocation_pb2.Revocation) -> None:
        """Takes over a revocation; it stays known until it expires, whatever becomes of the wallet."""
        key = revocation.key
        note = _Note(revocation.revoked_at.ToMilliseconds() / 1000, revocation.expires_at.ToMilliseconds() / 1000)
        known = self._notes.get(key)
        if note.until <= self._wall_time() or (known and known.revoked_at >= note.revoked_at):
            return
        if known is None and key.startswith(DEMO_KEY_PREFIX):
            self._demo_notes += 1
        self._notes[key] = note
        for future, caller in list(self._waiting.get(key, {}).items()):
            refused = self._refusal(caller)
            if refused is not None and not future.done():
                future.set_result(refused)

    async def _clean_up(self) -> None:
        while True:
            await asyncio.sleep(CLEANUP_EVERY_S)
            now = self._wall_time()
            for key in [key for key, note in self._notes.items() if note.until <= now]:
                del self._notes[key]
                self._demo_notes -= key.startswith(DEMO_KEY_PREFIX)


def _keys(caller: Caller) -> tuple[str, str]:
    return token_key(caller), subject_key(caller.subject)


def _gateway_refusal(refused: Refused) -> Refused:
    if refused.reason == "OVERLOADED":
        return _too_many_guests()
    if refused.reason == "UNAVAILABLE":
        _log.warning("a token cannot be revoked", extra={"error": refused.sentence[:300]})
        return refusals.unavailable(
            "The token could not be taken back, for the wallet does not answer: send the same request again."
        )
    return refused


def _too_many_guests() -> GatewayRefused:
    sentence = "Too many who came to try have logged out of late: the token opens nothing when it has expired."
    return GatewayRefused("OVERLOADED", sentence, limit=DEMO_REVOCATIONS_LIMIT)

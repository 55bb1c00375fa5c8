"""Revocations as a wallet keeps them, in memory: for tests of gateways without a wallet."""

from __future__ import annotations

import time
from collections.abc import Callable

from feltro.wallet.v1 import revocation_pb2 as pb
from gateway.access.principals import Principal
from gateway.contracts.refusals import unavailable
from services.kit.access.identity import CLOCK_SKEW_S
from services.kit.access.revocation_keys import REVOCATIONS_KEPT_S, subject_key, token_key


class InMemoryRevocations:
    """Implements `RevocationStore`; several gateways may share it."""

    def __init__(self, wall_time: Callable[[], float] = time.time) -> None:
        self.recorded: list[pb.Revocation] = []
        self.is_up = True
        self.dies_after_recording = False
        """Whether it records what it is asked for, and never says so."""
        self._wall_time = wall_time

    async def page(self, request: pb.ListRevocationsRequest) -> pb.ListRevocationsResponse:
        self._answer()
        newer = [each for each in self.recorded if each.revocation_no > request.after_no]
        last_no = self.recorded[-1].revocation_no if self.recorded else 0
        return pb.ListRevocationsResponse(revocations=newer[: request.page_size], last_no=last_no)

    async def revoke_token(self, principal: Principal, reason: str) -> pb.Revocation:
        assert principal.caller is not None
        until = min(principal.caller.expires_at + CLOCK_SKEW_S, self._wall_time() + REVOCATIONS_KEPT_S)
        return self._record(token_key(principal.caller), until)

    async def revoke_subject(self, principal: Principal, subject: str, reason: str) -> pb.Revocation:
        return self._record(subject_key(subject), self._wall_time() + REVOCATIONS_KEPT_S)

    def _record(self, key: str, until: float) -> pb.Revocation:
        self._answer()
        new = pb.Revocation(revocation_no=len(self.recorded) + 1, key=key)
        new.revoked_at.FromMilliseconds(int(self._wall_time() * 1000))
        new.expires_at.FromMilliseconds(int(until * 1000))
        self.recorded.append(new)
        if self.dies_after_recording:
            self.is_up = False
        self._answer()
        return new

    def _answer(self) -> None:
        if not self.is_up:
            raise unavailable("The wallet does not answer.")

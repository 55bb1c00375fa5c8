"""`RevocationService`: records which tokens were revoked, and lists them for gateways.

The bearer of the token is who revokes: no request names another, so a gateway can revoke nothing by itself.
"""

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import revocation_pb2 as pb
from services.kit.access.identity import CLOCK_SKEW_S, DEMO, SUBJECT_CHARACTERS_LIMIT, Caller
from services.kit.access.revocation_keys import REVOCATIONS_KEPT_S, subject_key, token_key
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.model import refusals
from services.wallet.revocations import rows
from services.wallet.revocations.rows import NewRevocation, RevocationRow
from services.wallet.server import fields

REASON_CHARACTERS_LIMIT = 500
PAGE_SIZE_LIMIT = 1_000
# Guests can come and log out without end: they may not fill the memory of gateways (G11).
DEMO_REVOCATIONS_LIMIT = 20_000
KEPT = timedelta(seconds=REVOCATIONS_KEPT_S)


class RevocationService:
    """One method per rpc; revocation.proto says what each promises."""

    descriptor = pb.DESCRIPTOR.services_by_name["RevocationService"]

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def revoke_token(self, request: pb.RevokeTokenRequest, caller: Caller) -> pb.RevokeTokenResponse:
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        now = self._clock.now()
        seconds = max(caller.expires_at + CLOCK_SKEW_S - now.timestamp(), 0.0)
        new = NewRevocation(
            token_key(caller),
            DEMO in caller.scopes,
            now,
            now + min(timedelta(seconds=min(seconds, REVOCATIONS_KEPT_S)), KEPT),
            caller.subject,
            request.reason,
        )
        async with self._engine.begin() as connection:
            await rows.lock(connection)
            recorded = await rows.find(connection, new.key)
            if recorded is None:
                if new.is_demo:
                    limit = DEMO_REVOCATIONS_LIMIT
                    if await rows.count_of_guests(connection, now, limit) >= limit:
                        raise refusals.overloaded(f"{limit} guests who have logged out")
                recorded = await rows.insert(connection, new)
        return pb.RevokeTokenResponse(revocation=_message(recorded))

    async def revoke_tokens_of(self, request: pb.RevokeTokensOfRequest, caller: Caller) -> pb.RevokeTokensOfResponse:
        if not request.subject:
            raise refusals.invalid("subject", "has to be given.")
        fields.verify_length("subject", request.subject, SUBJECT_CHARACTERS_LIMIT)
        fields.verify_length("reason", request.reason, REASON_CHARACTERS_LIMIT)
        now = self._now_in_ms()
        new = NewRevocation(
            subject_key(request.subject),
            is_demo=False,
            revoked_at=now,
            expires_at=now + KEPT,
            revoked_by=caller.subject,
            reason=request.reason,
        )
        async with self._engine.begin() as connection:
            await rows.lock(connection)
            # A new row each time: tokens that were issued since an earlier one are revoked now.
            recorded = await rows.insert(connection, new)
        return pb.RevokeTokensOfResponse(revocation=_message(recorded))

    async def list_revocations(self, request: pb.ListRevocationsRequest, caller: Caller) -> pb.ListRevocationsResponse:
        del caller
        if request.after_no < 0 or not 0 <= request.page_size <= PAGE_SIZE_LIMIT:
            raise refusals.invalid("page_size", f"has to be from 0 to {PAGE_SIZE_LIMIT}, and `after_no` 0 or above.")
        async with self._engine.connect() as connection:
            found = await rows.page(
                connection, request.after_no, self._clock.now(), request.page_size or PAGE_SIZE_LIMIT
            )
            last_no = await rows.last_no(connection)
        return pb.ListRevocationsResponse(revocations=[_message(row) for row in found], last_no=last_no)

    def _now_in_ms(self) -> datetime:
        """Returns the time as gateways compare it with the time of issue of a token."""
        now = self._clock.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _message(row: RevocationRow) -> pb.Revocation:
    return pb.Revocation(
        revocation_no=row.no, key=row.key, revoked_at=timestamp(row.revoked_at), expires_at=timestamp(row.expires_at)
    )

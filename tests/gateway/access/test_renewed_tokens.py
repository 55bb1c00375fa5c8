"""Thirty minutes without activity need a new login, however often the token was renewed meanwhile."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.access import activity, revocations
from gateway.access.activity import IDLE_LIMIT_S, Activity
from gateway.access.authenticator import Authenticator
from gateway.access.principals import Principal
from gateway.access.revocations import Revocations
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import TokenVerifier, TrustedIssuer
from services.kit.access.signing_key import SigningKey
from services.kit.bus import buckets
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.gateway.revocation_store import InMemoryRevocations
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.rule("GLI-19 2.5.4")

MINUTE = 60
AUDIENCE = "feltro"
# Clients renew tokens by themselves.
LIFETIME_S, RENEW_EVERY_S = 10 * MINUTE, 9 * MINUTE


@dataclass
class Issuer:
    """Signs tokens by the clock of the test."""

    key: SigningKey
    clock: FakeClock

    def token(self, logged_in_at: float | None = None) -> str:
        now = self.clock()
        claims: dict[str, object] = {"aud": AUDIENCE, "sub": "ana", "scope": "player", "iat": now}
        claims |= {"exp": now + LIFETIME_S, "jti": secrets.token_hex(8)}
        return self.key.sign(claims if logged_in_at is None else claims | {"auth_time": logged_in_at})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    monkeypatch.setattr(activity, "PUBLISH_TICK_S", 0.02)
    # The bus answers, however long a busy machine takes; stale revocations are not what is tested.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    monkeypatch.setattr(revocations, "STALE_VIEW_LIMIT_S", 24 * 3600)
    return FakeClock()


@pytest.fixture
def issuer(tmp_path: Path, clock: FakeClock) -> Issuer:
    key = SigningKey.make()
    (tmp_path / "jwks.json").write_text(key.jwks())
    return Issuer(key, clock)


@asynccontextmanager
async def running_authenticator(url: str, clock: FakeClock, home: Path) -> AsyncIterator[Authenticator]:
    verifier = TokenVerifier([TrustedIssuer(str(home / "jwks.json"))], AUDIENCE, clock)
    async with bus_client(url) as bus:
        revocations_, activity_ = Revocations(InMemoryRevocations(clock), clock), Activity(bus, clock)
        async with running_tasks(revocations_.run(), activity_.run()):
            await wait_until(lambda: activity_.bus_reachable and revocations_.is_known)
            yield Authenticator(verifier, revocations_, activity_)


async def reason(authenticator: Authenticator, token: str) -> str:
    """Returns why a token is refused, or nothing."""
    try:
        await authenticator.authenticate(token)
    except GatewayRefused as refused:
        return refused.reason
    return ""


async def renew_until(
    authenticator: Authenticator, principal: Principal, clock: FakeClock, issuer: Issuer, moment: float
) -> Principal:
    """Renews the token as a client does by itself, without activity of the player."""
    while clock() + RENEW_EVERY_S < moment:
        clock.seconds += RENEW_EVERY_S
        principal = await authenticator.renew(principal, issuer.token())
    clock.seconds = moment
    return principal


async def test_an_idle_player_has_to_log_in_although_the_token_is_renewed(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with running_authenticator(nats.url, clock, tmp_path) as first:
        principal = await first.authenticate(issuer.token())
        clock.seconds += 5 * MINUTE
        first.record_activity(principal)
        idle_since = clock()
        principal = await renew_until(first, principal, clock, issuer, idle_since + IDLE_LIMIT_S - 1)
        assert await reason(first, principal.token) == ""
        clock.seconds += 1
        assert await reason(first, principal.token) == "LOGIN_NEEDED"
        with pytest.raises(GatewayRefused) as refused:
            await first.renew(principal, issuer.token())
        assert refused.value.reason == "LOGIN_NEEDED"
        # Open connections end as well.
        assert (await asyncio.wait_for(first.wait_for_end(principal), WITHIN_S)).reason == "LOGIN_NEEDED"


async def test_an_active_player_needs_no_new_login(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with running_authenticator(nats.url, clock, tmp_path) as first:
        principal = await first.authenticate(issuer.token())
        for _ in range(10):
            principal = await renew_until(first, principal, clock, issuer, clock() + 25 * MINUTE)
            assert await reason(first, principal.token) == ""
            first.record_activity(principal)


async def test_every_gateway_knows_the_idle_time_of_a_renewed_token(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with (
        running_authenticator(nats.url, clock, tmp_path) as first,
        running_authenticator(nats.url, clock, tmp_path) as second,
    ):
        began = clock()
        principal = await first.authenticate(issuer.token())
        principal = await renew_until(first, principal, clock, issuer, began + 28 * MINUTE)
        # The client reconnects to another gateway, and renews there.
        principal = await second.authenticate(principal.token)
        principal = await second.renew(principal, issuer.token())
        assert await reason(first, principal.token) == ""
        clock.seconds = began + IDLE_LIMIT_S
        assert {await reason(authenticator, principal.token) for authenticator in (first, second)} == {"LOGIN_NEEDED"}


async def test_a_renewal_during_a_bus_outage_is_published_after_it(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_authenticator(nats.url, clock, tmp_path) as first:
        began = clock()
        principal = await first.authenticate(issuer.token())
        clock.seconds += RENEW_EVERY_S
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", 0.6)
        nats.stop()
        principal = await first.renew(principal, issuer.token())
        nats.start()
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
        await wait_until(lambda: not first._activity._unpublished)
        async with running_authenticator(nats.url, clock, tmp_path) as second:
            assert await reason(second, principal.token) == ""
            clock.seconds = began + IDLE_LIMIT_S
            assert await reason(second, principal.token) == "LOGIN_NEEDED"


async def test_reconnecting_is_no_activity(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with running_authenticator(nats.url, clock, tmp_path) as first:
        token = issuer.token()
        for _ in range(6):
            assert await reason(first, token) == ""
            clock.seconds += 5 * MINUTE
        assert await reason(first, token) == "LOGIN_NEEDED"


async def test_tokens_with_a_time_of_login_belong_to_that_login(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with (
        running_authenticator(nats.url, clock, tmp_path) as first,
        running_authenticator(nats.url, clock, tmp_path) as second,
    ):
        began = clock()
        clock.seconds += 29 * MINUTE
        # New to the gateway and issued just now, but of a login long ago.
        principal = await first.authenticate(issuer.token(began))
        first.record_activity(principal)
        acted_at = clock()
        await wait_until(lambda: not first._activity._unpublished)
        clock.seconds += 29 * MINUTE
        assert await reason(second, issuer.token(began)) == ""
        principal = await second.renew(principal, issuer.token(began))
        clock.seconds = acted_at + IDLE_LIMIT_S
        for authenticator in (first, second):
            assert (
                await reason(authenticator, principal.token)
                == await reason(authenticator, issuer.token(began))
                == "LOGIN_NEEDED"
            )
        # A new login: the connection may go on with it.
        again = issuer.token(clock())
        assert await reason(second, again) == ""
        assert (await first.renew(principal, again)).token == again
        assert await reason(first, issuer.token(began)) == "LOGIN_NEEDED"


async def test_a_time_of_login_in_the_future_counts_as_now(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with running_authenticator(nats.url, clock, tmp_path) as first:
        token = issuer.token(clock() + 24 * 3600)
        assert await reason(first, token) == ""
        clock.seconds += IDLE_LIMIT_S
        assert await reason(first, token) == "LOGIN_NEEDED"

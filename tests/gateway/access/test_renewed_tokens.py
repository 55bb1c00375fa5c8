"""Thirty minutes without anything that he does himself ask for a new login, however often his token was renewed."""

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
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.rule("GLI-19 2.5.4")

MINUTE = 60
AUDIENCE = "feltro"
# Tokens hold for ten minutes, and his program renews them by itself.
HOLDS_FOR_S, RENEWED_EVERY_S = 10 * MINUTE, 9 * MINUTE


@dataclass
class Issuer:
    """Whoever signs tokens, at the time of the test."""

    key: SigningKey
    clock: FakeClock

    def token(self, logged_in_at: float | None = None) -> str:
        now = self.clock()
        claims: dict[str, object] = {"aud": AUDIENCE, "sub": "ana", "scope": "player", "iat": now}
        claims |= {"exp": now + HOLDS_FOR_S, "jti": secrets.token_hex(8)}
        return self.key.sign(claims if logged_in_at is None else claims | {"auth_time": logged_in_at})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    monkeypatch.setattr(activity, "PUBLISH_TICK_S", 0.02)
    # The bus is there, however long it takes to answer; and when it is not, that is not what is tested.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    monkeypatch.setattr(revocations, "STALE_VIEW_LIMIT_S", 24 * 3600)
    return FakeClock()


@pytest.fixture
def issuer(tmp_path: Path, clock: FakeClock) -> Issuer:
    key = SigningKey.make()
    (tmp_path / "jwks.json").write_text(key.jwks())
    return Issuer(key, clock)


@asynccontextmanager
async def gateway(url: str, clock: FakeClock, home: Path) -> AsyncIterator[Authenticator]:
    verifier = TokenVerifier([TrustedIssuer(str(home / "jwks.json"))], AUDIENCE, clock)
    async with bus_client(url) as bus:
        taken_back, used = Revocations(bus, clock), Activity(bus, clock)
        async with running_tasks(taken_back.run(), used.run()):
            await wait_until(lambda: used.bus_reachable and taken_back._last_current_at is not None)
            yield Authenticator(verifier, taken_back, used)


async def reason(visitors: Authenticator, token: str) -> str:
    """Why a program is not let in with a token."""
    try:
        await visitors.authenticate(token)
    except GatewayRefused as refused:
        return refused.reason
    return ""


async def renewed_until(
    visitors: Authenticator, visitor: Principal, clock: FakeClock, issuer: Issuer, moment: float
) -> Principal:
    """His program renews, and he does nothing."""
    while clock() + RENEWED_EVERY_S < moment:
        clock.seconds += RENEWED_EVERY_S
        visitor = await visitors.renew(visitor, issuer.token())
    clock.seconds = moment
    return visitor


async def test_who_does_nothing_has_to_log_in_though_his_token_is_renewed(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here:
        visitor = await here.authenticate(issuer.token())
        clock.seconds += 5 * MINUTE
        here.record_activity(visitor)
        idle_since = clock()
        visitor = await renewed_until(here, visitor, clock, issuer, idle_since + IDLE_LIMIT_S - 1)
        assert await reason(here, visitor.token) == ""
        clock.seconds += 1
        assert await reason(here, visitor.token) == "LOGIN_NEEDED"
        with pytest.raises(GatewayRefused) as refused:
            await here.renew(visitor, issuer.token())
        assert refused.value.reason == "LOGIN_NEEDED"
        # His connection ends as well.
        assert (await asyncio.wait_for(here.wait_for_end(visitor), WITHIN_S)).reason == "LOGIN_NEEDED"


async def test_who_does_something_now_and_then_goes_on(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here:
        visitor = await here.authenticate(issuer.token())
        for _ in range(10):
            visitor = await renewed_until(here, visitor, clock, issuer, clock() + 25 * MINUTE)
            assert await reason(here, visitor.token) == ""
            here.record_activity(visitor)


async def test_what_a_renewed_token_took_over_is_known_at_every_gateway(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here, gateway(nats.url, clock, tmp_path) as there:
        began = clock()
        visitor = await here.authenticate(issuer.token())
        visitor = await renewed_until(here, visitor, clock, issuer, began + 28 * MINUTE)
        # His connection comes back to another gateway, and goes on there.
        visitor = await there.authenticate(visitor.token)
        visitor = await there.renew(visitor, issuer.token())
        assert await reason(here, visitor.token) == ""
        clock.seconds = began + IDLE_LIMIT_S
        assert {await reason(known, visitor.token) for known in (here, there)} == {"LOGIN_NEEDED"}


async def test_what_is_renewed_while_the_bus_is_away_is_told_when_it_is_back(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here:
        began = clock()
        visitor = await here.authenticate(issuer.token())
        clock.seconds += RENEWED_EVERY_S
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", 0.6)
        nats.stop()
        visitor = await here.renew(visitor, issuer.token())
        nats.start()
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
        await wait_until(lambda: not here._activity._unpublished)
        async with gateway(nats.url, clock, tmp_path) as there:
            assert await reason(there, visitor.token) == ""
            clock.seconds = began + IDLE_LIMIT_S
            assert await reason(there, visitor.token) == "LOGIN_NEEDED"


async def test_to_connect_again_is_nothing_that_he_does(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here:
        token = issuer.token()
        for _ in range(6):
            assert await reason(here, token) == ""
            clock.seconds += 5 * MINUTE
        assert await reason(here, token) == "LOGIN_NEEDED"


async def test_a_token_that_says_when_he_logged_in_is_of_that_login_however_it_is_shown(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here, gateway(nats.url, clock, tmp_path) as there:
        began = clock()
        clock.seconds += 29 * MINUTE
        # Never seen before, and issued just now: he logged in long ago all the same.
        visitor = await here.authenticate(issuer.token(began))
        here.record_activity(visitor)
        acted_at = clock()
        await wait_until(lambda: not here._activity._unpublished)
        clock.seconds += 29 * MINUTE
        assert await reason(there, issuer.token(began)) == ""
        visitor = await there.renew(visitor, issuer.token(began))
        clock.seconds = acted_at + IDLE_LIMIT_S
        for known in (here, there):
            assert await reason(known, visitor.token) == await reason(known, issuer.token(began)) == "LOGIN_NEEDED"
        # He logs in: that is another login, and the connection may go on with it.
        again = issuer.token(clock())
        assert await reason(there, again) == ""
        assert (await here.renew(visitor, again)).token == again
        assert await reason(here, issuer.token(began)) == "LOGIN_NEEDED"


async def test_a_login_that_is_still_to_come_keeps_nobody_awake(
    nats: StoppableNats, clock: FakeClock, issuer: Issuer, tmp_path: Path
) -> None:
    async with gateway(nats.url, clock, tmp_path) as here:
        token = issuer.token(clock() + 24 * 3600)
        assert await reason(here, token) == ""
        clock.seconds += IDLE_LIMIT_S
        assert await reason(here, token) == "LOGIN_NEEDED"

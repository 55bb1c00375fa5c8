"""Anybody may try the games, and whoever tries has nothing to do with money."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.access.demonstration import TOKEN_LIFETIME_S, DemoTokenIssuer
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import CLOCK_SKEW_S, TokenInvalid, TokenVerifier, TrustedIssuer
from services.kit.access.signing_key import NoSigningKey, SigningKey
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import FakeClock

pytestmark = pytest.mark.rule("804/2015:30", "807/2015:32")


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    made = DevelopmentIssuer(tmp_path)
    made.prepare()
    return made


def test_who_comes_in_is_somebody_new_for_a_few_hours(issuer: DevelopmentIssuer) -> None:
    clock = FakeClock()
    sources = [TrustedIssuer(str(issuer.jwks)), TrustedIssuer(str(issuer.demo_keys.jwks), demo_only=True)]
    door = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE, clock)
    entered = [door.issue() for _ in range(3)]
    callers = [TokenVerifier(sources, AUDIENCE, clock).verify(one.token) for one in entered]
    assert len({caller.player_id for caller in callers}) == 3
    assert len({caller.token_id for caller in callers}) == 3
    for caller, one in zip(callers, entered, strict=True):
        assert caller.player_id == one.player_id
        assert caller.scopes == frozenset({"demo"})
        assert caller.expires_at == one.expires_at.ToSeconds() == clock() + TOKEN_LIFETIME_S
        assert caller.expired(clock() + TOKEN_LIFETIME_S + CLOCK_SKEW_S + 1)


def test_without_its_key_services_know_nobody(issuer: DevelopmentIssuer) -> None:
    token = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE).issue().token
    with pytest.raises(TokenInvalid):
        TokenVerifier(issuer.jwks, AUDIENCE).verify(token)


def test_the_key_is_published_as_services_read_it(issuer: DevelopmentIssuer, tmp_path: Path) -> None:
    door = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE)
    published = tmp_path / "published.json"
    published.write_text(door.jwks())
    verifier = TokenVerifier([TrustedIssuer(str(published), demo_only=True)], AUDIENCE)
    assert verifier.verify(door.issue().token).player_id
    published.write_text(DemoTokenIssuer(None, AUDIENCE).jwks())
    with pytest.raises(TokenInvalid):
        TokenVerifier([TrustedIssuer(str(published), demo_only=True)], AUDIENCE).verify(door.issue().token)


def test_an_operator_may_offer_none() -> None:
    with pytest.raises(GatewayRefused) as refused:
        DemoTokenIssuer(None, AUDIENCE).issue()
    assert refused.value.reason == "NOT_OFFERED"


def test_what_is_no_key_is_said(tmp_path: Path) -> None:
    wrong = tmp_path / "key.pem"
    wrong.write_text("nothing")
    for path in (wrong, tmp_path / "nowhere.pem"):
        with pytest.raises(NoSigningKey, match=str(path)):
            SigningKey.read(path)

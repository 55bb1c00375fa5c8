"""Demonstrations: anyone may enter one, as a new guest who has no access to money."""

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
    issuer = DevelopmentIssuer(tmp_path)
    issuer.prepare()
    return issuer


def test_every_guest_is_new_and_stays_for_a_few_hours(issuer: DevelopmentIssuer) -> None:
    clock = FakeClock()
    sources = [TrustedIssuer(str(issuer.jwks)), TrustedIssuer(str(issuer.demo_keys.jwks), demo_only=True)]
    demo_issuer = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE, clock)
    entered = [demo_issuer.issue() for _ in range(3)]
    callers = [TokenVerifier(sources, AUDIENCE, clock).verify(entry.token) for entry in entered]
    assert len({caller.player_id for caller in callers}) == 3
    assert len({caller.token_id for caller in callers}) == 3
    for caller, entry in zip(callers, entered, strict=True):
        assert caller.player_id == entry.player_id
        assert caller.scopes == frozenset({"demo"})
        assert caller.expires_at == entry.expires_at.ToSeconds() == clock() + TOKEN_LIFETIME_S
        assert caller.expired(clock() + TOKEN_LIFETIME_S + CLOCK_SKEW_S + 1)


def test_without_the_published_key_guests_are_unknown(issuer: DevelopmentIssuer) -> None:
    token = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE).issue().token
    with pytest.raises(TokenInvalid):
        TokenVerifier(issuer.jwks, AUDIENCE).verify(token)


def test_services_read_the_published_key(issuer: DevelopmentIssuer, tmp_path: Path) -> None:
    demo_issuer = DemoTokenIssuer(SigningKey.read(issuer.demo_keys.key_file), AUDIENCE)
    published = tmp_path / "published.json"
    published.write_text(demo_issuer.jwks())
    verifier = TokenVerifier([TrustedIssuer(str(published), demo_only=True)], AUDIENCE)
    assert verifier.verify(demo_issuer.issue().token).player_id
    published.write_text(DemoTokenIssuer(None, AUDIENCE).jwks())
    with pytest.raises(TokenInvalid):
        TokenVerifier([TrustedIssuer(str(published), demo_only=True)], AUDIENCE).verify(demo_issuer.issue().token)


def test_demonstrations_may_be_left_out() -> None:
    with pytest.raises(GatewayRefused) as refused:
        DemoTokenIssuer(None, AUDIENCE).issue()
    assert refused.value.reason == "NOT_OFFERED"


def test_a_wrong_key_file_is_named(tmp_path: Path) -> None:
    wrong = tmp_path / "key.pem"
    wrong.write_text("nothing")
    for path in (wrong, tmp_path / "nowhere.pem"):
        with pytest.raises(NoSigningKey, match=str(path)):
            SigningKey.read(path)

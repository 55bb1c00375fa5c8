"""Anybody may try the games, and whoever tries has nothing to do with money."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.demo import HOLDS_FOR_S, DemoDoor
from gateway.refusals import GatewayRefused
from services.kit.identity import CLOCK_SKEW_S, Source, TokenInvalid, TokenVerifier
from services.kit.signing_key import NoSigningKey, SigningKey
from stack.issuer import AUDIENCE, DevelopmentIssuer
from tests.gateway.bus import Clock

pytestmark = pytest.mark.rule("804/2015:30", "807/2015:32")


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    made = DevelopmentIssuer(tmp_path)
    made.prepare()
    return made


def test_who_comes_in_is_somebody_new_for_a_few_hours(issuer: DevelopmentIssuer) -> None:
    clock = Clock()
    sources = [Source(str(issuer.jwks)), Source(str(issuer.demo.jwks), demo_only=True)]
    door = DemoDoor(SigningKey.read(issuer.demo.key_file), AUDIENCE, clock)
    entered = [door.enter() for _ in range(3)]
    callers = [TokenVerifier(sources, AUDIENCE, clock).verify(one.token) for one in entered]
    assert len({caller.player_id for caller in callers}) == 3
    assert len({caller.token_id for caller in callers}) == 3
    for caller, one in zip(callers, entered, strict=True):
        assert caller.player_id == one.player_id
        assert caller.scopes == frozenset({"demo"})
        assert caller.expires_at == one.expires_at.ToSeconds() == clock() + HOLDS_FOR_S
        assert caller.expired(clock() + HOLDS_FOR_S + CLOCK_SKEW_S + 1)


def test_without_its_key_services_know_nobody(issuer: DevelopmentIssuer) -> None:
    token = DemoDoor(SigningKey.read(issuer.demo.key_file), AUDIENCE).enter().token
    with pytest.raises(TokenInvalid):
        TokenVerifier(issuer.jwks, AUDIENCE).verify(token)


def test_the_key_is_published_as_services_read_it(issuer: DevelopmentIssuer, tmp_path: Path) -> None:
    door = DemoDoor(SigningKey.read(issuer.demo.key_file), AUDIENCE)
    published = tmp_path / "published.json"
    published.write_text(door.jwks())
    verifier = TokenVerifier([Source(str(published), demo_only=True)], AUDIENCE)
    assert verifier.verify(door.enter().token).player_id
    published.write_text(DemoDoor(None, AUDIENCE).jwks())
    with pytest.raises(TokenInvalid):
        TokenVerifier([Source(str(published), demo_only=True)], AUDIENCE).verify(door.enter().token)


def test_an_operator_may_offer_none() -> None:
    with pytest.raises(GatewayRefused) as refused:
        DemoDoor(None, AUDIENCE).enter()
    assert refused.value.reason == "NOT_OFFERED"


def test_what_is_no_key_is_said(tmp_path: Path) -> None:
    wrong = tmp_path / "key.pem"
    wrong.write_text("nothing")
    for path in (wrong, tmp_path / "nowhere.pem"):
        with pytest.raises(NoSigningKey, match=str(path)):
            SigningKey.read(path)

"""Tokens: whose they are, how long they hold, and what happens when the issuer changes its keys."""

from __future__ import annotations

import json
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.kit import identity
from services.kit.identity import CLOCK_SKEW_S, TokenInvalid, TokenVerifier

NOW = 1_800_000_000.0


class Issuer:
    """Signs with any number of keys and publishes some of them."""

    def __init__(self, home: Path) -> None:
        self.jwks = home / "jwks.json"
        self._keys: dict[str, Ed25519PrivateKey] = {}

    def publish(self, *names: str) -> None:
        published = []
        for name in names:
            key = self._keys.setdefault(name, Ed25519PrivateKey.generate())
            public = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
            published.append({**public, "kid": name, "alg": "EdDSA", "use": "sig"})
        self.jwks.write_text(json.dumps({"keys": published}))

    def token(self, signed_by: str = "first", **changes: str | float | None) -> str:
        claims: dict[str, object] = {"sub": "ana", "aud": "feltro", "scope": "player", "exp": NOW + 60}
        claims |= changes
        kept = {name: value for name, value in claims.items() if value is not None}
        signer = self._keys.setdefault(signed_by, Ed25519PrivateKey.generate())
        return jwt.encode(kept, signer, algorithm="EdDSA", headers={"kid": signed_by})


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    made = Issuer(tmp_path)
    made.publish("first")
    return made


@pytest.fixture
def verifier(issuer: Issuer) -> TokenVerifier:
    return TokenVerifier(issuer.jwks, "feltro", lambda: NOW)


def test_a_token_says_who_calls_and_what_he_may(issuer: Issuer, verifier: TokenVerifier) -> None:
    caller = verifier.verify(issuer.token(scope="player operator"))
    assert (caller.subject, set(caller.scopes)) == ("ana", {"player", "operator"})
    assert verifier.verify(issuer.token(scope=None)).scopes == frozenset()


@pytest.mark.guarantee("G12")
def test_g12_an_expired_token_is_authentic_and_known_to_be_expired(issuer: Issuer, verifier: TokenVerifier) -> None:
    caller = verifier.verify(issuer.token(exp=NOW - 3600))
    assert caller.expired(NOW)
    assert not verifier.verify(issuer.token(exp=NOW - CLOCK_SKEW_S + 1)).expired(NOW)


@pytest.mark.parametrize(
    "changes",
    [{"aud": "another"}, {"aud": None}, {"sub": None}, {"exp": None}, {"nbf": time.time() + 3600}],
)
def test_a_token_that_lacks_something_is_refused(
    issuer: Issuer, verifier: TokenVerifier, changes: dict[str, str | float | None]
) -> None:
    with pytest.raises(TokenInvalid):
        verifier.verify(issuer.token("first", **changes))


def test_forged_tokens_are_refused(issuer: Issuer, verifier: TokenVerifier, tmp_path: Path) -> None:
    stranger = Issuer(tmp_path / "elsewhere")
    unsigned = jwt.encode({"sub": "ana", "aud": "feltro", "exp": NOW + 60}, key="", algorithm="none")
    shared = jwt.encode(
        {"sub": "ana", "aud": "feltro", "exp": NOW + 60},
        json.loads(issuer.jwks.read_text())["keys"][0]["x"],
        algorithm="HS256",
        headers={"kid": "first"},
    )
    whole = issuer.token()
    for forged in (
        stranger.token("first"),
        stranger.token("other"),
        unsigned,
        shared,
        whole[:-4] + "AAAA",
        "",
        "x.y.z",
    ):
        with pytest.raises(TokenInvalid):
            verifier.verify(forged)


def test_keys_are_rotated_without_a_restart(issuer: Issuer, verifier: TokenVerifier) -> None:
    with pytest.raises(TokenInvalid):
        verifier.verify(issuer.token("second"))
    issuer.publish("first", "second")
    assert verifier.verify(issuer.token("second")).subject == "ana"
    issuer.publish("second")
    assert verifier.verify(issuer.token("second")).subject == "ana"


@pytest.mark.guarantee("G11")
def test_g11_verified_tokens_are_remembered_up_to_a_limit(
    issuer: Issuer, verifier: TokenVerifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "VERIFIED_TOKENS_LIMIT", 3)
    for number in range(10):
        verifier.verify(issuer.token(sub=f"player-{number}"))
    assert len(verifier._verified) == 3

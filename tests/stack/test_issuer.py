"""The services' own verifier accepts the development issuer's tokens."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from services.kit.access.identity import TokenInvalid, TokenVerifier
from stack.issuer import AUDIENCE, DevelopmentIssuer, NoIssuerHere


def test_a_service_accepts_the_token(tmp_path: Path) -> None:
    issuer = DevelopmentIssuer(tmp_path)
    issuer.prepare()
    token = issuer.token(["game"], "roulette", minutes=5)
    caller = TokenVerifier(issuer.jwks, AUDIENCE).verify(token)
    assert (caller.subject, caller.game) == ("roulette", "roulette")
    assert caller.scopes == {"game"}
    assert 0 < caller.expires_at - time.time() <= 300


def test_another_issuers_token_is_refused(tmp_path: Path) -> None:
    ours, other = DevelopmentIssuer(tmp_path / "ours"), DevelopmentIssuer(tmp_path / "other")
    ours.prepare()
    other.prepare()
    with pytest.raises(TokenInvalid):
        TokenVerifier(ours.jwks, AUDIENCE).verify(other.token(["operator"], "someone"))


def test_the_key_is_made_once_and_stays_private(tmp_path: Path) -> None:
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    key = tmp_path / "issuer" / "key.pem"
    made = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    (published,) = json.loads(issuer.jwks.read_text())["keys"]
    assert "d" not in published
    DevelopmentIssuer(tmp_path / "issuer").prepare()
    assert key.read_bytes() == made


def test_without_keys_nothing_is_signed_and_none_are_made(tmp_path: Path) -> None:
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    for ask in (lambda: issuer.token(["player"], "ana"), issuer.secret, lambda: issuer.service_token_file("roulette")):
        with pytest.raises(NoIssuerHere, match="FELTRO_DATA"):
            ask()
    assert not (tmp_path / "issuer").exists()

"""The development issuer's tokens are what the services' own verifier accepts."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from services.kit.access.identity import TokenInvalid, TokenVerifier
from stack.issuer import AUDIENCE, DevelopmentIssuer, token_command


def test_a_service_accepts_the_token(tmp_path: Path) -> None:
    issuer = DevelopmentIssuer(tmp_path)
    token = issuer.token(["game", "operator"], "roulette-1", minutes=5)
    caller = TokenVerifier(issuer.jwks, AUDIENCE).verify(token)
    assert caller.subject == "roulette-1"
    assert caller.scopes == {"game", "operator"}
    assert 0 < caller.expires_at - time.time() <= 300


def test_another_issuers_token_is_refused(tmp_path: Path) -> None:
    ours, other = DevelopmentIssuer(tmp_path / "ours"), DevelopmentIssuer(tmp_path / "other")
    ours.prepare()
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


def test_a_players_token_needs_his_id(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        token_command(["--scope", "player"])
    assert "--subject" in capsys.readouterr().err


def test_the_command_prints_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FELTRO_DATA", str(tmp_path))
    assert token_command(["--scope", "player", "--subject", "ana"]) == 0
    token = capsys.readouterr().out.strip()
    caller = TokenVerifier(tmp_path / "issuer" / "jwks.json", AUDIENCE).verify(token)
    assert (caller.subject, caller.scopes) == ("ana", frozenset({"player"}))

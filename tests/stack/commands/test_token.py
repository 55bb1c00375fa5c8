"""`feltro token` prints a token that the services accept."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.kit.access.identity import TokenVerifier
from stack.commands.token import command
from stack.issuer import AUDIENCE


def test_a_players_token_needs_a_subject(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command(["--scope", "player"])
    assert "--subject" in capsys.readouterr().err


def test_the_command_prints_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FELTRO_DATA", str(tmp_path))
    assert command(["--scope", "player", "--subject", "ana"]) == 0
    token = capsys.readouterr().out.strip()
    caller = TokenVerifier(tmp_path / "issuer" / "jwks.json", AUDIENCE).verify(token)
    assert (caller.subject, caller.scopes) == ("ana", frozenset({"player"}))

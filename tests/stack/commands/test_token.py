"""`feltro token` prints a token that the services accept, or says why there would be none that they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services.kit.access.identity import TokenVerifier
from stack.commands import call, token
from stack.data_folder import DataFolder
from stack.issuer import AUDIENCE, DevelopmentIssuer

PLAYER = ["--scope", "player", "--subject", "ana"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder that the command looks at, and that nothing has used yet."""
    monkeypatch.setenv("FELTRO_DATA", str(tmp_path / "data"))
    return DataFolder(tmp_path / "data")


def test_a_players_token_needs_a_subject(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        token.command(["--scope", "player"])
    assert "--subject" in capsys.readouterr().err


def test_the_command_prints_a_token_of_the_platform_that_runs(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.prepare()
    DevelopmentIssuer(folder.issuer).prepare()
    folder.lock("http://127.0.0.1:8700/")
    assert token.command(PLAYER) == 0
    printed = capsys.readouterr()
    caller = TokenVerifier(folder.issuer / "jwks.json", AUDIENCE).verify(printed.out.strip())
    assert (caller.subject, caller.scopes) == ("ana", frozenset({"player"}))
    assert printed.err == ""
    folder.unlock()


def test_without_a_platform_there_is_no_token_and_no_key(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """The data are elsewhere: new keys would sign a token that nobody accepts."""
    assert token.command(PLAYER) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    for part in (str(folder.issuer / "key.pem"), "make run", "FELTRO_DATA"):
        assert part in printed.err
    assert call.command(["WalletService/GetBalance"]) == 2
    assert "FELTRO_DATA" in capsys.readouterr().err
    # A folder of another platform that was never started to its end makes none either.
    folder.prepare()
    assert token.command(PLAYER) == 1
    assert not list(folder.issuer.iterdir())


def test_a_token_of_a_platform_that_does_not_run_is_pointed_out(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its keys are of an earlier run; the one that runs now may have its data elsewhere."""
    folder.prepare()
    DevelopmentIssuer(folder.issuer).prepare()
    for left_behind in ("", "half a lo", f'{{"process": {ended_process()}, "address": "http://127.0.0.1:8700/"}}'):
        (folder.root / "run.lock").write_text(left_behind)
        assert token.command(PLAYER) == 0
        printed = capsys.readouterr()
        assert printed.out.count(".") == 2
        assert str(folder.root) in printed.err


def ended_process() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid

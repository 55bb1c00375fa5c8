"""`feltro nats-permissions`: a real server takes what it prints, and no password is in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.kit.bus.permissions_command import command, variable_of
from stack.servers.nats import SERVER


@pytest.mark.guarantee("G12")
def test_g12_a_server_takes_the_printed_configuration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command(["roulette", "poker"]) == 0
    printed = capsys.readouterr().out
    users = ("wallet", "gateway", "roulette", "poker", "operator", "monitor")
    for user in users:
        assert f'{{user: "{user}", password: ${variable_of(user)}}}' in printed
    configuration = tmp_path / "nats.conf"
    configuration.write_text(f'jetstream {{ store_dir: "{tmp_path}" }}\n{printed}')
    passwords = {variable_of(user): f"p{number}" for number, user in enumerate(users)}
    checked = subprocess.run(
        [str(SERVER), "-t", "-c", str(configuration)],
        env={**os.environ, **passwords},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("game", ["wallet", "operator", "a.b", "*"])
def test_no_game_is_called_like_another_user(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["roulette", game]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert repr(game) in said.err

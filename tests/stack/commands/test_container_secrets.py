"""The secrets of containers: each container's folder holds its own, made once, and the folders are closed to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.kit.access.signing_key import SigningKey
from stack.commands import container_secrets
from stack.commands.container_secrets import ContainerSecrets
from stack.databases import DATABASES
from stack.games import GAMES


@pytest.fixture
def secrets(tmp_path: Path) -> ContainerSecrets:
    made = ContainerSecrets(tmp_path / "compose")
    made.prepare()
    return made


def contents(folder: Path) -> dict[str, str]:
    """The files below a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_they_are_made_once_and_then_kept(secrets: ContainerSecrets, tmp_path: Path) -> None:
    made = contents(tmp_path)
    ContainerSecrets(tmp_path / "compose").prepare()
    assert contents(tmp_path) == made


@pytest.mark.guarantee("G12")
def test_others_on_this_machine_read_none_of_them(secrets: ContainerSecrets, tmp_path: Path) -> None:
    assert (tmp_path / "compose").stat().st_mode & 0o077 == 0
    # A container's process is another user, who comes in through the mount.
    assert secrets.folder("wallet").stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in secrets.folder("wallet").iterdir()} == {0o644}


@pytest.mark.guarantee("G12")
def test_a_game_gets_its_own_secrets_and_those_of_no_other(secrets: ContainerSecrets) -> None:
    own = {each.name: set(contents(secrets.folder(each.name)).items()) for each in GAMES}
    shared = {"issuer.json", "demo.json"}
    for name, files in own.items():
        for other in own.keys() - {name}:
            assert {file for file, _ in files & own[other]} <= shared


def test_the_wallet_knows_the_public_half_of_each_games_key(secrets: ContainerSecrets) -> None:
    for game in GAMES:
        key = SigningKey.read(secrets.folder(game.name) / "signing.pem")
        assert (secrets.folder("wallet") / f"{game.name}.json").read_text() == key.jwks()


def test_each_role_of_a_database_has_a_password_of_its_own_which_its_address_names(
    secrets: ContainerSecrets, tmp_path: Path
) -> None:
    script = (secrets.folder("postgres") / "databases.sql").read_text()
    passwords = {role: secrets.password(role) for database in DATABASES for role in (database.owner, database.user)}
    assert len(set(passwords.values())) == 2 * len(DATABASES)
    for role, password in passwords.items():
        assert f"CREATE ROLE {role} LOGIN PASSWORD '{password}';" in script
    for database in DATABASES:
        line = (tmp_path / "compose" / "databases" / f"{database.service}-owner.env").read_text()
        address = f"postgresql+asyncpg://{database.owner}:{passwords[database.owner]}@postgres:5432/{database.name}"
        assert line == f"FELTRO_{database.service.upper()}_OWNER_URL={address}\n"


def test_the_command_makes_them_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FELTRO_DATA", str(tmp_path / "data"))
    assert container_secrets.main() == 0
    assert f"are in {tmp_path / 'data' / 'compose'}." in capsys.readouterr().out
    (tmp_path / "data").chmod(0o777)
    assert container_secrets.main() == 1
    assert "Others may write to the data folder" in capsys.readouterr().err

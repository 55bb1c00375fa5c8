"""Production comes to the bus with a password and over TLS, or not at all, and says what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic_settings import SettingsConfigDict

from services.kit.bus.settings import BusSettings
from services.kit.settings import WrongSettings, load

pytestmark = pytest.mark.guarantee("G12")

SECRET = "hunter2"  # noqa: S105 - of no server
ENCRYPTED = {"FELTRO_NATS_URL": "tls://nats.example:4222"}
PLAIN = {"FELTRO_NATS_URL": "nats://nats.example:4222"}
PASSWORD = {"FELTRO_GAME_NATS_PASSWORD": SECRET}
DEVELOPMENT = {"FELTRO_ENVIRONMENT": "development"}


class GameOnBus(BusSettings):
    """The settings of a process whose variables begin with `FELTRO_GAME_`."""

    model_config = SettingsConfigDict(
        env_prefix="FELTRO_GAME_", extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )


def read(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> GameOnBus:
    for name in os.environ:
        if name.startswith("FELTRO_"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load(GameOnBus)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        (ENCRYPTED, ["FELTRO_GAME_NATS_PASSWORD_FILE", "FELTRO_GAME_NATS_PASSWORD", "docs/operating.md"]),
        ({**ENCRYPTED, "FELTRO_GAME_NATS_PASSWORD": ""}, ["FELTRO_GAME_NATS_PASSWORD"]),
        ({**PLAIN, **PASSWORD}, ["FELTRO_NATS_URL", "tls://", "FELTRO_NATS_TLS"]),
        ({**PLAIN, **PASSWORD, "FELTRO_ENVIRONMENT": "production"}, ["FELTRO_NATS_URL", "FELTRO_NATS_TLS"]),
        ({**PLAIN, "FELTRO_NATS_TLS": "off"}, ["FELTRO_GAME_NATS_PASSWORD"]),
        ({**ENCRYPTED, **PASSWORD, "FELTRO_NATS_TLS": "perhaps"}, ["FELTRO_NATS_TLS"]),
        ({**ENCRYPTED, **PASSWORD, "FELTRO_NATS_CA": __file__}, ["FELTRO_NATS_CA"]),
        ({**ENCRYPTED, **PASSWORD, "FELTRO_NATS_CERTIFICATE": __file__}, ["FELTRO_NATS_KEY"]),
        (
            {**ENCRYPTED, **PASSWORD, "FELTRO_GAME_NATS_PASSWORD_FILE": __file__},
            ["both", "FELTRO_GAME_NATS_PASSWORD_FILE"],
        ),
        ({**DEVELOPMENT, "FELTRO_NATS_URL": f"nats://game:{SECRET}@nats.example"}, ["FELTRO_NATS_URL"]),
        ({**ENCRYPTED, **PASSWORD, "FELTRO_NATS_URL": f"tls://a,b:{SECRET}@nats.example"}, ["FELTRO_NATS_URL"]),
    ],
)
def test_g12_a_wrong_setting_is_named_and_no_password_is_shown(
    variables: dict[str, str], named: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(WrongSettings) as wrong:
        read(variables, monkeypatch)
    assert not [name for name in named if name not in str(wrong.value)]
    assert SECRET not in str(wrong.value)


def test_g12_production_starts_without_tls_only_if_the_operator_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read({**PLAIN, **PASSWORD, "FELTRO_NATS_TLS": "off"}, monkeypatch)
    endpoint = settings.bus("game")
    assert (endpoint.user, endpoint.password, endpoint.tls) == ("game", SECRET, None)
    assert SECRET not in repr(settings) + repr(endpoint)


def test_the_password_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{SECRET}\n")
    endpoint = read({**ENCRYPTED, "FELTRO_GAME_NATS_PASSWORD_FILE": str(file)}, monkeypatch).bus("game")
    assert endpoint.password == SECRET
    assert endpoint.tls is not None
    assert endpoint.tls.check_hostname


def test_several_servers_of_one_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "tls://one.example:4222,two.example:4223"
    endpoint = read({**PASSWORD, "FELTRO_NATS_URL": url}, monkeypatch).bus("game")
    assert endpoint.servers == ["tls://one.example:4222", "tls://two.example:4223"]


def test_development_may_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = read({**PLAIN, **DEVELOPMENT}, monkeypatch).bus("game")
    assert (endpoint.user, endpoint.password, endpoint.tls) == ("", "", None)

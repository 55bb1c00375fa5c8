"""A wrong value stops the start with a sentence that names the variable."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import TypeVar

import pytest

from gateway.settings import GatewaySettings
from services.kit.rpc.settings import GrpcSettings
from services.kit.settings import ServiceSettings, WrongSettings, load
from services.kit.table.journal.replay.command import ReplaySettings
from services.roulette.settings import RouletteSettings
from services.wallet.settings import WalletSettings
from stack.operator_site.settings import OperatorSiteSettings
from stack.practice.settings import PracticeSettings
from stack.settings import StackSettings
from tests.processes.certificates import CertificateAuthority

SettingsT = TypeVar("SettingsT", bound=ServiceSettings)

# Any existing file will do: its keys are read later.
KEYS = {"FELTRO_ISSUER_JWKS": __file__}
SITE = {"FELTRO_OPERATOR_SITE_LISTEN": "127.0.0.1:8702", "FELTRO_OPERATOR_SITE_ISSUER": str(Path(__file__).parent)}
PASSWORDS = {f"FELTRO_{process}_NATS_PASSWORD": "a-password" for process in ("WALLET", "ROULETTE", "GATEWAY")}
NATS = {**KEYS, **PASSWORDS, "FELTRO_NATS_URL": "tls://127.0.0.1:4222"}
# Production asks for certificates, which have tests of their own below.
NO_TLS = {"FELTRO_GRPC_TLS": "off"}
WALLET = {**NATS, **NO_TLS, "FELTRO_WALLET_DATABASE_URL": "postgresql+asyncpg://feltro@127.0.0.1/feltro"}
PRACTICE = {"FELTRO_PRACTICE_ISSUER": str(Path(__file__).parent), "FELTRO_PRACTICE_GATEWAY": "http://127.0.0.1:8700"}
# The last variable of each is the wrong one.
WRONG_PORT = {"FELTRO_GATEWAY_PORT": "eighty"}
WRONG_SITE = {**SITE, "FELTRO_OPERATOR_SITE_GATEWAY": "127.0.0.1:8700"}
WRONG_GATEWAY = {**NATS, "FELTRO_GATEWAY_LISTEN": "here"}
ADVANCEABLE = {"FELTRO_WALLET_SESSION_CLOCK": "advanceable"}


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (StackSettings, WRONG_PORT),
        (StackSettings, {"FELTRO_POSTGRES_PORT": "70000"}),
        (StackSettings, {"FELTRO_NATS_PORT": "0"}),
        (OperatorSiteSettings, WRONG_SITE),
        (PracticeSettings, {**PRACTICE, "FELTRO_PRACTICE_SPEED": "0"}),
        (
            PracticeSettings,
            {"FELTRO_PRACTICE_ISSUER": PRACTICE["FELTRO_PRACTICE_ISSUER"], "FELTRO_PRACTICE_GATEWAY": "127.0.0.1:8700"},
        ),
        (StackSettings, {"FELTRO_PRACTICE": "sometimes"}),
        (GatewaySettings, WRONG_GATEWAY),
        (GatewaySettings, {**NATS, "FELTRO_GATEWAY_WALLET_ADDRESS": "127.0.0.1"}),
        (GatewaySettings, {**KEYS, "FELTRO_NATS_URL": "http://127.0.0.1"}),
    ],
)
def test_the_variable_is_named(
    settings: type[ServiceSettings], wrong: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (sentence,) = _sentences(settings, wrong, monkeypatch)
    assert sentence.startswith(next(reversed(wrong)))


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", [{}, {"FELTRO_ENVIRONMENT": ""}, {"FELTRO_ENVIRONMENT": "production"}])
def test_g12_production_does_not_start_with_a_session_clock_that_can_be_moved(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word that it is development, it is production."""
    (sentence,) = _sentences(WalletSettings, {**WALLET, **environment, **ADVANCEABLE}, monkeypatch)
    assert sentence.startswith("FELTRO_WALLET_SESSION_CLOCK has to be `real` where FELTRO_ENVIRONMENT is `production`")


def _sentences(
    settings: type[ServiceSettings], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    with pytest.raises(WrongSettings) as wrong:
        _loaded(settings, variables, monkeypatch)
    return str(wrong.value).splitlines()


@pytest.mark.parametrize(
    ("module", "wrong"),
    [
        ("stack.commands.run", WRONG_PORT),
        ("stack.operator_site", WRONG_SITE),
        ("gateway", WRONG_GATEWAY),
        ("services.wallet", {**WALLET, **ADVANCEABLE}),
    ],
)
def test_a_process_prints_the_sentence_and_exits_with_78(module: str, wrong: dict[str, str]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FELTRO_")}
    ended = subprocess.run(
        [sys.executable, "-m", module],
        env={**kept, **wrong},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 78
    (sentence,) = ended.stderr.splitlines()
    assert sentence.startswith(next(reversed(wrong)))


DEVELOPMENT, PRODUCTION = ({"FELTRO_ENVIRONMENT": environment} for environment in ("development", "production"))
GAME = {
    **NATS,
    "FELTRO_ROULETTE_DATABASE_URL": "postgresql+asyncpg://feltro@127.0.0.1/feltro",
    "FELTRO_ROULETTE_TOKEN_FILE": __file__,
    "FELTRO_ROULETTE_TABLE_KEY_FILE": __file__,
}
REPLAY = {name: value for name, value in GAME.items() if name not in NATS}
ReplaySettingsOfRoulette = ReplaySettings.for_service("roulette")
# Every process that calls another over gRPC, or is called, with all that it needs besides certificates.
GRPC_PROCESSES = pytest.mark.parametrize(
    ("settings", "variables"),
    [
        (GatewaySettings, {**NATS, "FELTRO_GATEWAY_GAME_NETWORKS": "10.1.0.0/16"}),
        (WalletSettings, {name: value for name, value in WALLET.items() if name not in NO_TLS}),
        (RouletteSettings, GAME),
        (ReplaySettingsOfRoulette, REPLAY),
    ],
)


@pytest.mark.parametrize(
    ("variables", "advertised"),
    [
        ({}, "127.0.0.1:4000"),
        ({"FELTRO_ROULETTE_LISTEN": "0.0.0.0:8740"}, "10.1.2.3:4000"),
        ({"FELTRO_ROULETTE_LISTEN": "0.0.0.0:8740", "FELTRO_ROULETTE_ADVERTISE": "game:9"}, "game:9"),
    ],
)
def test_a_game_in_a_container_is_reached_at_the_address_of_its_container(
    variables: dict[str, str], advertised: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("10.1.2.3", 0))])
    settings = _loaded(RouletteSettings, {**GAME, **DEVELOPMENT, **variables}, monkeypatch)
    assert settings.advertised(port=4000) == advertised


def test_a_game_that_listens_everywhere_and_knows_no_address_of_its_own_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("127.0.1.1", 0))])
    everywhere = {**GAME, **DEVELOPMENT, "FELTRO_ROULETTE_LISTEN": "0.0.0.0:8740"}
    (sentence,) = _sentences(RouletteSettings, everywhere, monkeypatch)
    assert sentence.startswith("FELTRO_ROULETTE_ADVERTISE has to be set: this machine's name")


@pytest.mark.guarantee("G12")
@GRPC_PROCESSES
@pytest.mark.parametrize("environment", [{}, {"FELTRO_ENVIRONMENT": ""}, PRODUCTION])
def test_g12_production_does_not_start_without_tls_unless_it_is_switched_off_by_name(
    settings: type[GrpcSettings],
    variables: dict[str, str],
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (sentence,) = _sentences(settings, {**variables, **environment}, monkeypatch)
    assert "FELTRO_GRPC_TLS_CA, FELTRO_GRPC_TLS_CERTIFICATE and FELTRO_GRPC_TLS_KEY have to be set" in sentence
    assert "FELTRO_GRPC_TLS to `off`" in sentence
    assert not _loaded(settings, {**variables, **environment, **NO_TLS}, monkeypatch).transport().is_secure
    certificates = CertificateAuthority(tmp_path).variables("wallet")
    assert _loaded(settings, {**variables, **environment, **certificates}, monkeypatch).transport().is_secure


@GRPC_PROCESSES
def test_development_needs_no_certificates_and_uses_those_that_it_has(
    settings: type[GrpcSettings], variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not _loaded(settings, {**variables, **DEVELOPMENT}, monkeypatch).transport().is_secure
    certificates = CertificateAuthority(tmp_path).variables("wallet")
    assert _loaded(settings, {**variables, **DEVELOPMENT, **certificates}, monkeypatch).transport().is_secure


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("environment", [DEVELOPMENT, PRODUCTION])
@pytest.mark.parametrize("missing", ["FELTRO_GRPC_TLS_CA", "FELTRO_GRPC_TLS_CERTIFICATE", "FELTRO_GRPC_TLS_KEY"])
def test_g12_a_part_of_the_certificates_is_refused(
    environment: dict[str, str], missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = CertificateAuthority(tmp_path).variables("gateway")
    del certificates[missing]
    (sentence,) = _sentences(GatewaySettings, {**NATS, **environment, **certificates}, monkeypatch)
    assert "have to be set together" in sentence


@pytest.mark.guarantee("G12")
def test_g12_certificates_that_cannot_be_used_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificates = CertificateAuthority(tmp_path).variables("gateway")
    both = {**NATS, **PRODUCTION, **certificates, **NO_TLS}
    assert "is `off`, but certificates are set" in _sentences(GatewaySettings, both, monkeypatch)[0]
    mutual = {**NATS, **DEVELOPMENT, "FELTRO_GRPC_TLS": "mutual"}
    assert "have to be set together" in _sentences(GatewaySettings, mutual, monkeypatch)[0]
    Path(certificates["FELTRO_GRPC_TLS_KEY"]).write_text("no key")
    (sentence,) = _sentences(GatewaySettings, {**NATS, **PRODUCTION, **certificates}, monkeypatch)
    assert "cannot be used" in sentence
    gone = {**certificates, "FELTRO_GRPC_TLS_KEY": str(tmp_path / "nowhere.pem")}
    assert _sentences(GatewaySettings, {**NATS, **PRODUCTION, **gone}, monkeypatch)[0].startswith("FELTRO_GRPC_TLS_KEY")


@pytest.mark.guarantee("G12")
def test_g12_a_gateway_of_production_without_tls_does_not_start_before_it_knows_the_games_networks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    production = {**NATS, **PRODUCTION, **NO_TLS}
    (sentence,) = _sentences(GatewaySettings, production, monkeypatch)
    assert sentence.startswith("FELTRO_GATEWAY_GAME_NETWORKS has to be set")
    networks = {"FELTRO_GATEWAY_GAME_NETWORKS": "10.1.0.0/16 fd00::/8"}
    loaded = _loaded(GatewaySettings, {**production, **networks}, monkeypatch)
    assert loaded.trusted_game_networks() == [ip_network("10.1.0.0/16"), ip_network("fd00::/8")]
    loaded = _loaded(GatewaySettings, {**NATS, **DEVELOPMENT}, monkeypatch)
    assert loaded.trusted_game_networks() == (ip_network("127.0.0.0/8"), ip_network("::1"))
    certificates = CertificateAuthority(tmp_path).variables("gateway")
    assert _loaded(GatewaySettings, {**NATS, **PRODUCTION, **certificates}, monkeypatch).trusted_game_networks() is None
    wrong = {**production, "FELTRO_GATEWAY_GAME_NETWORKS": "10.1.0.0/99"}
    assert _sentences(GatewaySettings, wrong, monkeypatch)[0].startswith("FELTRO_GATEWAY_GAME_NETWORKS")


def _loaded(settings: type[SettingsT], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> SettingsT:
    for name in os.environ:
        if name.startswith("FELTRO_"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load(settings)


def test_each_game_has_ports_of_its_own_which_variables_move(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = _loaded(StackSettings, {"FELTRO_ROULETTE_METRICS_PORT": "9999"}, monkeypatch)
    assert (moved.games["roulette"].port, moved.games["roulette"].metrics_port) == (8740, 9999)
    assert moved.ports()["FELTRO_ROULETTE_METRICS_PORT"] == 9999
    assert len(set(moved.ports().values())) == len(moved.ports())
    (sentence,) = _sentences(StackSettings, {"FELTRO_ROULETTE_PORT": "70000"}, monkeypatch)
    assert sentence.startswith("FELTRO_ROULETTE_PORT ")

"""The Dockerfile has a target for each service, which says of it what the service itself says."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.settings import GatewaySettings
from services.kit.database.migration import services_with_database
from services.kit.settings import ServiceSettings
from services.kit.table.server.settings import GameSettings
from services.wallet.settings import WalletSettings
from stack.games import GAMES
from stack.operator_site.settings import OperatorSiteSettings
from stack.settings import StackSettings
from tools import container_engine, images
from tools.lock import IMAGES, LOCKS

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text()
PORTS: Mapping[str, int] = {
    **{service: StackSettings.model_fields[f"{service}_port"].default for service in ("wallet", "gateway")},
    **{game.name: game.port for game in GAMES},
}


def stages() -> dict[str, tuple[str, str]]:
    """The stages of the Dockerfile by name: what each is based on, and its lines."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    found = re.split(r"^FROM (\S+) AS (\S+)$", text, flags=re.MULTILINE)[1:]
    return {name: (base, lines) for base, name, lines in zip(found[::3], found[1::3], found[2::3], strict=True)}


def test_every_service_has_a_target_and_every_target_a_service() -> None:
    targets = {name for name, (base, _) in stages().items() if base in {"runtime", "gateway"}}
    assert targets == set(images.TARGETS)


@pytest.mark.parametrize("service", IMAGES)
def test_a_service_is_installed_from_its_own_lock_and_listens_where_it_listens_elsewhere(service: str) -> None:
    port, upper = PORTS[service], service.upper()
    assert (LOCKS / f"{service}.txt").is_file()
    _, files = stages()[f"{service}-files"]
    assert f"COPY locks/{service}.txt locks/" in files
    assert f"RUN tools/install_image.sh {service}\n" in files
    _, lines = stages()[service]
    assert f"COPY --from={service}-files /opt/feltro /opt/feltro" in lines
    assert f'org.opencontainers.image.title="feltro-{service}"' in lines
    assert f"FELTRO_{upper}_LISTEN=0.0.0.0:{port} FELTRO_{upper}_METRICS_LISTEN=0.0.0.0:{port + 1}" in lines
    assert f"EXPOSE {port} {port + 1}\n" in lines
    assert f'CMD ["feltro", "health", "{service}"' in lines
    module = service if service == "gateway" else f"services.{service}"
    assert f'\nCMD ["python", "-m", "{module}"]\n' in lines


@pytest.mark.parametrize("image", images.TARGETS)
def test_compose_runs_every_image_in_this_version(image: str) -> None:
    assert f"image: feltro-{image}:${{FELTRO_VERSION:-{images.VERSION}}}\n" in COMPOSE


@pytest.mark.parametrize("service", services_with_database())
def test_compose_migrates_every_database_before_its_service_serves(service: str) -> None:
    migration = (
        f'command: ["feltro", "migrate", "{service}"]\n    env_file: .feltro/compose/databases/{service}-owner.env'
    )
    assert migration in COMPOSE
    assert f"    env_file: .feltro/compose/databases/{service}-user.env\n" in COMPOSE


def test_every_variable_of_compose_is_a_setting() -> None:
    classes: list[type[ServiceSettings]] = [WalletSettings, GatewaySettings, OperatorSiteSettings, StackSettings]
    for game in GAMES:
        module = importlib.import_module(f"services.{game.name}.settings")
        classes += [
            found for found in vars(module).values() if inspect.isclass(found) and issubclass(found, GameSettings)
        ]
    known = {each.variable_name(field) for each in classes for field in each.model_fields}
    named = set(re.findall(r"FELTRO_[A-Z0-9_]+", COMPOSE)) - {"FELTRO_VERSION"}
    # Where browsers and the operator's site find each other, on this machine.
    assert named - {"FELTRO_OPERATOR_SITE_PORT", "FELTRO_GATEWAY_PORT"} <= known


def test_an_image_is_built_on_what_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in images.FROM_ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    assert not {"BASE_IMAGE", "BUILD_IMAGE"} & set(images.build_command("wallet", []))
    monkeypatch.setenv("BASE_IMAGE", "registry.example/python")
    command = images.build_command("wallet", ["PIP_INDEX_URL=https://packages.example"])
    # Docker reads the value of an argument that has none from the environment, too.
    assert {"BASE_IMAGE", f"VERSION={images.VERSION}", "PIP_INDEX_URL=https://packages.example"} <= set(command)
    assert command[command.index("--target") + 1] == "wallet"
    assert command[command.index("--tag") + 1] == f"feltro-wallet:{images.VERSION}"


def test_a_machine_without_a_container_engine_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert images.main(["wallet"]) == 1
    assert "there is no `docker` on PATH. Install Docker Engine" in capsys.readouterr().err
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\necho 'Cannot connect to the daemon.' >&2\nexit 1\n")
    client.chmod(0o755)
    with pytest.raises(container_engine.NoContainerEngine, match=r"Cannot connect to the daemon\.\nInstall Docker"):
        container_engine.require()


def test_an_unknown_image_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        images.main(["dice"])
    assert "there is no image dice: there are wallet, gateway," in capsys.readouterr().err

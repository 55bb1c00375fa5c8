"""The Dockerfile has a target for each service, which says of it what the service itself says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from stack.games import GAMES
from stack.settings import StackSettings
from tools import container_engine, images
from tools.lock import IMAGES, LOCKS

ROOT = Path(__file__).resolve().parents[2]
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

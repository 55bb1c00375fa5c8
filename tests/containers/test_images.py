"""What is in an image, and what is not: no root, no tools, a bill of materials, its version and commit."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tools.images import TARGETS, VERSION, name_of
from tools.lock import LOCKS

# Runs in the image.
EXAMINE = """
import importlib.util, json, os, pathlib, shutil, sys
tools = ("pip", "pip3", "gcc", "cc", "g++", "make", "npm", "node", "protoc", "uv")
caches = ("/root/.cache", "/var/cache/apt/archives", "/nonexistent/.cache")
print(json.dumps({
    "user": [os.getuid(), os.getgid()],
    "tools": [tool for tool in tools if shutil.which(tool)],
    "modules": [name for name in ("pip", "ensurepip", "hatchling", "grpc_tools") if importlib.util.find_spec(name)],
    "packages": [str(path) for cache in caches for path in pathlib.Path(cache).glob("**/*.deb")],
    "writable": [str(path) for path in pathlib.Path("/opt/feltro").rglob("*") if os.access(path, os.W_OK)],
    "bill": json.loads(pathlib.Path("/opt/feltro/sbom.cdx.json").read_text()),
}))
"""


def engine(*arguments: str) -> Any:  # noqa: ANN401 - whatever the engine says
    """Returns what the engine answers, which is JSON."""
    return json.loads(subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout)


@pytest.fixture(params=TARGETS, scope="module")
def image(request: pytest.FixtureRequest) -> str:
    """Each image in turn."""
    return str(request.param)


@pytest.fixture(scope="module")
def found(image: str) -> dict[str, Any]:
    """What is in the image, as a process in it sees that, on a file system that it cannot write to."""
    answer: dict[str, Any] = engine(
        "run", "--rm", "--read-only", "--network=none", name_of(image), "python", "-c", EXAMINE
    )
    return answer


@pytest.mark.guarantee("G12")
def test_its_processes_are_not_root_and_can_change_nothing_in_it(found: dict[str, Any]) -> None:
    assert found["user"] == [10001, 10001]
    assert found["writable"] == []


def test_it_has_neither_a_compiler_nor_an_installer_nor_their_caches(found: dict[str, Any]) -> None:
    assert (found["tools"], found["modules"], found["packages"]) == ([], [], [])


def test_its_bill_of_materials_names_what_its_lock_names(image: str, found: dict[str, Any]) -> None:
    lock = LOCKS / f"{'gateway' if image == 'development' else image}.txt"
    locked = dict(line.split(" ")[0].split("==") for line in lock.read_text().splitlines() if "==" in line)
    billed = {
        part["name"].lower().replace("_", "-").replace(".", "-"): part["version"]
        for part in found["bill"]["components"]
    }
    assert billed
    assert billed.items() <= {name.replace(".", "-"): version for name, version in locked.items()}.items()
    assert found["bill"]["metadata"]["component"]["version"] == VERSION


def test_it_says_what_it_is_and_how_to_ask_for_its_health(image: str) -> None:
    (inspected,) = engine("image", "inspect", name_of(image))
    configuration = inspected["Config"]
    labels = configuration["Labels"]
    assert labels["org.opencontainers.image.title"] == f"feltro-{image}"
    assert labels["org.opencontainers.image.version"] == VERSION
    assert labels["org.opencontainers.image.revision"] not in {"", "unknown"}
    assert configuration["User"] == "10001:10001"
    # Without a shell in between, the process itself gets the engine's signals.
    assert configuration["Cmd"][:2] == ["python", "-m"]
    assert configuration["Healthcheck"]["Test"][:3] == ["CMD", "feltro", "health"]

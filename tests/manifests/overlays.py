"""The overlays as they are rendered, and copies of them with one thing changed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import yaml

from tools.kubernetes.manifests import OVERLAYS, Manifest, parse, render

NAMES = ("dev", "production")


@cache
def _rendered(overlay: str) -> str:
    return render(OVERLAYS / overlay)


def manifests(overlay: str) -> list[Manifest]:
    """Returns the objects of an overlay, to be changed as one likes."""
    return parse(_rendered(overlay))


def write(objects: Sequence[Manifest], file: Path) -> Path:
    """Writes objects as YAML."""
    file.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    return file


def changed(overlay: str, kind: str, name: str, change: Callable[[Manifest], object]) -> list[Manifest]:
    """Returns the objects of an overlay, one of them changed."""
    objects = copy.deepcopy(manifests(overlay))
    change(named(objects, kind, name))
    return objects


def named(objects: Sequence[Manifest], kind: str, name: str) -> Manifest:
    """Returns the object of this kind and name."""
    (found,) = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


def container(manifest: Manifest) -> Manifest:
    """Returns the container of the pods of a workload."""
    only: Manifest
    (only,) = manifest["spec"]["template"]["spec"]["containers"]
    return only

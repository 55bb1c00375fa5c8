"""The three latest minor versions of Kubernetes take every object as it is, and CloudNativePG its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.manifests.overlays import NAMES, changed, manifests, write
from tools.kubernetes.installed import ToolRefused, node_packages, python_tool, run, run_node
from tools.kubernetes.manifests import Manifest

# Kinds that are not of Kubernetes itself: their own schemas are checked below.
OTHER_KINDS = {("postgresql.cnpg.io/v1", "Cluster")}
_PASSED = re.compile(r"^INFO +\S+ passed for resource ")
_UNKNOWN = re.compile(r"^WARN \S+ Couldn't find schema for kind (?P<kind>\S+) with api version (?P<version>\S+) ")


@cache
def latest_minors() -> tuple[str, ...]:
    """The three latest minor versions that the validator knows."""
    schemas = python_tool("kubernetes-validate").parent.glob("lib/*/site-packages/kubernetes_validate/*-schema/v*")
    minors = {
        (int(major), int(minor)) for path in schemas for major, minor in re.findall(r"v(\d+)\.(\d+)\.", path.name)
    }
    return tuple(f"{major}.{minor}" for major, minor in sorted(minors)[-3:])


def complaints(objects: Sequence[Manifest], version: str, folder: Path) -> list[str]:
    """What the validator says beyond that an object is right."""
    file = write(objects, folder / "manifests.yaml")
    command = [str(python_tool("kubernetes-validate") / "kubernetes-validate"), "--strict", "-k", version, str(file)]
    try:
        lines = run(command).splitlines()
    except ToolRefused as refused:
        return str(refused).splitlines()
    assert len(lines) == len(objects), "each object has a line"
    return [line for line in lines if not _PASSED.match(line) and not _is_other_kind(line)]


def _is_other_kind(line: str) -> bool:
    unknown = _UNKNOWN.match(line)
    return unknown is not None and (unknown["version"], unknown["kind"]) in OTHER_KINDS


@pytest.mark.parametrize("overlay", NAMES)
def test_kubernetes_takes_every_object(overlay: str, tmp_path: Path) -> None:
    versions = latest_minors()

    assert len(versions) == 3
    assert {version: complaints(manifests(overlay), version, tmp_path) for version in versions} == {
        version: [] for version in versions
    }


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda wallet: wallet["spec"].update(replica=2), id="unknown field"),
        pytest.param(lambda wallet: wallet["spec"].update(replicas="2"), id="wrong type"),
        pytest.param(lambda wallet: wallet["spec"].pop("selector"), id="missing field"),
        pytest.param(lambda wallet: wallet.update(kind="Deploymant"), id="unknown kind"),
        pytest.param(lambda wallet: wallet.update(apiVersion="apps/v1beta1"), id="version that is gone"),
    ],
)
def test_what_kubernetes_would_not_take_is_found(change: Callable[[Manifest], object], tmp_path: Path) -> None:
    assert complaints(changed("dev", "Deployment", "wallet", change), latest_minors()[-1], tmp_path)


def typescript(objects: Sequence[Manifest]) -> str:
    """The clusters as literals of their type: the compiler refuses fields that it does not know."""
    clusters = [json.dumps(each) for each in objects if each["kind"] == "Cluster"]
    lines = [f"export const cluster{number}: ICluster = {cluster};" for number, cluster in enumerate(clusters)]
    return "\n".join(
        ['import type { ICluster } from "@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1";', *lines, ""]
    )


_VALIDATE = """
import { readFileSync } from "node:fs";
import { Cluster } from "@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1";
const clusters = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const cluster of clusters) new Cluster(cluster).validate();
console.log(clusters.length);
"""


def cluster_complaints(objects: Sequence[Manifest], name: str) -> str:
    """What is wrong with the clusters of databases; empty if nothing is."""
    # In the folder of the packages: both resolve imports from where a file lies.
    home = node_packages()
    source, program, data = (home / f"{name}.{suffix}" for suffix in ("ts", "mjs", "json"))
    source.write_text(typescript(objects), encoding="utf-8")
    program.write_text(_VALIDATE, encoding="utf-8")
    clusters = [each for each in objects if each["kind"] == "Cluster"]
    data.write_text(json.dumps(clusters), encoding="utf-8")
    options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", ""]
    try:
        run_node(str(home / "node_modules/typescript/bin/tsc"), *options, source.name, cwd=home)
        validated = run_node(program.name, data.name, cwd=home)
    except ToolRefused as refused:
        return str(refused)
    assert validated.strip() == str(len(clusters))
    return ""


def test_cloudnativepg_takes_every_cluster() -> None:
    objects = manifests("production")

    assert sum(each["kind"] == "Cluster" for each in objects) == 5
    assert cluster_complaints(objects, "all") == ""


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("unknown", lambda cluster: cluster["spec"].update(instance=3)),
        ("deeper", lambda cluster: cluster["spec"]["bootstrap"]["initdb"].update(databases="feltro_wallet")),
        ("type", lambda cluster: cluster["spec"].update(instances="3")),
        ("missing", lambda cluster: cluster["spec"].pop("instances")),
        ("below", lambda cluster: cluster["spec"].update(instances=0)),
    ],
)
def test_what_cloudnativepg_would_not_take_is_found(name: str, change: Callable[[Manifest], object]) -> None:
    assert cluster_complaints(changed("production", "Cluster", "database-wallet", change), name)

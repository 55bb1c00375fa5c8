"""Checkov finds no weakness in the manifests but those that are accepted here, each for its reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.manifests.overlays import NAMES, changed, container, manifests, write
from tools.kubernetes.installed import python_tool, run
from tools.kubernetes.manifests import Manifest

ACCEPTED = {
    "CKV_K8S_11": "no limit of processor time: it would hold a process back in the middle of a bet, with cores idle",
    "CKV_K8S_15": "a tag names one image for ever, and a node that has it need not ask: the registry may be away",
    "CKV_K8S_35": "addresses of databases, with their passwords, and NATS' passwords are settings of the environment",
    "CKV_K8S_43": "an image has its digest from where you push it to: set it in your overlay, beside the tag",
}
# And one in development alone.
ACCEPTED_THERE: dict[str, dict[str, str]] = {
    "dev": {"CKV_K8S_40": "PostgreSQL's programs want to be the user of the official image, whose number is low"},
    "production": {},
}


def weaknesses(objects: Sequence[Manifest], folder: Path) -> Counter[str]:
    """How many objects fail each check."""
    file = write(objects, folder / "manifests.yaml")
    command = [str(python_tool("checkov") / "checkov"), "--skip-download", "--quiet", "--framework", "kubernetes"]
    report = json.loads(run([*command, "--soft-fail", "--output", "json", "--file", str(file)]))
    assert report["summary"]["passed"] > 0
    assert report["summary"]["parsing_errors"] == 0
    return Counter(check["check_id"] for check in report["results"]["failed_checks"])


@pytest.mark.parametrize("overlay", NAMES)
def test_no_weakness_is_there_but_the_accepted_ones(overlay: str, tmp_path: Path) -> None:
    """Exactly these: what does not occur any more is accepted no longer."""
    assert weaknesses(manifests(overlay), tmp_path).keys() == {**ACCEPTED, **ACCEPTED_THERE[overlay]}.keys()


def _security(manifest: Manifest, **more: object) -> None:
    container(manifest)["securityContext"].update(more)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda wallet: _security(wallet, privileged=True), id="privileged"),
        pytest.param(lambda wallet: _security(wallet, readOnlyRootFilesystem=False), id="writable"),
        pytest.param(lambda wallet: _security(wallet, capabilities={}), id="capabilities"),
        pytest.param(
            lambda wallet: wallet["spec"]["template"]["spec"].update(automountServiceAccountToken=True), id="token"
        ),
        pytest.param(lambda wallet: wallet["spec"]["template"]["spec"].pop("securityContext"), id="root"),
        pytest.param(lambda wallet: container(wallet)["resources"].pop("limits"), id="no limit of memory"),
        pytest.param(lambda wallet: container(wallet).pop("readinessProbe"), id="no probe"),
    ],
)
def test_a_weakness_is_found(change: Callable[[Manifest], object], tmp_path: Path) -> None:
    assert (
        weaknesses(changed("dev", "Deployment", "wallet", change), tmp_path).keys()
        - {**ACCEPTED, **ACCEPTED_THERE["dev"]}.keys()
    )

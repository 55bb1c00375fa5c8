"""The cluster that the tests talk to: what kubectl can do there, and waiting for it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stack.settings import ROOT
from tools.kubernetes.manifests import Manifest
from tools.kubernetes.secrets import NAMESPACE

KUBECTL = os.environ.get("KUBECTL", "kubectl")
# How long anything may take before it is called a hang: a machine with two cores starts everything at once.
WITHIN_S = 300.0
POLL_S = 0.5
# Versions of kinds before Kubernetes 1.21, which the cluster of one node is.
_OLDER = {("PodDisruptionBudget", "policy/v1"): "policy/v1beta1"}


class Cluster:
    """One namespace of the cluster that KUBECONFIG names."""

    def apply(self, objects: Sequence[Manifest], *options: str) -> None:
        """Creates or changes objects."""
        known = set(self._run(["api-versions"]).split())
        for each in objects:
            if each["apiVersion"] not in known:
                each["apiVersion"] = _OLDER[each["kind"], each["apiVersion"]]
        content = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self._run(["apply", *options, "-f", "-"], content)

    def get(self, kind: str, name: str = "", selector: str = "") -> dict[str, Any]:
        """Returns an object, or all of a kind."""
        chosen = [name] if name else [f"--selector={selector}"]
        found: dict[str, Any] = json.loads(self.kubectl("get", kind, *chosen, "-o", "json"))
        return found

    def pods(self, selector: str) -> list[dict[str, Any]]:
        """Returns the pods that are not about to go."""
        items: list[dict[str, Any]] = self.get("pods", selector=selector)["items"]
        return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]

    def kubectl(self, *arguments: str) -> str:
        """Returns what kubectl prints about the platform's namespace."""
        return self._run(["--namespace", NAMESPACE, *arguments])

    def ask_pod(self, pod: str, port: int, path: str) -> dict[str, Any]:
        """Returns what a pod answers over HTTP, through the API server."""
        address = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}:{port}/proxy/{path}"
        answer: dict[str, Any] = json.loads(self._run(["get", "--raw", address]))
        return answer

    def wait_for_rollouts(self) -> None:
        """Returns when every workload has its pods, of its last template, and all are ready."""
        for kind in ("statefulset", "deployment"):
            for each in self.get(kind)["items"]:
                self.kubectl("rollout", "status", f"{kind}/{each['metadata']['name']}", f"--timeout={WITHIN_S:.0f}s")

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Returns when something is so."""
        deadline = time.monotonic() + WITHIN_S
        while not is_so():
            assert time.monotonic() < deadline, f"{what}: not within {WITHIN_S:.0f} s"
            time.sleep(POLL_S)

    def _run(self, arguments: Sequence[str], content: str | None = None) -> str:
        done = subprocess.run(
            [KUBECTL, *arguments],
            input=content,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            # Longer than kubectl itself waits.
            timeout=2 * WITHIN_S,
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout


def folder_of_secrets() -> Path:
    """Where the secrets of the installation are kept."""
    return ROOT / "build" / "cluster" / "secrets"

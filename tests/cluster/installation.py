"""An installation of the dev overlay: applied, ready, and what its pods say of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from tests.cluster.kubernetes import Cluster, folder_of_secrets
from tools.kubernetes.manifests import OVERLAYS, Manifest, parse, render
from tools.kubernetes.secrets import ClusterSecrets

COMPONENT = "app.kubernetes.io/component"
SERVICES = ("wallet", *(game.name for game in GAMES))


@dataclass
class Installation:
    """The platform in a cluster."""

    cluster: Cluster
    issuer: DevelopmentIssuer
    url: str
    """Where the Service of the gateways is reached; empty: by its address in the cluster."""

    tables: Path
    """A folder with the tables to begin with."""

    def install(self) -> None:
        """Applies the namespace, what is not in git, and the rest; returns when every pod is ready.

        Applied again, it changes nothing.
        """
        objects = parse(render(OVERLAYS / "dev"))
        namespaces = [each for each in objects if each["kind"] == "Namespace"]
        self.cluster.apply(namespaces)
        made = ClusterSecrets(folder_of_secrets(), "dev", self.tables)
        self.cluster.apply([*made.objects()], "--server-side")
        self.cluster.apply([each for each in objects if each not in namespaces])
        self.wait_until_ready()
        if not self.url:
            self.url = f"http://{self.cluster.get('service', 'gateway')['spec']['clusterIP']}"

    def wait_until_ready(self) -> None:
        """Returns when the migrations are done and every pod is ready."""
        jobs = [f"job/migrate-{service}" for service in SERVICES]
        self.cluster.kubectl("wait", "--for=condition=complete", "--timeout=300s", *jobs)
        self.cluster.wait_for_rollouts()

    def workloads(self, kinds: Sequence[str]) -> list[Manifest]:
        """The Deployments or StatefulSets that are there."""
        return [each for kind in kinds for each in self.cluster.get(kind)["items"]]

    def run(self, workload: str, *command: str) -> str:
        """Runs a command in a pod of a workload."""
        return self.cluster.kubectl("exec", workload, "--", *command)

    def placements(self, game: str) -> dict[str, int]:
        """How many placements each ready pod of a game runs, by its metrics."""
        found = {}
        for pod in self.cluster.pods(f"{COMPONENT}=game,app.kubernetes.io/name={game}"):
            name = pod["metadata"]["name"]
            read = (
                "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8741/metrics').read().decode())"
            )
            text = self.run(f"pod/{name}", "python", "-c", read)
            (line,) = [line for line in text.splitlines() if line.startswith("feltro_placements ")]
            found[name] = round(float(line.split()[1]))
        return found

    def audit(self) -> str:
        """Checks the ledger where the wallet is; fails if there is a violation."""
        return self.run("deployment/wallet", "feltro", "audit")

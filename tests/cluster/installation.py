"""An installation of the dev overlay: applied, ready, and what its pods say of themselves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from stack.settings import ROOT
from tests.cluster.kubernetes import Cluster, folder_of_secrets
from tests.drill.platform.earlier import EarlierRelease
from tests.players.client import Entrance
from tests.players.quick_tables import quick_tables
from tools.kubernetes.manifests import Manifest, parse, render, workloads
from tools.kubernetes.secrets import ClusterSecrets

COMPONENT = "app.kubernetes.io/component"
SERVICES = ("wallet", *(game.name for game in GAMES))
MIGRATIONS = f"{COMPONENT}=migration"
# The variable that names an earlier release, and the tag of its images.
EARLIER, EARLIER_TAG = "FELTRO_EARLIER", "earlier"
# The dev overlay, with probes for a test.
_OVERLAY = Path("tests", "cluster", "overlay")


@dataclass
class Installation:
    """The platform in a cluster."""

    cluster: Cluster
    issuer: DevelopmentIssuer
    url: str
    """Where the Service of the gateways is reached; empty: by its address in the cluster."""

    tables: Path
    """Where the tables to begin with are written."""

    earlier: EarlierRelease | None = None
    """What is installed first, if it is not this release."""

    def install(self) -> None:
        """Applies everything from nothing; returns when every pod is ready."""
        self._write_tables()
        self._apply(self._objects(self.earlier))
        self.wait_until_ready()
        if not self.url:
            self.url = f"http://{self.cluster.get('service', 'gateway')['spec']['clusterIP']}"

    def release(self) -> None:
        """Replaces every process by one of this release, and the servers of the bus too, as docs/kubernetes.md says."""
        self.cluster.kubectl("delete", "jobs", "--selector", MIGRATIONS)
        self._apply(self._objects(None))
        restarted = ["statefulset/nats"]
        if self.earlier is None:
            restarted += [f"deployment/{each['metadata']['name']}" for each in self.workloads(["deployment"])]
        self.cluster.kubectl("rollout", "restart", *restarted)
        self.wait_until_ready()

    def _objects(self, earlier: EarlierRelease | None) -> list[Manifest]:
        """The objects of this release, or of an earlier one, by its own manifests."""
        if earlier is None:
            return parse(render(ROOT / _OVERLAY))
        overlay = earlier.folder / _OVERLAY
        shutil.rmtree(overlay, ignore_errors=True)
        shutil.copytree(ROOT / _OVERLAY, overlay)
        objects = parse(render(overlay))
        for workload in workloads(objects):
            for container in workload["spec"]["template"]["spec"]["containers"]:
                name, _, _ = container["image"].partition(":")
                if name.startswith("feltro-"):
                    container["image"] = f"{name}:{EARLIER_TAG}"
        return objects

    def _apply(self, objects: Sequence[Manifest]) -> None:
        """Applies the namespace, what is not in git, and the rest; applied again, it changes nothing."""
        namespaces = [each for each in objects if each["kind"] == "Namespace"]
        self.cluster.apply(namespaces)
        made = ClusterSecrets(folder_of_secrets(), "dev", self.tables)
        self.cluster.apply([*made.objects()], "--server-side")
        self.cluster.apply([each for each in objects if each not in namespaces])

    def _write_tables(self) -> None:
        self.tables.mkdir()
        for game in GAMES:
            tables = quick_tables(game)
            if self.earlier is not None:
                for table in tables:
                    table["configuration"] = self.earlier.without_unknown(table["configuration"])
            (self.tables / game.tables.name).write_text(json.dumps(tables))

    @property
    def entrance(self) -> Entrance:
        """How players come in."""
        return Entrance(lambda _: self.url, self.issuer)

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

"""Runs the tests of this folder where KUBECONFIG points, or on one node that is made here: `make test-cluster`.

The images are those of the container engine: `feltro-<service>`, and NATS_IMAGE and POSTGRES_IMAGE if they are set.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from stack.settings import ROOT
from tests.cluster.one_node import node
from tools.kubernetes.manifests import OVERLAYS, parse, render, workloads

KEEP = "--keep"


def main(arguments: list[str]) -> int:
    """Runs pytest with the arguments; with `--keep` the cluster of one node stays, until `node down`."""
    kept = [argument for argument in arguments if argument != KEEP]
    if os.environ.get("KUBECONFIG"):
        return _pytest(kept, [], {})
    started = time.monotonic()
    try:
        node.up(_images())
    except (node.NodeFailed, subprocess.CalledProcessError) as failed:
        print(f"There is no cluster: {failed}", file=sys.stderr)
        node.down()
        return 1
    print(f"a cluster of one node: {time.monotonic() - started:.0f} s", flush=True)
    try:
        kubectl = {"KUBECONFIG": str(node.KUBECONFIG), "KUBECTL": str(node.BIN / "kubectl")}
        return _pytest(kept, node.in_network([]), kubectl)
    finally:
        if KEEP not in arguments:
            node.down()


def _images() -> list[str]:
    """Gives the engine's images the names that the overlay has for them; returns these."""
    names = {
        container["image"]
        for each in workloads(parse(render(OVERLAYS / "dev")))
        for container in each["spec"]["template"]["spec"]["containers"]
    }
    for name in names:
        short = name.rpartition("/")[2].partition(":")[0]
        local = os.environ.get(f"{short.upper()}_IMAGE", name) if not short.startswith("feltro-") else _newest(short)
        if local != name:
            subprocess.run(["docker", "tag", local, name], check=True)
    return sorted(names)


def _newest(image: str) -> str:
    found = subprocess.run(
        ["docker", "image", "ls", "--quiet", image], capture_output=True, text=True, check=True
    ).stdout.split()
    if not found:
        raise node.NodeFailed(f"the container engine has no image {image}: make the images first")
    return found[0]


def _pytest(arguments: Sequence[str], prefix: Sequence[str], environment: Mapping[str, str]) -> int:
    command = [*prefix, sys.executable, "-m", "pytest", "tests/cluster", "--durations=0", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

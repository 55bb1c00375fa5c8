"""Runs the tests of this folder where KUBECONFIG points, or on one node that is made here: `make test-cluster`.

The images are those of the container engine: `feltro-<service>`, and NATS_IMAGE and POSTGRES_IMAGE if they are set.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from stack.settings import ROOT
from tests.cluster.installation import EARLIER, EARLIER_TAG
from tests.cluster.one_node import node
from tests.drill.platform.earlier import EarlierRelease, NoSuchRelease
from tools.images import build_command, name_of
from tools.kubernetes.manifests import OVERLAYS, parse, render, workloads
from tools.lock import IMAGES

# Of everything, the building of Kubernetes and of an earlier release among it: what takes longer has hung.
WITHIN_S = 1500


class Stopped(Exception):
    """The run was ended from outside, or has taken too long."""


def main(arguments: list[str]) -> int:
    """Runs pytest with the arguments that are not the command's own."""
    parser = argparse.ArgumentParser(prog="make test-cluster", description="What follows is for pytest.")
    parser.add_argument("--keep", action="store_true", help="the cluster of one node stays (`node down` ends it)")
    upgraded = "a revision whose release is installed first, and replaced by this one"
    parser.add_argument("--from", dest="revision", metavar="REVISION", help=upgraded)
    chosen, rest = parser.parse_known_args(arguments)
    earlier = {EARLIER: chosen.revision} if chosen.revision else {}
    if os.environ.get("KUBECONFIG"):
        return _pytest(rest, [], earlier)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _stop)
    signal.alarm(WITHIN_S)
    started = time.monotonic()
    try:
        node.up([*_images(), *(_images_of(chosen.revision) if chosen.revision else ())])
        print(f"a cluster of one node: {time.monotonic() - started:.0f} s", flush=True)
        kubectl = {"KUBECONFIG": str(node.KUBECONFIG), "KUBECTL": str(node.BIN / "kubectl")}
        return _pytest(rest, node.in_network([]), {**kubectl, **earlier})
    except (node.NodeFailed, NoSuchRelease, Stopped, subprocess.CalledProcessError) as failed:
        print(f"There is no cluster any more: {failed}", file=sys.stderr)
        return 1
    finally:
        signal.alarm(0)
        # What is taken away is taken away whole.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not chosen.keep:
            node.down()
        print(f"all in: {time.monotonic() - started:.0f} s", flush=True)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(f"it took longer than {WITHIN_S} s" if number == signal.SIGALRM else "it was asked to end")


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


def _images_of(revision: str) -> list[str]:
    """Builds the images of an earlier release; returns their names."""
    with tempfile.TemporaryDirectory() as folder:
        release = EarlierRelease(revision, Path(folder, "sources"))
        for service in IMAGES:
            subprocess.run(
                build_command(service, [], release.folder, EARLIER_TAG), check=True, stdout=subprocess.DEVNULL
            )
    return [name_of(service, EARLIER_TAG) for service in IMAGES]


def _pytest(arguments: Sequence[str], prefix: Sequence[str], environment: Mapping[str, str]) -> int:
    command = [*prefix, sys.executable, "-m", "pytest", "tests/cluster", "--durations=0", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

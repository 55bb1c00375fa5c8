"""Builds the images of the platform: `feltro-<service>`, tagged with the version, labelled with it and the commit."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools import container_engine
from tools.lock import IMAGES, PROJECT

ROOT = Path(__file__).resolve().parent.parent
VERSION = PROJECT["version"]
# The images of a deployment, and that of the development stack for compose.yaml.
TARGETS = (*IMAGES, "development")
# Arguments of the build that are taken from the environment: what the images are based on, and built on.
FROM_ENVIRONMENT = ("BASE_IMAGE", "BUILD_IMAGE")


def name_of(target: str, tag: str = VERSION) -> str:
    """Returns the name and the tag of the image of a target."""
    return f"feltro-{target}:{tag}"


def build_command(target: str, build_arguments: list[str], sources: Path = ROOT, tag: str = VERSION) -> list[str]:
    """Returns the command that builds an image, from other sources and under another tag if they are named."""
    found = [name for name in FROM_ENVIRONMENT if os.environ.get(name)]
    chosen = [f"VERSION={tag}", f"REVISION={_revision()}", *found, *build_arguments]
    options = [option for argument in chosen for option in ("--build-arg", argument)]
    return ["docker", "build", "--target", target, "--tag", name_of(target, tag), *options, str(sources)]


def main(arguments: list[str]) -> int:
    """Builds the images that are named, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.images",
        description="Build the images of the platform. BASE_IMAGE and BUILD_IMAGE of the environment say on what"
        " (docs/containers.md).",
    )
    parser.add_argument("targets", nargs="*", metavar="image", help=f"{', '.join(TARGETS)}; all unless named")
    parser.add_argument("--build-arg", action="append", default=[], help="an argument of `docker build`, NAME=VALUE")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.targets) - set(TARGETS):
        parser.error(f"there is no image {', '.join(sorted(unknown))}: there are {', '.join(TARGETS)}")
    try:
        container_engine.require()
    except container_engine.NoContainerEngine as missing:
        print(missing, file=sys.stderr)
        return 1
    for target in chosen.targets or TARGETS:
        print(f"image {name_of(target)}", flush=True)
        if status := subprocess.run(build_command(target, chosen.build_arg), check=False).returncode:
            return status
    return 0


def _revision() -> str:
    """Returns the commit that the images are built from; one whose files were changed since says so."""
    described = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=-changed"]
    found = subprocess.run(described, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

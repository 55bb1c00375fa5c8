"""Builds the images and runs the tests of tests/containers on them, on the container engine of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools import container_engine, images

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/containers"
# Of testcontainers: tests remove what they start, so that no further image has to be pulled for that.
SETTINGS = {"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_CONNECTION_MODE": "docker_host"}


def main(arguments: list[str]) -> int:
    """Runs the tests; the command line is pytest's."""
    try:
        container_engine.require()
        container_engine.compose_command()
    except container_engine.NoContainerEngine as missing:
        print(missing, file=sys.stderr)
        return 1
    if status := images.main([]):
        return status
    environment = {**SETTINGS, **os.environ}
    command = [sys.executable, "-m", "pytest", *(arguments or [TESTS])]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Whether containers can run on this machine, and what to do if not."""

from __future__ import annotations

import shutil
import subprocess

HOW_TO_GET_ONE = (
    "Install Docker Engine (Debian and Ubuntu: `apt-get install docker.io`; others: https://docs.docker.com/engine/install/),"
    " start it, and let your user reach it (group `docker`); DOCKER_HOST names one that listens elsewhere."
)


class NoContainerEngine(Exception):
    """No container engine answers; the message says what to do."""


def require() -> None:
    """Returns if a container engine answers, and raises `NoContainerEngine` otherwise."""
    docker = shutil.which("docker")
    if docker is None:
        raise NoContainerEngine(f"This needs a container engine, and there is no `docker` on PATH. {HOW_TO_GET_ONE}")
    asked = subprocess.run([docker, "version"], capture_output=True, text=True, check=False)
    if asked.returncode:
        reason = (asked.stderr.strip().splitlines() or ["it does not answer"])[-1]
        raise NoContainerEngine(f"This needs a container engine, and none answers: {reason}\n{HOW_TO_GET_ONE}")


def compose_command() -> list[str]:
    """Returns the command of Docker Compose: the plugin's, or that of the program; raises `NoContainerEngine`."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(command[0])
            and subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0
        ):
            return command
    raise NoContainerEngine(
        "This needs Docker Compose, and there is none. Install it (Debian and Ubuntu: `apt-get install docker-compose`;"
        " others: https://docs.docker.com/compose/install/)."
    )

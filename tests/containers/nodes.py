"""A container of the platform, which can be killed, stopped, paused, and cut off from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docker.errors import APIError
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

PAUSE_ATTEMPTS = 20
# Nothing that our images need: they run so everywhere in these tests.
HARDENED = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"]}


@dataclass(frozen=True, slots=True)
class Networks:
    """The platform's network, which reaches nothing outside, and the one over which tests reach some of it."""

    platform: Network
    edge: Network


class Node:
    """One container, which others reach under its name."""

    def __init__(
        self,
        name: str,
        image: str,
        networks: Networks,
        *,
        environment: Mapping[str, str] | None = None,
        files: Mapping[Path, str] | None = None,
        command: Sequence[str] = (),
        ports: Sequence[int] = (),
        hardened: bool = True,
    ) -> None:
        """`files` are folders and files of this machine by where the container finds them; `ports` are for tests."""
        self.name = name
        self._image = image
        self._networks = networks
        self._ports = list(ports)
        self._volumes = [(str(path), inside, "ro") for path, inside in (files or {}).items()]
        self._command = list(command)
        self._hardened = hardened
        self._is_replaced = False
        self.container = self._make(environment or {})

    def _make(self, environment: Mapping[str, str]) -> DockerContainer:
        made = DockerContainer(
            self._image,
            env=dict(environment),
            ports=self._ports,
            volumes=self._volumes,
            network=self._networks.platform,
            network_aliases=[self.name],
        )
        if self._hardened:
            made.with_kwargs(**HARDENED)
        if self._command:
            made.with_command(self._command)
        return made

    def start(self) -> None:
        self.container.start()
        if self._ports:
            self._networks.edge.connect(self.container.get_container_id())

    def remove(self) -> None:
        self.container.stop()

    def replace(self, environment: Mapping[str, str]) -> None:
        """Asks the process to end, and starts another in its place, which reads its files and variables anew."""
        self._is_replaced = True
        self.stop()
        self.remove()
        self.container = self._make(environment)
        self.start()
        self._is_replaced = False

    def url(self, port: int, scheme: str = "http") -> str:
        """Returns where tests reach one of its ports now: a container that is started again has another."""
        if self._is_replaced:
            raise ConnectionError(f"{self.name} is just being replaced")
        return f"{scheme}://localhost:{self.container.get_exposed_port(port)}"

    def run(self, *command: str) -> tuple[int, str]:
        """Runs a command in the container; returns its status and what it printed."""
        done = self.container.exec(list(command))
        return int(done.exit_code or 0), done.output.decode(errors="replace")

    def status(self) -> str:
        """Returns what the engine says of it: `running`, `paused`, `exited`."""
        self.container.reload()
        return self.container.status

    def log(self) -> str:
        """Returns what its process has printed."""
        return "".join(part.decode(errors="replace") for part in self.container.get_logs())

    def wait(self) -> int:
        """Waits until its process has ended, and returns the status."""
        return self.container.wait()

    def kill(self) -> None:
        self.container.get_wrapped_container().kill()

    def stop(self, grace_s: int = 120) -> None:
        """Asks the process to end, and returns when it has: it is killed after the grace."""
        self.container.get_wrapped_container().stop(timeout=grace_s)

    def start_again(self) -> None:
        self.container.get_wrapped_container().start()

    def pause(self) -> None:
        for attempt in range(PAUSE_ATTEMPTS):
            try:
                self.container.get_wrapped_container().pause()
            except APIError:
                # On a busy machine the kernel does not stop all threads in the time that the engine waits for.
                if attempt + 1 == PAUSE_ATTEMPTS:
                    raise
            else:
                return

    def unpause(self) -> None:
        self.container.get_wrapped_container().unpause()

    def cut_off(self) -> None:
        """Takes it off the platform's network: its connections get no answer any more, and no end either."""
        self._networks.platform._unwrap_network.disconnect(self.container.get_container_id(), force=True)

    def connect_again(self) -> None:
        self._networks.platform.connect(self.container.get_container_id(), [self.name])

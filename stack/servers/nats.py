"""A real NATS server with JetStream from a wheel: its command, and whether it is ready."""

from __future__ import annotations

import socket
import sysconfig
import time
from pathlib import Path

SERVER = Path(sysconfig.get_path("scripts")) / "nats-server"


class NatsError(RuntimeError):
    """NATS could not be reached."""


class EmbeddedNats:
    """One NATS server on 127.0.0.1, JetStream's files under `home`."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home.absolute()
        self.port = port

    @property
    def url(self) -> str:
        """The address that a client uses."""
        return f"nats://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """The server in the foreground; stop it with SIGTERM."""
        self.home.mkdir(parents=True, exist_ok=True)
        listening = ["--addr", "127.0.0.1", "--port", str(self.port)]
        return [str(SERVER), *listening, "--jetstream", "--store_dir", str(self.home)]

    def ready(self) -> bool:
        """Whether the server greets; it does so only once JetStream is up."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(5) == b"INFO "
        except OSError:
            return False

    def wait_ready(self, seconds: float) -> None:
        """Waits until the server greets; NatsError when it does not in time."""
        deadline = time.monotonic() + seconds
        while not self.ready():
            if time.monotonic() > deadline:
                raise NatsError(f"NATS did not answer on 127.0.0.1:{self.port} within {seconds:.0f} s.")
            time.sleep(0.01)

"""A real NATS server with JetStream from a wheel: its users, its command, and whether it is ready."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import nats.errors
from nats.aio.client import Client as Nats

from services.kit.bus import permissions, server_configuration
from services.kit.bus.permissions import MONITOR, OPERATOR
from stack.data_folder import write_private

HEALTH_TIMEOUT_S = 2.0

_HEALTH_SUBJECT = "$SYS.REQ.SERVER.PING.HEALTHZ"
SERVER = Path(sysconfig.get_path("scripts")) / "nats-server"


class NatsError(RuntimeError):
    """NATS could not be reached."""


class BusPasswords:
    """The passwords of the users of one bus, in a folder that nobody else can read: a file for each user."""

    def __init__(
        self, folder: Path, games: Iterable[str], new_password: Callable[[], str] = lambda: secrets.token_hex(32)
    ) -> None:
        self.games = sorted(games)
        self._folder = folder
        self._new_password = new_password

    def file(self, user: str) -> Path:
        """The file with the password of a user."""
        return self._folder / f"{user}.password"

    def prepare(self) -> None:
        """Makes the passwords that are missing."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for user in self.users():
            if not self.file(user).exists():
                write_private(self.file(user), self._new_password().encode())

    def users(self) -> list[str]:
        """The users of this bus."""
        return [*(process.user for process in permissions.platform(self.games)), OPERATOR, MONITOR]

    def read(self) -> Mapping[str, str]:
        """The passwords by user."""
        return {user: self.file(user).read_text().strip() for user in self.users()}


class EmbeddedNats:
    """One NATS server on 127.0.0.1, JetStream's files under `home`, where only the platform's processes have access."""

    def __init__(self, home: Path, port: int, passwords: BusPasswords, configuration: Path) -> None:
        """`configuration` is the file that the server reads; it holds the passwords."""
        self.home = home.absolute()
        self.port = port
        self._passwords = passwords
        self._configuration = configuration.absolute()

    @property
    def url(self) -> str:
        """The address that a client uses."""
        return f"nats://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        """The server in the foreground; stop it with SIGTERM."""
        self.home.mkdir(parents=True, exist_ok=True)
        self._passwords.prepare()
        write_private(self._configuration, self._content().encode())
        return [str(SERVER), "--config", str(self._configuration)]

    def ready(self) -> bool:
        """Whether the server greets; it does so only once JetStream is up."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(5) == b"INFO "
        except OSError:
            return False

    def problem(self) -> str:
        """Asks the server what is wrong with it; empty if nothing is, or if it does not answer."""
        try:
            return asyncio.run(self._ask_for_problem())
        except (nats.errors.Error, OSError, TimeoutError, ValueError):
            return ""

    async def _ask_for_problem(self) -> str:
        bus = Nats()
        async with asyncio.timeout(HEALTH_TIMEOUT_S):
            await bus.connect(
                f"nats://127.0.0.1:{self.port}",
                user=MONITOR,
                password=self._passwords.read()[MONITOR],
                allow_reconnect=False,
            )
            try:
                answer = await bus.request(_HEALTH_SUBJECT, b"", timeout=HEALTH_TIMEOUT_S)
            finally:
                await bus.close()
        return str(json.loads(answer.data)["data"].get("error", ""))

    def wait_ready(self, seconds: float) -> None:
        """Waits until the server greets; NatsError when it does not in time."""
        deadline = time.monotonic() + seconds
        while not self.ready():
            if time.monotonic() > deadline:
                raise NatsError(f"NATS did not answer on 127.0.0.1:{self.port} within {seconds:.0f} s.")
            time.sleep(0.01)

    def _content(self) -> str:
        passwords = {user: json.dumps(password) for user, password in self._passwords.read().items()}
        folder = json.dumps(str(self.home), ensure_ascii=False)
        listening = f'listen: "127.0.0.1:{self.port}"\njetstream {{ store_dir: {folder} }}\n'
        return listening + server_configuration.accounts(permissions.platform(self._passwords.games), passwords)

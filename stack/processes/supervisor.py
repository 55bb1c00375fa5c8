"""The process manager: supervisord, in the foreground on a leash, one program per process of the platform.

It restarts what dies and writes each process's log; the order of starting is decided by `stack.commands.run`,
through its socket. Paths reach its configuration through its environment (`%(ENV_x)s`) or through a link in a folder
with a plain name, and are never written into the file: there a `#`, a `;` or a `%` in a folder's name means something.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import xmlrpc.client
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from supervisor.xmlrpc import SupervisorTransport

from stack.data_folder import RUN_VARIABLE, DataFolder
from stack.processes.child import ChildProcess

SOCKET = "supervisor.sock"
FOLDER_NAME_LIMIT = 50
CRASHES_LIMIT = 5
CRASHES_WINDOW_S = 60.0
STOP_TIMEOUT_S = 15
LOG_BYTES = 20 * 1024 * 1024
LOG_BACKUPS = 3


class SupervisionError(RuntimeError):
    """The process manager itself does not work; the message says what it said."""


@dataclass(frozen=True)
class Program:
    """One process of the platform."""

    name: str
    command: Sequence[str]
    directory: Path
    priority: int
    """Stopped in the opposite order: the highest first."""
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    stop_signal: signal.Signals = signal.SIGTERM


@dataclass(frozen=True)
class ProgramState:
    """What the process manager knows of a program."""

    running: bool
    given_up: bool
    pid: int
    exit_status: int


class Supervisor:
    """A running supervisord."""

    def __init__(self, folder: DataFolder, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._programs = programs
        if folder.socket_folder_link.is_symlink():
            # A run that was killed could not remove it.
            shutil.rmtree(folder.socket_folder_link.readlink(), ignore_errors=True)
            folder.socket_folder_link.unlink()
        plain = _plain_folder()
        folder.socket_folder_link.symlink_to(plain)
        (plain / "logs").symlink_to(folder.logs)
        self._address = f"unix://{plain / SOCKET}"
        _write_private(folder.supervisor_config, _configuration(programs, plain))
        self._log = folder.logs / "supervisor.log"
        inherited = {**environment, RUN_VARIABLE: str(folder.root)}
        for program in programs:
            inherited[_command_variable(program)] = shlex.join(program.command)
            inherited[_directory_variable(program)] = str(program.directory)
        self._leash = ChildProcess(
            [sys.executable, "-m", "supervisor.supervisord", "--nodaemon", "-c", str(folder.supervisor_config)],
            log=self._log,
            environment=inherited,
            remove=[plain],
            stop_seconds=STOP_TIMEOUT_S * (len(programs) + 1),
        )

    @property
    def ended(self) -> bool:
        """Whether the process manager is gone; what it managed may then still run."""
        return self._leash.ended

    def ready(self) -> bool:
        """Whether it takes orders."""
        if self.ended:
            raise SupervisionError(f"The process manager did not start:\n{last_lines(self._log, 10)}")
        try:
            self._server().supervisor.getState()
        except (OSError, http.client.HTTPException):
            return False
        return True

    def start(self, name: str) -> None:
        """Start a program, without waiting for it to be of use."""
        with _answers():
            self._server().supervisor.startProcess(name, False)  # noqa: FBT003 - XML-RPC knows no names

    def states(self) -> dict[str, ProgramState]:
        """What every program does now."""
        with _answers():
            known = self._server().supervisor.getAllProcessInfo()
        if not isinstance(known, list):
            raise SupervisionError(f"The process manager answered {known!r}.")
        return {
            entry["name"]: ProgramState(
                running=entry["statename"] == "RUNNING",
                given_up=entry["statename"] == "FATAL",
                pid=entry["pid"],
                exit_status=entry["exitstatus"],
            )
            for entry in known
        }

    def _server(self) -> xmlrpc.client.ServerProxy:
        # Anew for each order: the transport does not recover from an attempt that found nobody there.
        transport = SupervisorTransport(None, None, self._address)
        return xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)

    def stop(self) -> None:
        """Stop everything in order, and the process manager last."""
        self._leash.stop()


class CrashMonitor:
    """Tells which programs died since it last looked, and which ones die too often to go on."""

    def __init__(self, crashes_limit: int = CRASHES_LIMIT, window_s: float = CRASHES_WINDOW_S) -> None:
        self._deaths_limit = crashes_limit
        self._seconds = window_s
        self._processes: dict[str, int] = {}
        self._deaths: dict[str, deque[float]] = {}

    def crashed(self, states: Mapping[str, ProgramState], now: float) -> list[str]:
        """The programs whose process is not the one seen last."""
        found = []
        for name, state in states.items():
            last = self._processes.get(name, 0)
            if last and state.pid != last:
                found.append(name)
                self._deaths.setdefault(name, deque(maxlen=self._deaths_limit)).append(now)
            self._processes[name] = state.pid
        return found

    def crash_looping(self, states: Mapping[str, ProgramState], now: float) -> str | None:
        """A program that keeps dying."""
        for name, state in states.items():
            deaths = self._deaths.get(name, ())
            recent = sum(1 for death in deaths if now - death <= self._seconds)
            if state.given_up or recent >= self._deaths_limit:
                return name
        return None


def last_lines(log: Path, count: int) -> str:
    """The end of a log, indented, for a message."""
    if not log.exists():
        return "    (its log is empty)"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 64 * 1024))
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-count:]) or "    (its log is empty)"


def _configuration(programs: Sequence[Program], plain: Path) -> str:
    head = [
        "[supervisord]",
        "nodaemon=true",
        "silent=true",
        f"logfile={plain}/logs/supervisor.log",
        f"logfile_maxbytes={LOG_BYTES}",
        f"logfile_backups={LOG_BACKUPS}",
        f"pidfile={plain}/supervisor.pid",
        # Said aloud, since it would warn otherwise; PostgreSQL, which must not be root, has a user of its own below.
        *(["user=root"] if os.geteuid() == 0 else []),
        "[unix_http_server]",
        f"file={plain / SOCKET}",
        "chmod=0700",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
    ]
    return "\n".join([*head, *(line for program in programs for line in _section(program, plain))]) + "\n"


def _section(program: Program, plain: Path) -> list[str]:
    environment = ",".join(f'{name}="{value}"' for name, value in program.environment.items())
    if any(character in environment for character in "%;#\n\\'"):
        raise SupervisionError(f"The environment of {program.name} holds a character its configuration cannot carry.")
    return [
        f"[program:{program.name}]",
        f"command=%(ENV_{_command_variable(program)})s",
        f"directory=%(ENV_{_directory_variable(program)})s",
        f"priority={program.priority}",
        f"environment={environment}",
        *([f"user={program.user}"] if program.user else []),
        f"stopsignal={program.stop_signal.name.removeprefix('SIG')}",
        f"stopwaitsecs={STOP_TIMEOUT_S}",
        "autostart=false",
        "autorestart=true",
        "startsecs=1",
        f"startretries={CRASHES_LIMIT}",
        "redirect_stderr=true",
        f"stdout_logfile={plain}/logs/{program.name}.log",
        f"stdout_logfile_maxbytes={LOG_BYTES}",
        f"stdout_logfile_backups={LOG_BACKUPS}",
    ]


def _command_variable(program: Program) -> str:
    return f"FELTRO_COMMAND_{program.name.upper()}"


def _directory_variable(program: Program) -> str:
    return f"FELTRO_DIRECTORY_{program.name.upper()}"


def _plain_folder() -> Path:
    chosen = tempfile.gettempdir()
    # Sockets have short names (about 100 bytes), and a configuration file takes only harmless ones.
    usable = len(chosen) < FOLDER_NAME_LIMIT and re.fullmatch(r"[\w./-]+", chosen, re.ASCII)
    return Path(tempfile.mkdtemp(prefix="feltro-", dir=chosen if usable else "/tmp"))  # noqa: S108


@contextlib.contextmanager
def _answers() -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
        raise SupervisionError(f"The process manager does not answer: {error}") from error


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)

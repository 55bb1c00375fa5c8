"""The process manager: supervisord as a child process, one program per process of the platform.

It restarts what dies and writes each process's log; `stack.commands.run` decides the order of starting, through its
socket. Paths reach its configuration through its environment (`%(ENV_x)s`) or through a link in a folder with a plain
name, and are never written into the file: there a `#`, a `;` or a `%` in a folder's name would mean something.
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
import time
import xmlrpc.client
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supervisor.xmlrpc import SupervisorTransport

from stack.data_folder import RUN_VARIABLE, DataFolder, write_private
from stack.processes.child import ChildProcess

SOCKET = "supervisor.sock"
FOLDER_NAME_LIMIT = 50
START_RETRIES = 5
STOP_TIMEOUT_S = 15
STOP_POLL_INTERVAL_S = 0.02
STOPPED_STATES = {"STOPPED", "EXITED", "FATAL", "UNKNOWN"}
LOG_BYTES = 20 * 1024 * 1024
LOG_BACKUPS = 3
ENDED = "The process manager was ended by something else; the platform is stopped."


class SupervisionError(RuntimeError):
    """The process manager itself does not work; the message says what it answered."""


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
    """The state of a program, as the process manager reports it."""

    running: bool
    stopped: bool
    given_up: bool
    pid: int
    exit_status: int


class Supervisor:
    """A running supervisord."""

    def __init__(self, folder: DataFolder, programs: Sequence[Program], environment: Mapping[str, str]) -> None:
        self._programs = programs
        if folder.socket_folder_link.is_symlink():
            # A killed run could not remove it.
            shutil.rmtree(folder.socket_folder_link.readlink(), ignore_errors=True)
            folder.socket_folder_link.unlink()
        plain = _plain_folder()
        folder.socket_folder_link.symlink_to(plain)
        (plain / "logs").symlink_to(folder.logs)
        self._address = f"unix://{plain / SOCKET}"
        write_private(folder.supervisor_config, _configuration(programs, plain).encode())
        self._log = folder.logs / "supervisor.log"
        inherited = {**environment, RUN_VARIABLE: str(folder.root)}
        for program in programs:
            inherited[_command_variable(program)] = shlex.join(program.command)
            inherited[_directory_variable(program)] = str(program.directory)
        self._process = ChildProcess(
            [
                sys.executable,
                "-m",
                "stack.processes.process_manager",
                "--nodaemon",
                "-c",
                str(folder.supervisor_config),
            ],
            log=self._log,
            environment=inherited,
            remove=[plain],
            stop_seconds=STOP_TIMEOUT_S * (len(programs) + 1),
        )

    @property
    def pid(self) -> int:
        """The id of the process between this one and the process manager."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process manager is gone; its programs may then still run."""
        return self._process.ended

    def ready(self) -> bool:
        """Whether it takes commands."""
        if self.ended:
            raise SupervisionError(f"The process manager did not start:\n{last_lines(self._log, 10)}")
        try:
            with self._commands() as commands:
                commands.getState()
        except SupervisionError:
            return False
        return True

    def start(self, name: str) -> None:
        """Starts a program, without waiting until it is ready."""
        with self._commands() as commands:
            commands.startProcess(name, False)  # noqa: FBT003 - XML-RPC knows no names

    def restart(self, name: str) -> None:
        """Stops a program and starts it again, without waiting until it is ready."""
        self._stop_program(name)
        self.start(name)

    def states(self) -> dict[str, ProgramState]:
        """The state of every program."""
        with self._commands() as commands:
            answer = commands.getAllProcessInfo()
        if not isinstance(answer, list):
            raise SupervisionError(f"The process manager answered {answer!r}.")
        return {
            entry["name"]: ProgramState(
                running=entry["statename"] == "RUNNING",
                stopped=entry["statename"] in STOPPED_STATES,
                given_up=entry["statename"] == "FATAL",
                pid=entry["pid"],
                exit_status=entry["exitstatus"],
            )
            for entry in answer
        }

    def stop(self) -> None:
        """Stops the programs in order, and the process manager last."""
        # One that is gone or does not answer is stopped below like any other child, and stops its programs itself.
        with contextlib.suppress(SupervisionError):
            for program in sorted(self._programs, key=lambda program: program.priority, reverse=True):
                self._stop_program(program.name)
            with self._commands() as commands:
                commands.shutdown()
        self._process.stop()

    def _stop_program(self, name: str) -> None:
        """Stops a program and waits for its end, asking for it: left alone, supervisord looks only once a second."""
        if self.states()[name].stopped:
            return
        # It may have ended since.
        with self._commands() as commands, contextlib.suppress(xmlrpc.client.Fault):
            commands.stopProcess(name, False)  # noqa: FBT003 - XML-RPC knows no names
        # supervisord kills it when it takes longer.
        deadline = time.monotonic() + 2 * STOP_TIMEOUT_S
        while not self.states()[name].stopped and time.monotonic() < deadline:
            time.sleep(STOP_POLL_INTERVAL_S)

    @contextlib.contextmanager
    def _commands(self) -> Iterator[Any]:
        """What supervisord offers over its socket, on a connection of its own: a failed one does not recover."""
        transport = SupervisorTransport(None, None, self._address)
        try:
            with contextlib.closing(transport), xmlrpc.client.ServerProxy("http://127.0.0.1", transport) as server:
                yield server.supervisor
        except (ConnectionError, FileNotFoundError) as gone:
            # Nobody listens, before the end of the process itself is noticed.
            raise SupervisionError(ENDED) from gone
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise SupervisionError(f"The process manager does not answer: {error}") from error


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
        # Explicit, since it would warn otherwise; PostgreSQL, which must not be root, has a user of its own below.
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
        f"startretries={START_RETRIES}",
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
    # A socket's path holds about 100 bytes, and a configuration file takes only plain characters.
    usable = len(chosen) < FOLDER_NAME_LIMIT and re.fullmatch(r"[\w./-]+", chosen, re.ASCII)
    return Path(tempfile.mkdtemp(prefix="feltro-", dir=chosen if usable else "/tmp"))  # noqa: S108

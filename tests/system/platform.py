"""The platform as `make run` starts it, in a data folder and on ports of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from stack.processes import leftovers
from stack.servers.ephemeral import free_port
from tests.processes.kill import kill

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
RUN_COMMAND = (sys.executable, "-m", "services.kit.command", "run")
PARTS = ("postgres", "nats", "wallet", "roulette", "gateway", "desk")


class Platform:
    """One `feltro run`, its output in a file."""

    def __init__(self, data: Path, settings: Mapping[str, str] | None = None) -> None:
        # As its processes name it.
        self.data = data.resolve()
        self.settings = dict(settings) if settings is not None else _free_ports()
        self.environment = {**os.environ, **self.settings, "FELTRO_DATA": str(data)}
        self._said = data.with_name(f"{data.name}.said")
        self._launcher: subprocess.Popen[bytes] | None = None

    @property
    def launcher(self) -> subprocess.Popen[bytes]:
        """The process that `make run` is."""
        assert self._launcher is not None, "not started"
        return self._launcher

    @property
    def url(self) -> str:
        """Where the gateway answers."""
        return f"http://127.0.0.1:{self.settings['FELTRO_GATEWAY_PORT']}"

    @property
    def operator_site(self) -> str:
        """Where the operator's own site would be."""
        return f"http://127.0.0.1:{self.settings['FELTRO_OPERATOR_SITE_PORT']}"

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._launcher is not None and self._launcher.poll() is None

    @property
    def output(self) -> str:
        """What it printed."""
        return self._said.read_text(errors="replace")

    def start(self, terminal: int = subprocess.DEVNULL, command: Sequence[str] = RUN_COMMAND) -> None:
        """Start, and wait until it says that it is up."""
        self.launch(terminal, command)
        self.wait(lambda: "Feltro is up" in self.output or self.launcher.poll() is not None)
        assert self.launcher.poll() is None, self.output

    def launch(self, terminal: int = subprocess.DEVNULL, command: Sequence[str] = RUN_COMMAND) -> None:
        """Only begin to start."""
        with self._said.open("wb") as said:
            self._launcher = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=terminal,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run_second(self) -> subprocess.CompletedProcess[str]:
        """A second `feltro run` while this one is going on."""
        return subprocess.run(
            RUN_COMMAND, env=self.environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop, as Ctrl-C does; the exit status."""
        self.launcher.send_signal(number)
        return self.launcher.wait(TIMEOUT_S)

    def kill_all(self) -> None:
        """What a power cut is to processes: all of them at once, none asked."""
        self.launcher.kill()
        # Those whose parent is dead already end by themselves while we go on.
        for process in self.processes():
            kill(process)
        self.launcher.wait(TIMEOUT_S)
        self.wait(lambda: not self.processes())

    def kill_modules(self, *modules: str, except_module: str = "") -> None:
        """Kill the processes whose command names one of these modules, and does not name another."""
        for process in self.processes():
            command = _command_line(process)
            if except_module not in command and set(modules) & set(command):
                kill(process)

    def processes(self) -> list[psutil.Process]:
        """Every process of it but the launcher."""
        return leftovers.find(self.data, self.data / "postgres" / "data")

    def process(self, part: str) -> psutil.Process:
        """The process that is one part."""
        telling = {"postgres": "/postgres", "nats": "nats-server", "gateway": "gateway", "desk": "stack.operator_site"}
        telling |= {service: f"services.{service}" for service in ("wallet", "roulette")}
        for process in self.processes():
            command = _command_line(process)
            named = "".join(command[:1]).endswith(telling[part]) or telling[part] in command[1:]
            if named and "stack.processes.child" not in command:
                return process
        raise LookupError(f"There is no process of {part}.")

    def process_is_new(self, part: str, before: int) -> bool:
        """Whether a part runs as another process than before."""
        try:
            return self.process(part).pid != before
        except LookupError:
            return False

    def ready(self) -> bool:
        """Whether the gateway says that everything is there."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.settings['FELTRO_GATEWAY_PORT']}/readyz", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def call(self, method: str, request: Mapping[str, object]) -> dict[str, object] | None:
        """One call with a development token; None when it was refused."""
        command = [sys.executable, "-m", "services.kit.command", "call", method, json.dumps(request)]
        answer = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
        if answer.returncode:
            return None
        found: dict[str, object] = json.loads(answer.stdout)
        return found

    def wait(self, true: Callable[[], bool]) -> None:
        """Wait until something is true."""
        deadline = time.monotonic() + TIMEOUT_S
        while not true():
            assert time.monotonic() < deadline, f"not within {TIMEOUT_S:.0f} s; it said:\n{self.output}"
            time.sleep(0.05)


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        # It ended while we looked.
        return []


def _free_ports() -> dict[str, str]:
    services = ("GATEWAY", "WALLET", "ROULETTE")
    names = ("POSTGRES", "NATS", "OPERATOR_SITE", *services, *(f"{service}_METRICS" for service in services))
    return {f"FELTRO_{name}_PORT": str(free_port()) for name in names}

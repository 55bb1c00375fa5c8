"""The platform as `make run` starts it, in a data folder and on ports of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from stack.data_folder import DataFolder
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from stack.processes import leftovers
from stack.servers.ephemeral import free_port
from stack.servers.scratch import scratch_folder
from stack.settings import ROOT, StackSettings
from tests.processes.kill import kill

TIMEOUT_S = 120.0
ANSWER_TIMEOUT_S = 30.0
RUN_COMMAND = (sys.executable, "-m", "services.kit.command", "run")
# Each part of the platform, and what its command begins with or names.
PARTS = {
    "postgres": "/postgres",
    "nats": "nats-server",
    "wallet": "services.wallet",
    **{game.name: game.module for game in GAMES},
    "gateway": "gateway",
    "operator_site": "stack.operator_site",
    "practice": "stack.practice",
}


class Platform:
    """One `feltro run`, its output in a file."""

    def __init__(self, data: Path, settings: Mapping[str, str] | None = None) -> None:
        # Resolved, as its processes carry it.
        self.data = data.resolve()
        self.settings = dict(settings) if settings is not None else _free_ports()
        self.environment = {**os.environ, **self.settings, "FELTRO_DATA": str(data)}
        self._output_file = data.with_name(f"{data.name}.output")
        self._launcher: subprocess.Popen[bytes] | None = None

    @property
    def launcher(self) -> subprocess.Popen[bytes]:
        """The process of `feltro run`."""
        assert self._launcher is not None, "not started"
        return self._launcher

    @property
    def url(self) -> str:
        """The gateway's address."""
        return f"http://127.0.0.1:{self.settings['FELTRO_GATEWAY_PORT']}"

    @property
    def operator_site(self) -> str:
        """The operator site's address."""
        return f"http://127.0.0.1:{self.settings['FELTRO_OPERATOR_SITE_PORT']}"

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._launcher is not None and self._launcher.poll() is None

    @property
    def output(self) -> str:
        """What it printed."""
        return self._output_file.read_text(errors="replace")

    def start(self, terminal: int = subprocess.DEVNULL, command: Sequence[str] = RUN_COMMAND) -> None:
        """Starts, and waits until it prints that it is up."""
        self.launch(terminal, command)
        self.wait(lambda: "Feltro is up" in self.output or self.launcher.poll() is not None)
        assert self.launcher.poll() is None, self.output

    def launch(self, terminal: int = subprocess.DEVNULL, command: Sequence[str] = RUN_COMMAND) -> None:
        """Starts without waiting."""
        with self._output_file.open("wb") as output:
            self._launcher = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=terminal,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run_second(self) -> subprocess.CompletedProcess[str]:
        """A second `feltro run` while this one runs, until it ends."""
        return subprocess.run(
            RUN_COMMAND, env=self.environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Stops it as Ctrl-C does; the exit status."""
        self.launcher.send_signal(number)
        return self.launcher.wait(TIMEOUT_S)

    def end(self) -> None:
        """Stops it if it runs; no process of it may be left behind."""
        if self.running:
            # With its group: under `make` the launcher is make itself.
            os.killpg(self.launcher.pid, signal.SIGINT)
            self.launcher.wait(TIMEOUT_S)
        left = self.processes()
        leftovers.stop(left, self.data, self.data / "postgres" / "data")
        assert not left, "processes were left behind"

    def kill_all(self) -> None:
        """Kills all processes at once, as a power cut does."""
        self.launcher.kill()
        # Those whose parent is dead already end by themselves meanwhile.
        for process in self.processes():
            kill(process)
        self.launcher.wait(TIMEOUT_S)
        self.wait(lambda: not self.processes())

    def kill_modules(self, *modules: str, except_module: str = "") -> None:
        """Kills the processes whose command names one of these modules and not the excepted one."""
        for process in self.processes():
            command = _command_line(process)
            if except_module not in command and set(modules) & set(command):
                kill(process)

    def processes(self) -> list[psutil.Process]:
        """All its processes but the launcher."""
        return leftovers.find(self.data, self.data / "postgres" / "data")

    def process(self, part: str) -> psutil.Process:
        """The process of one part."""
        for process in self.processes():
            command = _command_line(process)
            named = "".join(command[:1]).endswith(PARTS[part]) or PARTS[part] in command[1:]
            if named and "stack.processes.child" not in command:
                return process
        raise LookupError(f"There is no process of {part}.")

    def process_is_new(self, part: str, before: int) -> bool:
        """Whether a part runs in another process than before."""
        try:
            return self.process(part).pid != before
        except LookupError:
            return False

    def ready(self) -> bool:
        """Whether the gateway reaches everything it needs."""
        return self._request("GET", "/readyz") is not None

    def oldest_fact_s(self) -> float | None:
        """The age of the oldest fact that waits in the wallet's outbox; None while the wallet does not say."""
        port = self.settings["FELTRO_WALLET_METRICS_PORT"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=ANSWER_TIMEOUT_S) as answer:
                metrics = answer.read().decode()
        except OSError:
            return None
        found = re.search(r"^feltro_wallet_outbox_oldest_seconds (\S+)$", metrics, re.MULTILINE)
        return None if found is None else float(found[1])

    def token(self, scope: str, subject: str) -> str:
        """A token of its development issuer; there is one once it was started."""
        return DevelopmentIssuer(DataFolder(self.data).issuer).token([scope], subject)

    def rest(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, object] | None:
        """One REST call of an operator, a GET without a body; None when it was refused or nothing answered."""
        headers = {"Authorization": f"Bearer {self.token('operator', 'back-office')}"}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
        content = "" if body is None else json.dumps(body)
        answer = self._request("GET" if body is None else "POST", path, content, headers)
        if answer is None:
            return None
        found: dict[str, object] = json.loads(answer)
        return found

    def _request(
        self, method: str, path: str, content: str = "", headers: Mapping[str, str] | None = None
    ) -> bytes | None:
        port = int(self.settings["FELTRO_GATEWAY_PORT"])
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_TIMEOUT_S)) as connection:
            try:
                connection.request(method, path, content, dict(headers or {}))
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                return None
        return body if answer.status < 300 else None

    def call(self, method: str, request: Mapping[str, object]) -> dict[str, object] | None:
        """One `feltro call`; None when it was refused."""
        command = [sys.executable, "-m", "services.kit.command", "call", method, json.dumps(request)]
        answer = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
        if answer.returncode:
            return None
        found: dict[str, object] = json.loads(answer.stdout)
        return found

    def wait(self, condition: Callable[[], bool]) -> None:
        """Waits until a condition holds, for as long as the platform prints something now and then.

        A start takes as long as all its steps together, each of which it reports and limits itself.
        """
        printed, deadline = "", 0.0
        while not condition():
            if (output := self.output) != printed or not deadline:
                printed, deadline = output, time.monotonic() + TIMEOUT_S
            assert time.monotonic() < deadline, f"nothing new within {TIMEOUT_S:.0f} s; it printed:\n{printed}"
            time.sleep(0.05)


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        # It has just ended.
        return []


def _free_ports() -> dict[str, str]:
    return {variable: str(free_port()) for variable in StackSettings().ports()}


@contextlib.contextmanager
def temporary_platform(name: str = "data") -> Iterator[Platform]:
    """A platform in a new folder, not started yet; the folder is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="feltro-", dir=scratch_folder()) as folder:
        Path(folder).chmod(0o711)
        platform = Platform(Path(folder) / name)
        try:
            yield platform
        finally:
            platform.end()

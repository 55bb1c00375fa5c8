"""`make run`: the whole platform on this machine, started in order, watched, and stopped as one."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.settings import load_or_exit
from stack import ports
from stack.commands.disk_watch import DiskWatch
from stack.commands.programs import PlatformPrograms
from stack.data_folder import RUN_VARIABLE, DataFolder, FolderInUse, FolderUnusable
from stack.databases import DATABASES
from stack.games import GAMES
from stack.practice import sit_and_go, welcome
from stack.processes import leftovers
from stack.processes.child import ChildProcess
from stack.processes.crashes import CrashMonitor
from stack.processes.supervisor import ENDED, SupervisionError, Supervisor, last_lines
from stack.servers.relocation import PostgresError
from stack.settings import StackSettings

READY_TIMEOUT_S = 90.0
POLL_INTERVAL_S = 0.5
PROGRESS_INTERVAL_S = 30.0
# During the start, a process that ends twice is reported at once instead of being restarted for long.
CRASHES_AT_START_LIMIT = 2
LOG_LINES = 15
# Of the longest program.
NAME_WIDTH = 13
EX_CONFIG = 78
# No proxy: this is our own machine, whatever the environment says about reaching others.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class CannotRun(RuntimeError):
    """The platform cannot run; the message says why and what to do."""


class Interrupted(Exception):
    """A stop was requested during the start."""


class Stack:
    """One run of the platform."""

    def __init__(self, settings: StackSettings) -> None:
        self._settings = settings
        self._folder = DataFolder(settings.data)
        self._programs = PlatformPrograms(settings, self._folder)
        self._postgres = self._programs.postgres
        self._supervisor: Supervisor | None = None
        self._crashes = CrashMonitor(CRASHES_AT_START_LIMIT)
        self._stop_requested = False
        self._terminal = _Terminal()
        self._address = f"{self._programs.gateway}/"

    def run(self) -> int:
        """Starts, stays until a stop is requested, stops; returns the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note_request)
        try:
            problem = self._run_until_stopped()
        finally:
            self._stop()
            self._folder.unlock()
        if problem:
            _print(problem, error=True)
        return 1 if problem else 0

    def _run_until_stopped(self) -> str:
        """Starts and stays; returns why it ended, or nothing when a stop was requested."""
        try:
            self._start()
            self._stay()
        except Interrupted:
            return ""
        except (CannotRun, FolderInUse, FolderUnusable, PostgresError, SupervisionError) as error:
            return str(error)
        return ""

    def _start(self) -> None:
        started = time.monotonic()
        self._folder.prepare()
        self._folder.lock(self._address)
        self._end_leftovers()
        if taken := ports.conflicts(self._settings.ports()):
            raise CannotRun("\n".join(taken))
        self._programs.issuer.prepare()
        self._make_database()
        supervisor = self._supervisor = Supervisor(self._folder, self._programs.programs(), self._programs.keys())
        self._wait_for("supervisor", supervisor.ready)
        self._bring_up("postgres", self._postgres.ready)
        for database in DATABASES:
            self._postgres.ensure_database(database.name, database.owner, database.user)
        self._migrate()
        self._bring_up("nats", self._programs.nats.ready)
        self._bring_up("wallet", lambda: _serving(self._programs.wallet))
        for game, address in self._programs.games.items():
            self._bring_up(game, partial(_serving, address))
        self._bring_up("gateway", lambda: _answers(f"{self._address}readyz"))
        self._bring_up("operator_site", lambda: _answers(f"{self._programs.operator_site}/healthz"))
        if self._programs.practice:
            self._bring_up("practice", lambda: _lists_tournament(self._address, sit_and_go.PREFIX))
        self._welcome(time.monotonic() - started)

    def _stay(self) -> None:
        """Waits for a stop request, and reports what the process manager restarts."""
        self._crashes = CrashMonitor()
        supervisor = self._supervisor
        if supervisor is None:
            return
        disk_watch = DiskWatch(
            self._programs.nats, lambda: self._restart_nats(supervisor), lambda sentence: _print(f"  {sentence}")
        )
        while not self._pause(POLL_INTERVAL_S):
            if supervisor.ended:
                raise CannotRun(ENDED)
            disk_watch.check(time.monotonic())
            self._check_crashes(supervisor)

    def _restart_nats(self, supervisor: Supervisor) -> None:
        supervisor.restart("nats")
        self._crashes.expect_another_process("nats")

    def _check_crashes(self, supervisor: Supervisor) -> None:
        states, now = supervisor.states(), time.monotonic()
        for name in self._crashes.crashed(states, now):
            process = states[name].pid
            _print(f"  {name} ended; it is started again" + (f" (process {process})" if process else ""))
        failing = self._crashes.crash_looping(states, now)
        if failing is None:
            failing = next((name for name, state in states.items() if state.exit_status == EX_CONFIG), None)
        if failing is not None:
            log = self._folder.logs / f"{failing}.log"
            raise CannotRun(f"{failing} keeps ending. The end of {log}:\n{last_lines(log, LOG_LINES)}")

    def _bring_up(self, name: str, ready: Callable[[], bool]) -> None:
        supervisor = self._supervisor
        if supervisor is None:
            raise CannotRun("The process manager is not running.")
        started = time.monotonic()
        _report(name, "", end="")
        try:
            supervisor.start(name)
            self._wait_for(name, lambda: self._alive(supervisor) and ready())
        except BaseException:
            _print("not ready")
            raise
        _print(f"ready in {time.monotonic() - started:.1f} s")

    def _alive(self, supervisor: Supervisor) -> bool:
        self._check_crashes(supervisor)
        return True

    def _wait_for(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not ready():
            self._check_interrupted(0.05)
            if time.monotonic() > deadline:
                log = self._folder.logs / f"{name}.log"
                end = last_lines(log, LOG_LINES)
                raise CannotRun(f"{name} was not ready within {READY_TIMEOUT_S:.0f} s. The end of {log}:\n{end}")

    def _make_database(self) -> None:
        if self._postgres.remove_stale_lock():
            _print("  removed the lock of a PostgreSQL that was killed")
        if not self._postgres.data.is_relative_to(self._folder.root):
            _report("database", f"in {self._postgres.data.parent}, for PostgreSQL may not run as root,")
            _report("", f"and the user {self._postgres.user} cannot reach {self._folder.root}")
        if self._postgres.initialise():
            _report("database", "made")

    def _migrate(self) -> None:
        started, log = time.monotonic(), self._folder.logs / "migrate.log"
        log.unlink(missing_ok=True)
        urls = {
            f"FELTRO_{database.service.upper()}_OWNER_URL": self._postgres.url(database.owner, database.name)
            for database in DATABASES
        }
        migration = ChildProcess(
            [sys.executable, "-m", "services.kit.command", "migrate", *(database.service for database in DATABASES)],
            log=log,
            environment={RUN_VARIABLE: str(self._folder.root), **urls},
        )
        try:
            reported = started
            while not migration.ended:
                self._check_interrupted(0.02)
                if time.monotonic() - reported > PROGRESS_INTERVAL_S:
                    reported = time.monotonic()
                    _report("schemas", f"are being migrated: a large table takes a while ({log})")
        finally:
            status = migration.stop()
        if status:
            raise CannotRun(f"The migration failed. The end of {log}:\n{last_lines(log, LOG_LINES)}")
        _report("schemas", f"up to date in {time.monotonic() - started:.1f} s")

    def _check_interrupted(self, seconds: float) -> None:
        if self._pause(seconds):
            raise Interrupted

    def _pause(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self._stop_requested or self._terminal.closed()

    def _note_request(self, *_: object) -> None:
        # A plain flag: setting a threading.Event here would wait for a lock that the interrupted code may hold.
        self._stop_requested = True

    def _end_leftovers(self) -> None:
        found = leftovers.find(self._folder.root, self._postgres.data)
        if found:
            _print(f"  ending {len(found)} processes that an earlier run left behind")
            leftovers.stop(found, self._folder.root, self._postgres.data)

    def _stop(self) -> None:
        if self._supervisor is None:
            return
        # A second Ctrl-C must not cut the ordered stop short.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _print("\nStopping")
        self._supervisor.stop()
        self._end_leftovers()
        _print("Feltro is stopped; its data stays.")

    def _welcome(self, seconds: float) -> None:
        feltro = os.path.relpath(Path(sys.executable).with_name("feltro"))
        play = (
            "Play at once with credits, or log in under any name: the first time there are 100 € for it."
            if self._programs.front_end
            else "The front-end is not built (`make web` builds it, or says why not): this page shows what is up."
        )
        _print(f"""
Feltro is up after {seconds:.1f} s. Open {self._address}
{play}
{self._practice()}
For programs: {self._address}docs; docs/integrating.md goes from nothing to a bet and its result.
  {feltro} token --scope player --subject ana       a token of the development issuer
  curl {self._address}v1/games/{GAMES[0].name}/tables

What is up: {self._address}status
Logs: {self._folder.logs} (`make logs` follows them). Ctrl-C stops everything.""")

    def _practice(self) -> str:
        if not self._programs.practice:
            return ""
        return f"\n{welcome.words(self._address)}\n"


class _Terminal:
    """The terminal we were started in. When it closes, only its first process gets a signal, which may be make."""

    def __init__(self) -> None:
        self._poll = select.poll()
        for descriptor in (0, 1, 2):
            if os.isatty(descriptor):
                self._poll.register(descriptor, 0)

    def closed(self) -> bool:
        """Whether it is closed."""
        return any(event & select.POLLHUP for _, event in self._poll.poll(0))


def command(argv: list[str]) -> int:
    """Runs the whole platform on this machine (development)."""
    description = "Run the whole platform on this machine until Ctrl-C. README.md says how to move its ports and data."
    argparse.ArgumentParser(prog="feltro run", description=description).parse_args(argv)
    return Stack(load_or_exit(StackSettings)).run()


def _serving(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=1)
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _answers(address: str) -> bool:
    try:
        with _OPENER.open(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _lists_tournament(address: str, prefix: str) -> bool:
    """Whether a demonstration with an id like this is open to players, or played."""
    for phase in ("TOURNAMENT_PHASE_REGISTERING", "TOURNAMENT_PHASE_RUNNING"):
        try:
            with _OPENER.open(f"{address}v1/tournaments?mode=MODE_DEMO&phase={phase}", timeout=2) as answer:
                found = json.load(answer)["tournaments"]
        except (urllib.error.URLError, OSError, ValueError):
            return False
        if any(each["tournament_id"].startswith(prefix) for each in found):
            return True
    return False


def _report(name: str, text: str, *, end: str = "\n") -> None:
    """Prints a line about one part of the platform."""
    _print(f"  {name:<{NAME_WIDTH}} {text}", end=end)


def _print(text: str, *, end: str = "\n", error: bool = False) -> None:
    # The terminal may be closed while we stop; that must not prevent the stop.
    with contextlib.suppress(OSError, ValueError):
        print(text, end=end, flush=True, file=sys.stderr if error else sys.stdout)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))

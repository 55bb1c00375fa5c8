"""`make run`: the whole platform on this machine, started in order, watched, and stopped as one."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.settings import load_or_exit
from stack import ports
from stack.data_folder import RUN_VARIABLE, DataFolder, FolderInUse, FolderUnusable
from stack.issuer import AUDIENCE, ISSUER, DevelopmentIssuer
from stack.processes import leftovers
from stack.processes.child import ChildProcess
from stack.processes.supervisor import CrashMonitor, Program, SupervisionError, Supervisor, last_lines
from stack.servers.nats import EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres, PostgresError
from stack.settings import LOOPBACK, ROOT, WEB_BUILD, StackSettings

OWNER_ROLE = "feltro_owner"
WALLET_DATABASE, WALLET_ROLE = "feltro_wallet", "feltro_wallet"
ROULETTE_DATABASE, ROULETTE_ROLE = "feltro_roulette", "feltro_roulette"
# Service, its database, and the role it uses.
DATABASES = (("wallet", WALLET_DATABASE, WALLET_ROLE), ("roulette", ROULETTE_DATABASE, ROULETTE_ROLE))
# The tables of a fresh platform.
INITIAL_TABLES = Path(__file__).resolve().parents[1] / "tables.json"
READY_TIMEOUT_S = 90.0
POLL_INTERVAL_S = 0.5
PROGRESS_INTERVAL_S = 30.0
# While it starts, a process that ends twice is told about at once instead of being tried for long.
CRASHES_AT_START_LIMIT = 2
LOG_LINES = 15
EX_CONFIG = 78


class CannotRun(RuntimeError):
    """The platform cannot run; the message says why and what to do."""


class Interrupted(Exception):
    """Someone asked us to stop while we were starting."""


class Stack:
    """One run of the platform."""

    def __init__(self, settings: StackSettings) -> None:
        self._settings = settings
        self._folder = DataFolder(settings.data)
        self._postgres = EmbeddedPostgres(self._folder.postgres, settings.postgres_port)
        self._nats = EmbeddedNats(self._folder.nats, settings.nats_port)
        self._issuer = DevelopmentIssuer(self._folder.issuer)
        self._supervisor: Supervisor | None = None
        self._watch = CrashMonitor(CRASHES_AT_START_LIMIT)
        self._asked_to_stop = False
        self._terminal = _Terminal()
        self._gateway_origin = f"http://{LOOPBACK}:{settings.gateway_port}"
        self._address = f"{self._gateway_origin}/"
        self._operator_site = f"http://{LOOPBACK}:{settings.operator_site_port}"
        self._front_end = (WEB_BUILD / "index.html").is_file()

    def run(self) -> int:
        """Start, stay until asked to stop, stop; the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note_request)
        try:
            problem = self._live()
        finally:
            self._stop()
            self._folder.unlock()
        if problem:
            _say(problem, error=True)
        return 1 if problem else 0

    def _live(self) -> str:
        """Start, stay; why it ended, or nothing when somebody asked for it."""
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
        self._issuer.prepare()
        self._make_database()
        supervisor = self._supervisor = Supervisor(self._folder, self._programs(), self._keys())
        self._wait_for("supervisor", supervisor.ready)
        self._bring_up("postgres", self._postgres.ready)
        for service, database, user in DATABASES:
            self._postgres.ensure_database(database, OWNER_ROLE, user)
            self._migrate(service, database)
        self._bring_up("nats", self._nats.ready)
        self._bring_up("wallet", lambda: _serving(f"{LOOPBACK}:{self._settings.wallet_port}"))
        self._bring_up("roulette", lambda: _serving(f"{LOOPBACK}:{self._settings.roulette_port}"))
        self._bring_up("gateway", lambda: _answers(f"{self._address}readyz"))
        self._bring_up("desk", lambda: _answers(f"{self._operator_site}/healthz"))
        self._welcome(time.monotonic() - started)

    def _stay(self) -> None:
        """Until asked to stop: the process manager restarts what dies, and we say so."""
        self._watch = CrashMonitor()
        supervisor = self._supervisor
        while supervisor is not None and not self._pause(POLL_INTERVAL_S):
            if supervisor.ended:
                raise CannotRun("The process manager was ended by something else; the platform is stopped.")
            self._look_after(supervisor)

    def _look_after(self, supervisor: Supervisor) -> None:
        states, now = supervisor.states(), time.monotonic()
        for name in self._watch.crashed(states, now):
            process = states[name].pid
            _say(f"  {name} ended; it is started again" + (f" (process {process})" if process else ""))
        failing = self._watch.crash_looping(states, now)
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
        _say(f"  {name:<9} ", end="")
        try:
            supervisor.start(name)
            self._wait_for(name, lambda: self._alive(supervisor) and ready())
        except BaseException:
            _say("not ready")
            raise
        _say(f"ready in {time.monotonic() - started:.1f} s")

    def _alive(self, supervisor: Supervisor) -> bool:
        self._look_after(supervisor)
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
            _say("  removed the lock of a PostgreSQL that was killed")
        if not self._postgres.data.is_relative_to(self._folder.root):
            _say(f"  database  in {self._postgres.data.parent}, for PostgreSQL may not run as root,")
            _say(f"            and the user {self._postgres.user} cannot reach {self._folder.root}")
        if self._postgres.initialise():
            _say("  database  made")

    def _migrate(self, service: str, database: str) -> None:
        started, log = time.monotonic(), self._folder.logs / f"migrate-{service}.log"
        log.unlink(missing_ok=True)
        owner_url = self._postgres.url(OWNER_ROLE, database)
        migration = ChildProcess(
            [sys.executable, "-m", "services.kit.command", "migrate", service],
            log=log,
            environment={RUN_VARIABLE: str(self._folder.root), f"FELTRO_{service.upper()}_OWNER_URL": owner_url},
        )
        try:
            said = started
            while not migration.ended:
                self._check_interrupted(0.02)
                if time.monotonic() - said > PROGRESS_INTERVAL_S:
                    said = time.monotonic()
                    _say(f"  schema    of {service} is being brought up to date: a large table takes a while ({log})")
        finally:
            status = migration.stop()
        if status:
            raise CannotRun(f"The migration failed. The end of {log}:\n{last_lines(log, LOG_LINES)}")
        _say(f"  schema    of {service} up to date in {time.monotonic() - started:.1f} s")

    def _check_interrupted(self, seconds: float) -> None:
        if self._pause(seconds):
            raise Interrupted

    def _pause(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self._asked_to_stop or self._terminal.closed()

    def _note_request(self, *_: object) -> None:
        # A plain flag: setting a threading.Event here would wait for a lock that the interrupted code may hold.
        self._asked_to_stop = True

    def _end_leftovers(self) -> None:
        found = leftovers.find(self._folder.root, self._postgres.data)
        if found:
            _say(f"  ending {len(found)} processes that an earlier run left behind")
            leftovers.stop(found, self._folder.root, self._postgres.data)

    def _stop(self) -> None:
        if self._supervisor is None:
            return
        # From here on there is nothing more urgent: a second Ctrl-C changes nothing.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _say("\nStopping")
        self._supervisor.stop()
        self._end_leftovers()
        _say("Feltro is stopped; its data stays.")

    def _programs(self) -> list[Program]:
        python = [sys.executable, "-m"]
        return [
            Program(
                "postgres",
                self._postgres.command(),
                Path("/"),
                priority=10,
                user=self._postgres.user,
                stop_signal=signal.SIGINT,
            ),
            Program("nats", self._nats.command(), Path("/"), priority=20),
            Program("wallet", [*python, "services.wallet"], ROOT, priority=30, environment=self._wallet()),
            Program("roulette", [*python, "services.roulette"], ROOT, priority=35, environment=self._roulette()),
            Program("gateway", [*python, "gateway"], ROOT, priority=40, environment=self._gateway()),
            Program("desk", [*python, "stack.operator_site"], ROOT, priority=50, environment=self._desk()),
        ]

    def _keys(self) -> Mapping[str, str]:
        """Where they are. Every process inherits it: a folder's name may hold what a configuration cannot carry."""
        return {
            "FELTRO_ISSUER_JWKS": str(self._issuer.jwks),
            "FELTRO_DEMO_JWKS": str(self._issuer.demo_keys.jwks),
            "FELTRO_GATEWAY_DEMO_KEY": str(self._issuer.demo_keys.key_file),
            "FELTRO_ROULETTE_TOKEN_FILE": str(self._issuer.service_token_file("roulette")),
            "FELTRO_OPERATOR_SITE_ISSUER": str(self._folder.issuer),
            **({"FELTRO_WEB_FOLDER": str(WEB_BUILD)} if self._front_end else {}),
        }

    def _wallet(self) -> Mapping[str, str]:
        return {
            **self._common(),
            "FELTRO_WALLET_LISTEN": f"{LOOPBACK}:{self._settings.wallet_port}",
            "FELTRO_WALLET_METRICS_LISTEN": f"{LOOPBACK}:{self._settings.wallet_metrics_port}",
            "FELTRO_WALLET_DATABASE_URL": self._postgres.url(WALLET_ROLE, WALLET_DATABASE),
            "FELTRO_WALLET_SESSION_CLOCK": "advanceable",
        }

    def _roulette(self) -> Mapping[str, str]:
        return {
            **self._common(),
            "FELTRO_WALLET_ADDRESS": f"{LOOPBACK}:{self._settings.wallet_port}",
            "FELTRO_ROULETTE_LISTEN": f"{LOOPBACK}:{self._settings.roulette_port}",
            "FELTRO_ROULETTE_METRICS_LISTEN": f"{LOOPBACK}:{self._settings.roulette_metrics_port}",
            "FELTRO_ROULETTE_DATABASE_URL": self._postgres.url(ROULETTE_ROLE, ROULETTE_DATABASE),
            "FELTRO_ROULETTE_TABLES": str(INITIAL_TABLES),
            "FELTRO_ROULETTE_TABLE_CLOCK": "advanceable",
        }

    def _gateway(self) -> Mapping[str, str]:
        return {
            **self._common(),
            "FELTRO_GATEWAY_LISTEN": f"{LOOPBACK}:{self._settings.gateway_port}",
            "FELTRO_GATEWAY_METRICS_LISTEN": f"{LOOPBACK}:{self._settings.gateway_metrics_port}",
            "FELTRO_GATEWAY_WALLET_ADDRESS": f"{LOOPBACK}:{self._settings.wallet_port}",
            "FELTRO_WEB_LOGIN_URL": f"{self._operator_site}/login",
            "FELTRO_WEB_TOKEN_URL": f"{self._operator_site}/token",
            "FELTRO_WEB_LOGOUT_URL": f"{self._operator_site}/logout",
            "FELTRO_WEB_CASHIER_URL": f"{self._operator_site}/cashier",
        }

    def _desk(self) -> Mapping[str, str]:
        """It stands for the operator's own site: no part of the platform."""
        return {
            "FELTRO_OPERATOR_SITE_LISTEN": f"{LOOPBACK}:{self._settings.operator_site_port}",
            "FELTRO_OPERATOR_SITE_GATEWAY": self._gateway_origin,
        }

    def _common(self) -> Mapping[str, str]:
        return {
            "FELTRO_ENVIRONMENT": "development",
            "FELTRO_NATS_URL": self._nats.url,
            "FELTRO_ISSUER": ISSUER,
            "FELTRO_ISSUER_AUDIENCE": AUDIENCE,
        }

    def _welcome(self, seconds: float) -> None:
        feltro = os.path.relpath(Path(sys.executable).with_name("feltro"))
        play = (
            "Play at once with credits, or log in under any name: the first time there are 100 € for it."
            if self._front_end
            else "The front-end is not built (`make web` builds it, or says why not): this page shows what is up."
        )
        _say(f"""
Feltro is up after {seconds:.1f} s. Open {self._address}
{play}

For programs: {self._address}docs; docs/integrating.md goes from nothing to a bet and its result.
  {feltro} token --scope player --subject ana       a token of the development issuer
  curl {self._address}v1/games/roulette/tables

What is up: {self._address}status
Logs: {self._folder.logs} (`make logs` follows them). Ctrl-C stops everything.""")


class _Terminal:
    """The terminal we were started in. When it closes only the first process in it is sent a signal, perhaps make."""

    def __init__(self) -> None:
        self._poll = select.poll()
        for descriptor in (0, 1, 2):
            if os.isatty(descriptor):
                self._poll.register(descriptor, 0)

    def closed(self) -> bool:
        """Whether it is gone."""
        return any(event & select.POLLHUP for _, event in self._poll.poll(0))


def command(argv: list[str]) -> int:
    """Runs the whole platform on this machine (development)."""
    what = "Run the whole platform on this machine until Ctrl-C. README.md tells how to move its ports and its data."
    argparse.ArgumentParser(prog="feltro run", description=what).parse_args(argv)
    return Stack(load_or_exit(StackSettings)).run()


def _serving(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=1)
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _answers(address: str) -> bool:
    # No proxy: it is our own machine that is asked, whatever the environment says of the way to others.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _say(text: str, *, end: str = "\n", error: bool = False) -> None:
    # The terminal may be closed while we stop; that must not keep us from stopping.
    with contextlib.suppress(OSError, ValueError):
        print(text, end=end, flush=True, file=sys.stderr if error else sys.stdout)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))

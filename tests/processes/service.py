"""A service of the platform as a process of its own for tests and benches: started, killed and started again."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.rpc.transport import PLAINTEXT, Transport
from stack.issuer import DevelopmentIssuer
from stack.processes.child import STOP_TIMEOUT_S, ChildProcess
from stack.servers.ephemeral import free_port
from stack.settings import ROOT
from tests.processes import bus
from tests.processes.kill import kill

READY_TIMEOUT_S = 240.0
CHANNEL_OPTIONS = [("grpc.enable_retries", 0), ("grpc.max_reconnect_backoff_ms", 200)]


@dataclass
class ServiceProcess:
    """One `python -m services.<name>`; it may be killed and started again on the same address.

    It is a child process: a killed test run leaves no service behind.
    """

    name: ClassVar[str]
    # How long it may take to end after SIGTERM.
    stop_timeout_s: ClassVar[float] = STOP_TIMEOUT_S

    database_url: str
    nats_url: str
    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)
    # How tests connect to it; the process itself reads it from its environment.
    transport: Transport = PLAINTEXT
    child: ChildProcess | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.issuer = DevelopmentIssuer(self.home)
        self.issuer.prepare()
        self.log = self.home / f"{self.name}-{self.port}.log"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def module(self) -> str:
        return f"services.{self.name}"

    def variables(self) -> dict[str, str]:
        """The variables of this service beyond those of all."""
        return {}

    def start(self) -> None:
        prefix = f"FELTRO_{self.name.upper()}"
        common = {
            "FELTRO_ENVIRONMENT": "development",
            "FELTRO_LOG_LEVEL": "warning",
            "FELTRO_NATS_URL": bus.plain_url(self.nats_url),
            f"{prefix}_NATS_PASSWORD": bus.password(self.nats_url),
            "FELTRO_ISSUER_JWKS": str(self.issuer.jwks),
            "FELTRO_ISSUER_AUDIENCE": "feltro",
            "FELTRO_DEMO_JWKS": str(self.issuer.demo_keys.jwks),
            f"{prefix}_LISTEN": self.address,
            f"{prefix}_METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}",
            f"{prefix}_DATABASE_URL": self.database_url,
            # A child process runs in another folder: the service of this working copy is tested, not an installed one.
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-m", self.module]
        environment = {**common, **self.variables(), **self.environment}
        self.child = ChildProcess(command, log=self.log, environment=environment, stop_seconds=self.stop_timeout_s)

    async def ready(self) -> None:
        """Waits until the service serves; fails with its log when it does not."""
        async with self.transport.open_channel(self.address, self.name) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest()
            try:
                answer = await stub.Check(request, wait_for_ready=True, timeout=READY_TIMEOUT_S)
            except grpc.aio.AioRpcError as failed:
                raise AssertionError(
                    f"the {self.name} is not ready: {failed.code()}\n{self.log.read_text()[-4000:]}"
                ) from None
            if answer.status != health_pb2.HealthCheckResponse.SERVING:
                raise AssertionError(f"the {self.name} does not serve:\n{self.log.read_text()[-4000:]}")

    def kill(self) -> None:
        """Kills the process (SIGKILL)."""
        if self.child is None:
            return
        child, self.child = self.child, None
        for process in _commands_of(child):
            kill(process)
        child.stop()

    def end(self) -> None:
        """Ends the process at the end of its tests; one whose lines are counted has to stop by itself to write them."""
        if "COVERAGE_PROCESS_CONFIG" in os.environ:
            self.stop()
        else:
            self.kill()

    def stop(self) -> int:
        """Stops the process (SIGTERM); its exit status."""
        if self.child is None:
            return 0
        child, self.child = self.child, None
        return child.stop()


def _commands_of(child: ChildProcess) -> list[psutil.Process]:
    """The command of a child process, which may not have started yet; none if it has ended."""
    while not child.ended:
        if found := psutil.Process(child.pid).children():
            return found
        time.sleep(0.001)
    return []

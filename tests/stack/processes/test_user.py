"""Commands that run as another user, started by a process that makes calls."""

from __future__ import annotations

import asyncio
import os
import subprocess

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health

import stack.processes.user  # noqa: F401 - what is tested

# Without the setting in `stack/processes/user.py` about one in five does not begin.
COMMANDS = 40
CALLERS = 8


async def test_every_command_begins_while_calls_are_under_way() -> None:
    server = grpc.aio.server()
    health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ended = asyncio.Event()

    async def make_calls() -> None:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            while not ended.is_set():
                await stub.Check(health_pb2.HealthCheckRequest())

    async with asyncio.TaskGroup() as tasks:
        for _ in range(CALLERS):
            tasks.create_task(make_calls())
        statuses = await asyncio.to_thread(lambda: [_status_of_a_command() for _ in range(COMMANDS)])
        ended.set()
    await server.stop(0)
    assert statuses == [0] * COMMANDS


def _status_of_a_command() -> int:
    # The own user, whom anybody may choose: it is started as for any other.
    return subprocess.run(["true"], check=False, user=os.geteuid()).returncode

"""Many callers that connect over TLS in the same moment: each is answered, and the process lives."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.rpc.transport import Transport
from tests.processes.certificates import CertificateAuthority

CALLERS, TIMES = 100, 8
# A subchannel of its own, and so a connection, for each channel.
OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]


@pytest.mark.slow
@pytest.mark.guarantee("G12")
async def test_a_server_to_which_all_connect_at_once_answers_all(tmp_path: Path) -> None:
    files = CertificateAuthority(tmp_path).issue("wallet.feltro")
    transport = Transport(files)
    command = [sys.executable, "-m", "tests.kit.rpc.tls_server", str(files.key.parent)]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    port = int(await server.stdout.readline())

    async def ask() -> int:
        async with transport.open_channel(f"127.0.0.1:{port}", "wallet", OWN_CONNECTION) as channel:
            answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=60)
            return int(answer.status)

    try:
        for _ in range(TIMES):
            answers = await asyncio.gather(*(ask() for _ in range(CALLERS)))
            assert set(answers) == {health_pb2.HealthCheckResponse.SERVING}
        assert server.returncode is None
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()

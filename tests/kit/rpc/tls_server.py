"""A process that answers health checks over mutual TLS, for tests in which it may crash: prints its port."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.kit.rpc.transport import KEEPALIVE, CertificateFiles, Transport


async def main(folder: Path) -> None:
    """Serves until it is killed."""
    transport = Transport(CertificateFiles(folder / "ca.pem", folder / "certificate.pem", folder / "key.pem"))
    server = grpc.aio.server(options=KEEPALIVE)
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    await checks.set("", health_pb2.HealthCheckResponse.SERVING)
    port = transport.listen(server, "127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

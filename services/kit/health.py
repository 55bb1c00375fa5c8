"""`feltro health`: asks a process of the same machine whether it serves, for the health checks of containers."""

from __future__ import annotations

import argparse
import asyncio
import http.client
import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.kit.rpc.settings import GrpcSettings
from services.kit.rpc.transport import Transport
from services.kit.settings import ListenAddress, ServiceSettings, load_or_exit

# Below the five seconds that our images give a health check.
ANSWER_TIMEOUT_S = 4.0

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - not to listen there


class HttpHealthSettings(ServiceSettings):
    """Where a process answers over HTTP."""

    listen: ListenAddress


class GrpcHealthSettings(GrpcSettings):
    """Where a process answers over gRPC, and how to prove to it that we are of the platform."""

    listen: ListenAddress


def command(argv: list[str]) -> int:
    """Asks a process of this machine whether it serves.

    Status 0: it does; 1: it does not, or does not answer.
    """
    parser = argparse.ArgumentParser(
        prog="feltro health",
        description="Ask a process of this machine whether it serves, at the address of FELTRO_<SERVICE>_LISTEN.",
    )
    parser.add_argument("service", help="its name, such as wallet")
    parser.add_argument("--http", action="store_true", help="ask GET /healthz, which the gateway answers")
    chosen = parser.parse_args(argv)
    problem = _ask_http(chosen.service) if chosen.http else asyncio.run(_ask_grpc(chosen.service))
    if problem:
        print(f"feltro health: {chosen.service} does not serve: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _ask_http(service: str) -> str:
    host, _, port = _address(load_or_exit(HttpHealthSettings.for_service(service)).listen).rpartition(":")
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
    except (OSError, http.client.HTTPException) as failed:
        return str(failed) or type(failed).__name__
    finally:
        connection.close()
    return "" if answer.status == http.client.OK else f"it answered {answer.status}"


async def _ask_grpc(service: str) -> str:
    settings = load_or_exit(GrpcHealthSettings.for_service(service))
    transport: Transport = settings.transport()
    async with transport.open_channel(_address(settings.listen), service) as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=ANSWER_TIMEOUT_S
            )
        except grpc.aio.AioRpcError as failed:
            return failed.details() or failed.code().name
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    return "" if answer.status == health_pb2.HealthCheckResponse.SERVING else f"it answered {status}"


def _address(listen: str) -> str:
    """Returns where to reach a process that listens at an address, which may be all of the machine's."""
    host, _, port = listen.rpartition(":")
    return f"{_LOOPBACK.get(host, host)}:{port}"

"""The metrics of a process over HTTP, and whether calls may be sent to it."""

from __future__ import annotations

import http.client

from services.kit.telemetry import metrics_server
from stack.servers.ephemeral import free_port

TIMEOUT_S = 30.0


def answer_of(port: int, path: str) -> tuple[int, bytes]:
    """Reads a whole answer; fails if it is shorter than its header says."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_every_probe_gets_a_whole_answer_whatever_the_one_before_was() -> None:
    port, ready = free_port(), False
    metrics_server.start(f"127.0.0.1:{port}", lambda: ready)

    assert answer_of(port, "/readyz") == (503, b"not ready\n")
    ready = True
    assert answer_of(port, "/readyz") == (200, b"ready\n")
    ready = False
    assert answer_of(port, "/readyz") == (503, b"not ready\n")
    status, metrics = answer_of(port, "/metrics")
    assert status == 200
    assert b"process_cpu_seconds_total" in metrics

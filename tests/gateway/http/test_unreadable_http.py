"""Malformed HTTP is answered with a problem document that repeats nothing of what was sent."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from gateway.http.connection import LINE_BYTES_LIMIT
from tests.gateway.live_gateway import WITHIN_S, live_gateway

SECRET = "a-secret-of-the-client"  # noqa: S105 - looked for in answers and logs
LONG = SECRET + "x" * LINE_BYTES_LIMIT
UNREADABLE = {
    "no HTTP": f"{SECRET}\r\n\r\n",
    "another version": f"GET /{SECRET} HTTP/9.9\r\n\r\n",
    "a header that is too long": f"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {LONG}\r\n\r\n",
    "an address that is too long": f"GET /{LONG} HTTP/1.1\r\nHost: x\r\n\r\n",
    "two lengths": f"POST /{SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 0\r\n\r\nabc",
    "length and chunks": (
        f"POST /{SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
}


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("sent", UNREADABLE.values(), ids=UNREADABLE)
async def test_g7_malformed_http_is_answered_with_a_problem_that_repeats_nothing(
    nats_url: str, caplog: pytest.LogCaptureFixture, sent: str
) -> None:
    caplog.set_level(logging.DEBUG)
    async with live_gateway(nats_url) as (gateway, _, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(sent.encode())
        async with asyncio.timeout(WITHIN_S):
            answered = await reader.read()
        writer.close()
    head, _, body = answered.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
    assert head.split()[1] == b"400"
    assert headers["content-type"].startswith("application/problem+json")
    assert (headers["server"], headers["cache-control"]) == ("feltro", "no-store")
    problem = json.loads(body)
    assert (problem["status"], problem["reason"], problem["trace_id"]) == (400, "INVALID", headers["x-trace-id"])
    assert problem["detail"].endswith((": shorten it.", "from a client that speaks it."))
    assert SECRET not in answered.decode()
    assert SECRET not in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]

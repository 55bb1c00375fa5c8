"""Connections to services: kept while they are used, and no longer."""

from __future__ import annotations

import asyncio

import pytest

from gateway.backends.trusted_addresses import ServiceAddress
from gateway.backends.upstream import Upstream
from stack.servers.ephemeral import free_port


@pytest.mark.guarantee("G11")
async def test_g11_a_connection_to_a_gone_process_is_closed_once_no_call_waits() -> None:
    upstream = Upstream()
    gone, present = (ServiceAddress(f"127.0.0.1:{free_port()}", "roulette") for _ in range(2))
    calls = [asyncio.create_task(upstream.call(address, "a.B/C", "", b"")) for address in (gone, present)]
    await asyncio.sleep(0)
    await upstream.close_others({present.address})
    assert set(upstream._connections) == {gone, present}
    for task in calls:
        task.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await upstream.close_others({present.address})
    assert set(upstream._connections) == {present}
    await upstream.close()
    assert not upstream._connections

"""Lines to processes: kept while they are of use, and no longer."""

from __future__ import annotations

import asyncio

import pytest

from gateway.backends.upstream import Upstream
from stack.servers.ephemeral import free_port


@pytest.mark.guarantee("G11")
async def test_g11_a_line_to_a_process_that_is_gone_is_let_go_once_nobody_waits_for_it() -> None:
    upstream = Upstream()
    gone, here = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    asking = [asyncio.create_task(upstream.call(address, "a.B/C", "", b"")) for address in (gone, here)]
    await asyncio.sleep(0)
    await upstream.close_others({here})
    assert set(upstream._connections) == {gone, here}
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    await upstream.close_others({here})
    assert set(upstream._connections) == {here}
    await upstream.close()
    assert not upstream._connections

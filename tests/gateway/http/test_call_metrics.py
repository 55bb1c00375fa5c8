"""Every call is counted once, by its method and how it ended; names that are made up make no numbers."""

from __future__ import annotations

from prometheus_client import REGISTRY

from feltro.table.v1 import table_pb2
from tests.gateway.http_gateway import FakeDispatcher, bearer_headers, http_gateway
from tests.gateway.live_gateway import live_gateway

LIST = "TableService.ListTables"


def counted(method: str, status: int) -> float:
    labels = {"method": method, "status": str(status)}
    return REGISTRY.get_sample_value("feltro_edge_calls_total", labels) or 0.0


def timed(method: str, way: str) -> float:
    return REGISTRY.get_sample_value("feltro_edge_call_seconds_count", {"method": method, "transport": way}) or 0.0


def series() -> int:
    return sum(len(metric.samples) for metric in REGISTRY.collect() if metric.name == "feltro_edge_calls")


async def test_calls_over_rest_are_counted() -> None:
    method = "TableService.GetTable"
    before = [counted(method, status) for status in (200, 401, 400)], timed(method, "rest")
    async with http_gateway(FakeDispatcher()) as client:
        assert (await client.get("/v1/tables/t", headers=bearer_headers("ana"))).status == 200
        assert (await client.get("/v1/tables/t", headers=bearer_headers("late"))).status == 401
        assert (await client.get("/v1/tables/t?nonsense=1", headers=bearer_headers("ana"))).status == 400
        many = series()
        for path in ("/v1/nothing/here", "/v1/more/of/it", "/nothing"):
            assert (await client.get(path)).status == 404
    after = [counted(method, status) for status in (200, 401, 400)], timed(method, "rest")
    assert after == ([number + 1 for number in before[0]], before[1] + 1)
    assert series() == many


async def test_calls_over_a_websocket_are_counted(nats_url: str) -> None:
    before = counted(LIST, 200), counted("ping", 200), counted("subscribe", 404), timed(LIST, "websocket")
    async with live_gateway(nats_url) as (live, tables, _), live.connect() as client:
        tables.answers[LIST] = table_pb2.ListTablesResponse()
        await client.result(LIST)
        await client.result("ping")
        await client.call("subscribe", table_id="nowhere")
        many = series()
        for number in range(10):
            await client.call(f"Made.Up{number}")
    after = counted(LIST, 200), counted("ping", 200), counted("subscribe", 404), timed(LIST, "websocket")
    assert after == tuple(number + 1 for number in before)
    assert series() == many

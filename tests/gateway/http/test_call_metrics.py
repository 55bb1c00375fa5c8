"""Metrics of calls: each is counted once, by method and status; made-up methods add no series."""

from __future__ import annotations

from prometheus_client import REGISTRY

from feltro.table.v1 import table_pb2
from tests.gateway.http_gateway import FakeDispatcher, bearer_headers, http_gateway
from tests.gateway.live_gateway import live_gateway

LIST = "TableService.ListTables"


def call_count(method: str, status: int) -> float:
    labels = {"method": method, "status": str(status)}
    return REGISTRY.get_sample_value("feltro_edge_calls_total", labels) or 0.0


def timing_count(method: str, transport: str) -> float:
    return (
        REGISTRY.get_sample_value("feltro_edge_call_seconds_count", {"method": method, "transport": transport}) or 0.0
    )


def series_count() -> int:
    return sum(len(metric.samples) for metric in REGISTRY.collect() if metric.name == "feltro_edge_calls")


async def test_calls_over_rest_are_call_count() -> None:
    method = "TableService.GetTable"
    before = [call_count(method, status) for status in (200, 401, 400)], timing_count(method, "rest")
    async with http_gateway(FakeDispatcher()) as client:
        assert (await client.get("/v1/tables/t", headers=bearer_headers("ana"))).status == 200
        assert (await client.get("/v1/tables/t", headers=bearer_headers("late"))).status == 401
        assert (await client.get("/v1/tables/t?nonsense=1", headers=bearer_headers("ana"))).status == 400
        series_before = series_count()
        for path in ("/v1/nothing/here", "/v1/more/of/it", "/nothing"):
            assert (await client.get(path)).status == 404
    after = [call_count(method, status) for status in (200, 401, 400)], timing_count(method, "rest")
    assert after == ([number + 1 for number in before[0]], before[1] + 1)
    assert series_count() == series_before


async def test_calls_over_a_websocket_are_call_count(nats_url: str) -> None:
    before = (
        call_count(LIST, 200),
        call_count("ping", 200),
        call_count("subscribe", 404),
        timing_count(LIST, "websocket"),
    )
    async with live_gateway(nats_url) as (gateway, tables, _), gateway.connect() as client:
        tables.answers[LIST] = table_pb2.ListTablesResponse()
        await client.result(LIST)
        await client.result("ping")
        await client.call("subscribe", table_id="nowhere")
        series_before = series_count()
        for number in range(10):
            await client.call(f"Made.Up{number}")
    after = (
        call_count(LIST, 200),
        call_count("ping", 200),
        call_count("subscribe", 404),
        timing_count(LIST, "websocket"),
    )
    assert after == tuple(number + 1 for number in before)
    assert series_count() == series_before

"""The AsyncAPI document is one, holds every method, and says what is really said.

`asyncapi-3.0.0.schema.json.gz` is the AsyncAPI initiative's own schema, from its npm package `@asyncapi/specs` 6.11.1
(`schemas/3.0.0-without-$id.json`, Apache-2.0), compressed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonschema

from gateway.live.close_codes import CloseCode
from gateway.reference.asyncapi import document
from tests.gateway.live.test_event_stream import EventStreamReader
from tests.gateway.live_gateway import CONTRACTS, RpcClient, live_gateway

_SCHEMA = Path(__file__).with_name("asyncapi-3.0.0.schema.json.gz")
DOCUMENT: dict[str, Any] = json.loads(json.dumps(document(CONTRACTS)))


def test_it_is_an_asyncapi_document() -> None:
    schema = json.loads(gzip.decompress(_SCHEMA.read_bytes()))
    jsonschema.Draft7Validator(schema).validate(DOCUMENT)


def test_it_refers_to_nothing_that_is_not_there() -> None:
    for reference in _references(DOCUMENT):
        found: Any = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_it_holds_every_method_and_every_close_code() -> None:
    assert set(CONTRACTS.by_rpc_name) < set(DOCUMENT["operations"])
    assert {str(int(code)) for code in CloseCode} < set(DOCUMENT["channels"]["socket"]["x-close-codes"])
    assert all(message["payload"] for message in DOCUMENT["components"]["messages"].values())


async def test_what_is_said_is_what_it_says(nats_url: str) -> None:
    async with live_gateway(nats_url) as (live, tables, _), live.connect("player:ana@1050") as client:
        table = await tables.open(f"t{uuid4().hex[:12]}")
        await _said(client, "subscribe", table_id=table.table_id)
        await _said(client, "subscribe", table_id=table.table_id, from_seq=0)
        await _said(client, "TableService.GetTable", table_id=table.table_id)
        await _said(client, "ping")
        _validate("refresh.result", await client.call_with_token("refresh", "player:ana@1040"))
        await _said(client, "unsubscribe", table_id=table.table_id)
        _validate("error", await client.call("Nobody.DoesThis"))
        _validate("error", await client.call("subscribe", table_id="nowhere"))
        await _said(client, "subscribe", table_id=table.table_id)
        table.publish()
        table.publish_takeover()
        for _ in range(2):
            _validate("table", _notification("table", await client.next_notification("table")))
        live.hub._on_gap()
        _validate("snapshot", _notification("snapshot", await client.next_notification("snapshot")))
        _validate("notice", _notification("notice", await client.next_notification("notice")))
        live.private_facts._on_gap()
        _validate("notice", _notification("notice", await client.next_notification("notice")))


async def test_what_is_streamed_is_what_it_says(nats_url: str) -> None:
    async with live_gateway(nats_url) as (live, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")
        path, sent = f"/v1/tables/{table.table_id}/events", {"Authorization": "Bearer player:ana@1050"}
        kinds = set()
        for more in ({}, {"Last-Event-ID": "0"}):
            async with live.client.get(path, headers={**sent, **more}) as got:
                table.publish()
                for _ in range(3):
                    name, said = await EventStreamReader(got).next()
                    kinds.add(name)
                    _validate(f"stream.{name}", said)
        assert kinds == {"snapshot", "resumed", "table", "notice"}


async def _said(client: RpcClient, method: str, **params: object) -> None:
    meta = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    _validate(f"{method}.call", call)
    _validate(f"{method}.result", await client.call(method, **params))


def _notification(method: str, params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _validate(message: str, said: object) -> None:
    payload = DOCUMENT["components"]["messages"][message]["payload"]
    jsonschema.Draft202012Validator({**payload, "components": DOCUMENT["components"]}).validate(said)


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)

"""The AsyncAPI document is valid, has every method, and describes the messages that are really sent.

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
from google.protobuf.message_factory import GetMessageClass

from feltro.table.v1 import any_topic_pb2, events_pb2
from gateway.live.close_codes import CloseCode
from gateway.reference.asyncapi import document
from services.kit.bus.subjects import own_view_subject
from tests.gateway.live.test_event_stream import EventStreamReader
from tests.gateway.live_gateway import CONTRACTS, GAME, RpcClient, bus_client, live_gateway

_SCHEMA = Path(__file__).with_name("asyncapi-3.0.0.schema.json.gz")
DOCUMENT: dict[str, Any] = json.loads(json.dumps(document(CONTRACTS)))


def test_the_document_is_valid_asyncapi() -> None:
    schema = json.loads(gzip.decompress(_SCHEMA.read_bytes()))
    jsonschema.Draft7Validator(schema).validate(DOCUMENT)


def test_every_reference_is_resolved() -> None:
    for reference in _references(DOCUMENT):
        found: Any = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def test_the_document_has_every_method_and_every_close_code() -> None:
    assert set(CONTRACTS.by_rpc_name) < set(DOCUMENT["operations"])
    assert {str(int(code)) for code in CloseCode} < set(DOCUMENT["channels"]["socket"]["x-close-codes"])
    assert all(message["payload"] for message in DOCUMENT["components"]["messages"].values())


async def test_websocket_messages_are_as_described(nats_url: str) -> None:
    async with live_gateway(nats_url) as (gateway, tables, _), gateway.connect("player:ana@1050") as client:
        table = await tables.open(f"t{uuid4().hex[:12]}")
        await _call(client, "subscribe", table_id=table.table_id)
        await _call(client, "subscribe", table_id=table.table_id, from_seq=0)
        await _call(client, "TableService.GetTable", table_id=table.table_id)
        await _call(client, "ping")
        _validate("refresh.result", await client.call_with_token("refresh", "player:ana@1040"))
        await _call(client, "unsubscribe", table_id=table.table_id)
        _validate("error", await client.call("Nobody.DoesThis"))
        _validate("error", await client.call("subscribe", table_id="nowhere"))
        await _call(client, "subscribe", table_id=table.table_id)
        table.publish()
        table.publish_takeover()
        for _ in range(2):
            _validate("table", _notification("table", await client.next_notification("table")))
        gateway.hub._on_gap()
        _validate("snapshot", _notification("snapshot", await client.next_notification("snapshot")))
        _validate("notice", _notification("notice", await client.next_notification("notice")))
        gateway.private_facts._on_gap()
        _validate("notice", _notification("notice", await client.next_notification("notice")))
        await _tell_ana(nats_url, table.table_id)
        _validate("own_view", _notification("own_view", await client.next_notification("own_view")))


async def test_streamed_events_are_as_described(nats_url: str) -> None:
    async with live_gateway(nats_url) as (gateway, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")
        path, headers = f"/v1/tables/{table.table_id}/events", {"Authorization": "Bearer player:ana@1050"}
        kinds = set()
        for resumption in ({}, {"Last-Event-ID": "0"}):
            async with gateway.client.get(path, headers={**headers, **resumption}) as response:
                table.publish()
                reader = EventStreamReader(response)
                for _ in range(3):
                    name, content = await reader.next()
                    kinds.add(name)
                    _validate(f"stream.{name}", content)
                await _tell_ana(nats_url, table.table_id)
                name, content = await reader.next()
                kinds.add(name)
                _validate(f"stream.{name}", content)
        assert kinds == {"snapshot", "resumed", "table", "notice", "own_view"}


async def _tell_ana(nats_url: str, table_id: str) -> None:
    """Tells ana what she alone may see, in the message of each game that has one."""
    async with bus_client(nats_url) as bus:
        for own_view in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_OWN_VIEW):
            view = events_pb2.OwnViewChanged(table_id=table_id, round_id=f"{table_id}.1", turn=1, player_id="ana")
            view.own_view.Pack(GetMessageClass(own_view)())
            await bus.publish(own_view_subject(GAME, "ana"), view.SerializeToString())
        await bus.flush()


async def _call(client: RpcClient, method: str, **params: object) -> None:
    meta = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    _validate(f"{method}.call", call)
    _validate(f"{method}.result", await client.call(method, **params))


def _notification(method: str, params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _validate(message: str, content: object) -> None:
    payload = DOCUMENT["components"]["messages"][message]["payload"]
    jsonschema.Draft202012Validator({**payload, "components": DOCUMENT["components"]}).validate(content)


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)

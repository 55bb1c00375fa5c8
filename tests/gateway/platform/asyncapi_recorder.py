"""Records the messages of a WebSocket, and validates them against the AsyncAPI document that the gateway serves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import aiohttp
from jsonschema import Draft202012Validator

from tests.gateway.live_gateway import RpcClient

JsonObject = dict[str, Any]


class RecordedSocket:
    """A WebSocket that keeps all messages, sent and received."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self._ws = ws
        self.sent: list[JsonObject] = []
        self.received: list[JsonObject] = []

    @cached_property
    def client(self) -> RpcClient:
        """The client on this socket."""
        return RpcClient(cast("aiohttp.ClientWebSocketResponse", self))

    async def send_json(self, message: JsonObject) -> None:
        self.sent.append(message)
        await self._ws.send_json(message)

    async def receive_json(self) -> JsonObject:
        message: JsonObject = await self._ws.receive_json()
        self.received.append(message)
        return message


class AsyncApiDocument:
    """The schemas of an AsyncAPI document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._components = document["components"]
        self._validators: dict[str, Draft202012Validator] = {}

    def verify(self, socket: RecordedSocket) -> None:
        """Fails if a message, of either side, does not fit the document."""
        methods: dict[object, str] = {}
        for call in socket.sent:
            methods[call["id"]] = call["method"]
            self._validate(f"{call['method']}.call", call)
        for message in socket.received:
            if "method" in message:
                self._validate(message["method"], message)
            else:
                self._validate("error" if "error" in message else f"{methods[message['id']]}.result", message)

    def _validate(self, name: str, message: JsonObject) -> None:
        if name not in self._validators:
            schema = {**self._components["messages"][name]["payload"], "components": self._components}
            self._validators[name] = Draft202012Validator(schema)
        self._validators[name].validate(message)

"""What is said on a WebSocket, held against the AsyncAPI document that the gateway itself serves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import aiohttp
from jsonschema import Draft202012Validator

from tests.gateway.live_gateway import RpcClient

JsonObject = dict[str, Any]


class RecordedSocket:
    """A WebSocket that keeps what is said on it."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self._ws = ws
        self.sent: list[JsonObject] = []
        self.received: list[JsonObject] = []

    @cached_property
    def client(self) -> RpcClient:
        """Who speaks."""
        return RpcClient(cast("aiohttp.ClientWebSocketResponse", self))

    async def send_json(self, said: JsonObject) -> None:
        self.sent.append(said)
        await self._ws.send_json(said)

    async def receive_json(self) -> JsonObject:
        said: JsonObject = await self._ws.receive_json()
        self.received.append(said)
        return said


class AsyncApiDocument:
    """The AsyncAPI document."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._components = said["components"]
        self._validators: dict[str, Draft202012Validator] = {}

    def verify(self, socket: RecordedSocket) -> None:
        """Fails where a message, of either side, is not as it says."""
        called: dict[object, str] = {}
        for call in socket.sent:
            called[call["id"]] = call["method"]
            self._validate(f"{call['method']}.call", call)
        for said in socket.received:
            if "method" in said:
                self._validate(said["method"], said)
            else:
                self._validate("error" if "error" in said else f"{called[said['id']]}.result", said)

    def _validate(self, name: str, said: JsonObject) -> None:
        if name not in self._validators:
            schema = {**self._components["messages"][name]["payload"], "components": self._components}
            self._validators[name] = Draft202012Validator(schema)
        self._validators[name].validate(said)

"""A client that knows only where the OpenAPI document is, as a program outside the platform would be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import aiohttp
from jsonschema import Draft202012Validator

JsonObject = dict[str, Any]


@dataclass
class Operation:
    """One operation of the document."""

    verb: str
    path: str
    definition: JsonObject


@dataclass
class OpenApiClient:
    """Calls by operation id, and validates every request and answer against the document."""

    session: aiohttp.ClientSession
    document: JsonObject
    operations: dict[str, Operation] = field(default_factory=dict)

    @classmethod
    async def connect(cls, session: aiohttp.ClientSession) -> OpenApiClient:
        async with session.get("/openapi.json") as answer:
            client = cls(session, await answer.json())
        for path, verbs in client.document["paths"].items():
            for verb, definition in verbs.items():
                client.operations[definition["operationId"]] = Operation(verb, path, definition)
        return client

    async def call(
        self, operation_id: str, token: str = "", body: JsonObject | None = None, *, key: str = "", **parameters: str
    ) -> JsonObject:
        """Returns the answer of a call that has to succeed."""
        status, answer = await self.request(operation_id, token, body, key=key, **parameters)
        assert status == 200, answer
        return answer

    async def request(
        self, operation_id: str, token: str = "", body: JsonObject | None = None, *, key: str = "", **parameters: str
    ) -> tuple[int, JsonObject]:
        """Returns status and answer."""
        operation = self.operations[operation_id]
        headers: dict[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
        query: dict[str, str] = {}
        path = operation.path
        for parameter in map(self._resolved, operation.definition.get("parameters", [])):
            name = parameter["name"]
            if parameter["in"] == "header" and parameter["required"]:
                headers[name] = key or str(uuid4())
            elif parameter["in"] == "path":
                path = path.replace(f"{{{name}}}", quote(parameters[name], safe=""))
            elif name in parameters:
                query[name] = parameters[name]
        if "requestBody" in operation.definition:
            body = body or {}
            self._validate(operation.definition["requestBody"], "application/json", body)
        async with self.session.request(operation.verb, path, params=query, json=body, headers=headers) as answer:
            response = self._resolved(operation.definition["responses"][str(answer.status)])
            content: JsonObject = await answer.json(content_type=None)
            self._validate(response, answer.content_type, content)
            for name, header in response.get("headers", {}).items():
                assert name in answer.headers or not self._resolved(header).get("required"), name
        return answer.status, content

    def _validate(self, holder: Mapping[str, Any], content_type: str, content: JsonObject) -> None:
        schema = {**holder["content"][content_type]["schema"], "components": self.document["components"]}
        Draft202012Validator(schema).validate(content)

    def _resolved(self, definition: JsonObject) -> JsonObject:
        found: Any = definition
        while "$ref" in found:
            reference, found = found["$ref"], self.document
            for part in reference.removeprefix("#/").split("/"):
                found = found[part]
        return dict(found)

"""An operator's program as somebody outside would write it: it knows where the OpenAPI document is, and no more."""

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
    """Calls by operation id; everything that comes back has to be as the document says."""

    session: aiohttp.ClientSession
    document: JsonObject
    operations: dict[str, Operation] = field(default_factory=dict)

    @classmethod
    async def connect(cls, session: aiohttp.ClientSession) -> OpenApiClient:
        async with session.get("/openapi.json") as answer:
            outside = cls(session, await answer.json())
        for path, verbs in outside.document["paths"].items():
            for verb, described in verbs.items():
                outside.operations[described["operationId"]] = Operation(verb, path, described)
        return outside

    async def call(
        self, operation_id: str, token: str = "", body: JsonObject | None = None, *, key: str = "", **parameters: str
    ) -> JsonObject:
        """The answer of a call that has to succeed."""
        status, said = await self.request(operation_id, token, body, key=key, **parameters)
        assert status == 200, said
        return said

    async def request(
        self, operation_id: str, token: str = "", body: JsonObject | None = None, *, key: str = "", **parameters: str
    ) -> tuple[int, JsonObject]:
        """Status and answer."""
        operation = self.operations[operation_id]
        headers: dict[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
        query: dict[str, str] = {}
        path = operation.path
        for described in map(self._resolved, operation.definition.get("parameters", [])):
            name = described["name"]
            if described["in"] == "header" and described["required"]:
                headers[name] = key or str(uuid4())
            elif described["in"] == "path":
                path = path.replace(f"{{{name}}}", quote(parameters[name], safe=""))
            elif name in parameters:
                query[name] = parameters[name]
        if "requestBody" in operation.definition:
            body = body or {}
            self._validate(operation.definition["requestBody"], "application/json", body)
        async with self.session.request(operation.verb, path, params=query, json=body, headers=headers) as answer:
            response = self._resolved(operation.definition["responses"][str(answer.status)])
            said: JsonObject = await answer.json(content_type=None)
            self._validate(response, answer.content_type, said)
            for name, header in response.get("headers", {}).items():
                assert name in answer.headers or not self._resolved(header).get("required"), name
        return answer.status, said

    def _validate(self, holder: Mapping[str, Any], content_type: str, said: JsonObject) -> None:
        schema = {**holder["content"][content_type]["schema"], "components": self.document["components"]}
        Draft202012Validator(schema).validate(said)

    def _resolved(self, described: JsonObject) -> JsonObject:
        found: Any = described
        while "$ref" in found:
            reference, found = found["$ref"], self.document
            for part in reference.removeprefix("#/").split("/"):
                found = found[part]
        return dict(found)

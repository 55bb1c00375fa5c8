"""Generates the OpenAPI 3.1 document of everything that REST offers, from descriptors and their comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from aiohttp import web

from gateway.contracts import bounds, json_codec
from gateway.contracts.bounds import REQUEST_ID_FIELD
from gateway.contracts.descriptors import message_type
from gateway.contracts.methods import Binding, Contracts, Method
from gateway.contracts.reasons import Reason, ReasonSets
from gateway.http.documents import JSON_CONTENT_TYPE, Document, page_document
from gateway.http.envelope import TRACE_ID_HEADER
from gateway.http.problems import PROBLEM_CONTENT_TYPE, PROBLEMS_PATH, Problem
from gateway.http.rest import BODY_BYTES_LIMIT, PUBLIC_MAX_AGE_S
from gateway.http.transcoding import (
    IDEMPOTENCY_HEADER,
    field_path,
    query_parameters,
)
from gateway.reference.schemas import COMPONENTS, Schema, Schemas

VERSION = "1"
PAGE_TOKEN = "page_token"  # noqa: S105 - a parameter, no secret
_RESPONSES = "#/components/responses/"
_PARAMETERS = "#/components/parameters/"
_HEADERS = "#/components/headers/"
_EXAMPLES = "#/components/examples/"
_PROBLEM = "Problem"
_FACTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_ANY_PROBLEM: Schema = {"$ref": f"{COMPONENTS}{_PROBLEM}"}
_BEARER = "bearer"

_DESCRIPTION = f"""Online table games: accounts, sessions, tables and bets.

**Commands act once.** A command that moves anything is named by a header `{IDEMPOTENCY_HEADER}` of your choice (or by
`{REQUEST_ID_FIELD}` in its body, the same thing). Send it again with the same name until an answer arrives: it acts at
most once and gets the first answer again; with other content it is refused with `REQUEST_REUSED`.

**Errors** are problem documents (RFC 9457). `reason` belongs to a closed set, see [{PROBLEMS_PATH}]({PROBLEMS_PATH});
`facts` are what a program needs to go on; `detail` is a sentence for a person; quote `trace_id` when you ask us.

**Amounts** are euro cents, or demonstration credits of the same size. Integers of 64 bits are strings in answers and
may be numbers in requests. A field that is left out, or null, has its default value.

**Pages.** Where there is a `page_token`, send the `next_page_token` of the page before with the same other parameters;
it is empty on the last page.

**Tracing.** Send a W3C `traceparent` to carry on your own trace; every answer has its `{TRACE_ID_HEADER}`."""

# What each status of an error means; every one comes with a problem document.
_STATUSES: Mapping[int, str] = {
    400: "The request cannot be read, or says something that cannot be.",
    401: "There is no token, or it is not authentic or not valid any more.",
    403: "The token does not allow it, or the thing asked for is another player's.",
    404: "It does not exist.",
    409: "As things stand it cannot be done, and nothing has changed; or the command's name was used for another one.",
    408: "The rest of the body did not come in time: nothing was done.",
    413: f"The body is larger than {BODY_BYTES_LIMIT} bytes.",
    415: f"The body is not `{JSON_CONTENT_TYPE}`.",
    429: "Too much at once: nothing was done, try again later.",
    500: "A fault of the platform: it is not known whether anything was done. Send the same request again.",
    501: "This platform does not offer the call.",
    503: "What is needed to answer cannot be reached, or too many are connected: send the same request again.",
}
# Errors without a reason, for there is nothing that a program could decide by.
_STATUSES_WITHOUT_REASON = (500, 501)
_RETRY_STATUSES = frozenset({429, 503})


def document(contracts: Contracts, reasons: ReasonSets) -> dict[str, object]:
    """Returns the whole document."""
    schemas, refusals = Schemas(contracts, discriminators=True), _Refusals(reasons)
    paths: dict[str, dict[str, object]] = {}
    for method in contracts.methods:
        for number, binding in enumerate(method.bindings):
            operation = _Operation(method, binding, number, schemas, refusals).document()
            paths.setdefault(binding.template, {})[binding.verb.lower()] = operation
    services = {method.service: method.descriptor.containing_service.name for method in contracts.methods}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Feltro",
            "version": VERSION,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": contracts.comment(full_name)} for full_name, name in services.items()],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**schemas.components, _PROBLEM: problem_schema(reasons)},
            "responses": refusals.components,
            "examples": {_example_name(reason): _example(reason) for reason in reasons},
            "parameters": {IDEMPOTENCY_HEADER: _idempotency_key()},
            "headers": _headers(),
            "securitySchemes": {
                _BEARER: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": _TOKENS}
            },
        },
    }


class OpenApiRoutes:
    """Serves the description of the API: `/openapi.json` for programs, `/docs` for people."""

    def __init__(self, contracts: Contracts, reasons: ReasonSets) -> None:
        self._documents = {
            "/openapi.json": Document(json_codec.dumps(document(contracts, reasons)), JSON_CONTENT_TYPE),
            "/docs": page_document("docs.html"),
            "/docs.js": page_document("docs.js"),
            "/docs.css": page_document("docs.css"),
        }

    def install(self, application: web.Application) -> None:
        for path, document in self._documents.items():
            application.router.add_get(path, document.answer)


class _Operation:
    """One binding of one method."""

    def __init__(self, method: Method, binding: Binding, number: int, schemas: Schemas, refusals: _Refusals) -> None:
        self._refusals = refusals
        self._method = method
        self._binding = binding
        self._id = method.rpc_name.replace(".", "_") + (f"_{number + 1}" if number else "")
        self._schemas = schemas

    def document(self) -> dict[str, object]:
        method = self._method
        operation: dict[str, object] = {
            "operationId": self._id,
            "tags": [method.descriptor.containing_service.name],
            "summary": first_sentence(method.comment),
            "description": "\n\n".join([method.comment, self._access()]).strip(),
            "security": [{}, {_BEARER: []}] if method.public else [{_BEARER: []}],
        }
        if parameters := list(self._parameters()):
            operation["parameters"] = parameters
        if self._binding.body:
            operation["requestBody"] = self._body()
        operation["responses"] = self._responses()
        return operation

    def _access(self) -> str:
        scopes = " or ".join(sorted(self._method.scopes)) or "nobody"
        return f"Everybody, without a token too; scopes: {scopes}." if self._method.public else f"Scopes: {scopes}."

    def _parameters(self) -> Iterator[Schema]:
        request = self._method.descriptor.input_type
        for name in self._binding.variables:
            field = field_path(request, name)[-1]
            schema = self._schemas.parameter_schema(field)
            if schema.get("type") == "string":
                schema["minLength"] = 1
            yield {"name": name, "in": "path", "required": True, **self._description(name), "schema": schema}
        for name, path in query_parameters(self._method, self._binding).items():
            yield {
                "name": name,
                "in": "query",
                **self._description(name),
                "schema": self._schemas.parameter_schema(path[-1]),
            }
        if self._method.has_request_id:
            yield {"$ref": _PARAMETERS + IDEMPOTENCY_HEADER}

    def _description(self, name: str) -> Schema:
        comment = self._schemas.comment(field_path(self._method.descriptor.input_type, name)[-1])
        return {"description": comment} if comment else {}

    def _body(self) -> Schema:
        request = self._method.descriptor.input_type
        if self._binding.body != "*":
            field = request.fields_by_name[self._binding.body]
            return _json_body(self._schemas.request_schema(message_type(field)), required=True)
        bound = (
            {*self._binding.variables, REQUEST_ID_FIELD} if self._method.has_request_id else {*self._binding.variables}
        )
        schema = self._schemas.request_schema(request, bound)
        required = any(bounds.bounds_of(field).required for field in request.fields if field.name not in bound)
        return _json_body(schema, required=required)

    def _responses(self) -> Schema:
        trace = {TRACE_ID_HEADER: {"$ref": _HEADERS + TRACE_ID_HEADER}}
        answer = self._method.descriptor.output_type
        success: Schema = {
            "description": self._schemas.message_comment(answer) or "Done.",
            "headers": trace,
            "content": {JSON_CONTENT_TYPE: {"schema": self._schemas.response_schema(answer)}},
        }
        if links := self._links():
            success["links"] = links
        responses: dict[str, object] = {"200": success}
        if self._method.public and self._binding.verb == "GET":
            success["headers"] = {**trace, "ETag": {"$ref": _HEADERS + "ETag"}}
            responses["304"] = {"description": "Nothing has changed since the answer that `If-None-Match` names."}
        return responses | self._refusals.of(self._method, self._binding)

    def _links(self) -> Schema:
        """Returns the link to the next page, for a list that has pages."""
        request, answer = self._method.descriptor.input_type, self._method.descriptor.output_type
        if PAGE_TOKEN not in request.fields_by_name or f"next_{PAGE_TOKEN}" not in answer.fields_by_name:
            return {}
        same = {f"path.{name}": f"$request.path.{name}" for name in self._binding.variables}
        parameters = {**same, f"query.{PAGE_TOKEN}": f"$response.body#/next_{PAGE_TOKEN}"}
        return {"NextPage": {"operationId": self._id, "parameters": parameters}}


def first_sentence(comment: str) -> str:
    """Returns the first sentence of a comment, without its full stop."""
    return re.split(r"(?<=[^.]\.)\s", comment.replace("\n", " "), maxsplit=1)[0].rstrip(".")


def _json_body(schema: Schema, *, required: bool) -> Schema:
    return {"required": required, "content": {JSON_CONTENT_TYPE: {"schema": schema}}}


def _idempotency_key() -> Schema:
    return {
        "name": IDEMPOTENCY_HEADER,
        "in": "header",
        "required": True,
        "description": "Names the command, so that it acts once however often it is sent. The same as"
        f" `{REQUEST_ID_FIELD}` in the body, which may be sent instead of it; if both are sent they have to be equal.",
        "schema": bounds.request_id_schema(),
    }


class _Refusals:
    """The responses of refused calls: responses that several calls share are described once."""

    def __init__(self, reasons: ReasonSets) -> None:
        self._reasons = reasons
        self._names: dict[tuple[int, tuple[Reason, ...]], str] = {}
        self.components: dict[str, Schema] = {}

    def of(self, method: Method, binding: Binding) -> Schema:
        """Returns the responses of one binding by status."""
        by_status = {status: list[Reason]() for status in _STATUSES_WITHOUT_REASON} | self._reasons.by_status(
            method, binding
        )
        return {
            str(status): {"$ref": _RESPONSES + self._name(status, tuple(by_status[status]))}
            for status in sorted(by_status)
        }

    def _name(self, status: int, reasons: tuple[Reason, ...]) -> str:
        known = self._names.get((status, reasons))
        if known is not None:
            return known
        same_status = sum(of == status for of, _ in self._names)
        name = self._names[status, reasons] = f"Problem{status}" + (f"-{same_status + 1}" if same_status else "")
        self.components[name] = _refusal(status, reasons) if reasons else _response(status, _ANY_PROBLEM)
        return name


def _refusal(status: int, reasons: Sequence[Reason]) -> Schema:
    """Returns the response with this status and one of these reasons."""
    by_domain: dict[str, list[str]] = {}
    for reason in reasons:
        by_domain.setdefault(reason.domain, []).append(reason.name)
    names = "; ".join(
        f"{', '.join(f'`{name}`' for name in names)} ({domain})" for domain, names in sorted(by_domain.items())
    )
    of_domains: list[Schema] = [
        {
            "properties": {
                "status": {"type": "integer", "const": status},
                "domain": {"type": "string", "const": domain},
                "reason": {"type": "string", "enum": names},
                "facts": _FACTS,
            },
            "required": [] if status in _STATUSES_WITHOUT_REASON else ["domain", "reason", "facts"],
        }
        for domain, names in by_domain.items()
    ]
    narrowed: Schema = of_domains[0] if len(of_domains) == 1 else {"anyOf": of_domains}
    response = _response(status, {"allOf": [_ANY_PROBLEM, narrowed]}, f" Reasons: {names}.")
    (content,) = cast("dict[str, Schema]", response["content"]).values()
    content["examples"] = {_example_name(each): _example_of(each, status) for each in reasons}
    return response


def _example_of(reason: Reason, status: int) -> Schema:
    """Refers to the reason's example, or returns one of its own where the status is not the reason's usual one."""
    if status != reason.status:
        return _example(replace(reason, status=status))
    return {"$ref": _EXAMPLES + _example_name(reason)}


def _response(status: int, schema: Schema, more: str = "") -> Schema:
    headers = [TRACE_ID_HEADER] + (["Retry-After"] if status in _RETRY_STATUSES else [])
    headers += ["WWW-Authenticate"] if status == 401 else []
    return {
        "description": _STATUSES[status] + more,
        "headers": {name: {"$ref": _HEADERS + name} for name in headers},
        "content": {PROBLEM_CONTENT_TYPE: {"schema": schema}},
    }


def _example_name(reason: Reason) -> str:
    return f"{reason.domain}.{reason.name}"


def _example(reason: Reason) -> Schema:
    facts = dict.fromkeys(reason.facts, "…")
    problem = Problem(reason.status, f"{first_sentence(reason.description)}.", reason.name, reason.domain, facts)
    return {
        "summary": reason.title,
        "description": reason.description,
        "value": problem.document("/v1/…", "0af7651916cd43dd8448eb211c80319c"),
    }


def _headers() -> Schema:
    trace: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
    return {
        TRACE_ID_HEADER: {"description": "The trace of this call.", "required": True, "schema": trace},
        "ETag": {
            "description": f"Names this answer; cached for {PUBLIC_MAX_AGE_S} s. Absent where a token was sent.",
            "schema": {"type": "string"},
        },
        "Retry-After": {
            "description": "Seconds to wait.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        },
        "WWW-Authenticate": {
            "description": "How to prove who you are.",
            "required": True,
            "schema": {"type": "string"},
        },
    }


def problem_schema(reasons: ReasonSets) -> Schema:
    """Returns the schema of a problem document, over HTTP and in the errors of WebSockets alike."""
    lines = ["Why, for programs. Each domain has its own closed set:"]
    for domain in reasons.domains:
        lines += [
            f"\n**{domain}**\n",
            *(f"* `{one.name}`: {one.description}" for one in reasons if one.domain == domain),
        ]
    properties: dict[str, Schema] = {
        "type": {
            "type": "string",
            "format": "uri-reference",
            "description": "Where the reason is explained; `about:blank` if there is none.",
            "examples": [f"{PROBLEMS_PATH}/INSUFFICIENT_FUNDS"],
        },
        "title": {"type": "string", "description": "The reason in words."},
        "status": {"type": "integer", "description": "The status of the answer."},
        "detail": {"type": "string", "description": "A sentence for a person."},
        "instance": {"type": "string", "format": "uri-reference", "description": "The path that was called."},
        "trace_id": {"type": "string", "description": "Quote it when you ask us.", "pattern": "^[0-9a-f]{32}$"},
        "reason": {
            "type": "string",
            "description": "\n".join(lines),
            "enum": sorted({one.name for one in reasons}),
        },
        "domain": {"type": "string", "description": "Whose reason it is.", "enum": reasons.domains},
        "facts": {**_FACTS, "description": "What a program needs to go on, as each reason lists."},
    }
    return {
        "type": "object",
        "description": "An error (RFC 9457). A fault of the platform has no reason.",
        "properties": properties,
        "required": ["type", "title", "status", "detail", "instance", "trace_id"],
    }


_TOKENS = (
    "A token of the operator's issuer. Scopes: `player` (the subject is the player's id), `operator` (the back office)."
)

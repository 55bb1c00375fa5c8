"""Problem documents (RFC 9457): every error that the edge answers over HTTP, and the page that explains its reason."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import grpc
from aiohttp import web
from google.protobuf.descriptor import FileDescriptor

from gateway import json_codec
from gateway.contracts import OURS, Contracts
from gateway.refusals import DOMAIN
from gateway.tracing import Trace
from services.kit.refusal import Refused

PROBLEM = "application/problem+json"
PROBLEMS_PATH = "/problems"
RETRY_AFTER_S = 1

STATUSES: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}
# Where things are inside is nobody's business outside.
_INTERNAL_FACTS = frozenset({"address"})
_INTERNAL = "The platform has failed and it is not known whether anything was done: send the same request again."
# Reasons of the gateway for what HTTP itself finds wrong.
_OF_HTTP = {404: "METHOD_UNKNOWN", 405: "METHOD_UNKNOWN", 413: "TOO_LARGE"}


@dataclass(frozen=True, slots=True)
class Problem(Exception):
    """An error as it is told to a client."""

    status: int
    detail: str
    reason: str = ""
    domain: str = DOMAIN
    facts: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return title_of(self.reason) if self.reason else HTTPStatus(self.status).phrase

    def document(self, instance: str, trace_id: str) -> dict[str, object]:
        """What RFC 9457 wants, and what a client of ours wants to know."""
        said: dict[str, object] = {
            "type": f"{PROBLEMS_PATH}/{self.reason}" if self.reason else "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "trace_id": trace_id,
        }
        if self.reason:
            said |= {"reason": self.reason, "domain": self.domain, "facts": dict(self.facts)}
        return said

    def response(self, instance: str, trace: Trace) -> web.Response:
        return web.Response(
            body=json_codec.dumps(self.document(instance, trace.trace_id)),
            status=self.status,
            content_type=PROBLEM,
            headers={"Cache-Control": "no-store", **self.headers},
        )


def title_of(reason: str) -> str:
    """INSUFFICIENT_FUNDS: Insufficient funds."""
    return reason.replace("_", " ").capitalize()


def invalid(sentence: str, field_path: str = "") -> Problem:
    """A request that cannot be read."""
    return Problem(400, sentence, "INVALID", facts={"field": field_path} if field_path else {})


def problem_of(refused: Refused) -> Problem:
    """A refusal, of a service or of our own."""
    status = STATUSES.get(refused.code, 500)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # Whatever it says, it was not written for a client (G7).
        return Problem(status, _INTERNAL)
    facts = {name: fact for name, fact in refused.facts.items() if name not in _INTERNAL_FACTS}
    return Problem(status, refused.sentence, refused.reason, refused.domain, facts, _headers(status, facts))


def problem_of_http(error: web.HTTPException) -> Problem:
    """What aiohttp itself refuses."""
    headers = {name: value for name, value in error.headers.items() if name in {"Allow", "Retry-After"}}
    reason = _OF_HTTP.get(error.status, "INVALID" if error.status < HTTPStatus.INTERNAL_SERVER_ERROR else "")
    return Problem(error.status, _SENTENCES.get(error.status, f"{error.reason}."), reason, headers=headers)


def fault() -> Problem:
    """A fault of ours."""
    return Problem(500, _INTERNAL)


class Reasons:
    """The closed sets of reasons, as the protos have them: `RefusalReason` of a package belongs to its domain."""

    def __init__(self, contracts: Contracts) -> None:
        self._words: dict[str, dict[str, str]] = {}
        for file in _files_of(contracts):
            enum = file.enum_types_by_name.get("RefusalReason")
            if enum is None:
                continue
            for value in enum.values[1:]:
                reason = value.name.removeprefix("REFUSAL_REASON_")
                words = contracts.words(f"{enum.full_name}.{value.name}")
                self._words.setdefault(reason, {})[domain_of(file.package)] = words

    @property
    def all(self) -> list[str]:
        return sorted(self._words)

    @property
    def domains(self) -> list[str]:
        return sorted({domain for meanings in self._words.values() for domain in meanings})

    def of(self, domain: str) -> Mapping[str, str]:
        """A domain's reasons, each with its words."""
        return {reason: words[domain] for reason, words in self._words.items() if domain in words}

    def add_routes(self, application: web.Application) -> None:
        application.router.add_get(PROBLEMS_PATH, self._list)
        application.router.add_get(f"{PROBLEMS_PATH}/{{reason}}", self._one)

    async def _list(self, request: web.Request) -> web.Response:
        return self._answer(request, "Reasons", self._words)

    async def _one(self, request: web.Request) -> web.Response:
        reason = request.match_info["reason"]
        words = self._words.get(reason)
        if words is None:
            raise Problem(404, "No error has this reason.", "METHOD_UNKNOWN")
        return self._answer(request, title_of(reason), {reason: words})

    @staticmethod
    def _answer(request: web.Request, title: str, words: Mapping[str, Mapping[str, str]]) -> web.Response:
        headers = {"Cache-Control": "public, max-age=3600", "Vary": "Accept"}
        if "text/html" not in request.headers.get("Accept", ""):
            reasons = [
                {"reason": reason, "title": title_of(reason), "meanings": dict(meanings)}
                for reason, meanings in sorted(words.items())
            ]
            said = {"reasons": reasons} if len(reasons) != 1 else reasons[0]
            return web.Response(body=json_codec.dumps(said), content_type="application/json", headers=headers)
        return web.Response(text=_page(title, words), content_type="text/html", headers=headers)


def _files_of(contracts: Contracts) -> Iterator[FileDescriptor]:
    """The files of everything that is offered, and what they build on."""
    waiting = [method.descriptor.containing_service.file for method in contracts.methods]
    seen: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file.name not in seen and file.package.startswith(OURS):
            seen.add(file.name)
            waiting.extend(file.dependencies)
            yield file


def domain_of(package: str) -> str:
    """`feltro.wallet.v1`: `wallet.feltro`."""
    ours, name, *_ = package.split(".")
    return f"{name}.{ours}"


def _page(title: str, words: Mapping[str, Mapping[str, str]]) -> str:
    sections = "".join(_section(reason, meanings) for reason, meanings in sorted(words.items()))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/index.css"></head>'
        f"<body><main><header><h1>{html.escape(title)}</h1></header>{sections}</main></body></html>"
    )


def _section(reason: str, meanings: Mapping[str, str]) -> str:
    said = "".join(f"<p><b>{domain}</b> {html.escape(words)}</p>" for domain, words in sorted(meanings.items()))
    return f'<section id="{reason}"><h2>{title_of(reason)} <code>{reason}</code></h2>{said}</section>'


def _headers(status: int, facts: Mapping[str, str]) -> dict[str, str]:
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        milliseconds = facts.get("retry_after_ms", "")
        seconds = -(-int(milliseconds) // 1000) if milliseconds.isdecimal() else RETRY_AFTER_S
        return {"Retry-After": str(max(seconds, RETRY_AFTER_S))}
    if status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": 'Bearer realm="feltro", error="invalid_token"'}
    return {}


_SENTENCES = {
    404: "There is nothing at this address: see /openapi.json.",
    405: "This address does not know this method.",
    413: "The message is larger than anything that could be meant.",
}

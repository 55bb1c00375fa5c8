"""Problem documents (RFC 9457): every error that the edge answers over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from aiohttp import web

from gateway.contracts import json_codec
from gateway.contracts.reasons import HTTP_ERROR_REASONS, status_of, title_of
from gateway.contracts.refusals import DOMAIN, code_of
from services.kit.refusal import Refused

PROBLEM_CONTENT_TYPE = "application/problem+json"
PROBLEMS_PATH = "/problems"
RETRY_AFTER_S = 1
# What is said back of an address or a name where nothing is (G11).
ECHOED_CHARACTERS_LIMIT = 200

# Where things are inside is nobody's business outside.
_INTERNAL_FACTS = frozenset({"address"})
_TOO_MUCH = frozenset({"RATE_LIMITED", "OVERLOADED"})
_INTERNAL = "The platform has failed and it is not known whether anything was done: send the same request again."


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
    def is_overload(self) -> bool:
        """Nothing was done, for more was asked than is heard: whoever goes on would fill the log with it."""
        return self.reason in _TOO_MUCH

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

    def response(self, instance: str, trace_id: str) -> web.Response:
        return web.Response(
            body=json_codec.dumps(self.document(instance, trace_id)),
            status=self.status,
            content_type=PROBLEM_CONTENT_TYPE,
            headers={"Cache-Control": "no-store", **self.headers},
        )


def invalid(sentence: str, field_path: str = "") -> Problem:
    """A request that cannot be read."""
    return Problem(400, sentence, "INVALID", facts={"field": field_path} if field_path else {})


def problem_of_refusal(refused: Refused) -> Problem:
    """A refusal, of a service or of our own."""
    status = status_of(refused.domain, refused.reason, code_of(refused))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # Whatever it says, it was not written for a client (G7).
        return Problem(status, _INTERNAL)
    facts = {name: fact for name, fact in refused.facts.items() if name not in _INTERNAL_FACTS}
    # What nobody has put his name to was refused on the way between us and a service.
    domain = DOMAIN if refused.domain == Refused.domain else refused.domain
    return Problem(status, refused.sentence, refused.reason, domain, facts, _headers(status, facts))


def problem_of_http_error(error: web.HTTPException, called: str) -> Problem:
    """What aiohttp itself refuses; `asked` is verb and path."""
    headers = {name: value for name, value in error.headers.items() if name in {"Allow", "Retry-After"}}
    reason = HTTP_ERROR_REASONS.get(error.status, "INVALID" if error.status < HTTPStatus.INTERNAL_SERVER_ERROR else "")
    sentence = _SENTENCES.get(error.status, f"{error.reason}.")
    if reason == "METHOD_UNKNOWN":
        return replace(method_unknown(sentence, called, error.status), headers=headers)
    return Problem(error.status, sentence, reason, headers=headers)


def method_unknown(sentence: str, called: str, status: int = 404) -> Problem:
    """There is no such call."""
    return Problem(status, sentence, "METHOD_UNKNOWN", facts={"method": called[:ECHOED_CHARACTERS_LIMIT]})


def internal_error() -> Problem:
    """A fault of ours."""
    return Problem(500, _INTERNAL)


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
    408: "The rest of the request did not come in time: send it again, whole.",
}

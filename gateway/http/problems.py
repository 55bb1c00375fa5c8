"""Problem documents (RFC 9457): every error that the gateway answers over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from aiohttp import web
from prometheus_client import Counter

from gateway.contracts import json_codec
from gateway.contracts.reasons import HTTP_ERROR_REASONS, status_of, title_of
from gateway.contracts.refusals import DOMAIN, code_of
from gateway.http.security_headers import DATA_HEADERS
from services.kit.refusal import Refused

PROBLEM_CONTENT_TYPE = "application/problem+json"
PROBLEMS_PATH = "/problems"
RETRY_AFTER_S = 1
# How much of an unknown path or method is repeated in the answer (G11).
ECHOED_CHARACTERS_LIMIT = 200

# Facts that stay inside the platform (G7).
_INTERNAL_FACTS = frozenset({"address"})
_OVERLOAD_REASONS = frozenset({"RATE_LIMITED", "OVERLOADED"})
_log = logging.getLogger(__name__)
_INTERNAL = "The platform has failed and it is not known whether anything was done: send the same request again."


# Not frozen: context managers set the traceback of an exception that passes through them.
@dataclass(slots=True, eq=False)
class Problem(Exception):
    """An error as the client sees it."""

    status: int
    detail: str
    reason: str = ""
    domain: str = DOMAIN
    facts: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_overload(self) -> bool:
        """Whether the request was refused for overload: such refusals are counted and not logged, for they are many."""
        return self.reason in _OVERLOAD_REASONS

    @property
    def title(self) -> str:
        return title_of(self.reason) if self.reason else HTTPStatus(self.status).phrase

    def document(self, instance: str, trace_id: str) -> dict[str, object]:
        """Returns the document's content."""
        content: dict[str, object] = {
            "type": f"{PROBLEMS_PATH}/{self.reason}" if self.reason else "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "trace_id": trace_id,
        }
        if self.reason:
            content |= {"reason": self.reason, "domain": self.domain, "facts": dict(self.facts)}
        return content

    def response(self, instance: str, trace_id: str) -> web.Response:
        return web.Response(
            body=json_codec.dumps(self.document(instance, trace_id)),
            status=self.status,
            content_type=PROBLEM_CONTENT_TYPE,
            headers={**DATA_HEADERS, **self.headers},
        )


def invalid(sentence: str, field_path: str = "") -> Problem:
    """Returns the problem of a request that cannot be read."""
    return Problem(400, sentence, "INVALID", facts={"field": field_path} if field_path else {})


def problem_of_refusal(refused: Refused) -> Problem:
    """Returns the problem of a refusal, by a service or the gateway."""
    status = status_of(refused.domain, refused.reason, code_of(refused))
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        # Its sentence was not written for clients (G7).
        return Problem(status, _INTERNAL)
    facts = {name: fact for name, fact in refused.facts.items() if name not in _INTERNAL_FACTS}
    # A refusal without a domain comes from the relay between the gateway and a service.
    domain = DOMAIN if refused.domain == Refused.domain else refused.domain
    return Problem(status, refused.sentence, refused.reason, domain, facts, _headers(status, facts))


def problem_of_http_error(error: web.HTTPException, called: str) -> Problem:
    """Returns the problem of an error that aiohttp raises; `called` is verb and path."""
    headers = {name: value for name, value in error.headers.items() if name in {"Allow", "Retry-After"}}
    reason = HTTP_ERROR_REASONS.get(error.status, "INVALID" if error.status < HTTPStatus.INTERNAL_SERVER_ERROR else "")
    sentence = _SENTENCES.get(error.status, f"{error.reason}.")
    if reason == "METHOD_UNKNOWN":
        return replace(method_unknown(sentence, called, error.status), headers=headers)
    return Problem(error.status, sentence, reason, headers=headers)


def method_unknown(sentence: str, called: str, status: int = 404) -> Problem:
    """Returns the problem of a call that does not exist."""
    return Problem(status, sentence, "METHOD_UNKNOWN", facts={"method": called[:ECHOED_CHARACTERS_LIMIT]})


def internal_error() -> Problem:
    """Returns the problem of a fault of the platform."""
    return Problem(500, _INTERNAL)


def log_problem(problem: Problem, message: str, facts: Mapping[str, object], overloaded: Counter) -> None:
    """Logs a problem, or only counts one of overload: a client that goes on would fill the log."""
    if problem.is_overload:
        overloaded.labels(problem.reason).inc()
        return
    level = logging.WARNING if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
    described = {"status": problem.status, "reason": problem.reason, "domain": problem.domain}
    _log.log(level, message, extra={**facts, **described})


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

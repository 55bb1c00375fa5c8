"""Gives every HTTP answer a trace id, and every error a problem document."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from aiohttp import hdrs, web
from opentelemetry.trace import Span
from prometheus_client import Counter

from gateway.http.call_metrics import CallMetrics, CallTransport
from gateway.http.problems import Problem, internal_error, log_problem, problem_of_http_error, problem_of_refusal
from services.kit.refusal import Refused
from services.kit.telemetry import trace
from services.kit.telemetry.logs import AboutCall

# W3C trace context, in and out.
TRACE_HEADER = trace.HEADER.title()
# The bare trace id, for people to quote.
TRACE_ID_HEADER = "X-Trace-Id"
# Without this the header would name aiohttp and its version.
SERVER_NAME = "feltro"
# The method that a request calls, once it is known.
CALLED_METHOD = web.RequestKey("called", str)
_SPAN = web.RequestKey("span", Span)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_OVERLOADED = Counter("feltro_edge_requests_overloaded", "HTTP requests refused for overload", ["reason"])
_calls = CallMetrics(CallTransport.REST)
_log = logging.getLogger(__name__)


@web.middleware
async def envelope(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """The outermost middleware: turns exceptions into problem documents, and gives log lines their trace."""
    started = time.perf_counter()
    with trace.start_span(request.method, request.headers.get(TRACE_HEADER, "")) as span, AboutCall():
        request[_SPAN] = span
        try:
            answer = await handler(request)
        except web.HTTPException as error:
            if error.status < HTTPStatus.BAD_REQUEST:
                raise
            problem = problem_of_http_error(error, f"{request.method} {request.rel_url.raw_path}")
        except Exception as failed:  # noqa: BLE001 - every error is answered
            problem = _problem(failed)
            trace.note_failure(span, failed)
        else:
            if CALLED_METHOD in request:
                span.update_name(request[CALLED_METHOD])
                _calls.succeeded(request[CALLED_METHOD], started)
            return answer
        if CALLED_METHOD in request:
            span.update_name(request[CALLED_METHOD])
            _calls.failed(request[CALLED_METHOD], problem.status, problem.reason)
        facts = {"verb": request.method, "path": request.rel_url.raw_path}
        log_problem(problem, "a request was refused", facts, _OVERLOADED)
        return problem.response(request.rel_url.raw_path, trace.trace_id_of(span))


def _problem(failed: Exception) -> Problem:
    if isinstance(failed, Problem):
        return failed
    if isinstance(failed, Refused):
        return problem_of_refusal(failed)
    # The error is for the log only: it may hold secrets (G7).
    _log.error("a request failed", exc_info=failed)
    return internal_error()


async def add_trace_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Adds headers just before any answer's head is sent."""
    response.headers[hdrs.SERVER] = SERVER_NAME
    span = request.get(_SPAN)
    if span is not None:
        response.headers[TRACE_HEADER] = trace.header_of(span)
        response.headers[TRACE_ID_HEADER] = trace.trace_id_of(span)

"""What every answer over HTTP has: a trace id, and a problem document where something went wrong."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from aiohttp import hdrs, web
from prometheus_client import Counter

from gateway.http.call_metrics import CallMetrics, CallTransport
from gateway.http.problems import Problem, internal_error, problem_of_http_error, problem_of_refusal
from gateway.http.tracing import TRACE_HEADER, TRACE_ID_HEADER
from services.kit.refusal import Refused
from services.kit.trace import Trace, start_span

# Which program in which version answers is nobody's business outside.
SERVER_NAME = "feltro"
# The method that is called, once it is known.
CALLED_METHOD = web.RequestKey("called", str)
_TRACE = web.RequestKey("trace", Trace)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_TOO_MUCH = Counter("feltro_edge_requests_too_many", "Requests over HTTP that were one too many", ["reason"])
_calls = CallMetrics(CallTransport.REST)
_log = logging.getLogger(__name__)


@web.middleware
async def envelope(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Outermost: whatever is raised inside becomes a problem document, and what is logged inside knows its trace."""
    started = time.perf_counter()
    with start_span(request.headers.get(TRACE_HEADER, "")) as begun:
        request[_TRACE] = begun
        try:
            answer = await handler(request)
        except web.HTTPException as said:
            if said.status < HTTPStatus.BAD_REQUEST:
                raise
            problem = problem_of_http_error(said, f"{request.method} {request.rel_url.raw_path}")
        except Exception as failed:  # noqa: BLE001 - whatever it was, the client is told
            problem = _problem(failed)
        else:
            if CALLED_METHOD in request:
                _calls.succeeded(request[CALLED_METHOD], started)
            return answer
        if CALLED_METHOD in request:
            _calls.failed(request[CALLED_METHOD], problem.status)
        _log_problem(request, problem)
        return problem.response(request.rel_url.raw_path, begun.trace_id)


def _problem(failed: Exception) -> Problem:
    if isinstance(failed, Problem):
        return failed
    if isinstance(failed, Refused):
        return problem_of_refusal(failed)
    # What went wrong is for the log: an error may hold what nobody was to see (G7).
    _log.error("a request failed", exc_info=failed)
    return internal_error()


def _log_problem(request: web.Request, problem: Problem) -> None:
    if problem.is_overload:
        _TOO_MUCH.labels(problem.reason).inc()
        return
    said = {"verb": request.method, "path": request.rel_url.raw_path, "status": problem.status}
    level = logging.WARNING if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
    _log.log(level, "a request was refused", extra={**said, "reason": problem.reason, "domain": problem.domain})


async def add_trace_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Just before the answer's head is sent, whatever kind of answer it is."""
    response.headers[hdrs.SERVER] = SERVER_NAME
    known = request.get(_TRACE)
    if known is not None:
        response.headers[TRACE_HEADER] = known.header
        response.headers[TRACE_ID_HEADER] = known.trace_id

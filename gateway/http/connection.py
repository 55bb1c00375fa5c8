"""One HTTP connection: malformed HTTP is refused with a problem document, as every other error is."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus

from aiohttp import http_exceptions, web

from gateway.http.envelope import SERVER_NAME, TRACE_HEADER, TRACE_ID_HEADER
from gateway.http.problems import Problem, internal_error
from services.kit.telemetry import trace

# For the first line of a request, and for each header (G11).
LINE_BYTES_LIMIT = 8190

_TOO_LONG = f"The address or a header is longer than {LINE_BYTES_LIMIT} bytes: shorten it."
_UNREADABLE = "What was sent cannot be read as HTTP/1.1: send the whole request again, from a client that speaks it."
_log = logging.getLogger(__name__)
# Refusals are logged where they happen; an access log would hold little but probes.
_NO_ACCESS_LOG = logging.getLogger("aiohttp.access")
_NO_ACCESS_LOG.disabled = True


class HttpConnection(web.RequestHandler):
    """aiohttp's handler, with the gateway's own answer to malformed requests."""

    __slots__ = ()

    def __init__(self, server: web.Server, keepalive_timeout: float) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=keepalive_timeout,
            access_log=_NO_ACCESS_LOG,
            max_line_size=LINE_BYTES_LIMIT,
            max_field_size=LINE_BYTES_LIMIT,
            # No body is large enough to need compression, and a small one could expand to a large one (G11).
            auto_decompress=False,
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - aiohttp's text, which repeats what was sent
    ) -> web.StreamResponse:
        """Answers without repeating anything that was sent: it may hold a token (G7)."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer had begun already, and no other can be given")
        with trace.start_span("unreadable request") as span:
            facts = {"status": status, "error": type(exc).__name__}
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.error("a request failed", exc_info=exc, extra=facts)
                problem = internal_error()
            else:
                _log.info("a request is not HTTP", extra=facts)
                sentence = _TOO_LONG if isinstance(exc, http_exceptions.LineTooLong) else _UNREADABLE
                problem = Problem(status, sentence, "INVALID")
            response = problem.response("/", trace.trace_id_of(span))
            response.headers.update(
                {"Server": SERVER_NAME, TRACE_HEADER: trace.header_of(span), TRACE_ID_HEADER: trace.trace_id_of(span)}
            )
        response.force_close()
        return response

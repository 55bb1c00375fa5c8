"""HTTP on one connection: what cannot be read as HTTP is refused as everything else is, with a problem document."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus

from aiohttp import http_exceptions, web

from gateway.http.envelope import SERVER_NAME
from gateway.http.problems import Problem, internal_error
from gateway.http.tracing import TRACE_HEADER, TRACE_ID_HEADER
from services.kit.trace import start_span

# Of the first line of a request, and of each header (G11).
LINE_BYTES_LIMIT = 8190

_TOO_LONG = f"The address or a header is longer than {LINE_BYTES_LIMIT} bytes: shorten it."
_UNREADABLE = "What was sent cannot be read as HTTP/1.1: send the whole request again, from a client that speaks it."
_log = logging.getLogger(__name__)
# Whatever is refused is logged where it is refused; probes ask every second, and nobody needs a line of theirs.
_NO_ACCESS_LOG = logging.getLogger("aiohttp.access")
_NO_ACCESS_LOG.disabled = True


class HttpConnection(web.RequestHandler):
    """aiohttp's own, but for what it says when it cannot read."""

    __slots__ = ()

    def __init__(self, server: web.Server, keepalive_timeout: float) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=keepalive_timeout,
            access_log=_NO_ACCESS_LOG,
            max_line_size=LINE_BYTES_LIMIT,
            max_field_size=LINE_BYTES_LIMIT,
            # No body here is large enough to be packed, and a small one may unpack to a large one (G11).
            auto_decompress=False,
        )

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - aiohttp's words, which repeat what was sent
    ) -> web.StreamResponse:
        """Repeats nothing of what was sent: it may hold a token (G7)."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer had begun already, and no other can be given")
        with start_span() as begun:
            said = {"status": status, "error": type(exc).__name__}
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                _log.error("a request failed", exc_info=exc, extra=said)
                problem = internal_error()
            else:
                _log.info("what was sent is no HTTP", extra=said)
                sentence = _TOO_LONG if isinstance(exc, http_exceptions.LineTooLong) else _UNREADABLE
                problem = Problem(status, sentence, "INVALID")
            response = problem.response("/", begun.trace_id)
            response.headers.update(
                {"Server": SERVER_NAME, TRACE_HEADER: begun.header, TRACE_ID_HEADER: begun.trace_id}
            )
        response.force_close()
        return response

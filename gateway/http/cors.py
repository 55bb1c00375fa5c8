"""Lets scripts of configured origins call the gateway from a browser (CORS); tokens travel in headers, not cookies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from aiohttp import hdrs, web

from gateway.http.envelope import TRACE_HEADER, TRACE_ID_HEADER
from gateway.http.transcoding import IDEMPOTENCY_HEADER

# How long a browser may cache the answer to a preflight.
PREFLIGHT_MAX_AGE_S = 600
ANY_ORIGIN = "*"
_VERBS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_REQUEST_HEADERS = ", ".join(
    (hdrs.AUTHORIZATION, hdrs.CONTENT_TYPE, IDEMPOTENCY_HEADER, hdrs.IF_NONE_MATCH, "Last-Event-ID", TRACE_HEADER)
)
_RESPONSE_HEADERS = ", ".join((hdrs.ETAG, hdrs.RETRY_AFTER, hdrs.WWW_AUTHENTICATE, TRACE_HEADER, TRACE_ID_HEADER))

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class CorsPolicy:
    """The origins whose scripts may call."""

    def __init__(self, origins: Iterable[str]) -> None:
        """Such as `https://casino.example`; `*` for any."""
        self._origins = frozenset(origin.rstrip("/") for origin in origins)

    def allows(self, origin: str) -> bool:
        return ANY_ORIGIN in self._origins or origin in self._origins

    def install(self, application: web.Application) -> None:
        if self._origins:

            @web.middleware
            async def preflight(request: web.Request, handler: _Handler) -> web.StreamResponse:
                return await self._preflight(request, handler)

            application.middlewares.append(preflight)
            application.on_response_prepare.append(self._add_headers)

    async def _preflight(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answers a browser's preflight, the same at every path."""
        if request.method != hdrs.METH_OPTIONS or hdrs.ACCESS_CONTROL_REQUEST_METHOD not in request.headers:
            return await handler(request)
        headers: dict[str, str] = {hdrs.VARY: hdrs.ORIGIN}
        if self.allows(request.headers.get(hdrs.ORIGIN, "")):
            headers |= {
                hdrs.ACCESS_CONTROL_ALLOW_METHODS: _VERBS,
                hdrs.ACCESS_CONTROL_ALLOW_HEADERS: _REQUEST_HEADERS,
                hdrs.ACCESS_CONTROL_MAX_AGE: str(PREFLIGHT_MAX_AGE_S),
            }
        return web.Response(status=204, headers=headers)

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        origin = request.headers.get(hdrs.ORIGIN, "")
        varies = [name for name in response.headers.get(hdrs.VARY, "").split(", ") if name]
        if hdrs.ORIGIN not in varies:
            response.headers[hdrs.VARY] = ", ".join([*varies, hdrs.ORIGIN])
        if origin and self.allows(origin):
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
            response.headers[hdrs.ACCESS_CONTROL_EXPOSE_HEADERS] = _RESPONSE_HEADERS

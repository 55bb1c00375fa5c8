"""Who may send something to the front desk, who may read its answers, and where it sends people back to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import hdrs, web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AllowedOrigins:
    """Ours and the gateway's, and no other: cookies alone do not tell whose page sends them."""

    def __init__(self, own: str, gateway: str, *, cross_origin_paths: frozenset[str]) -> None:
        """`crossed` are the paths that the front-end's scripts may call, with cookies (CORS)."""
        self._own = own
        self._gateway = gateway
        self._crossed = cross_origin_paths

    def add_to(self, application: web.Application) -> None:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        application.middlewares.append(guard)
        application.on_response_prepare.append(self._mark)

    def is_allowed_return(self, address: str) -> bool:
        """Whether a visitor may be sent there: to the games, or to another page of ours."""
        if any(character <= " " or character == "\\" for character in address):
            return False
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}" in {self._own, self._gateway}

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get(hdrs.ORIGIN, "")
        crossed = request.path in self._crossed
        if request.method == hdrs.METH_OPTIONS and crossed:
            return web.Response(status=204)
        may_send = {"", self._own, *([self._gateway] if crossed else [])}
        if request.method == hdrs.METH_POST and origin not in may_send:
            raise web.HTTPForbidden(text=f"Not from {origin}.\n")
        return await handler(request)

    async def _mark(self, request: web.Request, response: web.StreamResponse) -> None:
        if request.path not in self._crossed:
            return
        response.headers[hdrs.VARY] = hdrs.ORIGIN
        if request.headers.get(hdrs.ORIGIN) == self._gateway:
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = self._gateway
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_CREDENTIALS] = "true"
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_METHODS] = "GET, POST"

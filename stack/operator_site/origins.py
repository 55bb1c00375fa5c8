"""Which origins may send forms to the site and read its answers, and where it may send a browser back to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import hdrs, web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AllowedOrigins:
    """Allows our own origin and the gateway's: a cookie alone does not show which page sends it."""

    def __init__(self, own: str, gateway: str, *, cross_origin_paths: frozenset[str]) -> None:
        """`cross_origin_paths` are what the front-end's scripts may call, with cookies (CORS)."""
        self._own = own
        self._gateway = gateway
        self._cross_origin_paths = cross_origin_paths

    def add_to(self, application: web.Application) -> None:
        """Checks every request and marks every answer of an application."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        application.middlewares.append(guard)
        application.on_response_prepare.append(self._mark)

    def is_allowed_return(self, address: str) -> bool:
        """Whether a browser may be sent to an address: to the games, or to another page of ours."""
        if any(character <= " " or character == "\\" for character in address):
            return False
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}" in {self._own, self._gateway}

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get(hdrs.ORIGIN, "")
        cross_origin = request.path in self._cross_origin_paths
        if request.method == hdrs.METH_OPTIONS and cross_origin:
            return web.Response(status=204)
        may_send = {"", self._own, *([self._gateway] if cross_origin else [])}
        if request.method == hdrs.METH_POST and origin not in may_send:
            raise web.HTTPForbidden(text=f"Not from {origin}.\n")
        return await handler(request)

    async def _mark(self, request: web.Request, response: web.StreamResponse) -> None:
        if request.path not in self._cross_origin_paths:
            return
        response.headers[hdrs.VARY] = hdrs.ORIGIN
        if request.headers.get(hdrs.ORIGIN) == self._gateway:
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = self._gateway
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_CREDENTIALS] = "true"
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_METHODS] = "GET, POST"

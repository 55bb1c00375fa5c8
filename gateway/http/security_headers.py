"""Headers that keep a browser from doing more with an answer than was meant, on every answer."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import hdrs, web

CSP = "Content-Security-Policy"
_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # An answer is private unless it says otherwise.
    hdrs.CACHE_CONTROL: "no-store",
}
# A page, with scripts and styles of the gateway's own.
PAGE_HEADERS: Mapping[str, str] = {
    **_COMMON,
    CSP: "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
}
# Everything else is data: opened as a page it may load, run, send and be framed by nothing.
DATA_HEADERS: Mapping[str, str] = {
    **_COMMON,
    CSP: "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SecurityHeaders:
    """Completes the headers of every answer."""

    def __init__(self, hsts: str = "") -> None:
        """`hsts` is the header Strict-Transport-Security, such as `max-age=31536000`; without it there is none."""
        self._always = {"Strict-Transport-Security": hsts} if hsts else {}

    def install(self, application: web.Application) -> None:
        """Adds no routes."""
        application.on_response_prepare.append(self._complete)

    async def _complete(self, _: web.Request, response: web.StreamResponse) -> None:
        headers = response.headers
        # An answer with a policy of its own is a page, and says all that it needs.
        for name, value in (_COMMON if CSP in headers else DATA_HEADERS).items():
            headers.setdefault(name, value)
        headers.update(self._always)

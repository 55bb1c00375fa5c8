"""The edge's pages and documents: read once, answered from memory, and allowed to fetch from here only."""

from __future__ import annotations

import hashlib
from importlib import resources

from aiohttp import web

_FOLDER = resources.files("gateway") / "pages"
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
# A document changes with the platform, so whoever has it asks whether it still is the same.
_CACHED = "public, max-age=60"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def text_of(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


class Document:
    """Bytes that stay the same while the process runs."""

    def __init__(self, content: bytes, content_type: str) -> None:
        self._content = content
        self._content_type = content_type
        self._tag = hashlib.blake2b(content, digest_size=12).hexdigest()

    async def answer(self, request: web.Request) -> web.Response:
        headers = {**HEADERS, "Cache-Control": _CACHED, "ETag": f'"{self._tag}"'}
        if any(known.value in {self._tag, "*"} for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=self._content, content_type=self._content_type, charset="utf-8", headers=headers)


def page(name: str) -> Document:
    """A file of the folder `pages`."""
    return Document(text_of(name).encode(), _TYPES[name.rpartition(".")[2]])


class Reference:
    """The description of the API: `/openapi.json` for programs, `/docs` for people."""

    def __init__(self, openapi: bytes) -> None:
        self._documents = {
            "/openapi.json": Document(openapi, "application/json"),
            "/docs": page("docs.html"),
            "/docs.js": page("docs.js"),
            "/docs.css": page("docs.css"),
        }

    def add_routes(self, application: web.Application) -> None:
        for path, document in self._documents.items():
            application.router.add_get(path, document.answer)

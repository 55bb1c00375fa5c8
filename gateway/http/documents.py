"""The edge's pages and documents: read once, answered from memory, and allowed to fetch from here only."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources

from aiohttp import hdrs, web

_FOLDER = resources.files("gateway.http") / "pages"
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
# A document changes with the platform, so whoever has it asks whether it still is the same.
_KEPT = "public, max-age=60"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def page_text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


class Document:
    """Bytes that stay the same while the process runs."""

    def __init__(
        self,
        content: bytes,
        content_type: str,
        *,
        cache_control: str = _KEPT,
        headers: Mapping[str, str] = SECURITY_HEADERS,
        content_encoding: str = "",
    ) -> None:
        """`kept` is for how long (Cache-Control); `coding` is how the content is compressed, if it is."""
        self._content = content
        self._tag = hashlib.blake2b(content, digest_size=12).hexdigest()
        self._kept: dict[str, str] = {**headers, hdrs.CACHE_CONTROL: cache_control, hdrs.ETAG: f'"{self._tag}"'}
        text = content_type.startswith("text/") or content_type in {"application/json", "image/svg+xml"}
        self._described: dict[str, str] = {
            hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8" if text else content_type
        }
        if content_encoding:
            self._described[hdrs.CONTENT_ENCODING] = content_encoding

    async def answer(self, request: web.Request) -> web.Response:
        if any(known.value in {self._tag, "*"} for known in request.if_none_match or ()):
            return web.Response(status=304, headers=self._kept)
        return web.Response(body=self._content, headers={**self._kept, **self._described})


def page_document(name: str) -> Document:
    """A file of the folder `pages`."""
    return Document(page_text(name).encode(), _TYPES[name.rpartition(".")[2]])


class OpenApiRoutes:
    """The description of the API: `/openapi.json` for programs, `/docs` for people."""

    def __init__(self, openapi: bytes) -> None:
        self._documents = {
            "/openapi.json": Document(openapi, "application/json"),
            "/docs": page_document("docs.html"),
            "/docs.js": page_document("docs.js"),
            "/docs.css": page_document("docs.css"),
        }

    def install(self, application: web.Application) -> None:
        for path, document in self._documents.items():
            application.router.add_get(path, document.answer)

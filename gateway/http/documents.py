"""Pages and documents that are answered from memory, and what answers of JSON have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources

from aiohttp import hdrs, web

from gateway.contracts import json_codec
from gateway.http.security_headers import DATA_HEADERS, PAGE_HEADERS

_FOLDER = resources.files("gateway.http") / "pages"
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
JSON_CONTENT_TYPE = "application/json"
# A document changes with the platform's version: a client revalidates it often.
_REVALIDATED = "public, max-age=60"


def json_response(
    content: object,
    status: int = 200,
    content_type: str = JSON_CONTENT_TYPE,
    headers: Mapping[str, str] = DATA_HEADERS,
) -> web.Response:
    """Returns JSON content as an answer."""
    return web.Response(body=json_codec.dumps(content), status=status, content_type=content_type, headers=headers)


def etag(content: bytes) -> str:
    """Returns the tag that names a content."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def has_current(request: web.Request, tag: str) -> bool:
    """Whether the client has the content with this tag already (`If-None-Match`)."""
    return any(known.value in {tag, "*"} for known in request.if_none_match or ())


def page_text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


class Document:
    """Bytes that stay the same while the process runs."""

    def __init__(
        self,
        content: bytes,
        content_type: str,
        *,
        cache_control: str = _REVALIDATED,
        headers: Mapping[str, str] | None = None,
        content_encoding: str = "",
    ) -> None:
        """`content_encoding` names how the content is compressed, if it is."""
        self._content = content
        self._tag = etag(content)
        if headers is None:
            headers = DATA_HEADERS if content_type == JSON_CONTENT_TYPE else PAGE_HEADERS
        self._headers: dict[str, str] = {**headers, hdrs.CACHE_CONTROL: cache_control, hdrs.ETAG: f'"{self._tag}"'}
        text = content_type.startswith("text/") or content_type in {JSON_CONTENT_TYPE, "image/svg+xml"}
        self._content_headers: dict[str, str] = {
            hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8" if text else content_type
        }
        if content_encoding:
            self._content_headers[hdrs.CONTENT_ENCODING] = content_encoding

    async def answer(self, request: web.Request) -> web.Response:
        if has_current(request, self._tag):
            return web.Response(status=304, headers=self._headers)
        return web.Response(body=self._content, headers={**self._headers, **self._content_headers})


def page_document(name: str) -> Document:
    """Returns a file of the folder `pages` as a document."""
    return Document(page_text(name).encode(), _TYPES[name.rpartition(".")[2]])

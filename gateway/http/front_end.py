"""Serves the built front-end: its files from memory, read once, and what it has to know of the operator's site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from aiohttp import hdrs, web

from gateway.contracts import json_codec
from gateway.http.documents import SECURITY_HEADERS, Document
from gateway.http.front_end_settings import FrontEndSettings, origin_of

CONFIGURATION_PATH = "/front-end.json"
INDEX_FILE = "index.html"
# All of it lies in memory: more than this is not a front-end but a mistake (G11).
BYTES_LIMIT = 64 * 1024 * 1024

# Names in this folder hold a hash of what is in the file, so that the same name is the same file for ever.
_HASHED = "assets/"
_FOR_EVER = "public, max-age=31536000, immutable"
_ASKED_EACH_TIME = "no-cache"
# The best first: what a build may have compressed beside a file, as `app.js.br`.
_CODINGS = {"br": ".br", "gzip": ".gz"}
_TYPES = {
    ".avif": "image/avif",
    ".css": "text/css",
    ".gif": "image/gif",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".m4a": "audio/mp4",
    ".map": "application/json",
    ".mjs": "text/javascript",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".ogg": "audio/ogg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_ANY_TYPE = "application/octet-stream"


class FrontEndUnusable(Exception):
    """The folder holds no front-end; the message says what to do."""


class FrontEnd:
    """Knows no game: files are files."""

    def __init__(self, settings: FrontEndSettings) -> None:
        site = settings.site_addresses()
        told = json_codec.dumps({"environment": settings.environment.value, **site})
        self._told = Document(told, "application/json", cache_control=_ASKED_EACH_TIME)
        headers = {**SECURITY_HEADERS, "Content-Security-Policy": _policy(site, settings.web_frame_ancestors)}
        folder = settings.web_folder
        self._files = {} if folder is None else dict(_files(folder, headers))

    @property
    def has_index(self) -> bool:
        """Whether `/` is its own page."""
        return bool(self._files)

    def install(self, application: web.Application) -> None:
        application.router.add_get(CONFIGURATION_PATH, self._told.answer)
        # One route for each file there is: no name that somebody sends ever leads into a file system.
        for name, file in self._files.items():
            application.router.add_get("/" if name == INDEX_FILE else f"/{name}", file.answer)


class _File:
    """One file, as it is and as it is compressed."""

    def __init__(self, path: Path, name: str, headers: Mapping[str, str]) -> None:
        kept = _FOR_EVER if name.startswith(_HASHED) else _ASKED_EACH_TIME
        content_type = _TYPES.get(path.suffix.lower(), _ANY_TYPE)
        beside = {coding: path.with_name(path.name + ending) for coding, ending in _CODINGS.items()}
        compressed = {coding: file for coding, file in beside.items() if file.is_file()}
        if compressed:
            headers = {**headers, hdrs.VARY: hdrs.ACCEPT_ENCODING}
        self._plain = Document(path.read_bytes(), content_type, cache_control=kept, headers=headers)
        self._compressed = {
            coding: Document(
                file.read_bytes(), content_type, cache_control=kept, headers=headers, content_encoding=coding
            )
            for coding, file in compressed.items()
        }

    async def answer(self, request: web.Request) -> web.Response:
        wanted = _accepted(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
        chosen = next((file for coding, file in self._compressed.items() if coding in wanted), self._plain)
        return await chosen.answer(request)


def _files(folder: Path, headers: Mapping[str, str]) -> Iterator[tuple[str, _File]]:
    if not (folder / INDEX_FILE).is_file():
        raise FrontEndUnusable(
            f"FELTRO_WEB_FOLDER: {folder} has no {INDEX_FILE}. Build the front-end (`make web`), or unset it."
        )
    home = folder.resolve()
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.resolve().is_relative_to(home)]
    if sum(path.stat().st_size for path in found) > BYTES_LIMIT:
        raise FrontEndUnusable(f"FELTRO_WEB_FOLDER: {folder} holds more than {BYTES_LIMIT} bytes.")
    names = {path.relative_to(folder).as_posix(): path for path in found}
    for name, path in names.items():
        uncompressed, ending = name[: -len(path.suffix)], path.suffix
        beside_it = ending in _CODINGS.values() and uncompressed in names
        if not beside_it and not any(part.startswith(".") for part in name.split("/")):
            yield name, _File(path, name, headers)


def _policy(site: Mapping[str, str], ancestors: str) -> str:
    """Scripts, styles and calls are its own; besides, the operator's site may be asked who is logged in."""
    asked = sorted({origin_of(site[name]) for name in ("token_url", "logout_url") if site[name]})
    rules = {
        "default-src": "'self'",
        "connect-src": " ".join(["'self'", *asked]),
        "img-src": "'self' data:",
        "style-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": ancestors,
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def _accepted(said: str) -> set[str]:
    """The codings of an Accept-Encoding that are not refused (`;q=0`)."""
    offers = (offer.partition(";") for offer in said.lower().split(","))
    return {coding.strip() for coding, _, weight in offers if not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)}

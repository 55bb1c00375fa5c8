"""Serves the built front-end: its files, read once into memory, and the addresses of the operator's site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from aiohttp import hdrs, web

from gateway.contracts import json_codec
from gateway.http.documents import Document
from gateway.http.front_end_settings import FrontEndSettings, origin_of
from gateway.http.security_headers import CSP, PAGE_HEADERS

CONFIGURATION_PATH = "/front-end.json"
INDEX_FILE = "index.html"
# All files are kept in memory: more than this is a mistake (G11).
BYTES_LIMIT = 64 * 1024 * 1024

# File names in this folder hold a hash of the content, so that a name always means the same content.
_HASHED_FOLDER = "assets/"
_CACHED_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATED = "no-cache"
# The best first: a build may put compressed files beside the plain one, such as `app.js.br`.
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
    """The files of a front-end, and its configuration."""

    def __init__(self, settings: FrontEndSettings) -> None:
        site = settings.site_addresses()
        configuration = json_codec.dumps({"environment": settings.environment.value, **site})
        self._configuration = Document(configuration, "application/json", cache_control=_REVALIDATED)
        headers = {**PAGE_HEADERS, CSP: _policy(site, settings.web_frame_ancestors)}
        folder = settings.web_folder
        self._files = {} if folder is None else dict(_files(folder, headers))

    @property
    def has_index(self) -> bool:
        """Whether it serves `/`."""
        return bool(self._files)

    def install(self, application: web.Application) -> None:
        application.router.add_get(CONFIGURATION_PATH, self._configuration.answer)
        # One route for each existing file: no path of a request ever reaches the file system.
        for name, file in self._files.items():
            application.router.add_get("/" if name == INDEX_FILE else f"/{name}", file.answer)


class _File:
    """One file, plain and compressed."""

    def __init__(self, path: Path, name: str, headers: Mapping[str, str]) -> None:
        cache_control = _CACHED_FOREVER if name.startswith(_HASHED_FOLDER) else _REVALIDATED
        content_type = _TYPES.get(path.suffix.lower(), _ANY_TYPE)
        candidates = {coding: path.with_name(path.name + suffix) for coding, suffix in _CODINGS.items()}
        compressed = {coding: file for coding, file in candidates.items() if file.is_file()}
        if compressed:
            headers = {**headers, hdrs.VARY: hdrs.ACCEPT_ENCODING}
        self._plain = Document(path.read_bytes(), content_type, cache_control=cache_control, headers=headers)
        self._compressed = {
            coding: Document(
                file.read_bytes(), content_type, cache_control=cache_control, headers=headers, content_encoding=coding
            )
            for coding, file in compressed.items()
        }

    async def answer(self, request: web.Request) -> web.Response:
        accepted = _accepted_codings(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
        chosen = next((file for coding, file in self._compressed.items() if coding in accepted), self._plain)
        return await chosen.answer(request)


def _files(folder: Path, headers: Mapping[str, str]) -> Iterator[tuple[str, _File]]:
    if not (folder / INDEX_FILE).is_file():
        raise FrontEndUnusable(
            f"FELTRO_WEB_FOLDER: {folder} has no {INDEX_FILE}. Build the front-end (`make web`), or unset it."
        )
    root = folder.resolve()
    # A symbolic link must not lead out of the folder.
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.resolve().is_relative_to(root)]
    if sum(path.stat().st_size for path in paths) > BYTES_LIMIT:
        raise FrontEndUnusable(f"FELTRO_WEB_FOLDER: {folder} holds more than {BYTES_LIMIT} bytes.")
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    for name, path in names.items():
        plain_name = name[: -len(path.suffix)]
        is_compressed = path.suffix in _CODINGS.values() and plain_name in names
        if not is_compressed and not any(part.startswith(".") for part in name.split("/")):
            yield name, _File(path, name, headers)


def _policy(site: Mapping[str, str], ancestors: str) -> str:
    """Returns the policy of the pages: everything comes from the gateway, but they may call the operator's site."""
    site_origins = sorted({origin_of(site[name]) for name in ("token_url", "logout_url") if site[name]})
    rules = {
        "default-src": "'self'",
        "connect-src": " ".join(["'self'", *site_origins]),
        "img-src": "'self' data:",
        "style-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": ancestors,
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def _accepted_codings(accept_encoding: str) -> set[str]:
    """Returns the codings that are not refused (`;q=0`)."""
    offers = (offer.partition(";") for offer in accept_encoding.lower().split(","))
    return {coding.strip() for coding, _, weight in offers if not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)}

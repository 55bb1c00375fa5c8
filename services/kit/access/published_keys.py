"""The keys that an issuer publishes (JWKS), read from a file or over HTTP in the background, and cached."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

import jwt

# Asymmetric ones only: a shared secret does not prove who signed.
ALGORITHMS = ("EdDSA", "ES256", "RS256", "PS256")

# Keys older than this are read again; until the issuer answers they remain valid.
REFRESH_AFTER_S = 120.0
# Keys older than this are used only after the issuer was asked: a withdrawn key opens nothing after this.
BLOCKING_REFRESH_AFTER_S = 300.0
# While the issuer does not answer, its keys are valid for so long: an outage turns nobody away at once (G9, G12).
EXPIRE_AFTER_S = 3600.0
# A token that names an unknown key, or a failure, causes at most one request in so long (G11).
REFRESH_INTERVAL_MIN_S = 5.0
FETCH_TIMEOUT_S = 3.0
BYTES_LIMIT = 256 * 1024
KEYS_LIMIT = 100

_log = logging.getLogger(__name__)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a stranger who could redirect could have other keys believed."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


class PublishedKeys:
    """The keys at one place."""

    def __init__(self, location: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`location` is a file's path or an http(s) address; a file is read at once: a bad one stops the start."""
        self.location = location
        self.keys: Mapping[str, jwt.PyJWK] = {}
        self._monotonic = monotonic
        self._read_at: float | None = None
        self._fetched_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._failing = False
        if not is_url(location):
            self._set_keys(_read(location))

    @property
    def expired(self) -> bool:
        """Whether no valid keys are known."""
        return self._read_at is None or self._monotonic() - self._read_at >= EXPIRE_AFTER_S

    def next_refresh_at(self) -> float:
        """When `refresh_if_due` has something to do, on the monotonic clock."""
        due = float("-inf") if self._read_at is None else self._read_at + REFRESH_AFTER_S
        return max(due, self._fetched_at + REFRESH_INTERVAL_MIN_S)

    async def refresh_if_due(self) -> None:
        """Reads the keys again if they are due; waits for that only where the cached ones may not be used."""
        if self._monotonic() < self.next_refresh_at():
            return
        ends_at = float("inf") if self._read_at is None else self._read_at + BLOCKING_REFRESH_AFTER_S
        # Only the first attempt is waited for: while the issuer is silent, later callers would wait for nothing.
        wait = self._read_at is None or self._fetched_at < ends_at <= self._monotonic()
        fetching = self._start_fetch()
        if wait:
            await asyncio.shield(fetching)

    async def refresh_now(self) -> None:
        """Reads the keys now, because a token names an unknown one; at most once in `REFRESH_INTERVAL_MIN_S`."""
        if self._fetching is not None or self._monotonic() - self._fetched_at >= REFRESH_INTERVAL_MIN_S:
            await asyncio.shield(self._start_fetch())

    def _start_fetch(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetched_at = self._monotonic()
            self._fetching = asyncio.create_task(self._fetch_once())
            self._fetching.add_done_callback(self._fetch_ended)
        return self._fetching

    def _fetch_ended(self, _: asyncio.Task[None]) -> None:
        self._fetching = None

    async def _fetch_once(self) -> None:
        try:
            self._set_keys(await asyncio.to_thread(_read, self.location))
        except (OSError, ValueError, HTTPException, RecursionError) as failed:
            if not self._failing:
                self._failing = True
                extra = {"from_where": self.location, "error": f"{type(failed).__name__}: {failed}"[:300]}
                _log.error("the issuer's keys cannot be read", extra=extra)
            if self.expired:
                self.keys = {}
        else:
            self._failing = False

    def _set_keys(self, keys: Mapping[str, jwt.PyJWK]) -> None:
        self._read_at = self._monotonic()
        if {name: _content(key) for name, key in keys.items()} != {n: _content(k) for n, k in self.keys.items()}:
            self.keys = keys


def is_url(location: str) -> bool:
    """Whether the keys are read over HTTP."""
    return location.startswith(("https://", "http://"))


def _content(key: jwt.PyJWK) -> dict[str, Any]:
    content: dict[str, Any] = key._jwk_data  # noqa: SLF001 - there is no public way to compare two keys
    return content


def _read(location: str) -> Mapping[str, jwt.PyJWK]:
    """Reads keys; blocks for a few seconds at most."""
    document = json.loads(_fetch(location) if is_url(location) else _file(location))
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > KEYS_LIMIT:
        raise ValueError(f"it is no JWKS of at most {KEYS_LIMIT} keys")
    return {key.key_id: key for entry in listed if (key := _usable(entry)) is not None and key.key_id}


def _file(location: str) -> bytes:
    with Path(location).open("rb") as file:
        return _within_limit(file.read(BYTES_LIMIT + 1))


def _fetch(location: str) -> bytes:
    give_up_at = time.monotonic() + FETCH_TIMEOUT_S
    parts: list[bytes] = []
    # Only http and https come here (`is_url`), and the address is the operator's own setting.
    with _opener.open(location, timeout=FETCH_TIMEOUT_S) as answer:
        while part := answer.read1(64 * 1024):
            parts.append(part)
            if sum(map(len, parts)) > BYTES_LIMIT or time.monotonic() > give_up_at:
                break
        else:
            return b"".join(parts)
    raise OSError(f"more than {BYTES_LIMIT} bytes, or longer than {FETCH_TIMEOUT_S:.0f} s")


def _within_limit(content: bytes) -> bytes:
    if len(content) > BYTES_LIMIT:
        raise OSError(f"more than {BYTES_LIMIT} bytes")
    return content


def _usable(entry: object) -> jwt.PyJWK | None:
    """Returns a key for signatures; None for keys of another purpose or an unknown kind."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK(entry)
    except jwt.PyJWTError:
        return None
    return key if key.algorithm_name in ALGORITHMS else None

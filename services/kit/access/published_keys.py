"""The keys that an issuer publishes (JWKS): read from a file or over HTTP without keeping anybody waiting, and kept."""

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

# Asymmetric ones only: a secret that is shared is no proof of who signed.
ALGORITHMS = ("EdDSA", "ES256", "RS256", "PS256")

# The issuer is asked again when what is known is older than this; until he has answered it goes on holding.
REFRESH_AFTER_S = 120.0
# What is known longer does not hold before he has been asked: a key that he withdraws opens nothing after this.
BLOCKING_REFRESH_AFTER_S = 300.0
# While he does not answer, his keys hold for so long: his outage is no reason to turn everybody away at once (G9, G12).
EXPIRE_AFTER_S = 3600.0
# A token that names an unknown key, or a failure, makes us ask at most once in so long (G11).
REFRESH_INTERVAL_MIN_S = 5.0
FETCH_TIMEOUT_S = 3.0
BYTES_LIMIT = 256 * 1024
KEYS_LIMIT = 100

_log = logging.getLogger(__name__)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Whoever could send us elsewhere could have his own keys believed."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_Stay)


class PublishedKeys:
    """The keys at one place."""

    def __init__(self, location: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`location` is a file's path or an http(s) address. A file is read here and now, before anybody is served."""
        self.location = location
        self.keys: Mapping[str, jwt.PyJWK] = {}
        self._elapsed = monotonic
        self._read_at: float | None = None
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None
        self._failing = False
        if not is_url(location):
            self._learn(_read(location))

    @property
    def expired(self) -> bool:
        """Whether nothing is known that holds."""
        return self._read_at is None or self._elapsed() - self._read_at >= EXPIRE_AFTER_S

    def next_refresh_at(self) -> float:
        """When `keep_up` has something to do, on our own clock."""
        due = float("-inf") if self._read_at is None else self._read_at + REFRESH_AFTER_S
        return max(due, self._asked_at + REFRESH_INTERVAL_MIN_S)

    async def refresh_if_due(self) -> None:
        """Asks the issuer again if it is time; waits for him only where without him nothing may be believed."""
        if self._elapsed() < self.next_refresh_at():
            return
        ends_at = float("inf") if self._read_at is None else self._read_at + BLOCKING_REFRESH_AFTER_S
        # One attempt is waited for: while he does not answer, the others need not be kept waiting for nothing.
        wait = self._read_at is None or self._asked_at < ends_at <= self._elapsed()
        asking = self._ask()
        if wait:
            await asyncio.shield(asking)

    async def refresh_now(self) -> None:
        """Asks now, for a token names a key that is not known; not more often than may be."""
        if self._asking is not None or self._elapsed() - self._asked_at >= REFRESH_INTERVAL_MIN_S:
            await asyncio.shield(self._ask())

    def _ask(self) -> asyncio.Task[None]:
        if self._asking is None:
            self._asked_at = self._elapsed()
            self._asking = asyncio.create_task(self._answered())
            self._asking.add_done_callback(self._forget)
        return self._asking

    def _forget(self, _: asyncio.Task[None]) -> None:
        self._asking = None

    async def _answered(self) -> None:
        try:
            self._learn(await asyncio.to_thread(_read, self.location))
        except (OSError, ValueError, HTTPException, RecursionError) as failed:
            if not self._failing:
                self._failing = True
                extra = {"from_where": self.location, "error": f"{type(failed).__name__}: {failed}"[:300]}
                _log.error("the issuer's keys cannot be read", extra=extra)
            if self.expired:
                self.keys = {}
        else:
            self._failing = False

    def _learn(self, found: Mapping[str, jwt.PyJWK]) -> None:
        self._read_at = self._elapsed()
        if {name: _content(key) for name, key in found.items()} != {n: _content(k) for n, k in self.keys.items()}:
            self.keys = found


def is_url(location: str) -> bool:
    """Whether it is to be fetched over HTTP."""
    return location.startswith(("https://", "http://"))


def _content(key: jwt.PyJWK) -> dict[str, Any]:
    content: dict[str, Any] = key._jwk_data  # noqa: SLF001 - it offers no other way to tell two keys apart
    return content


def _read(location: str) -> Mapping[str, jwt.PyJWK]:
    """Blocks, for a few seconds at most."""
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
    # Only http and https come here (`is_address`), and the address is the operator's own setting.
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
    """A key for signatures; what is for other purposes, or of a kind we do not know, is left out."""
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
        return None
    try:
        key = jwt.PyJWK(entry)
    except jwt.PyJWTError:
        return None
    return key if key.algorithm_name in ALGORITHMS else None

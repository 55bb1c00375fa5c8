"""A REST client of the platform with the token of one player or operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import aiohttp

from tests.system.platform import Platform


class Refused(Exception):
    """The platform refused a call; the message is its answer."""


class RestClient:
    """Calls as one player or operator."""

    def __init__(self, platform: Platform, session: aiohttp.ClientSession, scope: str, subject: str) -> None:
        self.token = platform.token(scope, subject)
        self._url = platform.url
        self._session = session

    async def call(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The answer; Refused, or what aiohttp raises when there is none."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["Idempotency-Key"] = str(uuid4())
        method = "GET" if body is None else "POST"
        async with self._session.request(method, self._url + path, json=body, headers=headers) as answer:
            content: dict[str, Any] = await answer.json(content_type=None)
            if not answer.ok:
                raise Refused(content)
            return content

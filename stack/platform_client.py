"""Calls the platform over its gateways' REST as one player or operator: a command is sent until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import aiohttp

# A command without an answer for so long is sent again, over the next gateway.
ATTEMPT_TIMEOUT_S = 3.0
PAUSE_S = 0.1
TOO_MANY_REQUESTS = 429

Json = dict[str, Any]


class Refused(Exception):
    """The platform refused a command for good; the message is its answer."""

    def __init__(self, problem: Json) -> None:
        super().__init__(problem)
        self.reason = str(problem.get("reason", ""))


class Unanswered(TimeoutError):
    """Nothing answered a command for too long; the message says which."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a client reaches the platform."""

    session: aiohttp.ClientSession
    gateway_url: Callable[[int], Awaitable[str]]
    """Where its gateways are, in turn."""
    answer_within_s: float
    """How long a command is sent again before it is given up."""


class PlatformClient:
    """Calls the platform with one principal's tokens."""

    def __init__(self, route: Route, token: Callable[[], str] | None) -> None:
        """Without tokens it is a stranger, who may read what is public."""
        self._route = route
        self._token = token
        self._turn = 0
        self.unanswered = 0
        """Attempts that got no answer, or none that says what was done."""

    @property
    def headers(self) -> dict[str, str]:
        """What says who calls."""
        return {} if self._token is None else {"Authorization": f"Bearer {self._token()}"}

    async def call(self, path: str, body: Json | None = None, request_id: str = "") -> Json:
        """Returns the answer, however often the command has to be sent; raises `Refused`, or `Unanswered`."""
        name = request_id or str(uuid4())
        try:
            async with asyncio.timeout(self._route.answer_within_s):
                while True:
                    answer = await self._attempt(path, body, name)
                    if answer is not None:
                        return answer
                    self.unanswered += 1
                    self._turn += 1
                    await asyncio.sleep(PAUSE_S)
        except TimeoutError:
            raise Unanswered(f"Nothing answered {path} within {self._route.answer_within_s:.0f} s.") from None

    async def _attempt(self, path: str, body: Json | None, name: str) -> Json | None:
        method = "GET" if body is None else "POST"
        headers = self.headers if body is None else {**self.headers, "Idempotency-Key": name}
        try:
            url = await self._route.gateway_url(self._turn) + path
            async with (
                asyncio.timeout(ATTEMPT_TIMEOUT_S),
                self._route.session.request(method, url, json=body, headers=headers) as answer,
            ):
                content: Json = await answer.json(content_type=None)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None
        if answer.status >= 500 or answer.status == TOO_MANY_REQUESTS:
            return None
        if not answer.ok:
            raise Refused(content)
        return content

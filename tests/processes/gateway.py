"""The real gateway as a process of its own for tests and benches, and a REST client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import aiohttp

from tests.gateway.documented_problems import DocumentedProblems, JsonObject
from tests.processes.service import READY_TIMEOUT_S, ServiceProcess

IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"


@dataclass
class GatewayProcess(ServiceProcess):
    """One `python -m gateway`."""

    name = "gateway"

    wallet_address: str = ""

    @property
    def module(self) -> str:
        return "gateway"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def variables(self) -> dict[str, str]:
        return {
            "FELTRO_GATEWAY_WALLET_ADDRESS": self.wallet_address,
            "FELTRO_GATEWAY_DEMO_KEY": str(self.issuer.demo_keys.key_file),
            "FELTRO_DEMO_JWKS": str(self.issuer.demo_keys.jwks),
        }

    async def ready(self) -> None:
        """Waits until it reaches everything, and accepts tokens, which is a moment later."""
        operator = {"Authorization": f"Bearer {self.issuer.token(['operator'], 'back-office')}"}
        async with aiohttp.ClientSession(self.url, headers=operator) as session:
            try:
                async with asyncio.timeout(READY_TIMEOUT_S):
                    while not await _is_ready(session):
                        await asyncio.sleep(0.05)
            except TimeoutError:
                raise AssertionError(f"the gateway is not ready:\n{self.log.read_text()[-4000:]}") from None

    @asynccontextmanager
    async def client(self) -> AsyncIterator[RestClient]:
        async with aiohttp.ClientSession(self.url) as session:
            yield RestClient(session, self)


@dataclass(frozen=True)
class Answer:
    """An answer over REST."""

    status: int
    headers: dict[str, str]
    body: dict[str, object]


class RestClient:
    """Calls with a token and reads JSON; fails on a problem that the call does not document."""

    def __init__(self, session: aiohttp.ClientSession, gateway: GatewayProcess) -> None:
        self.session = session
        self._gateway = gateway
        self._documented: DocumentedProblems | None = None

    def token(self, scope: str, subject: str, minutes: int = 60) -> str:
        return self._gateway.issuer.token([scope], subject, minutes)

    async def call(
        self,
        verb: str,
        path: str,
        body: object = None,
        token: str = "",
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """One request; a command gets an idempotency key of its own unless `key` is given."""
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if verb == "POST" or key is not None:
            sent[IDEMPOTENCY_KEY_HEADER] = str(uuid4()) if key is None else key
        async with self.session.request(verb, path, json=body, headers=sent) as answer:
            content: JsonObject = await answer.json(content_type=None) or {}
        if answer.status >= 400:
            if self._documented is None:
                async with self.session.get("/openapi.json") as document:
                    self._documented = DocumentedProblems(await document.json())
            self._documented.verify(verb, path, answer.status, content)
        return Answer(answer.status, dict(answer.headers), content)


def text_at(body: object, *names: str) -> str:
    """The text at a path of names in an answer."""
    for name in names:
        assert isinstance(body, dict), body
        body = body[name]
    return str(body)


async def _is_ready(session: aiohttp.ClientSession) -> bool:
    try:
        for path in ("/readyz", "/v1/operator/switches"):
            async with session.get(path) as answer:
                if answer.status != 200:
                    return False
    except aiohttp.ClientError:
        return False
    return True

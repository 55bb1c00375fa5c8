"""The gateway's front over HTTP with nothing behind it: what services answer is up to the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request
from google.protobuf.message import Message

from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.proxies import TrustedProxies
from gateway.access.rate_limiter import Limits, RateLimiter
from gateway.backends.dispatcher import CallContext
from gateway.backends.readiness import Readiness
from gateway.contracts.methods import Contracts, Method
from gateway.contracts.reasons import ReasonSets
from gateway.contracts.refusals import GatewayRefused
from gateway.http.application import ApplicationPart, EdgeApplication
from gateway.http.connection_limiter import ConnectionLimiter
from gateway.http.cors import CorsPolicy
from gateway.http.rest import RestApi
from gateway.reference.openapi import OpenApiRoutes
from gateway.reference.reason_pages import ReasonPages
from services.kit.access.identity import Caller
from services.kit.settings import Environment

CONTRACTS = Contracts()
# Names that open nothing.
FORGED, EXPIRED = "forged", "late"
HttpClient = TestClient[Request, Application]


@dataclass(frozen=True)
class DispatchedCall:
    """One call that came through."""

    method: Method
    request: Message
    token: str
    traceparent: str
    address: str


@dataclass
class FakeDispatcher:
    """The services: they say what the test wants, an empty response if it wants nothing."""

    respond: Callable[[Method, Message], Message] | None = None
    calls: list[DispatchedCall] = field(default_factory=list)

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        self.calls.append(
            DispatchedCall(method, request, context.principal.token, context.traceparent, context.client_address)
        )
        if self.respond is None:
            return b""
        return self.respond(method, request).SerializeToString()

    @property
    def last_request(self) -> Message:
        """The last one."""
        return self.calls[-1].request


class FakeRequestAuthenticator:
    """Lets in whoever says his name; `late` comes too late."""

    def __init__(self) -> None:
        self.verified_tokens: list[str] = []

    def was_verified(self, token: str) -> bool:
        return token != FORGED

    async def identify(self, token: str) -> Principal:
        if not token:
            return ANONYMOUS
        if token == FORGED:
            raise GatewayRefused("TOKEN_INVALID", "The token is not authentic.")
        return Principal(token, Caller(token, frozenset({"player"}), 0.0))

    async def verify(self, principal: Principal) -> None:
        self.verified_tokens.append(principal.token)

    def record_activity(self, _: Principal) -> None:
        """It is nothing here."""

    def is_unexpired(self, principal: Principal) -> bool:
        return principal.token != EXPIRED


@asynccontextmanager
async def http_gateway(
    dispatcher: FakeDispatcher,
    cors: CorsPolicy | None = None,
    limits: Limits | None = None,
    authenticator: FakeRequestAuthenticator | None = None,
) -> AsyncIterator[HttpClient]:
    """A client of a front over this desk."""
    reasons = ReasonSets(CONTRACTS)
    pages = ReasonPages(CONTRACTS, reasons)
    entrance = ConnectionLimiter(10_000, 10_000, TrustedProxies(()))
    rest = RestApi(CONTRACTS, dispatcher, authenticator or FakeRequestAuthenticator(), RateLimiter(limits or Limits()))
    parts: list[ApplicationPart] = [entrance, rest, OpenApiRoutes(CONTRACTS, reasons), pages]
    edge = EdgeApplication(Readiness([]), Environment.PRODUCTION, parts=parts, cors=cors)
    async with TestClient(TestServer(edge.build())) as client:
        yield client


def bearer_headers(name: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **more}

"""The gateway's HTTP side with no services behind it: the test decides what they answer."""

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
# Tokens that are refused.
FORGED, EXPIRED = "forged", "late"
HttpClient = TestClient[Request, Application]


@dataclass(frozen=True)
class DispatchedCall:
    """A call that reached the dispatcher."""

    method: Method
    request: Message
    token: str
    traceparent: str
    address: str


@dataclass
class FakeDispatcher:
    """Answers calls as the test wants, or with an empty response."""

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
        """The request of the last call."""
        return self.calls[-1].request


class FakeRequestAuthenticator:
    """Takes any token for a player of that name; `forged` is refused, and `late` has expired."""

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
        """Activity is not tested here."""

    def is_unexpired(self, principal: Principal) -> bool:
        return principal.token != EXPIRED


@asynccontextmanager
async def http_gateway(
    dispatcher: FakeDispatcher,
    cors: CorsPolicy | None = None,
    limits: Limits | None = None,
    authenticator: FakeRequestAuthenticator | None = None,
) -> AsyncIterator[HttpClient]:
    """Runs an HTTP gateway with this dispatcher, and yields a client of it."""
    reasons = ReasonSets(CONTRACTS)
    pages = ReasonPages(CONTRACTS, reasons)
    connection_limiter = ConnectionLimiter(10_000, 10_000, TrustedProxies(()))
    rest = RestApi(CONTRACTS, dispatcher, authenticator or FakeRequestAuthenticator(), RateLimiter(limits or Limits()))
    parts: list[ApplicationPart] = [connection_limiter, rest, OpenApiRoutes(CONTRACTS, reasons), pages]
    application = EdgeApplication(Readiness([]), Environment.PRODUCTION, parts=parts, cors=cors)
    async with TestClient(TestServer(application.build())) as client:
        yield client


def bearer_headers(name: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **more}

"""The gateway's front over HTTP with nothing behind it: what services answer is up to the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request
from google.protobuf.message import Message

from gateway import json_codec
from gateway.connections import Entrance
from gateway.contracts import Contracts, Method
from gateway.cors import Cors
from gateway.documents import Reference
from gateway.edge import Edge, Routed
from gateway.openapi import document
from gateway.parts import Lookout
from gateway.proxies import TrustedProxies
from gateway.rates import Limits, Rates
from gateway.reason_pages import ReasonPages
from gateway.reasons import ReasonSets
from gateway.refusals import GatewayRefused
from gateway.rest import Rest
from gateway.visitors import NOBODY, Visitor
from services.kit.identity import Caller
from services.kit.settings import Environment

CONTRACTS = Contracts()
# Names that open nothing.
FORGED, LATE = "forged", "late"
Client = TestClient[Request, Application]


@dataclass(frozen=True)
class Asked:
    """One call that came through."""

    method: Method
    request: Message
    token: str
    traceparent: str
    address: str


@dataclass
class FakeDesk:
    """The services: they say what the test wants, an empty response if it wants nothing."""

    answer: Callable[[Method, Message], Message] | None = None
    asked: list[Asked] = field(default_factory=list)

    async def ask(
        self, method: Method, request: Message, visitor: Visitor, traceparent: str = "", address: str = ""
    ) -> bytes:
        self.asked.append(Asked(method, request, visitor.token, traceparent, address))
        if self.answer is None:
            return b""
        return self.answer(method, request).SerializeToString()

    @property
    def request(self) -> Message:
        """The last one."""
        return self.asked[-1].request


class FakeDoor:
    """Lets in whoever says his name; `late` comes too late."""

    def __init__(self) -> None:
        self.asked_about: list[str] = []

    def known(self, token: str) -> bool:
        return token != FORGED

    async def recognise(self, token: str) -> Visitor:
        if not token:
            return NOBODY
        if token == FORGED:
            raise GatewayRefused("TOKEN_INVALID", "The token is not authentic.")
        return Visitor(token, Caller(token, frozenset({"player"}), 0.0))

    async def verify(self, visitor: Visitor) -> None:
        self.asked_about.append(visitor.token)

    def seen(self, _: Visitor) -> None:
        """It is nothing here."""

    def current(self, visitor: Visitor) -> bool:
        return visitor.token != LATE


@asynccontextmanager
async def front(
    desk: FakeDesk, cors: Cors | None = None, limits: Limits | None = None, door: FakeDoor | None = None
) -> AsyncIterator[Client]:
    """A client of a front over this desk."""
    reasons = ReasonSets(CONTRACTS)
    pages = ReasonPages(CONTRACTS, reasons)
    openapi = json_codec.dumps(document(CONTRACTS, reasons))
    entrance = Entrance(10_000, 10_000, TrustedProxies(()))
    rest = Rest(CONTRACTS, desk, door or FakeDoor(), Rates(limits or Limits()))
    parts: list[Routed] = [entrance, rest, Reference(openapi), pages]
    edge = Edge(Lookout([]), Environment.PRODUCTION, parts=parts, cors=cors)
    async with TestClient(TestServer(edge.application())) as client:
        yield client


def bearer(name: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", **more}

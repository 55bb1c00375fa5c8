"""The fixtures of tests of the API's pages: the pages themselves, and calls that are noted and not carried out."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts
from gateway.contracts.reasons import ReasonSets
from gateway.http.documents import page_document
from gateway.reference.openapi import OpenApiRoutes, document
from tests.browser.driver.rest import Json
from tests.browser.driver.served import served


@dataclass(frozen=True)
class Call:
    """One call that the page made."""

    verb: str
    path: str
    key: str
    authorization: str
    body: str


@dataclass
class DocumentsServer:
    """Serves the pages, and notes every call."""

    document: Json
    socket: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    calls: list[Call] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    async def note(self, request: web.Request) -> web.Response:
        headers = request.headers
        key, authorization = headers.get("Idempotency-Key", ""), headers.get("Authorization", "")
        self.calls.append(Call(request.method, request.path_qs, key, authorization, await request.text()))
        return web.json_response({"noted": len(self.calls)})


@pytest.fixture(scope="session")
def platform() -> Iterator[DocumentsServer]:
    """The pages in the place of a platform."""
    contracts = Contracts()
    reasons = ReasonSets(contracts)
    server = DocumentsServer(json.loads(json_codec.dumps(document(contracts, reasons))))
    application = web.Application()
    OpenApiRoutes(contracts, reasons).install(application)
    application.router.add_get("/pages.css", page_document("pages.css").answer)
    application.router.add_route("*", "/v1/{rest:.*}", server.note)
    with served(application, server.socket):
        yield server


@pytest.fixture(autouse=True)
def no_earlier_calls(platform: DocumentsServer) -> None:
    """Forgets the calls of the test before."""
    platform.calls.clear()

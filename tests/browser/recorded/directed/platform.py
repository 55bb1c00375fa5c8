"""Serves the built front-end and tables that a test directs, from a thread of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from aiohttp import WSMsgType, web
from google.protobuf.message import Message

from feltro.wallet.v1 import events_pb2
from services.kit.table.refusals import TableRefused
from tests.browser.driver.front_end import front_end_application
from tests.browser.driver.rest import Json
from tests.browser.recorded.directed.messages import now
from tests.browser.recorded.directed.page import Page, Table

_T = TypeVar("_T")
# How long a table may take to do what the test wants, or its page to ask, before it is called a hang.
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Directed(Generic[Table]):
    """A table in the hands of a test: what happens there happens in the thread of the connection."""

    table: Table
    loop: Callable[[], asyncio.AbstractEventLoop]

    @property
    def table_id(self) -> str:
        return self.table.table_id

    def do(self, act: Callable[[Table], _T]) -> _T:
        """Does something at the table."""

        async def run(table: Table) -> _T:
            return act(table)

        return self.wait(run)

    def wait(self, act: Callable[[Table], Coroutine[object, object, _T]]) -> _T:
        """Waits at the table until something is done."""
        return asyncio.run_coroutine_threadsafe(act(self.table), self.loop()).result(TIMEOUT_S)


@dataclass
class DirectedPlatform(ABC, Generic[Table]):
    """Tables that tests make, and one player for each page."""

    # Bound at once: a port that is only chosen may be taken by another process.
    socket: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    # Answers that failed: the test that caused one fails.
    problems: list[str] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    pages: list[Page[Table]] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    loop: asyncio.AbstractEventLoop | None = None

    @abstractmethod
    def new_page(self) -> Page[Table]:
        """A page that connects."""

    def logged_in(self) -> Json | None:
        """What the operator's site says of who is logged in there; None for nobody."""
        return None

    @property
    def url(self) -> str:
        """The address of the front-end."""
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    @property
    def operator_site(self) -> str:
        """The operator's site."""
        return f"{self.url}/operator"

    def add_table(self, make: Callable[[str, Callable[[str, Message], None]], Table]) -> Directed[Table]:
        """Makes a table of an id and of what notifies its pages."""
        table_id = f"rehearsal-{next(self.numbers)}"
        made = self.tables[table_id] = make(table_id, self._notify(table_id))
        return Directed(made, self._running_loop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        assert self.loop is not None, "no page has connected yet"
        return self.loop

    def _notify(self, table_id: str) -> Callable[[str, Message], None]:
        def notify(method: str, message: Message) -> None:
            table = self.tables[table_id]
            fact = events_pb2.PlayerFact(at=now())
            fact.balance_changed.balance.CopyFrom(table.balance())
            for page in self.pages:
                if table_id in page.followed:
                    page.notify(method, message)
                    page.notify("player", fact)

        return notify

    def application(self) -> web.Application:
        """The front-end as the gateway serves it, the live connection, and an operator's site."""
        return front_end_application(self.operator_site, self._connect, self._operators_token)

    async def _operators_token(self, _: web.Request) -> web.Response:
        logged_in = self.logged_in()
        return web.Response(status=204) if logged_in is None else web.json_response(logged_in)

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        self.loop = asyncio.get_running_loop()
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        page = self.new_page()
        self.pages.append(page)
        writing = asyncio.create_task(page.write(connection))
        try:
            async for message in connection:
                if message.type is WSMsgType.TEXT:
                    self._answer(page, json.loads(message.data))
        finally:
            self.pages.remove(page)
            writing.cancel()
        return connection

    def _answer(self, page: Page[Table], called: Json) -> None:
        # As the gateway does: it is about the call, and not for the method.
        called["params"].pop("_meta", None)
        try:
            page.send({"id": called["id"], "result": page.result(called["method"], called["params"])})
        except TableRefused as refused:
            facts = {name: str(value) for name, value in refused.facts.items()}
            data = {"reason": refused.reason, "domain": "table.feltro", "facts": facts, "status": 409}
            page.send({"id": called["id"], "error": {"code": -32000, "message": str(refused), "data": data}})
        except Exception as failed:  # noqa: BLE001 (the test reports any failure)
            self.problems.append(f"{type(failed).__name__}: {failed}, in answer to {called}")

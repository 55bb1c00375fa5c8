"""Serves the built front-end and blackjack tables that a test directs, from a thread of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

from aiohttp import WSMsgType, web
from google.protobuf.message import Message

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2, session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from gateway.contracts import json_codec
from gateway.http.front_end import FrontEnd
from gateway.http.front_end_settings import FrontEndSettings
from services.blackjack import messages
from services.kit.settings import Environment
from services.kit.table.refusals import TableRefused
from tests.browser.driver.rest import Json
from tests.browser.driver.served import served
from tests.browser.recorded.blackjack.table import Options, ScriptedTable, bets_in, json_of, now
from tools import web as front_end

_T = TypeVar("_T")


class NotRecorded(Exception):
    """A page asks for an answer that is not recorded: the test needs a platform."""


@dataclass(frozen=True, slots=True)
class Directed:
    """A table in the hands of a test: what happens there happens in the thread of the connection."""

    table: ScriptedTable
    loop: Callable[[], asyncio.AbstractEventLoop]

    @property
    def table_id(self) -> str:
        return self.table.table_id

    def do(self, act: Callable[[ScriptedTable], _T]) -> _T:
        """Does something at the table."""

        async def run() -> _T:
            return act(self.table)

        return asyncio.run_coroutine_threadsafe(run(), self.loop()).result(30)


@dataclass
class BlackjackPlatform:
    """Tables that tests make, and one guest for each page."""

    # Bound at once: a port that is only chosen may be taken by another process.
    socket: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    # Answers that failed: the test that caused one fails.
    problems: list[str] = field(default_factory=list)
    tables: dict[str, ScriptedTable] = field(default_factory=dict)
    pages: list[_Page] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """The address of the front-end."""
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    @property
    def operator_site(self) -> str:
        """The operator's site, where nobody is logged in."""
        return f"{self.url}/operator"

    def table(self, shoe: str = "", **options: object) -> Directed:
        """Makes a table that deals these cards first: `Ts 7c 5h 9d`."""
        table_id = f"rehearsal-{next(self.numbers)}"
        made = ScriptedTable(table_id, Options(**options), self._notify(table_id), shoe=shoe)  # type: ignore[arg-type]
        self.tables[table_id] = made
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
                if page.watches == table_id:
                    page.notify(method, message)
                    page.notify("player", fact)

        return notify

    def application(self) -> web.Application:
        """The front-end as the gateway serves it, the live connection, and an operator who knows nobody."""
        site = {f"web_{page}_url": f"{self.operator_site}/{page}" for page in ("login", "token", "logout", "cashier")}
        settings = FrontEndSettings(
            environment=Environment.DEVELOPMENT,
            issuer_jwks="http://127.0.0.1/keys",
            web_folder=front_end.BUILT_WEB,
            **site,
        )
        application = web.Application()
        FrontEnd(settings).install(application)
        application.router.add_get("/v1/ws", self._connect)
        application.router.add_get("/operator/token", _nobody)
        return application

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        self.loop = asyncio.get_running_loop()
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        page = _Page(self.tables)
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

    def _answer(self, page: _Page, called: Json) -> None:
        try:
            page.send({"id": called["id"], "result": page.result(called["method"], called["params"])})
        except TableRefused as refused:
            facts = {name: str(value) for name, value in refused.facts.items()}
            data = {"reason": refused.reason, "domain": "table.feltro", "facts": facts, "status": 409}
            page.send({"id": called["id"], "error": {"code": -32000, "message": str(refused), "data": data}})
        except Exception as failed:  # noqa: BLE001 (the test reports any failure)
            self.problems.append(f"{type(failed).__name__}: {failed}, in answer to {called}")


class _Page:
    """One page and its guest."""

    def __init__(self, tables: Mapping[str, ScriptedTable]) -> None:
        self.watches = ""
        self._tables = tables
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()

    def send(self, content: Mapping[str, object]) -> None:
        self._outgoing.put_nowait(json.dumps({"jsonrpc": "2.0", **content}))

    def notify(self, method: str, message: Message) -> None:
        self.send({"method": method, "params": json_of(message)})

    async def write(self, connection: web.WebSocketResponse) -> None:
        """Sends what waits, in its order."""
        with suppress(ConnectionResetError):
            while True:
                await connection.send_str(await self._outgoing.get())

    def result(self, method: str, params: Json) -> object:
        """Answers a call."""
        answers: Mapping[str, Callable[[Json], object]] = {
            "GatewayService.EnterDemo": self._enter_demo,
            "TableService.ListTables": self._list_tables,
            "TableService.EnterTable": self._enter,
            "TableService.GetTable": lambda params: json_of(self._state(self._tables[params["table_id"]])),
            "TableService.GetRules": self._rules,
            "TableService.ListPlayerRounds": self._rounds,
            "TableService.ListTableRounds": self._table_rounds,
            "TableService.Act": self._act,
            "BlackjackService.PlaceBets": self._place,
            "BlackjackService.CancelBets": self._cancel,
            "BlackjackService.Deal": self._deal,
            "SessionService.ListSessions": lambda _: json_of(session_pb2.ListSessionsResponse()),
            "SessionService.GetSession": self._session_read,
            "WalletService.FindAccount": self._account,
            "authenticate": self._authenticate,
            "subscribe": self._subscribe,
            "unsubscribe": lambda _: {"was_subscribed": True},
            "ping": lambda _: {},
        }
        answer = answers.get(method)
        if answer is None:
            raise NotRecorded(method)
        if self.watches:
            self._tables[self.watches].asked.append((method, params))
        return answer(params)

    # -- who plays ----------------------------------------------------------------------------------------------------

    def _enter_demo(self, _: Json) -> object:
        expires_at = f"{datetime.now(UTC) + timedelta(hours=4):%Y-%m-%dT%H:%M:%SZ}"
        return {"token": "guest", "player_id": f"demo-{uuid.uuid4().hex[:20]}", "expires_at": expires_at}

    def _authenticate(self, _: Json) -> object:
        return {"subject": "demo-guest", "scopes": ["demo"], "expires_at": "2099-01-01T00:00:00Z"}

    def _account(self, _: Json) -> object:
        table = self._tables.get(self.watches) or next(iter(self._tables.values()))
        return json_of(wallet_pb2.FindAccountResponse(balance=table.balance()))

    # -- tables -------------------------------------------------------------------------------------------------------

    def _list_tables(self, params: Json) -> object:
        answer = table_pb2.ListTablesResponse(at=now())
        for table in self._tables.values() if params["game"] == "blackjack" else ():
            answer.tables.add(
                table_id=table.table_id, configuration=table.configuration(), configuration_version=1, enabled=True
            )
        return json_of(answer)

    def _enter(self, params: Json) -> object:
        table = self._tables[params["table_id"]]
        self.watches = table.table_id
        table.enter(params.get("seat", 0))
        answer = table_pb2.EnterTableResponse(
            table=table.snapshot(), own_seat=table.own_seat(), session=_session(table)
        )
        return json_of(answer)

    def _state(self, table: ScriptedTable) -> table_pb2.GetTableResponse:
        return table_pb2.GetTableResponse(table=table.snapshot(), own_seat=table.own_seat())

    def _subscribe(self, params: Json) -> object:
        table = self._tables[params["table_id"]]
        self.watches = table.table_id
        state = cast(Json, json_of(self._state(table)))
        return {"table_id": table.table_id, "seq": str(table.seq), "resumed": False, "own_seat": None, **state}

    def _session_read(self, _: Json) -> object:
        answer = session_pb2.GetSessionResponse(session=_session(self._tables[self.watches]))
        answer.summary.duration_ms = 1000
        return json_of(answer)

    def _rules(self, params: Json) -> object:
        return {"text": "# Regras\n", "language": params["language"], "configuration_version": 1}

    def _rounds(self, params: Json) -> object:
        table = self._tables.get(params.get("table_id", "")) or self._tables[self.watches]
        rounds = table.rounds if params["game"] == "blackjack" else []
        return json_of(table_pb2.ListPlayerRoundsResponse(rounds=rounds[: params.get("page_size", 20)]))

    def _table_rounds(self, params: Json) -> object:
        rounds = [played.round for played in self._tables[params["table_id"]].rounds]
        return json_of(table_pb2.ListTableRoundsResponse(rounds=rounds))

    # -- play ---------------------------------------------------------------------------------------------------------

    def _place(self, params: Json) -> object:
        return json_of(self._tables[params["table_id"]].place(bets_in(params["bets"])))

    def _cancel(self, params: Json) -> object:
        return json_of(self._tables[params["table_id"]].cancel(bets_in(params["bets"])))

    def _deal(self, params: Json) -> object:
        table = self._tables[params["table_id"]]
        staked = sum(sum(stake.bets.values()) for stake in table.own_stakes())
        table.close()
        return {"round_id": params["round_id"], "staked_cents": str(staked), "void_reason": ""}

    def _act(self, params: Json) -> object:
        table = self._tables[params["table_id"]]
        if table.refusal is not None:
            (reason, facts), table.refusal = table.refusal, None
            raise TableRefused(reason, "Refused by the test.", **facts)
        request = json_codec.from_json(params, table_pb2.ActRequest)
        if request.turn != table.turn_number or request.round_id != table.round_id:
            raise TableRefused("TURN_OVER", "It is another turn.", turn=request.turn)
        move = messages.read_move(request.move.value, table.options.places)
        return json_of(table.act(table.seat, move, types_pb2.ACTED_BY_PLAYER))


def _session(table: ScriptedTable) -> session_pb2.Session:
    return session_pb2.Session(
        session_id="session",
        player_id=table.player_id,
        account_id="account",
        table_id=table.table_id,
        game="blackjack",
        mode=wallet_types.MODE_DEMO,
        state=session_pb2.SESSION_STATE_ACTIVE,
        started_at=now(),
        last_activity_at=now(),
    )


async def _nobody(_: web.Request) -> web.Response:
    return web.Response(status=204)


@contextmanager
def blackjack_platform() -> Iterator[BlackjackPlatform]:
    """Serves in a thread of its own until the end."""
    platform = BlackjackPlatform()
    with served(platform.application(), platform.socket):
        yield platform

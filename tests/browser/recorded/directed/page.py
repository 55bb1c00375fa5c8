"""One page that plays at tables which a test directs: the answers that all games have in common."""

from __future__ import annotations

import asyncio
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar, cast

from aiohttp import web
from google.protobuf.message import Message

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import session_pb2, ticket_pb2, wallet_pb2
from gateway.contracts import json_codec
from services.kit.table.refusals import TableRefused
from tests.browser.driver.rest import Json
from tests.browser.recorded.directed.messages import json_of, now
from tests.browser.recorded.directed.table import DirectedTable

Table = TypeVar("Table", bound=DirectedTable)
Answers = Mapping[str, Callable[[Json], object]]


class NotRecorded(Exception):
    """A page asks for an answer that is not recorded: the test needs a platform."""


class Page(ABC, Generic[Table]):
    """One page and its player."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        # Where the player sat down last, and every table that the page follows.
        self.watches = ""
        self.followed: set[str] = set()
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
        answer = {**self._common_answers(), **self.answers()}.get(method)
        if answer is None:
            raise NotRecorded(method)
        if self.watches:
            self._tables[self.watches].was_asked(method, params)
        return answer(params)

    @abstractmethod
    def answers(self) -> Answers:
        """The answers of the game."""

    @abstractmethod
    def login(self) -> Json:
        """Who the live connection says that the player is."""

    def _common_answers(self) -> Answers:
        return {
            "GatewayService.EnterDemo": self._enter_demo,
            "TableService.ListTables": self._list_tables,
            # Every lobby asks for them.
            "TournamentService.ListTournaments": lambda _: json_of(tournament_pb2.ListTournamentsResponse(at=now())),
            "TicketService.ListTickets": lambda _: json_of(ticket_pb2.ListTicketsResponse()),
            "TableService.EnterTable": self._enter,
            "TableService.GetTable": lambda params: json_of(_state(self.table_of(params))),
            "TableService.GetRules": self._rules,
            "TableService.ListPlayerRounds": self._rounds,
            "TableService.ListTableRounds": self._table_rounds,
            "TableService.Act": self._act,
            "SessionService.ListSessions": lambda _: json_of(session_pb2.ListSessionsResponse()),
            "SessionService.GetSession": self._session_read,
            "WalletService.FindAccount": self._account,
            "authenticate": lambda _: {**self.login(), "expires_at": "2099-01-01T00:00:00Z"},
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "ping": lambda _: {},
        }

    def table_of(self, params: Json) -> Table:
        """The table that a call names."""
        return self._tables[params["table_id"]]

    # -- who plays ----------------------------------------------------------------------------------------------------

    def _enter_demo(self, _: Json) -> object:
        expires_at = f"{datetime.now(UTC) + timedelta(hours=4):%Y-%m-%dT%H:%M:%SZ}"
        return {"token": "guest", "player_id": f"demo-{uuid.uuid4().hex[:20]}", "expires_at": expires_at}

    def _account(self, _: Json) -> object:
        table = self._tables.get(self.watches) or next(iter(self._tables.values()))
        return json_of(wallet_pb2.FindAccountResponse(balance=table.balance()))

    def _session_read(self, params: Json) -> object:
        table_id = params["session_id"].removeprefix("session-")
        answer = session_pb2.GetSessionResponse(session=_session(self._tables[table_id]))
        answer.summary.duration_ms = 1000
        return json_of(answer)

    # -- tables -------------------------------------------------------------------------------------------------------

    def _list_tables(self, params: Json) -> object:
        answer = table_pb2.ListTablesResponse(at=now())
        for table in self._tables.values():
            configuration = table.configuration()
            if configuration.game == params["game"]:
                answer.tables.add(
                    table_id=table.table_id, configuration=configuration, configuration_version=1, enabled=True
                )
        return json_of(answer)

    def _enter(self, params: Json) -> object:
        table = self.table_of(params)
        self.watches = table.table_id
        table.enter(params.get("seat", 0))
        answer = table_pb2.EnterTableResponse(
            table=table.snapshot(), own_seat=table.own_seat(), session=_session(table)
        )
        return json_of(answer)

    def _subscribe(self, params: Json) -> object:
        table = self.table_of(params)
        self.watches = self.watches or table.table_id
        self.followed.add(table.table_id)
        state = cast(Json, json_of(_state(table)))
        return {"table_id": table.table_id, "seq": str(table.seq), "resumed": False, "own_seat": None, **state}

    def _unsubscribe(self, params: Json) -> object:
        self.followed.discard(params["table_id"])
        return {"was_subscribed": True}

    def _rules(self, params: Json) -> object:
        return {"text": "# Regras\n", "language": params["language"], "configuration_version": 1}

    def _rounds(self, params: Json) -> object:
        table = self._tables.get(params.get("table_id", "")) or self._tables[self.watches]
        rounds = table.rounds if params["game"] == table.configuration().game else []
        return json_of(table_pb2.ListPlayerRoundsResponse(rounds=rounds[: params.get("page_size", 20)]))

    def _table_rounds(self, params: Json) -> object:
        rounds = [played.round for played in self.table_of(params).rounds]
        return json_of(table_pb2.ListTableRoundsResponse(rounds=rounds))

    def _act(self, params: Json) -> object:
        table = self.table_of(params)
        table.refuse_if_told()
        request = json_codec.from_json(params, table_pb2.ActRequest)
        round_ = table.snapshot().round
        if request.turn != round_.turn.turn or request.round_id != round_.round_id:
            raise TableRefused("TURN_OVER", "It is another turn.", turn=request.turn)
        return json_of(table.decide(request))


def _state(table: DirectedTable) -> table_pb2.GetTableResponse:
    return table_pb2.GetTableResponse(table=table.snapshot(), own_seat=table.own_seat())


def _session(table: DirectedTable) -> session_pb2.Session:
    configuration = table.configuration()
    return session_pb2.Session(
        session_id=f"session-{table.table_id}",
        player_id=table.player_id,
        account_id="account",
        table_id=table.table_id,
        game=configuration.game,
        mode=configuration.mode,
        state=session_pb2.SESSION_STATE_ACTIVE,
        started_at=now(),
        last_activity_at=now(),
    )

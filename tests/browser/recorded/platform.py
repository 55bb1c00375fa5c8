"""Serves the built front-end and recorded answers: all that a page needs at a demonstration table for one, of any game.

Layouts, rules and tables were recorded from the platform; the chips on the felt and the round are added here. Each
message is read back into its proto message before it is sent, so that none can drift from the contracts.
"""

from __future__ import annotations

import asyncio
import copy
import json
import socket
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import WSMsgType, web
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from tests.browser.driver.front_end import front_end_application
from tests.browser.driver.player import Bets
from tests.browser.driver.rest import Json
from tests.browser.driver.served import served
from tests.browser.recorded import answers
from tests.browser.recorded.contracts import verify_answer, verify_message
from tests.browser.recorded.games import DRAWN, GAMES, RecordedGame

# The table for one that most tests play at.
TABLE = "french-solo-demo"
# Shorter than was recorded: no test here reads how long a result is shown.
RESULT_SHOWN_MS = 1000
CREDITS_CENTS = 100_000
# Shorter than was recorded too, and long enough to see each card come.
DEALING_MS = 300


__all__ = ["DRAWN", "TABLE", "RecordedPlatform", "recorded_platform"]


class NotRecorded(Exception):
    """A page asks for an answer that is not recorded: the test needs a platform."""


def _now() -> str:
    return _in_ms(0)


def _in_ms(wait_ms: int) -> str:
    """Returns a time from now, as messages carry it."""
    return f"{datetime.now(UTC) + timedelta(milliseconds=wait_ms):%Y-%m-%dT%H:%M:%S.%fZ}"


@dataclass(slots=True)
class _Table:
    """A guest's own table: the recorded answers, and the chips on the felt."""

    listed_id: str
    recorded: Json
    number: int = 1
    seq: int = 100
    # The stakes of the round by their ids, oldest first.
    stakes: dict[str, Bets] = field(default_factory=dict)
    last_bets: Bets = field(default_factory=dict)
    stake_count: int = 0
    rounds: list[Json] = field(default_factory=list)
    past: list[Json] = field(default_factory=list)
    entered_at: str = field(default_factory=_now)

    @property
    def table_id(self) -> str:
        table_id: str = self.recorded["TableService.EnterTable"]["table"]["table_id"]
        return table_id

    @property
    def game(self) -> RecordedGame:
        return GAMES[self.recorded["TableService.EnterTable"]["table"]["configuration"]["game"]]

    @property
    def layout(self) -> Json:
        layout: Json = self.recorded[f"{self.game.service}.GetLayout"]
        return layout

    @property
    def dealing_ms(self) -> int:
        """How long all cards of a round take."""
        return self.game.cards * DEALING_MS

    @property
    def round_id(self) -> str:
        return f"{self.table_id}.{self.number}"

    @property
    def on_felt(self) -> Bets:
        return _total(self.stakes.values())

    def snapshot(self) -> Json:
        table: Json = copy.deepcopy(self.recorded["TableService.EnterTable"]["table"])
        table |= {"seq": str(self.seq), "at": _now(), "past_outcomes": self.past}
        table["configuration"] |= {"result_shown_ms": RESULT_SHOWN_MS}
        if self.game.cards:
            table["configuration"] |= {"dealing_ms": DEALING_MS}
        table["round"] |= {"round_id": self.round_id}
        if felt := self.on_felt:
            table["bets"] = [{"seat": 1, "staked_cents": str(sum(felt.values())), "bets": self.bets_message(felt)}]
        return table

    def own_seat(self) -> Json:
        seat: Json = copy.deepcopy(self.recorded["TableService.EnterTable"]["own_seat"])
        seat["stakes"] = [
            {
                "stake_id": stake_id,
                "amount_cents": str(sum(stake.values())),
                "bets": self.bets_message(stake),
            }
            for stake_id, stake in self.stakes.items()
        ]
        return seat

    def bets_message(self, bets: Bets) -> Json:
        """Returns bets as the game's own message in an Any."""
        return {"@type": self.game.type_name("Bets"), **_bets(bets)}

    def outcome(self) -> Json:
        """Returns the one outcome of the game, as its own message in an Any."""
        return {"@type": self.game.type_name("Outcome"), **self.game.outcome(self.layout)}


@dataclass(slots=True)
class _Guest:
    """A guest: the balance and the tables."""

    player_id: str
    lobby: Json
    free_cents: int = CREDITS_CENTS
    locked_cents: int = 0
    version: int = 1
    tables: dict[str, _Table] = field(default_factory=dict)

    def move(self, free_cents: int, locked_cents: int) -> None:
        self.free_cents += free_cents
        self.locked_cents += locked_cents
        self.version += 1

    def balance(self) -> Json:
        recorded: Json = self.lobby["WalletService.FindAccount"]["balance"]
        changed = {"free_cents": str(self.free_cents), "locked_cents": str(self.locked_cents)}
        return {**recorded, **changed, "version": str(self.version)}

    def table(self, table_id: str) -> _Table:
        """Returns a table by the id under which it is listed, or by its own."""
        for table in self.tables.values():
            if table_id in {table.listed_id, table.table_id}:
                return table
        if table_id not in answers.TABLES:
            raise NotRecorded(f"the table {table_id}")
        return self.tables.setdefault(table_id, _Table(table_id, answers.read(table_id)))


class RecordedPlatform:
    """Guests at tables for one."""

    def __init__(self) -> None:
        # Bound at once: a port that is only chosen may be taken by another process.
        self.socket = socket.create_server(("127.0.0.1", 0))
        # Answers that failed: the test that caused one fails.
        self.problems: list[str] = []
        self._lobby = answers.read(answers.LOBBY)
        self._guests: dict[str, _Guest] = {}

    @property
    def url(self) -> str:
        """The address of the front-end."""
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    @property
    def operator_site(self) -> str:
        """The operator's site, where nobody is logged in."""
        return f"{self.url}/operator"

    def application(self) -> web.Application:
        """The front-end as the gateway serves it, the live connection, and an operator who knows nobody."""
        return front_end_application(self.operator_site, self._connect, _nobody)

    # -- one connection ----------------------------------------------------------------------------------------------

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        page = _Page(self._lobby, self._guests, connection)
        async with asyncio.TaskGroup() as rounds:
            async for message in connection:
                if message.type is WSMsgType.TEXT:
                    await self._answer(page, json.loads(message.data), rounds)
        return connection

    async def _answer(self, page: _Page, called: Json, rounds: asyncio.TaskGroup) -> None:
        """Answers one call; the round that a launch ends goes on beside the next calls."""
        try:
            await page.answer(called)
        except ConnectionResetError:
            return
        except Exception as failed:  # noqa: BLE001 (the test reports any failure)
            self.problems.append(f"{type(failed).__name__}: {failed}, in answer to {called}")
            return
        if called["method"] in {f"{game.service}.{game.start}" for game in GAMES.values()}:
            rounds.create_task(page.end_round(called["params"]["table_id"]))


class _Page:
    """Answers one page, which belongs to a guest once it has authenticated."""

    def __init__(self, lobby: Json, guests: dict[str, _Guest], connection: web.WebSocketResponse) -> None:
        self._lobby = lobby
        self._guests = guests
        self._connection = connection
        self._guest = _Guest("", lobby)
        self._methods: dict[str, Callable[[Json], Awaitable[Json]]] = {
            "GatewayService.EnterDemo": self._enter_demo,
            "TableService.EnterTable": self._enter_table,
            "TableService.GetTable": self._get_table,
            "SessionService.ListSessions": self._list_sessions,
            "SessionService.GetSession": self._get_session,
            "TableService.ListPlayerRounds": self._list_rounds,
            "WalletService.FindAccount": self._find_account,
            "TableService.ListTables": self._list_tables,
            "TournamentService.ListTournaments": self._list_tournaments,
            "TicketService.ListTickets": self._list_tickets,
            "BaccaratService.GetRoads": self._roads,
            "authenticate": self._authenticate,
            "subscribe": self._subscribe,
        }
        for game in GAMES.values():
            self._methods |= {
                f"{game.service}.PlaceBets": self._place_bets,
                f"{game.service}.RepeatBets": self._repeat_bets,
                f"{game.service}.CancelBets": self._cancel_bets,
                f"{game.service}.{game.start}": self._start,
            }

    async def answer(self, called: Json) -> None:
        """Answers one call."""
        method, params = called["method"], called["params"]
        if method in self._methods:
            result = await self._methods[method](params)
        elif method == "TableService.GetRules":
            result = self._guest.table(params["table_id"]).recorded[f"{method} {params['language']}"]
        elif method.endswith(".GetLayout"):
            result = self._guest.table(params["table_id"]).recorded[method]
        elif method in {"unsubscribe", "ping"}:
            result = {"was_subscribed": True} if method == "unsubscribe" else {}
        else:
            raise NotRecorded(method)
        verify_answer(method, result)
        await self._send({"id": called["id"], "result": result})

    async def _send(self, content: Json) -> None:
        await self._connection.send_str(json.dumps({"jsonrpc": "2.0", **content}))

    async def _notify(self, method: str, message_class: type[Message], content: Json) -> None:
        verify_message(content, message_class)
        await self._send({"method": method, "params": content})

    async def _event(self, table: _Table, event: Json) -> None:
        table.seq += 1
        content = {"table_id": table.table_id, "seq": str(table.seq), "at": _now(), **event}
        await self._notify("table", events_pb2.TableEvent, content)

    async def _balance_changed(self) -> None:
        content = {"at": _now(), "balance_changed": {"transactions": [], "balance": self._guest.balance()}}
        await self._notify("player", wallet_events.PlayerFact, content)

    # -- the methods -------------------------------------------------------------------------------------------------

    async def _list_tables(self, params: Json) -> Json:
        # A game of which nothing is recorded offers no tables.
        nothing: Json = {"tables": [], "next_page_token": ""}
        return {**self._lobby.get(f"TableService.ListTables {params['game']}", nothing), "at": _now()}

    async def _list_tournaments(self, _: Json) -> Json:
        return {"tournaments": [], "at": _now(), "next_page_token": ""}

    async def _list_tickets(self, _: Json) -> Json:
        return {"tickets": [], "next_page_token": ""}

    async def _roads(self, params: Json) -> Json:
        table = self._guest.table(params["table_id"])
        found = [{"round_id": past["round_id"], **past["outcome"]} for past in reversed(table.past)]
        cells = [
            {name: one[name] for name in ("round_id", "winner", "ponto_pair", "banca_pair")}
            | {"score": max(one["ponto_score"], one["banca_score"])}
            for one in found
        ]
        marks = [
            {"column": 0, "row": row, "ties": 0} | {name: cell[name] for name in ("winner", "ponto_pair", "banca_pair")}
            for row, cell in enumerate(cells[:6])
        ]
        return {"bead_road": cells, "big_road": marks, "ties_before_first": 0}

    async def _enter_demo(self, _: Json) -> Json:
        player_id = f"demo-{uuid.uuid4().hex[:20]}"
        self._guests[player_id] = _Guest(player_id, self._lobby)
        expires_at = f"{datetime.now(UTC) + timedelta(hours=4):%Y-%m-%dT%H:%M:%SZ}"
        recorded = self._lobby["GatewayService.EnterDemo"]
        return {**recorded, "token": player_id, "player_id": player_id, "expires_at": expires_at}

    async def _authenticate(self, params: Json) -> Json:
        self._guest = self._guests[params["token"]]
        return {"subject": self._guest.player_id, "scopes": ["demo"], "expires_at": "2099-01-01T00:00:00Z"}

    async def _enter_table(self, params: Json) -> Json:
        table = self._guest.table(params["table_id"])
        entered = table.recorded["TableService.EnterTable"]
        return {**entered, "session": self._session(table), "table": table.snapshot(), "own_seat": table.own_seat()}

    async def _list_sessions(self, _: Json) -> Json:
        return {"sessions": [self._session(table) for table in self._guest.tables.values()], "next_page_token": ""}

    async def _get_session(self, params: Json) -> Json:
        table = next(
            one for one in self._guest.tables.values() if self._session(one)["session_id"] == params["session_id"]
        )
        played = datetime.now(UTC) - datetime.fromisoformat(table.entered_at)
        played_ms = played // timedelta(milliseconds=1)
        return {"session": self._session(table), "summary": {"duration_ms": str(played_ms)}}

    def _session(self, table: _Table) -> Json:
        began = {"started_at": table.entered_at, "last_activity_at": table.entered_at}
        return {**table.recorded["TableService.EnterTable"]["session"], "player_id": self._guest.player_id, **began}

    async def _get_table(self, params: Json) -> Json:
        table = self._guest.table(params["table_id"])
        return {"table": table.snapshot(), "own_seat": table.own_seat()}

    async def _subscribe(self, params: Json) -> Json:
        table_id = params["table_id"]
        pages = [self._lobby[f"TableService.ListTables {game}"] for game in GAMES]
        listed = {table["table_id"]: table for page in pages for table in page["tables"]}
        if table_id not in answers.TABLES and table_id in listed:
            # The lobby watches tables at which nobody sits.
            content = {
                "table_id": table_id,
                "seq": "1",
                "phase": "PHASE_IDLE",
                "configuration_version": 1,
                "seated": 0,
                "at": _now(),
            }
            found = {**content, "configuration": listed[table_id]["configuration"], "bets": [], "past_outcomes": []}
            verify_message(found, types_pb2.TableSnapshot)
            return {"table_id": table_id, "seq": "1", "resumed": False, "own_seat": None, "table": found}
        table = self._guest.table(table_id)
        seat, shown = table.own_seat(), table.snapshot()
        verify_message({"table": shown, "own_seat": seat}, table_pb2.GetTableResponse)
        return {"table_id": table_id, "seq": str(table.seq), "resumed": False, "own_seat": seat, "table": shown}

    async def _list_rounds(self, params: Json) -> Json:
        tables = [self._guest.table(params["table_id"])] if params.get("table_id") else self._guest.tables.values()
        tables = [table for table in tables if table.game.name == params["game"]]
        rounds = [played for table in tables for played in table.rounds]
        return {"rounds": rounds[: params.get("page_size", 20)], "next_page_token": ""}

    async def _find_account(self, _: Json) -> Json:
        return {"blocked": False, "balance": self._guest.balance()}

    async def _place_bets(self, params: Json) -> Json:
        return await self._stake(params, {bet["place"]: int(bet["amount_cents"]) for bet in params["bets"]})

    async def _repeat_bets(self, params: Json) -> Json:
        table = self._guest.table(params["table_id"])
        return await self._stake(params, table.last_bets)

    async def _stake(self, params: Json, bets: Bets) -> Json:
        table, cents = self._guest.table(params["table_id"]), sum(bets.values())
        self._guest.move(-cents, cents)
        stake_id = await self._place(table, bets)
        await self._balance_changed()
        recorded = table.recorded[f"{table.game.service}.PlaceBets"]["stake"]
        stake = {**recorded, "stake_id": stake_id, "round_id": table.round_id, "amount_cents": str(cents)}
        stake |= {"placed_at": _now(), "balance": self._guest.balance(), "bets": _bets(bets)}
        return {"stake": stake, "on_felt": _bets(table.on_felt)}

    async def _place(self, table: _Table, bets: Bets) -> str:
        """Puts a stake on the felt, and returns its id."""
        table.stake_count += 1
        stake_id = f"{table.round_id}:{table.stake_count}"
        table.stakes[stake_id] = bets
        await self._event(table, {"bets_placed": _stake_event(table, stake_id, bets)})
        return stake_id

    async def _cancel_bets(self, params: Json) -> Json:
        table = self._guest.table(params["table_id"])
        bets = {bet["place"]: int(bet["amount_cents"]) for bet in params["bets"]}
        cents = sum(bets.values())
        self._guest.move(cents, -cents)
        # As the table runtime does: bets come off the newest stakes first, and what stays of a stake keeps its id.
        missing = dict(bets)
        cancelled: list[str] = []
        reduced: list[Json] = []
        for stake_id, stake in reversed([*table.stakes.items()]):
            taken = {place: min(amount, missing.get(place, 0)) for place, amount in stake.items()}
            if not any(taken.values()):
                continue
            missing = _without(missing, taken)
            left = _without(stake, taken)
            event = _stake_event(table, stake_id, {place: amount for place, amount in taken.items() if amount})
            event |= {"remaining_cents": str(sum(left.values()))}
            if left:
                table.stakes[stake_id] = left
                event |= {"remaining_bets": table.bets_message(left)}
                reduced.append({"stake_id": stake_id, "amount_cents": str(sum(left.values())), "bets": _bets(left)})
            else:
                del table.stakes[stake_id]
                cancelled.append(stake_id)
            await self._event(table, {"bets_cancelled": event})
        await self._balance_changed()
        answer = {"cancelled_cents": str(cents), "on_felt": _bets(table.on_felt), "balance": self._guest.balance()}
        return {**answer, "cancelled_stake_ids": cancelled, "reduced_stakes": reduced}

    async def _start(self, params: Json) -> Json:
        table, felt = self._guest.table(params["table_id"]), self._guest.table(params["table_id"]).on_felt
        results = [table.game.result(table.layout, place, cents) for place, cents in felt.items()]
        staked, payout = sum(felt.values()), sum(int(one["payout_cents"]) for one in results)
        phrase = {"pt": "Jogo feito, nada mais.", "en": "No more bets."}
        await self._event(table, {"betting_closed": {"round_id": table.round_id, "phrase": phrase}})
        drawn = {"round_id": table.round_id, "draw_trigger": "DRAW_TRIGGER_PLAYER", "outcome": table.outcome()}
        if table.game.cards:
            drawn |= {"shown_at": _in_ms(table.dealing_ms)}
        await self._event(table, {"outcome_drawn": drawn})
        before = self._guest.free_cents + self._guest.locked_cents
        self._guest.move(payout, -staked)
        await self._balance_changed()
        table.rounds.insert(0, self._played(table, results, before))
        table.past.insert(0, {"round_id": table.round_id, "drawn_at": _now(), "outcome": table.outcome()})
        started: Json = {"round_id": table.round_id, "staked_cents": str(staked), "payout_cents": str(payout)}
        started |= {"void_reason": "", "next_round_id": f"{table.table_id}.{table.number + 1}"}
        started |= {"outcome": table.game.outcome(table.layout), "results": {"results": results}}
        return {**started, "balance": self._guest.balance()}

    async def end_round(self, table_id: str) -> None:
        """Settles the round, and opens the next one after the result has been shown."""
        table = self._guest.table(table_id)
        played = table.rounds[0]
        shown_ms = table.dealing_ms + RESULT_SHOWN_MS
        result = {"seat": 1, "staked_cents": played["staked_cents"], "payout_cents": played["payout_cents"]}
        settled = {"round_id": table.round_id, "results": [result], "next_round_opens_at": _in_ms(shown_ms)}
        phrase = {"pt": "Façam as vossas apostas.", "en": "Place your bets."}
        # A page that is closed meanwhile needs no more of it.
        with suppress(ConnectionResetError):
            await self._event(table, {"round_settled": settled})
            table.last_bets, table.stakes = table.on_felt, {}
            table.number += 1
            await asyncio.sleep(shown_ms / 1000)
            await self._event(table, {"round_opened": {"round": table.snapshot()["round"], "phrase": phrase}})

    def _played(self, table: _Table, results: list[Json], before_cents: int) -> Json:
        """Returns the round for the history, made from the recorded one."""
        played: Json = copy.deepcopy(table.recorded["TableService.ListPlayerRounds"]["rounds"][0])
        staked = sum(int(one["amount_cents"]) for one in results)
        payout = sum(int(one["payout_cents"]) for one in results)
        stake = {**played["stakes"][0], "amount_cents": str(staked), "payout_cents": str(payout)}
        told = {"@type": table.game.type_name("BetResults"), "results": results}
        stake |= {"bets": table.bets_message(table.on_felt), "results": told}
        played |= {"stakes": [stake], "cancelled_stakes": [], "staked_cents": str(staked), "payout_cents": str(payout)}
        played["round"] |= {"round_id": table.round_id, "outcome": table.outcome()}
        after_cents = before_cents - staked + payout
        return {**played, "balance_before_cents": str(before_cents), "balance_after_cents": str(after_cents)}


def _stake_event(table: _Table, stake_id: str, bets: Bets) -> Json:
    event = {"round_id": table.round_id, "seat": 1, "amount_cents": str(sum(bets.values())), "stake_id": stake_id}
    return {**event, "bets": table.bets_message(bets)}


def _total(stakes: Iterable[Bets]) -> Bets:
    total: Bets = {}
    for stake in stakes:
        for place, cents in stake.items():
            total[place] = total.get(place, 0) + cents
    return total


def _without(bets: Bets, taken: Bets) -> Bets:
    left = {place: amount - taken.get(place, 0) for place, amount in bets.items()}
    return {place: amount for place, amount in left.items() if amount}


def _bets(bets: Bets) -> Json:
    return {"bets": [{"place": place, "amount_cents": str(cents)} for place, cents in bets.items()]}


async def _nobody(_: web.Request) -> web.Response:
    return web.Response(status=204)


@contextmanager
def recorded_platform() -> Iterator[RecordedPlatform]:
    """Serves in a thread of its own until the end."""
    platform = RecordedPlatform()
    with served(platform.application(), platform.socket):
        yield platform

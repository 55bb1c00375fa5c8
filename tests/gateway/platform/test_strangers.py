"""Nobody learns anything of a player's own things, whatever they call: not what they hold, and not that they exist.

Every method of the platform is called with ids of a player, and then with ids that nobody has: over REST, over a
WebSocket and at the services themselves, by another player, a guest, and without a token. Both answers have to be the
same but for the ids that were sent.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import aiohttp
import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from feltro.wallet.v1 import session_pb2
from gateway.contracts import json_codec
from gateway.contracts.descriptors import platform_files, read_declared_files
from gateway.contracts.methods import Binding, Contracts, Method
from services.kit.rpc.status import error_info, status_of
from services.kit.table.live.individual_ids import SUFFIX_CHARACTERS, IndividualTableIds
from tests.gateway.live_gateway import RpcClient
from tests.gateway.platform.processes import TIMEOUT_S, Platform
from tests.processes.gateway import RestClient
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL

CONTRACTS = Contracts()
TABLE = "strangers"
COMPLAINT_TEXT = "what the victim complains about"

# What these do depends on the token alone, or on nothing.
_ABOUT_THE_CALLER = {"GatewayService.Logout", "GatewayService.EnterDemo"}
# Parts of an answer that are new each time.
_VOLATILE = {"trace_id", "at", "seq", "instance"}

JsonObject = dict[str, Any]
Ids = dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """An answer without what is new each time."""

    status: object
    body: object

    def without(self, ids: Ids) -> Outcome:
        """The same answer with placeholders for ids that the request named."""
        text = json.dumps([self.status, self.body], sort_keys=True)
        for name, value in sorted(ids.items(), key=lambda each: -len(each[1])):
            text = text.replace(value, f"<{name}>")
        status, body = json.loads(text)
        return Outcome(status, body)


Call = Callable[[Ids], Awaitable[Outcome]]


@dataclass
class Victim:
    """A player who has played, plays and complains, and all ids that belong to them."""

    token: str
    session_ids: Ids
    known: list[str]
    """What no answer to anybody else may contain, unless the request has named it."""

    def ids(self) -> Ids:
        return dict(self.session_ids)


@pytest.fixture(scope="module", autouse=True)
def open_tables(platform: Platform) -> None:
    # However slow the machine: nobody's session ends while this runs.
    never = session_pb2.InactivityPolicy(invite=False)
    alone = configuration(play=INDIVIDUAL, call_bets=False, inactivity=never)
    asyncio.run(platform.open_tables({TABLE: alone}))


@pytest.fixture
async def rest(platform: Platform, session: aiohttp.ClientSession) -> RestClient:
    return RestClient(session, platform.gateway)


async def _player(rest: RestClient, name: str) -> tuple[str, str, str]:
    """Makes a player with money; returns their id, account and token."""
    player_id, operator = f"{name}{uuid4().hex[:10]}", rest.token("operator", "back-office")
    opened = await rest.call("POST", "/v1/accounts", {"player_id": player_id, "mode": "MODE_REAL"}, operator)
    account_id = str(opened.body["balance"]["account_id"])  # type: ignore[index]
    paid = await rest.call("POST", f"/v1/accounts/{account_id}/deposits", {"amount_cents": 123_400}, operator)
    assert paid.status == 200
    return player_id, account_id, rest.token("player", player_id)


async def _seat(rest: RestClient, token: str, table: str) -> JsonObject:
    """Seats a player and returns the table as they see it, once a round takes bets there."""
    entered: JsonObject = (await rest.call("POST", f"/v1/tables/{table}:enter", {}, token)).body
    return entered | {"table": await _when_betting(rest, token, entered["table"]["table_id"])}


async def _when_betting(rest: RestClient, token: str, table_id: str) -> JsonObject:
    """Returns a table as soon as a round takes bets there."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            shown: JsonObject = (await rest.call("GET", f"/v1/tables/{table_id}", None, token)).body
            if shown["table"]["phase"] == "PHASE_BETTING":
                table: JsonObject = shown["table"]
                return table
            await asyncio.sleep(0.05)


async def _victim(rest: RestClient) -> Victim:
    player_id, account_id, token = await _player(rest, "victim")
    seat = await _seat(rest, token, TABLE)
    table_id, played = seat["table"]["table_id"], seat["table"]["round"]["round_id"]
    bets, request_id = {"bets": [{"place": "red", "amount_cents": 700}]}, f"request-{uuid4()}"
    path = f"/v1/roulette/tables/{table_id}"
    placed = await rest.call("POST", f"{path}/bets", {"round_id": played, **bets}, token, key=request_id)
    assert placed.status == 200, placed.body
    spun: JsonObject = (await rest.call("POST", f"{path}:spin", {"round_id": played}, token)).body
    open_round = (await _when_betting(rest, token, table_id))["round"]["round_id"]
    assert spun["round_id"] == played
    assert (await rest.call("POST", f"{path}/bets", {"round_id": open_round, **bets}, token)).status == 200
    about = {"account_id": account_id, "session_id": seat["session"]["session_id"], "text": COMPLAINT_TEXT}
    complaint: JsonObject = (await rest.call("POST", "/v1/complaints", about, token)).body
    ids = {
        "table_id": table_id,
        "round_id": open_round,
        "session_id": seat["session"]["session_id"],
        "account_id": account_id,
        "player_id": player_id,
        "reference": complaint["complaint"]["reference"],
        "request_id": request_id,
        "stake_id": placed.body["stake"]["stake_id"],  # type: ignore[index]
    }
    # The played round is tried in place of the open one, too.
    return Victim(token, ids, [*ids.values(), played, COMPLAINT_TEXT])


def _invented(ids: Ids) -> Ids:
    """Ids of the same forms that nobody has."""
    table_id = f"{TABLE}-{uuid4().hex[: SUFFIX_CHARACTERS - 1]}"
    number = ids["round_id"].rpartition(".")[2]
    return {
        "table_id": table_id,
        "round_id": f"{table_id}.{number}",
        "session_id": str(uuid4()),
        "account_id": str(uuid4()),
        "player_id": f"victim{uuid4().hex[:10]}",
        "reference": ids["reference"][:-6] + "999999",
        "request_id": f"request-{uuid4()}",
        "stake_id": f"{table_id}.{number}:{uuid4().hex[:16]}",
    }


# -- requests --------------------------------------------------------------------------------------------------------


def _sample(field: FieldDescriptor) -> object:
    """A value for a field that is no id."""
    known: dict[str, object] = {
        "game": "roulette",
        "mode": "MODE_REAL",
        "cause": "END_CAUSE_LOGOUT",
        "text": "Words.",
        "reason": "Because.",
        "bets": [{"place": "red", "amount_cents": 100}],
        "policy": {"invite": True},
        "enabled": True,
        "scope": "SWITCH_SCOPE_GAME",
        "subject": "nobody-of-this-name",
        "amount_cents": 100,
        "by_ms": 1_000,
    }
    return known.get(field.name)


def _ids_of(request: MethodDescriptor) -> list[str]:
    """The fields of a method's request that hold an id of somebody's."""
    names = ("table_id", "round_id", "session_id", "account_id", "player_id", "reference", "request_id", "stake_id")
    return [name for name in names if name in request.input_type.fields_by_name]


def _choices(method: MethodDescriptor) -> Iterator[tuple[str, ...]]:
    """Which of the id fields are a victim's: all, and each alone beside the caller's own."""
    names = _ids_of(method)
    if names:
        yield tuple(names)
        if len(names) > 1:
            yield from ((name,) for name in names)


def _request(method: MethodDescriptor, foreign: tuple[str, ...], ids: Ids, own: Ids) -> JsonObject:
    """A request with these foreign ids. Where the caller's own are needed they stand beside them."""
    request: JsonObject = {}
    for field in method.input_type.fields:
        if field.name in foreign:
            request[field.name] = ids[field.name]
        elif field.name in own and len(foreign) == 1 and field.name in _NEEDED_BESIDE.get(method.name, ()):
            request[field.name] = own[field.name]
        elif (sample := _sample(field)) is not None:
            request[field.name] = sample
    if "request_id" in method.input_type.fields_by_name:
        request.setdefault("request_id", f"mine-{uuid4()}")
    return request


# The caller's own ids without which a call would be refused for another reason.
_NEEDED_BESIDE = {
    "FileComplaint": ("account_id",),
    "ListComplaints": ("account_id",),
    "ListPlayerRounds": ("player_id",),
    "PlaceBets": ("table_id", "round_id"),
    "RepeatBets": ("table_id", "round_id"),
    "CancelBets": ("table_id", "round_id"),
    "Spin": ("table_id", "round_id"),
    "EnterTable": ("table_id",),
}


def _cleaned(value: object) -> object:
    if isinstance(value, dict):
        return {name: _cleaned(each) for name, each in value.items() if name not in _VOLATILE}
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return value


def _rest_call(session: aiohttp.ClientSession, binding: Binding, token: str, request: JsonObject) -> Awaitable[Outcome]:
    async def call() -> Outcome:
        content = dict(request)
        key = content.pop("request_id", None)
        path = binding.template
        for name in binding.variables:
            path = path.replace(f"{{{name}}}", quote(str(content.pop(name, "none")), safe=""))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if key:
            headers["Idempotency-Key"] = key
        body: object = None
        if binding.body == "*":
            body = content
        elif binding.body:
            body = content.pop(binding.body, {})
        if binding.body != "*" and (query := {name: each for name, each in content.items() if isinstance(each, str)}):
            path += "?" + urlencode(query)
        async with session.request(binding.verb, path, json=body, headers=headers) as answer:
            return Outcome(answer.status, _cleaned(await answer.json(content_type=None)))

    return call()


async def _ws_call(client: RpcClient, method: Method, request: JsonObject) -> Outcome:
    answer = await client.call(method.rpc_name, **request)
    return Outcome("error" if "error" in answer else "result", _cleaned(answer.get("error") or answer.get("result")))


async def _grpc_call(channel: grpc.aio.Channel, method: MethodDescriptor, token: str, request: Message) -> Outcome:
    call: Callable[..., Awaitable[Message]] = channel.unary_unary(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    try:
        answer = await call(request, metadata=(("authorization", f"Bearer {token}"),), timeout=TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        status = status_of(error)
        info = None if status is None else error_info(status)
        return Outcome(error.code().name, [info.reason, error.details(), dict(info.metadata)] if info else [])
    return Outcome("OK", _cleaned(json.loads(json_codec.encode(answer))))


# -- the test --------------------------------------------------------------------------------------------------------


class Sweep:
    """Compares the answers to a victim's ids with those to ids that nobody has, and collects what differs."""

    def __init__(self, victim: Victim) -> None:
        self._victim = victim
        # The same throughout, like the victim's: the caller may have used either for another command of their own.
        self._request_id = f"request-{uuid4()}"
        self.compared = 0
        self.leaks: list[str] = []

    async def compare(self, name: str, foreign: Collection[str], call: Call) -> None:
        """Calls with the victim's ids in the `foreign` fields, and with ids that nobody has."""
        ids = self._victim.ids()
        invented = _invented(ids) | {"request_id": self._request_id}
        real, imagined = await call(ids), await call(invented)
        self.compared += 1
        sent, imagined_sent = ({name: each[name] for name in foreign} for each in (ids, invented))
        text = json.dumps(real.body)
        told = [
            secret
            for secret in self._victim.known
            if secret in text and not any(secret in value for value in sent.values())
        ]
        if told:
            self.leaks.append(f"{name} tells {told}: {real}")
        answers = real.without(sent), imagined.without(imagined_sent)
        if answers[0].status != answers[1].status or (not _is_success(real) and answers[0] != answers[1]):
            self.leaks.append(f"{name}: {answers[0]} is not {answers[1]}")


def _is_success(outcome: Outcome) -> bool:
    return outcome.status in {200, "result", "OK"}


def _service_methods() -> list[MethodDescriptor]:
    """Every unary method of every service, offered to clients or not."""
    return [
        method
        for file in platform_files(read_declared_files())
        for service in file.services_by_name.values()
        for method in service.methods
        if not method.client_streaming and not method.server_streaming
    ]


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("caller", ["player", "guest", "nobody"])
async def test_g7_no_method_tells_a_stranger_anything_of_a_player(
    platform: Platform, rest: RestClient, caller: str
) -> None:
    victim = await _victim(rest)
    before = await _state(rest, victim)
    own, token = await _caller(rest, caller)
    sweep = Sweep(victim)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with rest.session.ws_connect("/v1/ws", headers=headers) as ws:
        client = RpcClient(ws)
        for method in CONTRACTS.methods:
            if method.rpc_name in _ABOUT_THE_CALLER:
                continue
            for foreign in _choices(method.descriptor):
                name = f"{method.rpc_name} {'+'.join(foreign)} by a {caller}"

                async def over_websocket(
                    ids: Ids, method: Method = method, foreign: tuple[str, ...] = foreign
                ) -> Outcome:
                    return await _ws_call(client, method, _request(method.descriptor, foreign, ids, own))

                await sweep.compare(f"{name} over a WebSocket", foreign, over_websocket)
                for binding in method.bindings:

                    async def over_rest(
                        ids: Ids,
                        binding: Binding = binding,
                        method: Method = method,
                        foreign: tuple[str, ...] = foreign,
                    ) -> Outcome:
                        request = _request(method.descriptor, foreign, ids, own)
                        return await _rest_call(rest.session, binding, token, request)

                    await sweep.compare(f"{name} at {binding.verb} {binding.template}", foreign, over_rest)
        for from_seq in (None, 0, 1):

            async def subscribe(ids: Ids, from_seq: int | None = from_seq) -> Outcome:
                answer = await client.call("subscribe", table_id=ids["table_id"], from_seq=from_seq)
                return Outcome("error" if "error" in answer else "result", _cleaned(answer))

            await sweep.compare(f"subscribe from {from_seq} by a {caller}", ["table_id"], _without_ids(subscribe))
    await sweep.compare(f"the stream by a {caller}", ["table_id"], _stream(rest, headers))
    assert sweep.leaks == []
    assert sweep.compared > 80
    assert await _state(rest, victim) == before


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize("caller", ["player", "guest"])
async def test_g7_no_service_tells_a_stranger_anything_of_a_player(
    platform: Platform, rest: RestClient, caller: str
) -> None:
    """At their own ports, too, where methods are offered that only services call."""
    victim = await _victim(rest)
    before = await _state(rest, victim)
    own, token = await _caller(rest, caller)
    sweep = Sweep(victim)
    async with (
        grpc.aio.insecure_channel(platform.wallet.address) as wallet,
        grpc.aio.insecure_channel(platform.roulette.address) as roulette,
    ):
        for method in _service_methods():
            for channel in (wallet, roulette):
                for foreign in list(_choices(method)) or [()]:

                    async def call(
                        ids: Ids,
                        channel: grpc.aio.Channel = channel,
                        method: MethodDescriptor = method,
                        foreign: tuple[str, ...] = foreign,
                    ) -> Outcome:
                        content = _request(method, foreign, ids, own)
                        request = json_codec.from_json(content, GetMessageClass(method.input_type))
                        return await _grpc_call(channel, method, token, request)

                    await sweep.compare(f"{method.full_name} {'+'.join(foreign)} by a {caller}", foreign, call)
    assert sweep.leaks == []
    assert sweep.compared > 80
    assert await _state(rest, victim) == before


@pytest.mark.guarantee("G7")
async def test_g7_a_round_that_somebody_played_alone_is_unknown_to_others(rest: RestClient) -> None:
    """Its state and its times would tell when they play."""
    victim = await _victim(rest)
    _, _, token = await _player(rest, "stranger")
    await _seat(rest, token, TABLE)
    table_id = victim.ids()["table_id"]
    round_ids = [f"{table_id}.{number}" for number in (1, 2, 3)]
    for path in ("/v1/rounds/{}", "/v1/transactions?round_id={}"):
        answers = [await rest.call("GET", path.format(quote(each, safe="")), None, token) for each in round_ids]
        assert {(answer.status, answer.body["reason"]) for answer in answers} == {(404, "ROUND_UNKNOWN")}
    mine = await rest.call("GET", f"/v1/rounds/{quote(round_ids[0], safe='')}", None, victim.token)
    assert (mine.status, mine.body["round"]["table_id"]) == (200, table_id)  # type: ignore[index]


@pytest.mark.guarantee("G7")
async def test_g7_the_id_of_a_players_own_table_cannot_be_computed(platform: Platform, rest: RestClient) -> None:
    """It depends on a key, and differs from one configured table to the next: it shows nobody who plays where."""
    player_id, _, token = await _player(rest, "victim")
    seated = (await _seat(rest, token, TABLE))["table"]["table_id"]
    again = (await _seat(rest, token, TABLE))["table"]["table_id"]
    assert seated == again
    assert re.fullmatch(rf"{TABLE}-[0-9a-f]{{{SUFFIX_CHARACTERS - 1}}}", seated)
    assert seated != IndividualTableIds(b"").table_id(TABLE, player_id)
    key = (platform.roulette.home / "roulette-tables.key").read_bytes()
    assert seated == IndividualTableIds(key).table_id(TABLE, player_id)
    assert IndividualTableIds(key).table_id("other", player_id)[-16:] != seated[-16:]


async def _caller(rest: RestClient, caller: str) -> tuple[Ids, str]:
    """A stranger with things of their own, and their token."""
    if caller == "nobody":
        return {}, ""
    if caller == "guest":
        entered: JsonObject = (await rest.call("POST", "/v1/demo:enter", {})).body
        return {"player_id": entered["player_id"]}, entered["token"]
    player_id, account_id, token = await _player(rest, "stranger")
    seat = await _seat(rest, token, TABLE)
    own = {"player_id": player_id, "account_id": account_id, "table_id": seat["table"]["table_id"]}
    return own | {"round_id": seat["table"]["round"]["round_id"], "session_id": seat["session"]["session_id"]}, token


async def _state(rest: RestClient, victim: Victim) -> list[object]:
    """What must not change, as the victim sees it."""
    ids = victim.ids()
    paths = (
        f"/v1/accounts/{ids['account_id']}/balance",
        f"/v1/complaints/{ids['reference']}",
        f"/v1/tables/{ids['table_id']}",
    )
    answers = [await rest.call("GET", path, None, victim.token) for path in paths]
    assert [answer.status for answer in answers] == [200, 200, 200]
    session = await rest.call("GET", f"/v1/sessions/{ids['session_id']}", None, victim.token)
    state: Mapping[str, Any] = session.body["session"]  # type: ignore[assignment]
    return [*(_cleaned(answer.body) for answer in answers), state["state"]]


def _without_ids(call: Call) -> Call:
    """The answer to a call of JSON-RPC without its own number."""

    async def answered(ids: Ids) -> Outcome:
        outcome = await call(ids)
        assert isinstance(outcome.body, dict)
        return Outcome(outcome.status, {name: each for name, each in outcome.body.items() if name != "id"})

    return answered


def _stream(rest: RestClient, headers: Mapping[str, str]) -> Call:
    async def call(ids: Ids) -> Outcome:
        async with rest.session.get(f"/v1/tables/{ids['table_id']}/events", headers=headers) as answer:
            if answer.status == 200:
                return Outcome(200, (await answer.content.readline()).decode())
            return Outcome(answer.status, _cleaned(await answer.json(content_type=None)))

    return call

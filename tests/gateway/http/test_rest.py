"""REST: path, query, body and headers become the request, or the call is refused with the name of the wrong field."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from multidict import CIMultiDict
from prometheus_client import REGISTRY
from yarl import URL

from feltro.blackjack.v1 import blackjack_pb2
from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import complaint_pb2, session_pb2, types_pb2, wallet_pb2
from gateway.access.rate_limiter import Limit, Limits
from gateway.contracts.descriptors import message_type
from gateway.contracts.methods import Method
from gateway.http.rest import BODY_BYTES_LIMIT
from gateway.http.routes import Routes
from tests.gateway.http_gateway import (
    CONTRACTS,
    FakeDispatcher,
    FakeRequestAuthenticator,
    HttpClient,
    bearer_headers,
    http_gateway,
)

ANA = bearer_headers("ana")
MOVE_URL = "type.googleapis.com/feltro.blackjack.v1.Move"
COMMAND = bearer_headers("ana", **{"Idempotency-Key": "k1"})


async def test_path_body_and_idempotency_key_become_the_request(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    body = {"roundId": "r1", "bets": [{"place": "red", "amount_cents": 500}, {"place": "17", "amount_cents": "100"}]}
    answer = await client.post("/v1/roulette/tables/a%2Fb%C3%A7/bets", json=body, headers=COMMAND)
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert dispatcher.calls[-1].token in ANA["Authorization"].split()
    bets = [roulette_pb2.Bet(place="red", amount_cents=500), roulette_pb2.Bet(place="17", amount_cents=100)]
    assert dispatcher.last_request == roulette_pb2.PlaceBetsRequest(
        request_id="k1", table_id="a/bç", round_id="r1", bets=bets
    )


@pytest.mark.parametrize(
    ("verb", "path", "expected"),
    [
        ("POST", "/v1/tables/t1:enter", table_pb2.EnterTableRequest(table_id="t1", request_id="k1")),
        ("POST", "/v1/tables/a:b:enter", table_pb2.EnterTableRequest(table_id="a:b", request_id="k1")),
        ("GET", "/v1/tables/t1%3Aenter", table_pb2.GetTableRequest(table_id="t1:enter")),
        ("GET", "/v1/tables/t%0A1", table_pb2.GetTableRequest(table_id="t\n1")),
        ("GET", "/v1/tables/t1:other", table_pb2.GetTableRequest(table_id="t1:other")),
        ("POST", "/v1/players/p/sessions:end", session_pb2.EndPlayerSessionsRequest(player_id="p")),
        (
            "GET",
            "/v1/players/p/accounts/MODE_DEMO",
            wallet_pb2.FindAccountRequest(player_id="p", mode=types_pb2.MODE_DEMO),
        ),
        (
            "GET",
            "/v1/games/g/rounds/r:replay",
            table_pb2.ReplayRoundRequest(game="g", round_id="r"),
        ),
        (
            "GET",
            "/v1/complaints?account_id=a%20b&state=COMPLAINT_STATE_FILED&page_size=7&page_token=x",
            complaint_pb2.ListComplaintsRequest(
                account_id="a b",
                state=complaint_pb2.COMPLAINT_STATE_FILED,
                page_size=7,
                page_token="x",  # noqa: S106 - a place in a list
            ),
        ),
        (
            "GET",
            "/v1/players/p/sessions?runningOnly=true&pageSize=3",
            session_pb2.ListSessionsRequest(player_id="p", running_only=True, page_size=3),
        ),
        ("GET", "/v1/transactions?session_id=s", wallet_pb2.ListTransactionsRequest(session_id="s")),
        (
            "GET",
            "/v1/transactions?round_id=r&page_size=1",
            wallet_pb2.ListTransactionsRequest(round_id="r", page_size=1),
        ),
        (
            "GET",
            "/v1/transactions?session_id=s&accountId=a",
            wallet_pb2.ListTransactionsRequest(session_id="s", account_id="a"),
        ),
    ],
)
async def test_path_and_query_become_the_request(
    client: HttpClient, dispatcher: FakeDispatcher, verb: str, path: str, expected: Message
) -> None:
    headers = COMMAND if verb == "POST" else ANA
    body: object = {} if verb == "POST" else None
    answer = await client.request(verb, URL(path, encoded=True), json=body, headers=headers)
    assert answer.status == 200, await answer.text()
    assert dispatcher.last_request == expected


async def test_a_decision_becomes_a_request_with_the_games_own_message(
    client: HttpClient, dispatcher: FakeDispatcher
) -> None:
    move = {"@type": MOVE_URL, "place": 3, "decision": "DECISION_DOUBLE"}
    answer = await client.post("/v1/tables/t/rounds/t.7:act", json={"turn": 4, "move": move}, headers=COMMAND)
    assert answer.status == 200, await answer.text()
    expected = table_pb2.ActRequest(request_id="k1", table_id="t", round_id="t.7", turn=4)
    expected.move.Pack(blackjack_pb2.Move(place=3, decision=blackjack_pb2.DECISION_DOUBLE), deterministic=True)
    assert dispatcher.last_request == expected


@pytest.mark.parametrize(
    ("move", "field"),
    [
        ({"place": 3}, "move.@type"),
        ({"@type": "type.googleapis.com/feltro.blackjack.v1.Bets"}, "move.@type"),
        ({"@type": "type.googleapis.com/feltro.blackjack.v1.OwnView"}, "move.@type"),
        ({"@type": "type.googleapis.com/feltro.roulette.v1.Outcome"}, "move.@type"),
        ({"@type": MOVE_URL, "decision": "DECISION_WIN"}, "move.decision"),
        ({"@type": MOVE_URL, "hole_card": 1}, "move.hole_card"),
        ([], "move"),
    ],
)
async def test_what_is_no_decision_of_any_game_is_refused(
    client: HttpClient, dispatcher: FakeDispatcher, move: object, field: str
) -> None:
    answer = await client.post("/v1/tables/t/rounds/t.7:act", json={"turn": 4, "move": move}, headers=COMMAND)
    assert answer.status == 400
    assert (await answer.json())["facts"]["field"] == field
    assert dispatcher.calls == []


async def test_a_body_may_be_one_field_of_the_request(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    answer = await client.put("/v1/tables/t/inactivityPolicy", json={"invite": True}, headers=ANA)
    assert answer.status == 200
    assert dispatcher.last_request == session_pb2.SetInactivityPolicyRequest(
        table_id="t", policy=session_pb2.InactivityPolicy(invite=True)
    )


@pytest.mark.parametrize(
    ("verb", "path", "body", "field"),
    [
        ("GET", "/v1/tables/t?colour=red", None, "colour"),
        ("GET", "/v1/players/p/sessions?page_size=many", None, "page_size"),
        ("GET", "/v1/players/p/sessions?page_size=", None, "page_size"),
        ("GET", "/v1/players/p/sessions?page_size=1&page_size=2", None, "page_size"),
        ("GET", "/v1/players/p/sessions?pageSize=1&page_size=2", None, "page_size"),
        ("GET", "/v1/players/p/sessions?running_only=yes", None, "running_only"),
        ("GET", "/v1/players/p/sessions?running_only=%FF", None, None),
        ("GET", "/v1/players/p/sessions?" + "&".join(["page_size=1"] * 101), None, None),
        ("GET", "/v1/players/%FF/sessions", None, None),
        ("GET", "/v1/players/p/accounts/REAL", None, "mode"),
        ("GET", "/v1/players/p/accounts/2", None, "mode"),
        ("POST", "/v1/accounts?mode=MODE_REAL", {}, "mode"),
        ("POST", "/v1/accounts", {"mode": "X"}, "mode"),
        ("POST", "/v1/accounts", [], None),
        ("POST", "/v1/accounts/a/deposits", {"account_id": "b", "amount_cents": 1}, "account_id"),
        ("POST", "/v1/accounts/a/deposits", {"request_id": "other", "amount_cents": 1}, "request_id"),
        ("POST", "/v1/accounts/a/deposits", {"account_id": "", "amount_cents": 1}, "account_id"),
        ("POST", "/v1/accounts/a/deposits", {"accountId": "b", "amount_cents": 1}, "account_id"),
        ("POST", "/v1/accounts/a/deposits?amount_cents=2", {"amount_cents": 1}, "amount_cents"),
        ("PUT", "/v1/tables/t/inactivityPolicy", {"policy": {}}, "policy.policy"),
        ("PUT", "/v1/tables/t/inactivityPolicy?policy.invite=false", {"invite": True}, "policy.invite"),
        ("PUT", "/v1/tables/t/inactivityPolicy?policy.idleSeconds=1", {"invite": True}, "policy.idleSeconds"),
        ("PUT", "/v1/tables/t/inactivityPolicy?table_id=u", {"invite": True}, "table_id"),
        ("PUT", "/v1/tables/t/inactivityPolicy", {"idleSeconds": "x"}, "policy.idle_seconds"),
        ("POST", "/v1/accounts/a/deposits", {"amountCents": "1.5"}, "amount_cents"),
        ("POST", "/v1/accounts/a/deposits", {"amount_cents": "01"}, "amount_cents"),
    ],
)
async def test_an_unreadable_field_is_named(
    client: HttpClient, dispatcher: FakeDispatcher, verb: str, path: str, body: object, field: str | None
) -> None:
    headers = COMMAND if verb == "POST" else ANA
    answer = await client.request(verb, URL(path, encoded=True), json=body, headers=headers)
    problem = await answer.json(content_type="application/problem+json")
    assert (answer.status, problem["reason"], problem["domain"]) == (400, "INVALID", "gateway.feltro")
    assert problem["facts"] == ({} if field is None else {"field": field})
    assert not dispatcher.calls


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("verb", "path", "body", "field"),
    [
        ("POST", "/v1/accounts/a/deposits", '{"amount_cents": 100, "amount_cents": 200}', "amount_cents"),
        ("POST", "/v1/accounts/a/deposits", '{"amount_cents": 100, "amountCents": 200}', "amount_cents"),
        ("POST", "/v1/accounts/a/deposits", '{"amount_cents": 100, "amount_\\u0063ents": 200}', "amount_cents"),
        ("PUT", "/v1/tables/t/inactivityPolicy", '{"invite": true, "invite": false}', "policy.invite"),
        (
            "POST",
            "/v1/roulette/tables/t/bets",
            '{"round_id": "r", "bets": [{"place": "red", "amount_cents": 1, "amount_cents": 2}]}',
            "bets[0].amount_cents",
        ),
    ],
)
async def test_g12_a_field_that_is_given_twice_is_refused(
    client: HttpClient, dispatcher: FakeDispatcher, verb: str, path: str, body: str, field: str
) -> None:
    headers = {**(COMMAND if verb == "POST" else ANA), "Content-Type": "application/json"}
    answer = await client.request(verb, path, data=body, headers=headers)
    problem = await answer.json(content_type="application/problem+json")
    assert (answer.status, problem["reason"], problem["facts"]) == (400, "INVALID", {"field": field})
    assert not dispatcher.calls


@pytest.mark.guarantee("G12")
async def test_g12_two_idempotency_keys_are_refused(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    headers = CIMultiDict([*COMMAND.items(), ("Idempotency-Key", "another")])
    answer = await client.post("/v1/accounts/a/deposits", json={"amount_cents": 1}, headers=headers)
    problem = await answer.json(content_type="application/problem+json")
    assert (answer.status, problem["facts"]) == (400, {"field": "request_id"})
    assert not dispatcher.calls


def _text_paths(message: Descriptor, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the path of every text of a request; `0` is the first item of a list."""
    for field in message.fields:
        path = (*above, field.name)
        if field.type == FieldDescriptor.TYPE_STRING:
            yield path
        elif field.type == FieldDescriptor.TYPE_MESSAGE and message_type(field).full_name.startswith("feltro."):
            yield from _text_paths(message_type(field), (*path, "0") if field.is_repeated else path)


def _nested(path: tuple[str, ...], value: object) -> object:
    for name in reversed(path):
        value = [value] if name == "0" else {name: value}
    return value


@pytest.mark.parametrize(
    "method", [method for method in CONTRACTS.methods if method.bindings], ids=lambda method: method.rpc_name
)
async def test_a_text_with_u_0000_is_refused_in_every_field(
    client: HttpClient, dispatcher: FakeDispatcher, method: Method
) -> None:
    for binding in method.bindings:
        for path in _text_paths(method.descriptor.input_type):
            name = ".".join(path)
            variables = {
                variable: "%00" if variable == name else "MODE_REAL" if variable == "mode" else "x"
                for variable in binding.variables
            }
            url = binding.template.format(**variables)
            body: object = {} if binding.body else None
            if name not in variables:
                if binding.body == "*":
                    body = _nested(path, "a\0b")
                else:
                    url += f"?{name}=a%00b"
            answer = await client.request(binding.verb, URL(url, encoded=True), json=body, headers=COMMAND)
            problem = await answer.json()
            facts = {"field": name.replace(".0", "[0]")}
            assert (answer.status, problem["reason"], problem["facts"]) == (400, "INVALID", facts), problem
    assert not dispatcher.calls


async def test_path_and_body_may_repeat_the_same_value(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    body = {"account_id": "a", "request_id": "k1", "amount_cents": "5"}
    answer = await client.post("/v1/accounts/a/deposits", json=body, headers=COMMAND)
    assert answer.status == 200
    assert dispatcher.last_request == wallet_pb2.DepositRequest(request_id="k1", account_id="a", amount_cents=5)


@pytest.mark.guarantee("G3")
async def test_g3_a_command_without_a_valid_idempotency_key_is_refused(
    client: HttpClient, dispatcher: FakeDispatcher
) -> None:
    answer = await client.post("/v1/accounts/a/deposits", json={"amount_cents": 5}, headers=ANA)
    assert answer.status == 400
    assert "Idempotency-Key" in (await answer.json())["detail"]
    for key in ("", "a b", "x" * 65):
        named = await client.post(
            "/v1/accounts/a/deposits",
            json={"amount_cents": 5},
            headers=bearer_headers("ana", **{"Idempotency-Key": key}),
        )
        assert named.status == 400
    assert not dispatcher.calls


async def test_the_request_id_may_be_in_the_body(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    answer = await client.post("/v1/accounts/a/deposits", json={"requestId": "k7", "amount_cents": 5}, headers=ANA)
    assert answer.status == 200
    assert dispatcher.last_request == wallet_pb2.DepositRequest(request_id="k7", account_id="a", amount_cents=5)


@pytest.mark.guarantee("G11")
async def test_g11_bodies_that_are_too_large_or_not_json_are_refused(
    client: HttpClient, dispatcher: FakeDispatcher
) -> None:
    large = await client.post("/v1/accounts", data=b" " * (BODY_BYTES_LIMIT + 1), headers=_json())

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES_LIMIT // 1024 + 2):
            yield b" " * 1024

    unannounced = await client.post("/v1/accounts", data=chunks(), headers=_json())
    for answer in (large, unannounced):
        assert answer.status == 413
        problem = await answer.json()
        assert (problem["reason"], problem["facts"]) == ("TOO_LARGE", {"limit": str(BODY_BYTES_LIMIT)})
    typed = await client.post(
        "/v1/accounts", data=b"{}", headers=bearer_headers("ana", **{"Content-Type": "text/plain"})
    )
    assert typed.status == 415
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused = await client.post("/v1/accounts", data=gzip.compress(b"{}"), headers=bearer_headers("ana", **packed))
    assert (refused.status, (await refused.json())["reason"]) == (415, "INVALID")
    assert refused.headers["Accept-Encoding"] == "identity"
    assert typed.headers["Accept"] == "application/json"
    for text in (b"{", b"{} {}", b"\xff"):
        assert (await client.post("/v1/accounts", data=text, headers=_json())).status == 400
    missing = await client.put("/v1/tables/t/inactivityPolicy", headers=ANA)
    assert (missing.status, (await missing.json())["facts"]) == (400, {"field": "policy"})
    assert not dispatcher.calls


async def test_a_missing_body_is_an_empty_request(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    answer = await client.post("/v1/tables/t:enter", headers=COMMAND)
    assert answer.status == 200
    assert dispatcher.last_request == table_pb2.EnterTableRequest(table_id="t", request_id="k1")


def _json() -> dict[str, str]:
    return bearer_headers("ana", **{"Content-Type": "application/json; charset=utf-8"})


async def test_unknown_verbs_and_paths_are_refused(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    for verb in ("DELETE", "PATCH", "TRACE", "GET"):
        answer = await client.request(verb, "/v1/tables/t:enter", headers=ANA)
        assert answer.status == 405
        assert answer.headers["Allow"].replace(" ", "") == "OPTIONS,POST"
        assert (await answer.json())["reason"] == "METHOD_UNKNOWN"
    options = await client.options("/v1/tables/t")
    assert (options.status, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
    for path in ("/v1/nothing", "/v1/tables/", "/v1/tables//rules", "/v1/tables/t/", "/elsewhere", "/v1"):
        answer = await client.get(path)
        assert answer.status == 404
        assert answer.content_type == "application/problem+json"
    assert not dispatcher.calls


async def test_head_is_answered_like_get_without_the_body(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    got, headed = await client.get("/v1/tables/t"), await client.head("/v1/tables/t")
    assert headed.status == 200
    assert headed.headers["Content-Length"] == got.headers["Content-Length"] != "0"
    assert await headed.read() == b""


async def test_only_valid_bearer_tokens_are_accepted(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    for headers in (
        {},
        bearer_headers("forged"),
        bearer_headers("late"),
        {"Authorization": "Basic abc"},
        {"Authorization": "Bearer"},
    ):
        answer = await client.get("/v1/accounts/a/balance", headers=headers)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert not dispatcher.calls
    assert (await client.get("/v1/tables/t")).status == 200
    assert (await client.get("/v1/tables/t", headers=bearer_headers("forged"))).status == 401


@pytest.mark.guarantee("G11")
async def test_g11_calls_over_the_limit_reach_neither_authenticator_nor_log(
    dispatcher: FakeDispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway")
    limits, authenticator = Limits(player_calls=Limit("calls of a player", 0.001, 2)), FakeRequestAuthenticator()
    before = _rate_limited_count()
    async with http_gateway(dispatcher, limits=limits, authenticator=authenticator) as client:
        answers = [await client.get("/v1/tables/t", headers=ANA) for _ in range(4)]
        assert (await client.get("/v1/tables/t", headers=bearer_headers("late"))).status == 401
    assert [answer.status for answer in answers] == [200, 200, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) > 900
    assert authenticator.verified_tokens == ["ana", "ana", "late"]
    assert [record.__dict__["reason"] for record in caplog.records if "reason" in record.__dict__] == ["TOKEN_EXPIRED"]
    assert _rate_limited_count() == before + 2


def _rate_limited_count() -> float:
    return REGISTRY.get_sample_value("feltro_edge_requests_overloaded_total", {"reason": "RATE_LIMITED"}) or 0.0


async def test_public_answers_may_be_cached_for_a_second(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    dispatcher.respond = _rules
    first = await client.get("/v1/tables/t/rules")
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "public, max-age=1"
    assert "Authorization" in first.headers["Vary"]
    again = await client.get("/v1/tables/t/rules", headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status, await again.read(), again.headers["ETag"]) == (304, b"", tag)
    own = await client.get("/v1/tables/t/rules", headers=bearer_headers("ana", **{"If-None-Match": tag}))
    assert (own.status, own.headers["Cache-Control"]) == (200, "no-store")


def _rules(_: Method, request: Message) -> Message:
    assert isinstance(request, table_pb2.GetRulesRequest)
    return table_pb2.GetRulesResponse(text="Façam as vossas apostas", language="pt", configuration_version=3)


async def test_answers_are_json_with_every_field(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    dispatcher.respond = _rules
    answer = await client.get("/v1/tables/t/rules", headers=ANA)
    assert json.loads(await answer.read()) == {
        "text": "Façam as vossas apostas",
        "language": "pt",
        "configuration_version": 3,
    }
    assert answer.headers["Content-Type"] == "application/json"


async def test_a_trace_is_passed_on(client: HttpClient, dispatcher: FakeDispatcher) -> None:
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    sent = bearer_headers("ana", traceparent=f"00-{trace_id}-{parent}-01")
    answer = await client.get("/v1/accounts/a/balance", headers=sent)
    assert answer.headers["X-Trace-Id"] == trace_id
    assert answer.headers["Traceparent"] == dispatcher.calls[-1].traceparent
    version, same, span, flags = dispatcher.calls[-1].traceparent.split("-")
    assert (version, same, flags) == ("00", trace_id, "01")
    assert span != parent
    for broken in ("", "00-0-0-0", f"00-{'0' * 32}-{parent}-01"):
        other = await client.get("/v1/nothing", headers={"traceparent": broken})
        assert (await other.json())["trace_id"] == other.headers["X-Trace-Id"] != trace_id


async def test_the_server_header_reveals_no_software(client: HttpClient) -> None:
    for path in ("/v1/tables/t", "/v1/nothing", "/healthz"):
        assert (await client.get(path)).headers["Server"] == "feltro"


def test_a_literal_path_goes_before_a_variable_one() -> None:
    routes: Routes[str] = Routes()
    for number, template in enumerate(("/a/b/c", "/a/{x}/d", "/a/{x}", "/a/b:go", "/a/{x}:go", "/{y}/b")):
        routes.add("GET", template, f"{number}")
    found = {
        path: (ends[0]["GET"], ends[1]) if (ends := routes.find(path)) else None
        for path in ("/a/b/c", "/a/b/d", "/a/b", "/a/b:go", "/a/c:go", "/a/c:stop", "/q/b", "/a", "/a/b/e", "//b")
    }
    assert found == {
        "/a/b/c": ("0", []),
        "/a/b/d": ("1", ["b"]),
        "/a/b": ("2", ["b"]),
        "/a/b:go": ("3", []),
        "/a/c:go": ("4", ["c"]),
        "/a/c:stop": ("2", ["c:stop"]),
        "/q/b": ("5", ["q"]),
        "/a": None,
        "/a/b/e": None,
        "//b": None,
    }

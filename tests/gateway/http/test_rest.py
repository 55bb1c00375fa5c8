"""What HTTP carries becomes the request that is meant, or is refused with the name of what cannot be read."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from prometheus_client import REGISTRY
from yarl import URL

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
COMMAND = bearer_headers("ana", **{"Idempotency-Key": "k1"})


async def test_path_body_and_key_make_the_request(client: HttpClient, desk: FakeDispatcher) -> None:
    body = {"roundId": "r1", "bets": [{"place": "red", "amount_cents": 500}, {"place": "17", "amount_cents": "100"}]}
    answer = await client.post("/v1/roulette/tables/a%2Fb%C3%A7/bets", json=body, headers=COMMAND)
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert desk.calls[-1].token in ANA["Authorization"].split()
    bets = [roulette_pb2.Bet(place="red", amount_cents=500), roulette_pb2.Bet(place="17", amount_cents=100)]
    assert desk.last_request == roulette_pb2.PlaceBetsRequest(
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
        ("GET", "/v1/sessions/s/transactions", wallet_pb2.ListTransactionsRequest(session_id="s")),
        ("GET", "/v1/rounds/r/transactions?page_size=1", wallet_pb2.ListTransactionsRequest(round_id="r", page_size=1)),
        (
            "GET",
            "/v1/sessions/s/transactions?accountId=a",
            wallet_pb2.ListTransactionsRequest(session_id="s", account_id="a"),
        ),
    ],
)
async def test_paths_and_queries(
    client: HttpClient, desk: FakeDispatcher, verb: str, path: str, expected: Message
) -> None:
    headers = COMMAND if verb == "POST" else ANA
    body: object = {} if verb == "POST" else None
    answer = await client.request(verb, URL(path, encoded=True), json=body, headers=headers)
    assert answer.status == 200, await answer.text()
    assert desk.last_request == expected


async def test_a_body_may_be_one_field_and_the_rest_a_query(client: HttpClient, desk: FakeDispatcher) -> None:
    answer = await client.put("/v1/tables/t/inactivityPolicy", json={"invite": True}, headers=ANA)
    assert answer.status == 200
    assert desk.last_request == session_pb2.SetInactivityPolicyRequest(
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
        ("PUT", "/v1/tables/t/inactivityPolicy", {"policy": {}}, "policy"),
    ],
)
async def test_what_cannot_be_read_is_named(
    client: HttpClient, desk: FakeDispatcher, verb: str, path: str, body: object, field: str | None
) -> None:
    headers = COMMAND if verb == "POST" else ANA
    answer = await client.request(verb, URL(path, encoded=True), json=body, headers=headers)
    said = await answer.json(content_type="application/problem+json")
    assert (answer.status, said["reason"], said["domain"]) == (400, "INVALID", "gateway.feltro")
    assert said["facts"] == ({} if field is None else {"field": field})
    assert not desk.calls


def _texts(message: Descriptor, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every text of a request, as deep as it lies; `0` is the first of a list."""
    for field in message.fields:
        path = (*above, field.name)
        if field.type == FieldDescriptor.TYPE_STRING:
            yield path
        elif field.type == FieldDescriptor.TYPE_MESSAGE and message_type(field).full_name.startswith("feltro."):
            yield from _texts(message_type(field), (*path, "0") if field.is_repeated else path)


def _said(path: tuple[str, ...], value: object) -> object:
    for name in reversed(path):
        value = [value] if name == "0" else {name: value}
    return value


@pytest.mark.parametrize("method", [one for one in CONTRACTS.methods if one.bindings], ids=lambda one: one.rpc_name)
async def test_no_text_holds_what_cannot_be_stored(client: HttpClient, desk: FakeDispatcher, method: Method) -> None:
    for binding in method.bindings:
        for path in _texts(method.descriptor.input_type):
            name = ".".join(path)
            variables = {
                one: "%00" if one == name else "MODE_REAL" if one == "mode" else "x" for one in binding.variables
            }
            url = binding.template.format(**variables)
            body: object = {} if binding.body else None
            if name not in variables:
                if binding.body == "*":
                    body = _said(path, "a\0b")
                else:
                    url += f"?{name}=a%00b"
            answer = await client.request(binding.verb, URL(url, encoded=True), json=body, headers=COMMAND)
            said = await answer.json()
            facts = {"field": name.replace(".0", "[0]")}
            assert (answer.status, said["reason"], said["facts"]) == (400, "INVALID", facts), said
    assert not desk.calls


async def test_the_same_value_in_path_and_body_is_no_contradiction(client: HttpClient, desk: FakeDispatcher) -> None:
    body = {"account_id": "a", "request_id": "k1", "amount_cents": "5"}
    answer = await client.post("/v1/accounts/a/deposits", json=body, headers=COMMAND)
    assert answer.status == 200
    assert desk.last_request == wallet_pb2.DepositRequest(request_id="k1", account_id="a", amount_cents=5)


@pytest.mark.guarantee("G3")
async def test_g3_a_command_without_a_name_is_not_passed_on(client: HttpClient, desk: FakeDispatcher) -> None:
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
    assert not desk.calls


async def test_a_key_may_be_said_in_the_body(client: HttpClient, desk: FakeDispatcher) -> None:
    answer = await client.post("/v1/accounts/a/deposits", json={"requestId": "k7", "amount_cents": 5}, headers=ANA)
    assert answer.status == 200
    assert desk.last_request == wallet_pb2.DepositRequest(request_id="k7", account_id="a", amount_cents=5)


@pytest.mark.guarantee("G11")
async def test_g11_bodies_have_a_size_a_type_and_a_form(client: HttpClient, desk: FakeDispatcher) -> None:
    large = await client.post("/v1/accounts", data=b" " * (BODY_BYTES_LIMIT + 1), headers=_json())

    async def drops() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES_LIMIT // 1024 + 2):
            yield b" " * 1024

    unannounced = await client.post("/v1/accounts", data=drops(), headers=_json())
    for answer in (large, unannounced):
        assert answer.status == 413
        said = await answer.json()
        assert (said["reason"], said["facts"]) == ("TOO_LARGE", {"limit": str(BODY_BYTES_LIMIT)})
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
    assert not desk.calls


async def test_no_body_is_a_body_in_which_everything_is_left_out(client: HttpClient, desk: FakeDispatcher) -> None:
    answer = await client.post("/v1/tables/t:enter", headers=COMMAND)
    assert answer.status == 200
    assert desk.last_request == table_pb2.EnterTableRequest(table_id="t", request_id="k1")


def _json() -> dict[str, str]:
    return bearer_headers("ana", **{"Content-Type": "application/json; charset=utf-8"})


async def test_other_methods_and_other_addresses(client: HttpClient, desk: FakeDispatcher) -> None:
    for verb in ("DELETE", "PATCH", "TRACE", "GET"):
        answer = await client.request(verb, "/v1/tables/t:enter", headers=ANA)
        assert answer.status == 405
        assert answer.headers["Allow"].replace(" ", "") == "OPTIONS,POST"
        assert (await answer.json())["reason"] == "METHOD_UNKNOWN"
    asked = await client.options("/v1/tables/t")
    assert (asked.status, asked.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
    for path in ("/v1/nothing", "/v1/tables/", "/v1/tables//rules", "/v1/tables/t/", "/elsewhere", "/v1"):
        answer = await client.get(path)
        assert answer.status == 404
        assert answer.content_type == "application/problem+json"
    assert not desk.calls


async def test_a_head_is_an_answer_without_its_body(client: HttpClient, desk: FakeDispatcher) -> None:
    got, headed = await client.get("/v1/tables/t"), await client.head("/v1/tables/t")
    assert headed.status == 200
    assert headed.headers["Content-Length"] == got.headers["Content-Length"] != "0"
    assert await headed.read() == b""


async def test_who_may_come_in(client: HttpClient, desk: FakeDispatcher) -> None:
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
    assert not desk.calls
    assert (await client.get("/v1/tables/t")).status == 200
    assert (await client.get("/v1/tables/t", headers=bearer_headers("forged"))).status == 401


@pytest.mark.guarantee("G11")
async def test_g11_too_many_calls_cost_nobody_anything(desk: FakeDispatcher, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gateway")
    limits, door = Limits(player_calls=Limit("calls of a player", 0.001, 2)), FakeRequestAuthenticator()
    counted = _too_many()
    async with http_gateway(desk, limits=limits, authenticator=door) as client:
        answers = [await client.get("/v1/tables/t", headers=ANA) for _ in range(4)]
        assert (await client.get("/v1/tables/t", headers=bearer_headers("late"))).status == 401
    assert [answer.status for answer in answers] == [200, 200, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) > 900
    assert door.verified_tokens == ["ana", "ana", "late"]
    assert [record.__dict__["reason"] for record in caplog.records if "reason" in record.__dict__] == ["TOKEN_EXPIRED"]
    assert _too_many() == counted + 2


def _too_many() -> float:
    return REGISTRY.get_sample_value("feltro_edge_requests_overloaded_total", {"reason": "RATE_LIMITED"}) or 0.0


async def test_what_is_the_same_for_everybody_may_be_kept_for_a_moment(
    client: HttpClient, desk: FakeDispatcher
) -> None:
    desk.respond = _rules
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


async def test_answers_are_json_with_every_field(client: HttpClient, desk: FakeDispatcher) -> None:
    desk.respond = _rules
    answer = await client.get("/v1/tables/t/rules", headers=ANA)
    assert json.loads(await answer.read()) == {
        "text": "Façam as vossas apostas",
        "language": "pt",
        "configuration_version": 3,
    }
    assert answer.headers["Content-Type"] == "application/json"


async def test_a_trace_is_carried_on(client: HttpClient, desk: FakeDispatcher) -> None:
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    sent = bearer_headers("ana", traceparent=f"00-{trace_id}-{parent}-01")
    answer = await client.get("/v1/accounts/a/balance", headers=sent)
    assert answer.headers["X-Trace-Id"] == trace_id
    assert answer.headers["Traceparent"] == desk.calls[-1].traceparent
    version, same, span, flags = desk.calls[-1].traceparent.split("-")
    assert (version, same, flags) == ("00", trace_id, "01")
    assert span != parent
    for broken in ("", "00-0-0-0", f"00-{'0' * 32}-{parent}-01"):
        other = await client.get("/v1/nothing", headers={"traceparent": broken})
        assert (await other.json())["trace_id"] == other.headers["X-Trace-Id"] != trace_id


async def test_it_is_not_said_what_answers(client: HttpClient) -> None:
    for path in ("/v1/tables/t", "/v1/nothing", "/healthz"):
        assert (await client.get(path)).headers["Server"] == "feltro"


def test_a_literal_goes_before_a_variable_and_a_variable_before_nothing() -> None:
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

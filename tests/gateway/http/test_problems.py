"""Every error is a problem document that says what a program and a person need, and nothing of the inside."""

from __future__ import annotations

from collections.abc import Callable

import grpc
import pytest
from google.protobuf.message import Message

from gateway.contracts import refusals as gateway_refusals
from gateway.contracts.methods import Method
from gateway.contracts.reasons import HTTP_STATUSES, ReasonSets
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused
from services.kit.table import refusals as table_refusals
from services.wallet.model import refusals as wallet_refusals
from tests.gateway.documented_problems import DocumentedProblems
from tests.gateway.http_gateway import CONTRACTS, FakeDispatcher, HttpClient, bearer_headers, http_gateway

BALANCE = "/v1/accounts/a/balance"
SAID_BY_THE_KIT = {"TOKEN_INVALID", "TOKEN_EXPIRED", "SCOPE_MISSING", "ANSWER_TOO_LARGE"}


def _refusing(refused: Exception) -> FakeDispatcher:
    def answer(method: Method, request: Message) -> Message:
        raise refused

    return FakeDispatcher(answer)


def _refused(code: grpc.StatusCode, reason: str = "SOMETHING", **facts: str) -> Refused:
    refused = StatusRefused(reason, code, "It is so.", facts)
    refused.domain = "wallet.feltro"
    return refused


async def test_a_refusal_is_told_with_reason_and_facts() -> None:
    refused = _refused(grpc.StatusCode.FAILED_PRECONDITION, "INSUFFICIENT_FUNDS", free_cents="5", needed_cents="10")
    async with http_gateway(_refusing(refused)) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
        assert answer.content_type == "application/problem+json"
        assert answer.headers["Cache-Control"] == "no-store"
        assert await answer.json() == {
            "type": "/problems/INSUFFICIENT_FUNDS",
            "title": "Insufficient funds",
            "status": 409,
            "detail": "It is so.",
            "instance": BALANCE,
            "trace_id": answer.headers["X-Trace-Id"],
            "reason": "INSUFFICIENT_FUNDS",
            "domain": "wallet.feltro",
            "facts": {"free_cents": "5", "needed_cents": "10"},
        }
        assert (await client.get("/problems/INSUFFICIENT_FUNDS")).status == 200


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK])
async def test_every_code_has_its_status(code: grpc.StatusCode) -> None:
    async with http_gateway(_refusing(_refused(code))) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
    assert answer.status == HTTP_STATUSES.get(code, 500)
    assert ("Retry-After" in answer.headers) == (answer.status in {429, 503})
    assert ("WWW-Authenticate" in answer.headers) == (answer.status == 401)


async def test_how_long_to_wait_is_said_in_whole_seconds() -> None:
    refused = _refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED", retry_after_ms="2001")
    async with http_gateway(_refusing(refused)) as client:
        assert (await client.get(BALANCE, headers=bearer_headers("ana"))).headers["Retry-After"] == "3"


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize(
    "failed", [RuntimeError("the shoe holds 7h"), _refused(grpc.StatusCode.INTERNAL, "X", shoe="7h"), KeyError("7h")]
)
async def test_g7_a_fault_says_nothing_of_itself(failed: Exception) -> None:
    async with http_gateway(_refusing(failed)) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
        assert answer.status == 500
        assert "7h" not in await answer.text()
        said = await answer.json()
    assert said["type"] == "about:blank"
    assert "reason" not in said
    assert said["trace_id"] == answer.headers["X-Trace-Id"]


@pytest.mark.guarantee("G7")
async def test_g7_where_things_are_inside_is_not_said() -> None:
    refused = _refused(grpc.StatusCode.UNAVAILABLE, "TABLE_ELSEWHERE", table_id="t", address="10.0.0.7:8720")
    async with http_gateway(_refusing(refused)) as client:
        said = await (await client.get(BALANCE, headers=bearer_headers("ana"))).json()
    assert said["facts"] == {"table_id": "t"}


async def test_every_reason_has_a_page(client: HttpClient) -> None:
    listed = await (await client.get("/problems")).json()
    reasons = {one["reason"]: one for one in listed["reasons"]}
    assert {"INSUFFICIENT_FUNDS", "BETTING_CLOSED", "RATE_LIMITED"} <= set(reasons)
    for reason, one in reasons.items():
        answer = await client.get(f"/problems/{reason}")
        assert await answer.json() == one
        assert all(one["meanings"].values()), reason
    page = await client.get("/problems/TABLE_UNKNOWN", headers={"Accept": "text/html,*/*"})
    assert page.content_type == "text/html"
    assert "wallet.feltro" in await page.text()
    unknown = await client.get("/problems/NONE_SUCH")
    assert unknown.status == 404
    assert (await unknown.json())["facts"] == {"method": "GET /problems/NONE_SUCH"}


def test_reasons_belong_to_the_domains_of_their_packages() -> None:
    reasons = ReasonSets(CONTRACTS)
    assert {"gateway.feltro", "table.feltro", "wallet.feltro"} <= set(reasons.domains)
    known = {(one.domain, one.name) for one in reasons}
    assert ("table.feltro", "BETTING_CLOSED") in known
    assert ("wallet.feltro", "BETTING_CLOSED") not in known


@pytest.mark.parametrize(
    ("domain", "refusal", "said_by_the_kit"),
    [
        (wallet_refusals.DOMAIN, wallet_refusals.WalletRefused, SAID_BY_THE_KIT),
        (table_refusals.DOMAIN, table_refusals.TableRefused, SAID_BY_THE_KIT),
        (gateway_refusals.DOMAIN, gateway_refusals.GatewayRefused, set()),
    ],
)
def test_a_service_refuses_with_the_code_that_its_proto_declares(
    domain: str, refusal: Callable[[str, str], Refused], said_by_the_kit: set[str]
) -> None:
    for reason in ReasonSets(CONTRACTS):
        if reason.domain == domain and reason.name not in said_by_the_kit:
            code = gateway_refusals.code_of(refusal(reason.name, "It is so."))
            own = {"METHOD_UNKNOWN": 404, "TOO_LARGE": 413} if domain == gateway_refusals.DOMAIN else {}
            assert own.get(reason.name, HTTP_STATUSES[code]) == reason.status, reason


async def test_a_page_says_which_calls_are_refused_for_its_reason(client: HttpClient) -> None:
    said = await (await client.get("/problems/INSUFFICIENT_FUNDS")).json()
    assert said["calls"]["wallet.feltro"] == [
        "RouletteService.PlaceBets",
        "RouletteService.RepeatBets",
        "WalletService.Withdraw",
    ]
    assert said["statuses"] == {"wallet.feltro": 409}
    page = await client.get("/problems/INSUFFICIENT_FUNDS", headers={"Accept": "text/html"})
    assert "/docs#WalletService_Withdraw" in await page.text()


async def test_a_command_too_large_to_be_recorded_has_the_status_of_what_is_too_large() -> None:
    async with http_gateway(
        _refusing(gateway_refusals.GatewayRefused("TOO_LARGE", "It is too large.", limit=1))
    ) as client:
        headers = bearer_headers("ana", **{"Idempotency-Key": "k"})
        answer = await client.post("/v1/accounts", json={}, headers=headers)
        said = await answer.json()
        document = DocumentedProblems(await (await client.get("/openapi.json")).json())
    assert (answer.status, said["reason"], said["facts"]) == (413, "TOO_LARGE", {"limit": "1"})
    document.verify("POST", "/v1/accounts", 413, said)


async def test_what_is_refused_on_the_way_is_refused_by_the_gateway() -> None:
    async with http_gateway(
        _refusing(StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Too much."))
    ) as client:
        said = await (await client.get(BALANCE, headers=bearer_headers("ana"))).json()
    assert (said["reason"], said["domain"]) == ("OVERLOADED", "gateway.feltro")

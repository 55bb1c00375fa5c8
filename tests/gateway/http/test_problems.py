"""Errors are problem documents: they tell clients what went wrong, and nothing about the inside."""

from __future__ import annotations

from collections.abc import Callable

import grpc
import pytest
from google.protobuf.message import Message

from feltro.wallet.v1 import types_pb2 as wallet_types
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
KIT_REASONS = {"TOKEN_INVALID", "TOKEN_EXPIRED", "SCOPE_MISSING", "ANSWER_TOO_LARGE"}


def _refusing(refused: Exception) -> FakeDispatcher:
    def answer(method: Method, request: Message) -> Message:
        raise refused

    return FakeDispatcher(answer)


def _refused(code: grpc.StatusCode, reason: str = "SOMETHING", **facts: str) -> Refused:
    refused = StatusRefused(reason, code, "Refused.", facts)
    refused.domain = "wallet.feltro"
    return refused


async def test_a_refusal_carries_its_reason_and_facts() -> None:
    refused = _refused(grpc.StatusCode.FAILED_PRECONDITION, "INSUFFICIENT_FUNDS", free_cents="5", needed_cents="10")
    async with http_gateway(_refusing(refused)) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
        assert answer.content_type == "application/problem+json"
        assert answer.headers["Cache-Control"] == "no-store"
        assert await answer.json() == {
            "type": "/problems/INSUFFICIENT_FUNDS",
            "title": "Insufficient funds",
            "status": 409,
            "detail": "Refused.",
            "instance": BALANCE,
            "trace_id": answer.headers["X-Trace-Id"],
            "reason": "INSUFFICIENT_FUNDS",
            "domain": "wallet.feltro",
            "facts": {"free_cents": "5", "needed_cents": "10"},
        }
        assert (await client.get("/problems/INSUFFICIENT_FUNDS")).status == 200


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK])
async def test_every_grpc_code_has_its_http_status(code: grpc.StatusCode) -> None:
    async with http_gateway(_refusing(_refused(code))) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
    assert answer.status == HTTP_STATUSES.get(code, 500)
    assert ("Retry-After" in answer.headers) == (answer.status in {429, 503})
    assert ("WWW-Authenticate" in answer.headers) == (answer.status == 401)


async def test_retry_after_is_rounded_up_to_seconds() -> None:
    refused = _refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED", retry_after_ms="2001")
    async with http_gateway(_refusing(refused)) as client:
        assert (await client.get(BALANCE, headers=bearer_headers("ana"))).headers["Retry-After"] == "3"


@pytest.mark.guarantee("G7")
@pytest.mark.parametrize(
    "failed", [RuntimeError("the shoe holds 7h"), _refused(grpc.StatusCode.INTERNAL, "X", shoe="7h"), KeyError("7h")]
)
async def test_g7_an_internal_error_reveals_nothing(failed: Exception) -> None:
    async with http_gateway(_refusing(failed)) as client:
        answer = await client.get(BALANCE, headers=bearer_headers("ana"))
        assert answer.status == 500
        assert "7h" not in await answer.text()
        problem = await answer.json()
    assert problem["type"] == "about:blank"
    assert "reason" not in problem
    assert problem["trace_id"] == answer.headers["X-Trace-Id"]


@pytest.mark.guarantee("G7")
async def test_g7_internal_addresses_are_left_out_of_facts() -> None:
    refused = _refused(grpc.StatusCode.UNAVAILABLE, "TABLE_ELSEWHERE", table_id="t", address="10.0.0.7:8720")
    async with http_gateway(_refusing(refused)) as client:
        problem = await (await client.get(BALANCE, headers=bearer_headers("ana"))).json()
    assert problem["facts"] == {"table_id": "t"}


async def test_every_reason_has_a_page(client: HttpClient) -> None:
    listed = await (await client.get("/problems")).json()
    reasons = {page["reason"]: page for page in listed["reasons"]}
    assert {"INSUFFICIENT_FUNDS", "BETTING_CLOSED", "RATE_LIMITED"} <= set(reasons)
    for reason, expected in reasons.items():
        answer = await client.get(f"/problems/{reason}")
        assert await answer.json() == expected
        assert all(expected["meanings"].values()), reason
    page = await client.get("/problems/TABLE_UNKNOWN", headers={"Accept": "text/html,*/*"})
    assert page.content_type == "text/html"
    assert "wallet.feltro" in await page.text()
    unknown = await client.get("/problems/NONE_SUCH")
    assert unknown.status == 404
    assert (await unknown.json())["facts"] == {"method": "GET /problems/NONE_SUCH"}


def test_reasons_belong_to_the_domains_of_their_packages() -> None:
    reasons = ReasonSets(CONTRACTS)
    assert {"gateway.feltro", "table.feltro", "wallet.feltro"} <= set(reasons.domains)
    pairs = {(reason.domain, reason.name) for reason in reasons}
    assert ("table.feltro", "BETTING_CLOSED") in pairs
    assert ("wallet.feltro", "BETTING_CLOSED") not in pairs


@pytest.mark.parametrize(
    ("domain", "refusal", "kit_reasons"),
    [
        (wallet_refusals.DOMAIN, wallet_refusals.WalletRefused, KIT_REASONS),
        (table_refusals.DOMAIN, table_refusals.TableRefused, KIT_REASONS),
        (gateway_refusals.DOMAIN, gateway_refusals.GatewayRefused, set()),
    ],
)
def test_a_service_refuses_with_the_code_that_its_proto_declares(
    domain: str, refusal: Callable[[str, str], Refused], kit_reasons: set[str]
) -> None:
    for reason in ReasonSets(CONTRACTS):
        if reason.domain == domain and reason.name not in kit_reasons:
            code = gateway_refusals.code_of(refusal(reason.name, "Refused."))
            own = {"METHOD_UNKNOWN": 404, "TOO_LARGE": 413} if domain == gateway_refusals.DOMAIN else {}
            assert own.get(reason.name, HTTP_STATUSES[code]) == reason.status, reason


async def test_a_reasons_page_lists_the_calls_that_give_it(client: HttpClient) -> None:
    problem = await (await client.get("/problems/INSUFFICIENT_FUNDS")).json()
    declared = [
        method.rpc_name
        for method in CONTRACTS.methods
        if wallet_types.REFUSAL_REASON_INSUFFICIENT_FUNDS
        in method.descriptor.GetOptions().Extensions[wallet_types.refuses].reasons
    ]
    assert {"RouletteService.PlaceBets", "TableService.Act", "WalletService.Withdraw"} <= set(declared)
    assert sorted(problem["calls"]["wallet.feltro"]) == sorted(declared)
    assert problem["statuses"] == {"wallet.feltro": 409}
    page = await client.get("/problems/INSUFFICIENT_FUNDS", headers={"Accept": "text/html"})
    assert "/docs#WalletService_Withdraw" in await page.text()


async def test_a_command_too_large_to_be_recorded_is_answered_with_413() -> None:
    async with http_gateway(
        _refusing(gateway_refusals.GatewayRefused("TOO_LARGE", "It is too large.", limit=1))
    ) as client:
        headers = bearer_headers("ana", **{"Idempotency-Key": "k"})
        answer = await client.post("/v1/accounts", json={}, headers=headers)
        problem = await answer.json()
        document = DocumentedProblems(await (await client.get("/openapi.json")).json())
    assert (answer.status, problem["reason"], problem["facts"]) == (413, "TOO_LARGE", {"limit": "1"})
    document.verify("POST", "/v1/accounts", 413, problem)


async def test_a_refusal_without_a_domain_is_the_gateways() -> None:
    async with http_gateway(
        _refusing(StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Too much."))
    ) as client:
        problem = await (await client.get(BALANCE, headers=bearer_headers("ana"))).json()
    assert (problem["reason"], problem["domain"]) == ("OVERLOADED", "gateway.feltro")

"""The operator audit: commands are recorded before they are carried out, and refused if that is impossible."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import grpc
import pytest
from google.protobuf.message import Message

from feltro.gateway.v1 import gateway_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import audit_pb2, wallet_pb2
from gateway.access.principals import ANONYMOUS, Principal
from gateway.backends import operator_audit
from gateway.backends.dispatcher import CallContext
from gateway.backends.operator_audit import REQUEST_CHARACTERS_LIMIT, OperatorAudit
from gateway.contracts.methods import Method
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused
from services.kit.telemetry import trace
from tests.gateway.live_gateway import CONTRACTS, wait_until

pytestmark = pytest.mark.rule("903-B/2015:6.3.6.7")

MARIA = Principal("maria's token", Caller("maria", frozenset({"operator"}), 0.0))
ANA = Principal("ana's token", Caller("ana", frozenset({"player"}), 0.0))
DEPOSIT = CONTRACTS.by_rpc_name["WalletService.Deposit"]
REQUEST = wallet_pb2.DepositRequest(request_id="deposit-1", account_id="a-1", amount_cents=500)
INTENT, OUTCOME = "AuditIntakeService.RecordIntent", "AuditIntakeService.RecordOutcome"


class FakeServices:
    """The services behind the gateway: they record their calls, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Message, str]] = []
        self.answers: dict[str, Callable[[], Awaitable[bytes]]] = {}
        self.traces: set[str] = set()

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        self.calls.append((method.rpc_name, request, context.principal.token))
        self.traces.add(context.traceparent)
        answer = self.answers.get(method.rpc_name)
        return b"" if answer is None else await answer()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]

    def intent(self) -> audit_pb2.RecordIntentRequest:
        (intent,) = [request for _, request, _ in self.calls if isinstance(request, audit_pb2.RecordIntentRequest)]
        return intent

    def outcome(self) -> audit_pb2.RecordOutcomeRequest:
        (outcome,) = [request for _, request, _ in self.calls if isinstance(request, audit_pb2.RecordOutcomeRequest)]
        return outcome


def refusing(reason: str, code: grpc.StatusCode) -> Callable[[], Awaitable[bytes]]:
    async def refuse() -> bytes:
        raise StatusRefused(reason, code, "No.")

    return refuse


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
def audit(services: FakeServices) -> OperatorAudit:
    return OperatorAudit(services)


async def test_the_intent_is_recorded_before_the_command_and_the_outcome_after(
    audit: OperatorAudit, services: FakeServices
) -> None:
    span = trace.begin("a call")
    header = trace.header_of(span)
    services.answers[DEPOSIT.rpc_name] = _answering(b"done")

    assert await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA, header, "192.0.2.7")) == b"done"

    assert services.names == [INTENT, DEPOSIT.rpc_name, OUTCOME]
    assert {token for _, _, token in services.calls} == {MARIA.token}
    assert services.traces == {header}
    intent, outcome = services.intent(), services.outcome()
    assert (intent.method, intent.request_id) == ("feltro.wallet.v1.WalletService/Deposit", "deposit-1")
    assert (intent.address, intent.trace_id) == ("192.0.2.7", trace.trace_id_of(span))
    assert json.loads(intent.request)["amount_cents"] == "500"
    assert (outcome.action_id, outcome.status, outcome.reason) == (intent.action_id, "OK", "")


async def test_a_refusal_is_recorded_and_passed_on(audit: OperatorAudit, services: FakeServices) -> None:
    services.answers[DEPOSIT.rpc_name] = refusing("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
    with pytest.raises(Refused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "ACCOUNT_UNKNOWN"
    assert (services.outcome().status, services.outcome().reason) == ("NOT_FOUND", "ACCOUNT_UNKNOWN")


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("how", ["refused", "silent", "scope"])
async def test_g12_a_command_that_cannot_be_recorded_is_not_carried_out(
    audit: OperatorAudit, services: FakeServices, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_audit, "RECORDED_WITHIN_S", 0.05)
    services.answers[INTENT] = {
        "refused": refusing("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE),
        "silent": _never,
        "scope": refusing("SCOPE_MISSING", grpc.StatusCode.PERMISSION_DENIED),
    }[how]
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "UNAVAILABLE"
    assert services.names == [INTENT]


async def test_an_outcome_that_cannot_be_recorded_changes_no_answer(
    audit: OperatorAudit, services: FakeServices, caplog: pytest.LogCaptureFixture
) -> None:
    services.answers[OUTCOME] = refusing("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE)
    services.answers[DEPOSIT.rpc_name] = _answering(b"done")
    assert await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)) == b"done"
    assert "the end of a command of an operator cannot be recorded" in caplog.text


async def test_the_outcome_is_recorded_although_the_caller_hangs_up(
    audit: OperatorAudit, services: FakeServices
) -> None:
    started, finish = asyncio.Event(), asyncio.Event()

    async def wait_to_finish() -> bytes:
        started.set()
        await finish.wait()
        return b""

    services.answers[DEPOSIT.rpc_name] = wait_to_finish
    calling = asyncio.create_task(audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)))
    await started.wait()
    calling.cancel()
    await asyncio.wait([calling])
    finish.set()
    await wait_until(lambda: OUTCOME in services.names)
    assert calling.cancelled()
    assert services.outcome().status == "OK"
    await wait_until(lambda: not audit._in_flight)


@pytest.mark.parametrize("principal", [MARIA, ANA, ANONYMOUS])
async def test_reads_and_calls_of_others_than_operators_are_not_recorded(
    audit: OperatorAudit, services: FakeServices, principal: Principal
) -> None:
    read = CONTRACTS.by_rpc_name["WalletService.GetBalance"]
    await audit.dispatch(read, wallet_pb2.GetBalanceRequest(), CallContext(principal))
    if principal is not MARIA:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(principal))
    assert {name.partition(".")[0] for name in services.names} == {"WalletService"}


def test_every_method_that_changes_anything_is_a_recorded_command() -> None:
    """Only these names are read-only, so that no command becomes a GET unnoticed."""
    assert {method.name for method in CONTRACTS.methods if method.is_read_only} == {
        name for name in (method.name for method in CONTRACTS.methods) if name.startswith(("Get", "List", "Find"))
    } | {"ExportHand", "ReplayRound"}


async def test_commands_of_every_declared_service_are_recorded(audit: OperatorAudit, services: FakeServices) -> None:
    """Methods that operators may not call, or that have no HTTP binding, are no exception."""
    for method in CONTRACTS.methods:
        services.calls.clear()
        await audit.dispatch(method, method.request_class(), CallContext(MARIA))
        assert services.names == ([method.rpc_name] if method.is_read_only else [INTENT, method.rpc_name, OUTCOME])


async def test_requests_are_recorded_in_full(audit: OperatorAudit, services: FakeServices) -> None:
    configure = table_pb2.ConfigureTableRequest(table_id="french", configuration=types_pb2.TableConfiguration(seats=7))
    await audit.dispatch(CONTRACTS.by_rpc_name["TableService.ConfigureTable"], configure, CallContext(MARIA))
    recorded = json.loads(services.intent().request)
    assert (recorded["table_id"], recorded["configuration"]["seats"]) == ("french", 7)


@pytest.mark.guarantee("G11")
async def test_g11_a_command_too_large_to_be_recorded_is_refused(audit: OperatorAudit, services: FakeServices) -> None:
    revoke = gateway_pb2.RevokeSubjectRequest(subject="ana", reason="x" * REQUEST_CHARACTERS_LIMIT)
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(CONTRACTS.by_rpc_name["GatewayService.RevokeSubject"], revoke, CallContext(MARIA))
    assert refused.value.reason == "TOO_LARGE"
    assert not services.calls


@pytest.mark.guarantee("G11")
async def test_g11_commands_in_flight_are_limited(
    audit: OperatorAudit, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_audit, "COMMANDS_IN_FLIGHT_LIMIT", 1)
    services.answers[DEPOSIT.rpc_name] = _never
    calling = asyncio.create_task(audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)))
    await wait_until(lambda: DEPOSIT.rpc_name in services.names)
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "OVERLOADED"
    for command in audit._in_flight:
        command.cancel()
    await asyncio.wait([calling])


def test_the_audit_intake_is_not_offered_to_clients() -> None:
    assert not [method.rpc_name for method in CONTRACTS.methods if "Intake" in method.service]


def _answering(answer: bytes) -> Callable[[], Awaitable[bytes]]:
    async def respond() -> bytes:
        return answer

    return respond


async def _never() -> bytes:
    await asyncio.Event().wait()
    raise AssertionError

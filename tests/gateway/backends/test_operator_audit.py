"""Commands of operators at the gateway: recorded before, ended after, and refused where that cannot be."""

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
from services.kit import trace
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused
from tests.gateway.live_gateway import CONTRACTS, wait_until

pytestmark = pytest.mark.rule("903-B/2015:6.3.6.7")

MARIA = Principal("maria's token", Caller("maria", frozenset({"operator"}), 0.0))
ANA = Principal("ana's token", Caller("ana", frozenset({"player"}), 0.0))
DEPOSIT = CONTRACTS.by_rpc_name["WalletService.Deposit"]
REQUEST = wallet_pb2.DepositRequest(request_id="deposit-1", account_id="a-1", amount_cents=500)
INTENT, OUTCOME = "AuditIntakeService.RecordIntent", "AuditIntakeService.RecordOutcome"


class FakeServices:
    """What is behind the gateway: it notes what it is asked, in order."""

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
def platform() -> FakeServices:
    return FakeServices()


@pytest.fixture
def audit(platform: FakeServices) -> OperatorAudit:
    return OperatorAudit(platform)


async def test_the_intent_comes_first_and_the_end_last(audit: OperatorAudit, platform: FakeServices) -> None:
    begun = trace.start_span()
    platform.answers[DEPOSIT.rpc_name] = _saying(b"done")

    assert await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA, begun.header, "192.0.2.7")) == b"done"

    assert platform.names == [INTENT, DEPOSIT.rpc_name, OUTCOME]
    assert {token for _, _, token in platform.calls} == {MARIA.token}
    assert platform.traces == {begun.header}
    intent, outcome = platform.intent(), platform.outcome()
    assert (intent.method, intent.request_id) == ("feltro.wallet.v1.WalletService/Deposit", "deposit-1")
    assert (intent.address, intent.trace_id) == ("192.0.2.7", begun.trace_id)
    assert json.loads(intent.request)["amount_cents"] == "500"
    assert (outcome.action_id, outcome.status, outcome.reason) == (intent.action_id, "OK", "")


async def test_how_it_was_refused_is_recorded_and_told(audit: OperatorAudit, platform: FakeServices) -> None:
    platform.answers[DEPOSIT.rpc_name] = refusing("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
    with pytest.raises(Refused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "ACCOUNT_UNKNOWN"
    assert (platform.outcome().status, platform.outcome().reason) == ("NOT_FOUND", "ACCOUNT_UNKNOWN")


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("how", ["refused", "silent", "scope"])
async def test_g12_what_cannot_be_recorded_is_not_done(
    audit: OperatorAudit, platform: FakeServices, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_audit, "RECORDED_WITHIN_S", 0.05)
    platform.answers[INTENT] = {
        "refused": refusing("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE),
        "silent": _never,
        "scope": refusing("SCOPE_MISSING", grpc.StatusCode.PERMISSION_DENIED),
    }[how]
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "UNAVAILABLE"
    assert platform.names == [INTENT]


async def test_an_end_that_cannot_be_recorded_changes_no_answer(
    audit: OperatorAudit, platform: FakeServices, caplog: pytest.LogCaptureFixture
) -> None:
    platform.answers[OUTCOME] = refusing("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE)
    platform.answers[DEPOSIT.rpc_name] = _saying(b"done")
    assert await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)) == b"done"
    assert "the end of a command of an operator cannot be recorded" in caplog.text


async def test_whoever_hangs_up_does_not_keep_the_end_from_being_recorded(
    audit: OperatorAudit, platform: FakeServices
) -> None:
    going, go = asyncio.Event(), asyncio.Event()

    async def slowly() -> bytes:
        going.set()
        await go.wait()
        return b""

    platform.answers[DEPOSIT.rpc_name] = slowly
    asking = asyncio.create_task(audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)))
    await going.wait()
    asking.cancel()
    await asyncio.wait([asking])
    go.set()
    await wait_until(lambda: OUTCOME in platform.names)
    assert asking.cancelled()
    assert platform.outcome().status == "OK"
    await wait_until(lambda: not audit._in_flight)


@pytest.mark.parametrize("visitor", [MARIA, ANA, ANONYMOUS])
async def test_who_only_reads_and_who_is_no_operator_is_not_recorded(
    audit: OperatorAudit, platform: FakeServices, visitor: Principal
) -> None:
    reading = CONTRACTS.by_rpc_name["WalletService.GetBalance"]
    await audit.dispatch(reading, wallet_pb2.GetBalanceRequest(), CallContext(visitor))
    if visitor is not MARIA:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(visitor))
    assert {name.partition(".")[0] for name in platform.names} == {"WalletService"}


def test_every_method_that_changes_anything_is_recorded() -> None:
    """What is read is what GET is for: named here, so that nobody makes a command a GET unnoticed."""
    assert {method.name for method in CONTRACTS.methods if method.is_read_only} == {
        name for name in (method.name for method in CONTRACTS.methods) if name.startswith(("Get", "List", "Find"))
    } | {"ReplayRound"}


async def test_a_service_that_nobody_knows_yet_needs_nothing(audit: OperatorAudit, platform: FakeServices) -> None:
    """Whatever is declared: also what an operator may not call, and what has no address for HTTP."""
    for method in CONTRACTS.methods:
        platform.calls.clear()
        await audit.dispatch(method, method.request_class(), CallContext(MARIA))
        assert platform.names == ([method.rpc_name] if method.is_read_only else [INTENT, method.rpc_name, OUTCOME])


async def test_requests_are_recorded_whole(audit: OperatorAudit, platform: FakeServices) -> None:
    configure = table_pb2.ConfigureTableRequest(table_id="french", configuration=types_pb2.TableConfiguration(seats=7))
    await audit.dispatch(CONTRACTS.by_rpc_name["TableService.ConfigureTable"], configure, CallContext(MARIA))
    said = json.loads(platform.intent().request)
    assert (said["table_id"], said["configuration"]["seats"]) == ("french", 7)


@pytest.mark.guarantee("G11")
async def test_g11_a_command_too_large_to_be_recorded_is_refused(audit: OperatorAudit, platform: FakeServices) -> None:
    revoke = gateway_pb2.RevokeSubjectRequest(subject="ana", reason="x" * REQUEST_CHARACTERS_LIMIT)
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(CONTRACTS.by_rpc_name["GatewayService.RevokeSubject"], revoke, CallContext(MARIA))
    assert refused.value.reason == "TOO_LARGE"
    assert not platform.calls


@pytest.mark.guarantee("G11")
async def test_g11_commands_under_way_are_limited(
    audit: OperatorAudit, platform: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_audit, "COMMANDS_IN_FLIGHT_LIMIT", 1)
    platform.answers[DEPOSIT.rpc_name] = _never
    asking = asyncio.create_task(audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA)))
    await wait_until(lambda: DEPOSIT.rpc_name in platform.names)
    with pytest.raises(GatewayRefused) as refused:
        await audit.dispatch(DEPOSIT, REQUEST, CallContext(MARIA))
    assert refused.value.reason == "OVERLOADED"
    for command in audit._in_flight:
        command.cancel()
    await asyncio.wait([asking])


def test_the_intake_is_offered_to_nobody() -> None:
    assert not [method.rpc_name for method in CONTRACTS.methods if "Intake" in method.service]


def _saying(answer: bytes) -> Callable[[], Awaitable[bytes]]:
    async def say() -> bytes:
        return answer

    return say


async def _never() -> bytes:
    await asyncio.Event().wait()
    raise AssertionError

"""`feltro call` finds methods, makes tokens that they accept, and prints refusals with their reason and facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import NoReturn

import grpc
import pytest
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.access.identity import Caller, TokenVerifier
from stack.commands.call import CannotCall, DeclaredMethods, command
from stack.issuer import AUDIENCE, DevelopmentIssuer


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


class FakeWalletService:
    """A wallet that answers one call, refuses another, and records both."""

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier
        self.callers: list[Caller] = []
        self.requests: list[wallet_pb2.DepositRequest] = []

    def get_balance(
        self, request: wallet_pb2.GetBalanceRequest, context: grpc.ServicerContext
    ) -> wallet_pb2.GetBalanceResponse:
        self._record(context)
        return wallet_pb2.GetBalanceResponse(
            balance=types_pb2.Balance(account_id=request.account_id, mode=types_pb2.MODE_REAL, free_cents=1250)
        )

    def deposit(self, request: wallet_pb2.DepositRequest, context: grpc.ServicerContext) -> NoReturn:
        self._record(context)
        self.requests.append(request)
        info = error_details_pb2.ErrorInfo(reason="ACCOUNT_BLOCKED", domain="wallet", metadata={"account_id": "a1"})
        detail = any_pb2.Any()
        detail.Pack(info)
        code = grpc.StatusCode.FAILED_PRECONDITION.value[0]
        context.abort_with_status(
            rpc_status.to_status(status_pb2.Status(code=code, message="The account is blocked.", details=[detail]))
        )

    def handler(self) -> grpc.GenericRpcHandler:
        """Both methods, as a server registers them."""
        balance: grpc.RpcMethodHandler[Message, Message] = grpc.unary_unary_rpc_method_handler(
            self.get_balance, wallet_pb2.GetBalanceRequest.FromString, _serialize
        )
        deposit: grpc.RpcMethodHandler[Message, Message] = grpc.unary_unary_rpc_method_handler(
            self.deposit, wallet_pb2.DepositRequest.FromString, _serialize
        )
        methods = {"GetBalance": balance, "Deposit": deposit}
        return grpc.method_handlers_generic_handler("feltro.wallet.v1.WalletService", methods)

    def _record(self, context: grpc.ServicerContext) -> None:
        sent = dict(context.invocation_metadata())
        self.callers.append(self._verifier.verify(str(sent["authorization"]).removeprefix("Bearer ")))


@pytest.fixture
def wallet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWalletService]:
    """A server where `feltro call` finds the wallet."""
    monkeypatch.setenv("FELTRO_DATA", str(tmp_path))
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    service = FakeWalletService(TokenVerifier(issuer.jwks, AUDIENCE))
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((service.handler(),))
    monkeypatch.setenv("FELTRO_WALLET_PORT", str(server.add_insecure_port("127.0.0.1:0")))
    server.start()
    yield service
    server.stop(None).wait()


Output = pytest.CaptureFixture[str]


def test_an_answer_is_json_with_exact_amounts(wallet: FakeWalletService, capsys: Output) -> None:
    assert command(["feltro.wallet.v1.WalletService/GetBalance", '{"account_id": "a1"}']) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["balance"] == {
        "account_id": "a1",
        "mode": "MODE_REAL",
        "free_cents": "1250",
        "locked_cents": "0",
        "version": "0",
    }
    assert wallet.callers[0].scopes == {"operator"}


def test_one_field_of_the_answer_can_be_printed(wallet: FakeWalletService, capsys: Output) -> None:
    assert command(["GetBalance", '{"account_id": "a1"}', "--field", "balance.free_cents"]) == 0
    assert capsys.readouterr().out == "1250\n"
    assert len(wallet.callers) == 1


def test_scope_and_subject_are_chosen_by_the_caller(wallet: FakeWalletService) -> None:
    command(["GetBalance", "{}", "--scope", "player", "--subject", "ana"])
    assert (wallet.callers[0].subject, wallet.callers[0].scopes) == ("ana", frozenset({"player"}))


def test_a_refusal_is_printed_with_its_reason_and_facts(wallet: FakeWalletService, capsys: Output) -> None:
    assert command(["WalletService/Deposit", '{"account_id": "a1", "amount_cents": 100}']) == 1
    assert capsys.readouterr().err.splitlines() == [
        "FAILED_PRECONDITION: The account is blocked.",
        "  reason  ACCOUNT_BLOCKED (wallet)",
        "  account_id  a1",
    ]
    (sent,) = wallet.requests
    assert len(sent.request_id) == 36


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NoSuchThing"], "names 0 methods"),
        (["GetBalance", "{"], "does not fit feltro.wallet.v1.GetBalanceRequest (account_id)"),
        (["GetBalance", '{"account": "a1"}'], "account_id"),
        (["GetBalance", "{}", "--field", "balance.colour"], "has no balance.colour"),
    ],
)
@pytest.mark.usefixtures("wallet")
def test_a_call_that_cannot_be_made_is_explained(arguments: list[str], message: str, capsys: Output) -> None:
    assert command(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def method_named() -> Callable[[str], str]:
    """Finds a method by what a user types."""
    declared = DeclaredMethods()
    return lambda name: declared.method(name).full_name


def test_the_end_of_a_method_name_is_enough_when_it_is_unique(method_named: Callable[[str], str]) -> None:
    full = "feltro.wallet.v1.WalletService.GetBalance"
    assert {method_named(name) for name in ("GetBalance", "WalletService/GetBalance", full, f"/{full}")} == {full}
    with pytest.raises(CannotCall, match="names 0"):
        method_named("Balance")

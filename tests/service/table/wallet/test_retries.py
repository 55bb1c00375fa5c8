"""What a game service asks the wallet again, what it does not, and what it never asks for in one piece."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, Answer
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import StatusRefused
from services.kit.table.fencing import StaleOwner
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.table.wallet.table_wallet import FAULTS_LIMIT, TableWallet
from stack.issuer import DevelopmentIssuer

ROUND = wallet_pb2.GetRoundRequest(round_id="r")


async def nothing(_request: Message, _caller: Caller) -> Answer:
    raise AssertionError("not called here")


class Desk:
    """A WalletService of which a test says what it answers."""

    descriptor = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.asked = 0
        self.orders: list[list[str]] = []
        self.refuse_from = 0

    def __getattr__(self, _method: str) -> Callable[[Message, Caller], Awaitable[Answer]]:
        return nothing

    async def get_round(self, request: wallet_pb2.GetRoundRequest, caller: Caller) -> Message:
        del caller
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return wallet_pb2.GetRoundResponse(round=wallet_pb2.Round(void_reason="a" * int(request.round_id)))

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest, caller: Caller) -> Message:
        del caller
        self.orders.append([order.request_id for order in request.orders])
        if self.failure is not None and len(self.orders) > self.refuse_from:
            raise self.failure
        placed = (wallet_pb2.PlacedStake(stake_id=order.request_id) for order in request.orders)
        return wallet_pb2.PlaceStakesResponse(answers=[wallet_pb2.StakeAnswer(placed=one) for one in placed])


@pytest_asyncio.fixture
async def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def wallet(desk: Desk, tmp_path: Path) -> AsyncIterator[GrpcWallet]:
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    server = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [desk], "wallet.feltro", lambda _: None)
    await server.start()
    async with at(f"127.0.0.1:{server.port}", issuer.token(["game"], "roulette")) as made:
        yield made
    await server.stop(0)


@asynccontextmanager
async def at(address: str, token: str) -> AsyncIterator[GrpcWallet]:
    channel = RelayChannel(address)
    yield GrpcWallet(channel, lambda: (("authorization", f"Bearer {token}"),))
    await channel.close()


def of_another(refused: Refused) -> Refused:
    refused.domain = "gateway.feltro"
    return refused


SILENCES = {
    "its database is away": StatusRefused("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE, "Again."),
    "it has too much to do": StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Again."),
    "the way to it has too much to do": of_another(
        StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Again.")
    ),
    "nothing was heard": StatusRefused("", grpc.StatusCode.UNAVAILABLE, "socket closed"),
    "nothing was heard in time": StatusRefused("", grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded"),
    "the call was given up": StatusRefused("", grpc.StatusCode.CANCELLED, "the server stops"),
}
FAULTS = {
    "it has failed": RuntimeError("a fault of the wallet's"),
    "the answer is too large": StatusRefused("ANSWER_TOO_LARGE", grpc.StatusCode.RESOURCE_EXHAUSTED, "Less."),
    "gRPC itself refuses": StatusRefused("", grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max"),
    "it does not know the method": StatusRefused("", grpc.StatusCode.UNIMPLEMENTED, "There is no such method."),
    "it is no wallet": of_another(StatusRefused("ROUND_UNKNOWN", grpc.StatusCode.NOT_FOUND, "None.")),
}


@pytest.mark.parametrize("why", SILENCES)
async def test_a_silence_is_called_one(wallet: GrpcWallet, desk: Desk, why: str) -> None:
    desk.failure = SILENCES[why]
    with pytest.raises(WalletUnanswered):
        await wallet.get_round(ROUND)


async def test_a_wallet_that_is_away_is_silent() -> None:
    with socket.socket() as taken:
        # Nobody listens there.
        taken.bind(("127.0.0.1", 0))
        async with at(f"127.0.0.1:{taken.getsockname()[1]}", "a token") as away:
            with pytest.raises(WalletUnanswered):
                await away.get_round(ROUND)


@pytest.mark.parametrize("why", FAULTS)
@pytest.mark.guarantee("G11")
async def test_a_fault_may_pass_and_is_not_asked_for_ever(wallet: GrpcWallet, desk: Desk, why: str) -> None:
    desk.failure = FAULTS[why]
    with pytest.raises(WalletFailed):
        await TableWallet(wallet, "t", 1).get_round("r")
    assert desk.asked == FAULTS_LIMIT


async def test_a_round_that_is_too_large_is_not_asked_for_ever(wallet: GrpcWallet, desk: Desk) -> None:
    with pytest.raises(WalletFailed, match="ask for less at once"):
        await TableWallet(wallet, "t", 1).get_round(str(CALL_BYTES_LIMIT))
    assert desk.asked == FAULTS_LIMIT


async def test_a_refusal_and_a_fence_stay_what_they_are(wallet: GrpcWallet, desk: Desk) -> None:
    desk.failure = StatusRefused(
        "ROUND_UNKNOWN", grpc.StatusCode.NOT_FOUND, "There is no such round.", {"round_id": "r"}
    )
    with pytest.raises(Refused) as refused:
        await wallet.get_round(ROUND)
    assert (refused.value.reason, refused.value.facts) == ("ROUND_UNKNOWN", {"round_id": "r"})
    desk.failure = StatusRefused("STALE_EPOCH", grpc.StatusCode.ABORTED, "Another owner holds the table.")
    with pytest.raises(StaleOwner):
        await wallet.get_round(ROUND)


def stakes(number: int, detail_bytes: int) -> wallet_pb2.PlaceStakesRequest:
    orders = (
        wallet_pb2.StakeOrder(
            request_id=f"french-solo-0123456789abcdef.1234:{index}",
            account_id=str(uuid4()),
            session_id=str(uuid4()),
            amount_cents=100,
            detail=bytes(detail_bytes),
        )
        for index in range(number)
    )
    table = types_pb2.TableRef(table_id="t", epoch=1)
    return wallet_pb2.PlaceStakesRequest(round=types_pb2.RoundRef(round_id="r", table=table), orders=orders)


@pytest.mark.guarantee("G11")
async def test_g11_stakes_that_are_too_large_together_go_in_parts(wallet: GrpcWallet, desk: Desk) -> None:
    """As many as go together, each with as much about it as the wallet takes: more than any request may have."""
    request = stakes(1_000, 4_096)
    assert len(request.SerializeToString()) > CALL_BYTES_LIMIT
    answer = await wallet.place_stakes(request)
    ids = [order.request_id for order in request.orders]
    assert [one.placed.stake_id for one in answer.answers] == ids
    assert [request_id for together in desk.orders for request_id in together] == ids
    assert len(desk.orders) > 1


async def test_stakes_that_fit_go_together(wallet: GrpcWallet, desk: Desk) -> None:
    await wallet.place_stakes(stakes(1_000, 500))
    assert len(desk.orders) == 1


async def test_a_silence_in_the_middle_is_one_about_all_of_them(wallet: GrpcWallet, desk: Desk) -> None:
    """They are all said again: those that the wallet has heard it knows (G3)."""
    desk.failure, desk.refuse_from = SILENCES["its database is away"], 1
    with pytest.raises(WalletUnanswered):
        await wallet.place_stakes(stakes(1_000, 4_096))
    assert len(desk.orders) == 2
    desk.failure = None
    placing = TableWallet(wallet, "t", 1).place_stakes("r", stakes(1_000, 4_096).orders)
    async with asyncio.timeout(60.0):
        assert len(await placing) == 1_000

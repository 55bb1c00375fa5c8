"""Calls to the wallet that are repeated, that are not, and that are split."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT, Answer
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import StatusRefused
from services.kit.table.banked import stake_batcher
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.banked.felt import Felt, Stake
from services.kit.table.banked.stake_batcher import StakeBatcher
from services.kit.table.fencing import StaleOwner
from services.kit.table.seat import Seat
from services.kit.table.wallet import table_wallet
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.table.wallet.table_wallet import (
    FAULTS_TOLERATED_S,
    RETRY_AFTER_MAX_S,
    TableWallet,
    retry_until_answered,
)
from services.kit.telemetry import trace
from services.wallet.server.wallet_service import STAKE_DETAIL_BYTES_LIMIT
from stack.issuer import DevelopmentIssuer
from tests.kit.recorded_spans import linked_traces, recorded_spans, trace_of
from tests.simulation.environment.world import World

ROUND = wallet_pb2.GetRoundRequest(round_id="r")


async def unexpected(_request: Message, _caller: Caller) -> Answer:
    raise AssertionError("not called here")


class FakeWalletService:
    """A WalletService whose answers a test chooses."""

    descriptor = wallet_pb2.DESCRIPTOR.services_by_name["WalletService"]

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.call_count = 0
        self.orders: list[list[str]] = []
        self.failing_after = 0

    def __getattr__(self, _method: str) -> Callable[[Message, Caller], Awaitable[Answer]]:
        return unexpected

    async def get_round(self, request: wallet_pb2.GetRoundRequest, caller: Caller) -> Message:
        del caller
        self.call_count += 1
        if self.failure is not None:
            raise self.failure
        return wallet_pb2.GetRoundResponse(round=wallet_pb2.Round(void_reason="a" * int(request.round_id)))

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest, caller: Caller) -> Message:
        del caller
        self.orders.append([order.request_id for order in request.orders])
        if self.failure is not None and len(self.orders) > self.failing_after:
            raise self.failure
        placed = (wallet_pb2.PlacedStake(stake_id=order.request_id) for order in request.orders)
        return wallet_pb2.PlaceStakesResponse(answers=[wallet_pb2.StakeAnswer(placed=each) for each in placed])


@pytest_asyncio.fixture
async def service() -> FakeWalletService:
    return FakeWalletService()


@pytest_asyncio.fixture
async def wallet(service: FakeWalletService, tmp_path: Path) -> AsyncIterator[GrpcWallet]:
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    server = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [service], "wallet.feltro", lambda _: None)
    await server.start()
    async with connected_wallet(f"127.0.0.1:{server.port}", issuer.token(["game"], "roulette")) as wallet:
        yield wallet
    await server.stop(0)


@asynccontextmanager
async def connected_wallet(address: str, token: str) -> AsyncIterator[GrpcWallet]:
    channel = RelayChannel(address)
    yield GrpcWallet(channel, lambda: (("authorization", f"Bearer {token}"),))
    await channel.close()


def with_another_domain(refused: Refused) -> Refused:
    refused.domain = "gateway.feltro"
    return refused


UNANSWERED = {
    "its database cannot be reached": StatusRefused("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE, "Again."),
    "it is overloaded": StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Again."),
    "a proxy is overloaded": with_another_domain(
        StatusRefused("OVERLOADED", grpc.StatusCode.RESOURCE_EXHAUSTED, "Again.")
    ),
    "the connection broke": StatusRefused("", grpc.StatusCode.UNAVAILABLE, "socket closed"),
    "the deadline passed": StatusRefused("", grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded"),
    "the call was cancelled": StatusRefused("", grpc.StatusCode.CANCELLED, "the server stops"),
}
FAULTS = {
    "it fails": RuntimeError("a fault of the wallet's"),
    "the answer is too large": StatusRefused("ANSWER_TOO_LARGE", grpc.StatusCode.OUT_OF_RANGE, "Less."),
    "gRPC itself refuses": StatusRefused("", grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max"),
    "it does not know the method": StatusRefused("", grpc.StatusCode.UNIMPLEMENTED, "There is no such method."),
    "another service answers": with_another_domain(StatusRefused("ROUND_UNKNOWN", grpc.StatusCode.NOT_FOUND, "None.")),
}


@pytest.mark.parametrize("case", UNANSWERED)
async def test_a_call_without_an_answer_is_unanswered(
    wallet: GrpcWallet, service: FakeWalletService, case: str
) -> None:
    service.failure = UNANSWERED[case]
    with pytest.raises(WalletUnanswered):
        await wallet.get_round(ROUND)


async def test_a_wallet_that_cannot_be_reached_is_unanswered() -> None:
    with socket.socket() as unused:
        # Bound, and nothing listens.
        unused.bind(("127.0.0.1", 0))
        async with connected_wallet(f"127.0.0.1:{unused.getsockname()[1]}", "a token") as wallet:
            with pytest.raises(WalletUnanswered):
                await wallet.get_round(ROUND)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are given up after a twentieth of a second."""
    monkeypatch.setattr(table_wallet, "FAULTS_TOLERATED_S", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.guarantee("G11")
async def test_g11_a_fault_is_repeated_and_then_given_up(
    wallet: GrpcWallet, service: FakeWalletService, case: str
) -> None:
    service.failure = FAULTS[case]
    with pytest.raises(WalletFailed):
        await TableWallet(wallet, "t", 1).get_round("r")
    assert service.call_count > 1


@pytest.mark.usefixtures("impatient")
async def test_a_round_that_is_too_large_is_not_requested_for_ever(
    wallet: GrpcWallet, service: FakeWalletService
) -> None:
    with pytest.raises(WalletFailed, match="ask for less at once"):
        await TableWallet(wallet, "t", 1).get_round(str(CALL_BYTES_LIMIT))
    assert service.call_count > 1


class FailingCalls:
    """Calls of which each fails with the next of these errors, at virtual times."""

    def __init__(self, world: World, *failures: tuple[float, type[Exception] | None]) -> None:
        """`failures`: until when, in seconds from the start, each kind of failure is the answer."""
        self._world = world
        self._failures = failures
        self.times: list[float] = []

    async def call(self) -> str:
        now = self._world.loop.time()
        self.times.append(now)
        for until_s, failure in self._failures:
            if now < until_s and failure is not None:
                raise failure("again")
        return "answered"


@pytest.mark.guarantee("G9", "G11")
def test_g9_faults_are_tolerated_by_time_and_not_by_their_number() -> None:
    world = World()
    passing = FailingCalls(world, (FAULTS_TOLERATED_S - 1.0, WalletFailed))
    # Silence is no fault: the time begins anew after it.
    interrupted = FailingCalls(
        world,
        (FAULTS_TOLERATED_S - 1.0, WalletFailed),
        (FAULTS_TOLERATED_S + 5.0, WalletUnanswered),
        (2 * FAULTS_TOLERATED_S, WalletFailed),
    )
    lasting = FailingCalls(world, (math.inf, WalletFailed))

    async def script() -> None:
        await asyncio.gather(retry_until_answered(passing.call), retry_until_answered(interrupted.call))
        with pytest.raises(WalletFailed):
            await retry_until_answered(lasting.call)

    world.run(script)
    assert len(passing.times) > 20
    assert FAULTS_TOLERATED_S <= lasting.times[-1] - lasting.times[0] <= FAULTS_TOLERATED_S + RETRY_AFTER_MAX_S


async def test_refusals_and_stale_epochs_are_passed_on(wallet: GrpcWallet, service: FakeWalletService) -> None:
    service.failure = StatusRefused(
        "ROUND_UNKNOWN", grpc.StatusCode.NOT_FOUND, "There is no such round.", {"round_id": "r"}
    )
    with pytest.raises(Refused) as refused:
        await wallet.get_round(ROUND)
    assert (refused.value.reason, refused.value.facts) == ("ROUND_UNKNOWN", {"round_id": "r"})
    service.failure = StatusRefused("STALE_EPOCH", grpc.StatusCode.ABORTED, "Another owner holds the table.")
    with pytest.raises(StaleOwner):
        await wallet.get_round(ROUND)


class UnlimitedRules:
    """Rules whose bets are amounts, and under which everything may be bet."""

    def add(self, on_felt: int | None, added: int) -> int:
        return (on_felt or 0) + added

    def largest_payout_cents(self, bets: int) -> int:
        return bets

    def together(self, bets: Iterable[int]) -> int:
        return sum(bets)

    def totals(self, bets: int) -> dict[str, int]:
        return {"all": bets}

    def fits(self, *totals: dict[str, int]) -> None:
        """Everything fits."""


def submit_stakes(wallet: GrpcWallet, number: int, detail_bytes: int) -> asyncio.Future[list[PlacedBets[int]]]:
    """Puts stakes on a felt all at once, and sends them with the batcher of its round."""

    async def ensure_opened() -> None:
        """The round is open."""

    felt: Felt[int, int] = Felt(cast("Any", UnlimitedRules()))
    batcher = StakeBatcher(TableWallet(wallet, "t", 1), "r", felt, ensure_opened, lambda _: None, lambda: None)
    return asyncio.gather(
        *(
            batcher.submit(
                Stake(
                    f"french-solo-0123456789abcdef.1234:{index}",
                    str(uuid4()),
                    Seat(index + 1, f"player{index}", str(uuid4()), str(uuid4())),
                    100,
                    bytes(detail_bytes),
                    100,
                ),
                100,
            )
            for index in range(number)
        )
    )


@pytest.mark.guarantee("G11")
async def test_g11_stakes_that_are_too_large_for_one_call_are_split(
    wallet: GrpcWallet, service: FakeWalletService
) -> None:
    """A thousand stakes with the largest details are more than a call may hold."""
    # Each has the two ids of account and session, and more than thirty characters of its own id.
    assert 1_000 * (STAKE_DETAIL_BYTES_LIMIT + 2 * 36 + 30) > CALL_BYTES_LIMIT
    placed = await submit_stakes(wallet, 1_000, STAKE_DETAIL_BYTES_LIMIT)
    ids = [answer.stake_id for answer in placed]
    assert len(set(ids)) == 1_000
    assert [request_id for call in service.orders for request_id in call] == ids
    assert len(service.orders) > 1


@pytest.mark.guarantee("G11", "G12")
async def test_g11_a_stake_beyond_those_that_wait_is_refused_and_does_not_stay_on_the_felt(
    wallet: GrpcWallet, service: FakeWalletService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stake_batcher, "WAITING_LIMIT", 3)
    opened = asyncio.Event()

    async def ensure_opened() -> None:
        await opened.wait()

    felt: Felt[int, int] = Felt(cast("Any", UnlimitedRules()))
    batcher = StakeBatcher(TableWallet(wallet, "t", 1), "r", felt, ensure_opened, lambda _: None, lambda: None)
    stakes = [
        Stake(str(number), str(number), Seat(number, f"player{number}", "a", "s"), 100, b"", 100) for number in range(6)
    ]
    waiting = [batcher.submit(stakes[0], 100)]
    # The first one is under way, until the round is open; three more may wait.
    await asyncio.sleep(0)
    waiting += [batcher.submit(stake, 100) for stake in stakes[1:4]]
    for stake in stakes[4:]:
        with pytest.raises(Refused) as refused:
            batcher.submit(stake, 100)
        assert refused.value.reason == "OVERLOADED"
    opened.set()
    assert [answer.stake_id for answer in await asyncio.gather(*waiting)] == ["0", "1", "2", "3"]
    assert [stake.stake_id for stake in felt.accepted_stakes()] == ["0", "1", "2", "3"]
    assert [request_id for call in service.orders for request_id in call] == ["0", "1", "2", "3"]
    # Nothing of the refused ones is left in the way of the next bet.
    assert felt.accepted_bets_of("player5") is None


async def test_stakes_that_fit_share_one_call(wallet: GrpcWallet, service: FakeWalletService) -> None:
    await submit_stakes(wallet, 1_000, 500)
    assert len(service.orders) == 1


@pytest.mark.guarantee("G3")
async def test_g3_a_batch_without_an_answer_is_repeated_as_it_was(
    wallet: GrpcWallet, service: FakeWalletService
) -> None:
    """The wallet answers the stakes that it has already as before."""
    service.failure, service.failing_after = UNANSWERED["its database cannot be reached"], 1
    placing = submit_stakes(wallet, 1_000, STAKE_DETAIL_BYTES_LIMIT)
    async with asyncio.timeout(60.0):
        while len(service.orders) < 3:
            await asyncio.sleep(0.01)
        service.failure = None
        assert len(await placing) == 1_000
    assert service.orders[0] != service.orders[1] == service.orders[2]
    assert len({request_id for call in service.orders for request_id in call}) == 1_000


# -- traces ------------------------------------------------------------------------------------------------------------


async def test_stakes_travel_in_the_trace_of_their_only_call_and_linked_to_each_of_several(
    wallet: GrpcWallet, service: FakeWalletService
) -> None:
    def order(number: int) -> tuple[int, wallet_pb2.StakeOrder]:
        with trace.start_span("a bet") as bet:
            made = wallet_pb2.StakeOrder(request_id=str(number), traceparent=trace.traceparent())
        return bet.get_span_context().trace_id, made

    with recorded_spans() as spans:
        (first, alone), *others = [order(number) for number in range(3)]
        await wallet.place_stakes(wallet_pb2.PlaceStakesRequest(orders=[alone]))
        await wallet.place_stakes(wallet_pb2.PlaceStakesRequest(orders=[each for _, each in others]))
        of_one, of_two = spans.named("place stakes")
    assert service.orders == [["0"], ["1", "2"]]
    assert trace_of(of_one) == first
    assert linked_traces(of_two) == {trace_id for trace_id, _ in others}
    assert [dict(span.attributes or {}) for span in (of_one, of_two)] == [{"feltro.stakes": 1}, {"feltro.stakes": 2}]

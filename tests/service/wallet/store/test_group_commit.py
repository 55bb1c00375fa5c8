"""Group commit: commands that arrive together are written together, and a failure of one leaves the others alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import grpc
import pytest
from google.protobuf.message import Message
from prometheus_client import REGISTRY
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from feltro.wallet.v1 import wallet_pb2
from services.kit.database import postgresql
from services.kit.rpc.status import code_of
from services.kit.telemetry import trace
from services.wallet.ledger import commands, decisions
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import RelevantEventLimits
from services.wallet.store import group_commit, groups, ledger_store
from tests.kit.recorded_spans import linked_traces, recorded_spans, trace_of
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, OPERATOR, InProcessWallet, Seat, open_wallet

CROWD = 40


@asynccontextmanager
async def locked_table(wallet: InProcessWallet, table_id: str) -> AsyncIterator[None]:
    """Holds the lock of the table's row, so that commands sent meanwhile gather behind it."""
    async with wallet.engine.begin() as connection:
        await connection.execute(text("SELECT 1 FROM tables WHERE table_id = :id FOR UPDATE"), {"id": table_id})
        yield


async def crowd(wallet: InProcessWallet, table_id: str, size: int = CROWD) -> list[Seat]:
    await wallet.open_table(table_id, MULTI_PLAYER)
    return [await wallet.sit_down(f"{table_id}-{player}", table_id) for player in range(size)]


async def test_commands_that_arrive_together_are_written_by_one_transaction(wallet: InProcessWallet) -> None:
    seats = await crowd(wallet, "t1")
    async with locked_table(wallet, "t1"):
        first = asyncio.create_task(wallet.place(seats[0], "r1", 100))
        await wallet.wait_for_blocked()
        rest = [asyncio.create_task(wallet.place(seat, "r1", 100)) for seat in seats[1:]]
        await asyncio.sleep(0)
    await asyncio.gather(first, *rest)
    transactions = "SELECT count(DISTINCT xmin::text) FROM transfers WHERE kind = 3"
    assert await wallet.count(transactions) == 2


@pytest.mark.guarantee("G11")
async def test_g11_a_full_queue_refuses_more_and_writes_all_it_accepted(
    wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "WAITING_COMMANDS_LIMIT", 10)
    async with open_wallet(wallet_database.url) as wallet:
        seats = await crowd(wallet, "t1")
        async with locked_table(wallet, "t1"):
            first = asyncio.create_task(wallet.place(seats[0], "r1", 100))
            await wallet.wait_for_blocked()
            rest = [asyncio.create_task(wallet.place(seat, "r1", 100)) for seat in seats[1:]]
            await asyncio.sleep(0)
        answers = await asyncio.gather(first, *rest, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert len(refused) == CROWD - 11
        assert {answer.reason for answer in refused if isinstance(answer, WalletRefused)} == {"OVERLOADED"}
        assert {code_of(answer) for answer in refused if isinstance(answer, WalletRefused)} == {
            grpc.StatusCode.RESOURCE_EXHAUSTED
        }
        assert await wallet.count("SELECT count(*) FROM stakes") == 11


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_g5_a_connection_that_breaks_mid_transaction_loses_and_repeats_nothing(wallet: InProcessWallet) -> None:
    seats = await crowd(wallet, "t1", 10)
    kill = """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE query LIKE '%locked_tables%' AND pid <> pg_backend_pid()
    """
    broken = 0
    for number in range(10):
        async with locked_table(wallet, "t1"):
            stakes = [asyncio.create_task(wallet.place(seat, f"r{number}", 100)) for seat in seats]
            await wallet.wait_for_blocked()
            broken += await wallet.count(kill)
        await asyncio.gather(*stakes)
    assert broken >= 10
    assert await wallet.count("SELECT count(*) FROM stakes") == 100


async def test_a_command_that_the_database_refuses_fails_alone(
    wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours in one command: the database refuses the whole group (G1), and only that command fails."""
    poisoned = str(uuid4())

    def decide_wrongly(book: Book, command: Command, no: int) -> Message:
        answer = decisions.decide(book, command, no)
        if command.request_id == poisoned:
            book.postings[-1] = (*book.postings[-1][:6], -99, *book.postings[-1][7:])
        return answer

    seats = await crowd(wallet, "t1", 5)
    monkeypatch.setattr(groups, "decide", decide_wrongly)
    deposit = wallet_pb2.DepositRequest(request_id=poisoned, account_id=seats[0].account_id, amount_cents=100)
    answers = await asyncio.gather(
        wallet.wallet_service.deposit(deposit, OPERATOR),
        *(wallet.deposit(seat.account_id, 100) for seat in seats),
        return_exceptions=True,
    )
    assert [answer for answer in answers[1:] if answer is not None] == []
    assert isinstance(answers[0], Exception)
    assert not isinstance(answers[0], WalletRefused)
    assert "G1" in str(answers[0])
    assert await wallet.count("SELECT count(*) FROM transfers WHERE kind = 1") == 10


async def test_g12_commands_are_refused_after_some_attempts_without_a_database(
    wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 2
    monkeypatch.setattr(group_commit, "ATTEMPTS_LIMIT", attempts)
    unreachable = postgresql.connect("postgresql+asyncpg://nobody@127.0.0.1:1/nothing", "test", connections=2)
    store = ledger_store.LedgerStore(wallet.clock, wallet.session_clock, RelevantEventLimits())
    lane = group_commit.Lane("test", unreachable, store, lambda: None)
    retries = _metric("feltro_wallet_group_retries_total", cause="database")
    deposits = [commands.Deposit(f"d-{number}", b"", "test", "account", 100, "") for number in range(3)]
    refused = await asyncio.gather(*(lane.submit([deposit]) for deposit in deposits), return_exceptions=True)
    assert [answer.reason for answer in refused if isinstance(answer, WalletRefused)] == ["UNAVAILABLE"] * 3
    assert {code_of(answer) for answer in refused if isinstance(answer, WalletRefused)} == {grpc.StatusCode.UNAVAILABLE}
    # The group fails as a whole: it is not tried again one by one.
    assert _metric("feltro_wallet_group_retries_total", cause="database") - retries == attempts
    await unreachable.dispose()


def _metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.guarantee("G3")
async def test_g3_replicas_that_get_the_same_request_at_once_act_once(
    first_replica: InProcessWallet, second_replica: InProcessWallet
) -> None:
    """The one case that no lock covers: two wallets, one request id, the same moment."""
    replicas = first_replica, second_replica
    seats = await crowd(first_replica, "t1", 2)
    for number in range(25):
        request = wallet_pb2.DepositRequest(request_id=f"d-{number}", account_id=seats[0].account_id, amount_cents=100)
        answers = await asyncio.gather(*(wallet.wallet_service.deposit(request, OPERATOR) for wallet in replicas * 3))
        assert len(set(answers)) == 1
        # Different accounts under one id: the two transactions share no lock at all.
        conflicting = [
            wallet_pb2.DepositRequest(request_id=f"x-{number}", account_id=seat.account_id, amount_cents=100)
            for seat in seats
        ]
        outcomes = await asyncio.gather(
            *(
                wallet.wallet_service.deposit(request, OPERATOR)
                for wallet, request in zip(replicas, conflicting, strict=True)
            ),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        assert [getattr(outcome, "reason", "") for outcome in refused] == ["REQUEST_REUSED"]
    assert await first_replica.count("SELECT count(*) FROM transfers WHERE kind = 1") == 2 + 25 + 25


# -- failures that are worth another try -------------------------------------------------------------------------------


def _wrapped(failed: Exception) -> DBAPIError:
    return DBAPIError("INSERT", None, failed)


RETRY_CAUSES: list[tuple[Exception, str | None]] = [
    (asyncpg.UniqueViolationError("twice"), "conflict"),
    (_wrapped(asyncpg.DeadlockDetectedError("two waited for each other")), "conflict"),
    (asyncpg.CheckViolationError("G2"), None),
    (_wrapped(asyncpg.CheckViolationError("G2")), None),
    (asyncpg.AdminShutdownError("stopping"), "database"),
    (_wrapped(asyncpg.DiskFullError("full")), "database"),
    (asyncpg.InterfaceError("connection is closed"), "database"),
    (ConnectionRefusedError("nobody listens"), "database"),
    # Faults of ours: a wrong use of the driver, and what no database has said.
    (asyncpg.InterfaceError("cannot perform operation: another operation is in progress"), None),
    (ValueError("no number"), None),
]


@pytest.mark.parametrize(("failed", "cause"), RETRY_CAUSES, ids=[f"{type(f).__name__}-{c}" for f, c in RETRY_CAUSES])
def test_a_group_is_tried_again_for_what_another_try_can_mend(failed: Exception, cause: str | None) -> None:
    assert group_commit.retry_cause(failed) == cause


# -- traces ------------------------------------------------------------------------------------------------------------


async def test_a_group_is_written_in_the_trace_of_its_only_call_and_linked_to_each_of_several(
    wallet: InProcessWallet,
) -> None:
    seats = await crowd(wallet, "t1", 3)
    with recorded_spans() as spans:

        async def place(seat: Seat) -> int:
            with trace.start_span("a call") as call:
                await wallet.place(seat, "r1", 100)
            return call.get_span_context().trace_id

        async with locked_table(wallet, "t1"):
            alone = asyncio.create_task(place(seats[0]))
            await wallet.wait_for_blocked()
            together = [asyncio.create_task(place(seat)) for seat in seats[1:]]
            await asyncio.sleep(0)
        first, *others = await asyncio.gather(alone, *together)
        of_one, of_two = spans.named("write a group")
    assert trace_of(of_one) == first
    assert linked_traces(of_two) == set(others)
    assert trace_of(of_two) not in {first, *others}
    assert [dict(span.attributes or {}) for span in (of_one, of_two)] == [
        {"feltro.commands": 1},
        {"feltro.commands": 2},
    ]
    # The facts that tell of it go on in the traces of the calls.
    async with wallet.engine.connect() as connection:
        rows = (await connection.execute(text("SELECT traces FROM outbox WHERE traces IS NOT NULL"))).scalars().all()
    headers = [header for row in rows for header in row.split("\n") if header]
    assert {int(header.split("-")[1], 16) for header in headers} == {first, *others}

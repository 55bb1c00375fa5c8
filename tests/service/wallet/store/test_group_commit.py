"""Group commit: commands that arrive together are written together, and a failure of one leaves the others alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import grpc
import pytest
from google.protobuf.message import Message
from prometheus_client import REGISTRY
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database import postgresql
from services.kit.rpc.status import code_of
from services.wallet.ledger import commands, decisions
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import RelevantEventLimits
from services.wallet.store import group_commit, groups, ledger_store
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

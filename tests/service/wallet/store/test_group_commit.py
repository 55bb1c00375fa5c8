"""Group commit: what arrives together is written together, and trouble with one is not trouble for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import grpc
import pytest
from google.protobuf.message import Message
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database import postgresql
from services.kit.rpc.status import code_of
from services.wallet import ledger
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import RelevantEventLimits
from services.wallet.store import group_commit, ledger_store
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import MULTI_PLAYER, OPERATOR, InProcessWallet, Seat, open_wallet

CROWD = 40


@asynccontextmanager
async def nobody_gets_in(desk: InProcessWallet, table_id: str) -> AsyncIterator[None]:
    """Holds the table's row, so that what is sent meanwhile piles up behind it."""
    async with desk.engine.begin() as connection:
        await connection.execute(text("SELECT 1 FROM tables WHERE table_id = :id FOR UPDATE"), {"id": table_id})
        yield


async def count(desk: InProcessWallet, statement: str) -> int:
    async with desk.engine.connect() as connection:
        return int((await connection.execute(text(statement))).scalar_one())


async def crowd(desk: InProcessWallet, table_id: str, size: int = CROWD) -> list[Seat]:
    await desk.open_table(table_id, MULTI_PLAYER)
    return [await desk.sit_down(f"{table_id}-{player}", table_id) for player in range(size)]


async def waiting_for_lock(desk: InProcessWallet) -> None:
    while not await count(desk, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
        await asyncio.sleep(0)


async def test_what_arrives_together_is_written_by_one_transaction(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as desk:
        seats = await crowd(desk, "t1")
        async with nobody_gets_in(desk, "t1"):
            first = asyncio.create_task(desk.place(seats[0], "r1", 100))
            await waiting_for_lock(desk)
            rest = [asyncio.create_task(desk.place(seat, "r1", 100)) for seat in seats[1:]]
            await asyncio.sleep(0)
        await asyncio.gather(first, *rest)
        transactions = "SELECT count(DISTINCT xmin::text) FROM transfers WHERE kind = 3"
        assert await count(desk, transactions) == 2


@pytest.mark.guarantee("G11")
async def test_g11_a_full_queue_refuses_and_forgets_nothing_it_took(
    wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_wallet(wallet_database.url) as desk:
        seats = await crowd(desk, "t1")
        monkeypatch.setattr(group_commit, "WAITING_COMMANDS_LIMIT", 10)
        async with nobody_gets_in(desk, "t1"):
            first = asyncio.create_task(desk.place(seats[0], "r1", 100))
            await waiting_for_lock(desk)
            rest = [asyncio.create_task(desk.place(seat, "r1", 100)) for seat in seats[1:]]
            await asyncio.sleep(0)
        answers = await asyncio.gather(first, *rest, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert len(refused) == CROWD - 11
        assert {answer.reason for answer in refused if isinstance(answer, WalletRefused)} == {"OVERLOADED"}
        assert {code_of(answer) for answer in refused if isinstance(answer, WalletRefused)} == {
            grpc.StatusCode.RESOURCE_EXHAUSTED
        }
        assert await count(desk, "SELECT count(*) FROM stakes") == 11


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_connections_that_break_under_way_cost_nobody_anything(
    wallet_database: WalletDatabase,
) -> None:
    async with open_wallet(wallet_database.url) as desk:
        seats = await crowd(desk, "t1", 10)
        kill = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE query LIKE '%locked_tables%' AND pid <> pg_backend_pid()
        """
        broken = 0
        for number in range(10):
            async with nobody_gets_in(desk, "t1"):
                stakes = [asyncio.create_task(desk.place(seat, f"r{number}", 100)) for seat in seats]
                await waiting_for_lock(desk)
                broken += await count(desk, kill)
            await asyncio.gather(*stakes)
        assert broken >= 10
        assert await count(desk, "SELECT count(*) FROM stakes") == 100


async def test_a_command_that_the_database_refuses_fails_alone(
    wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours in one command: the database refuses the whole group (G1), and only that command fails."""
    poisoned = str(uuid4())

    def decide_wrongly(book: Book, command: Command, no: int) -> Message:
        answer = ledger.decide(book, command, no)
        if command.request_id == poisoned:
            book.postings[-1] = (*book.postings[-1][:6], -99, *book.postings[-1][7:])
        return answer

    async with open_wallet(wallet_database.url) as desk:
        seats = await crowd(desk, "t1", 5)
        monkeypatch.setattr(ledger_store, "decide", decide_wrongly)
        deposit = wallet_pb2.DepositRequest(request_id=poisoned, account_id=seats[0].account_id, amount_cents=100)
        answers = await asyncio.gather(
            desk.wallet.deposit(deposit, OPERATOR),
            *(desk.deposit(seat.account_id, 100) for seat in seats),
            return_exceptions=True,
        )
        assert [answer for answer in answers[1:] if answer is not None] == []
        assert isinstance(answers[0], Exception)
        assert not isinstance(answers[0], WalletRefused)
        assert "G1" in str(answers[0])
        assert await count(desk, "SELECT count(*) FROM transfers WHERE kind = 1") == 10


async def test_a_database_that_stays_away_is_said_to_be_away(
    wallet_database: WalletDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "ATTEMPTS_LIMIT", 2)
    async with open_wallet(wallet_database.url) as desk:
        seats = await crowd(desk, "t1", 1)
        gone = postgresql.connect("postgresql+asyncpg://nobody@127.0.0.1:1/nothing", "test", connections=2)
        store = ledger_store.LedgerStore(desk.clock, desk.session_clock, RelevantEventLimits())
        lane = group_commit.Lane("test", gone, store, lambda: None)
        running = asyncio.create_task(lane.run())
        command = ledger.commands.Deposit("d-1", b"", "test", seats[0].account_id, 100, "")
        with pytest.raises(WalletRefused) as refused:
            await lane.submit([command])
        assert (refused.value.reason, code_of(refused.value)) == ("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await gone.dispose()


async def test_replicas_that_get_the_same_request_at_once_act_once(wallet_database: WalletDatabase) -> None:
    """The one thing that no lock covers: two wallets, one request id, the same moment."""
    async with open_wallet(wallet_database.url) as one, open_wallet(wallet_database.url) as other:
        seats = await crowd(one, "t1", 2)
        for number in range(25):
            request = wallet_pb2.DepositRequest(
                request_id=f"d-{number}", account_id=seats[0].account_id, amount_cents=100
            )
            answers = await asyncio.gather(*(desk.wallet.deposit(request, OPERATOR) for desk in (one, other) * 3))
            assert len(set(answers)) == 1
            # Different accounts under one id: no common lock at all.
            crossed = wallet_pb2.DepositRequest(
                request_id=f"x-{number}", account_id=seats[0].account_id, amount_cents=100
            )
            elsewhere = wallet_pb2.DepositRequest(
                request_id=f"x-{number}", account_id=seats[1].account_id, amount_cents=100
            )
            said = await asyncio.gather(
                one.wallet.deposit(crossed, OPERATOR), other.wallet.deposit(elsewhere, OPERATOR), return_exceptions=True
            )
            refused = [answer for answer in said if isinstance(answer, Exception)]
            assert [getattr(answer, "reason", "") for answer in refused] == ["REQUEST_REUSED"]
        assert await count(one, "SELECT count(*) FROM transfers WHERE kind = 1") == 2 + 25 + 25

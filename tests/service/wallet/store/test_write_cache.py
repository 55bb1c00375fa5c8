"""Stakes that are decided by what the process remembers: whatever others have changed meanwhile, it is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database.postgresql import DirectConnection
from services.wallet.audit.auditor import Auditor
from services.wallet.ledger.book import Book
from services.wallet.store import optimistic_stakes
from services.wallet.store.answers import StoredRefusal
from services.wallet.store.ledger_rows import AnswerRow
from services.wallet.store.optimistic_stakes import ExpectedState
from services.wallet.store.write_cache import SPARE_NUMBERS
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    GAME,
    MULTI_PLAYER,
    InProcessWallet,
    Seat,
    open_wallet,
    round_ref,
)

# In a round that the process remembers, or in one that is new.
ROUNDS = "r1", "r2"
WHILE_IT_WAITS = {
    "the session ends": ("UPDATE sessions SET state = 4, end_cause = 3", "SESSION_ENDED"),
    "the account is blocked": ("UPDATE accounts SET blocked = true WHERE kind = 1", "ACCOUNT_BLOCKED"),
    "another owner comes": ("UPDATE tables SET epoch = 2", "STALE_EPOCH"),
}
ROUND_ENDS = "UPDATE rounds SET state = 3, ended_at = now(), void_reason = 'x'"


@pytest.fixture
def came_true(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether what was remembered was so, for each group that was decided by it."""
    found: list[bool] = []
    write = optimistic_stakes.write_if_unchanged

    async def noted(
        connection: DirectConnection, book: Book, answered: Sequence[AnswerRow], seen: ExpectedState, numbers: int
    ) -> list[int]:
        new_numbers = await write(connection, book, answered, seen, numbers)
        found.append(bool(new_numbers))
        return new_numbers

    monkeypatch.setattr(optimistic_stakes, "write_if_unchanged", noted)
    return found


@pytest_asyncio.fixture
async def here(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as desk:
        yield desk


@pytest_asyncio.fixture
async def there(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """Another replica."""
    async with open_wallet(wallet_database.url) as desk:
        yield desk


async def seat_with_a_bet(desk: InProcessWallet) -> Seat:
    """A table with an open round that the process remembers."""
    await desk.open_table("t1", MULTI_PLAYER)
    seat = await desk.sit_down("ana", "t1", 1_000)
    await desk.place(seat, "r1", 100)
    return seat


async def versions_and_transfers(desk: InProcessWallet) -> list[tuple[int, int]]:
    """Of the player's account: its versions in order, each with its transfer's number."""
    statement = """
        SELECT DISTINCT entries.version, transfer_no FROM entries JOIN accounts USING (account_no)
        WHERE accounts.kind = 1 ORDER BY entries.version
    """
    async with desk.engine.connect() as connection:
        return [(version, number) for version, number in await connection.execute(text(statement))]


async def waiting_for_lock(desk: InProcessWallet, waiting: int = 1) -> None:
    statement = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    async with desk.engine.connect() as connection:
        while (await connection.execute(statement)).scalar_one() < waiting:
            await asyncio.sleep(0)


async def test_what_is_remembered_is_written_at_once(here: InProcessWallet, came_true: list[bool]) -> None:
    seat = await seat_with_a_bet(here)
    assert came_true == []
    await here.place(seat, "r1", 100)
    await here.place(seat, "a-round-that-nobody-has-heard-of", 100)
    assert came_true == [True, True]


@pytest.mark.guarantee("G1")
async def test_g1_a_group_with_too_few_numbers_in_store_draws_some_and_is_written_at_once(
    here: InProcessWallet, came_true: list[bool]
) -> None:
    seat = await seat_with_a_bet(here)
    orders = [
        wallet_pb2.StakeOrder(
            request_id=f"many-{n}", account_id=seat.account_id, session_id=seat.session_id, amount_cents=1
        )
        for n in range(10 * SPARE_NUMBERS)
    ]
    await here.wallet.place_stakes(wallet_pb2.PlaceStakesRequest(round=round_ref("t1", "r1"), orders=orders), GAME)
    await here.place(seat, "r1", 1)
    assert came_true == [True, True]
    numbers = [number for _, number in await versions_and_transfers(here)]
    # A deposit, the first stake, the many, and one more.
    assert len(numbers) == len(orders) + 3
    assert numbers == sorted(set(numbers))


@pytest.mark.guarantee("G2")
async def test_g2_a_refusal_by_memory_is_kept_like_any_other(here: InProcessWallet, came_true: list[bool]) -> None:
    seat = await seat_with_a_bet(here)
    with pytest.raises(StoredRefusal) as refused:
        await here.place(seat, "r1", 901)
    assert (refused.value.reason, came_true) == ("INSUFFICIENT_FUNDS", [True])
    await here.place(seat, "r1", 900)


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g2_money_that_another_replica_moved_is_noticed(
    here: InProcessWallet, there: InProcessWallet, came_true: list[bool], round_id: str
) -> None:
    seat = await seat_with_a_bet(here)
    await there.withdraw(seat.account_id, 800)
    with pytest.raises(StoredRefusal) as refused:
        await here.place(seat, round_id, 101)
    assert (refused.value.reason, came_true) == ("INSUFFICIENT_FUNDS", [False])
    await here.place(seat, round_id, 100)
    assert came_true == [False, True]


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g2_a_refusal_for_want_of_money_is_none_when_another_replica_brought_some(
    here: InProcessWallet, there: InProcessWallet, came_true: list[bool], round_id: str
) -> None:
    seat = await seat_with_a_bet(here)
    await there.deposit(seat.account_id, 100)
    await here.place(seat, round_id, 1_000)
    assert came_true == [False]


@pytest.mark.guarantee("G3")
async def test_g3_a_stake_that_another_replica_took_is_answered_as_it_was(
    here: InProcessWallet, there: InProcessWallet, came_true: list[bool]
) -> None:
    seat = await seat_with_a_bet(here)
    order = wallet_pb2.StakeOrder(
        request_id="once", account_id=seat.account_id, session_id=seat.session_id, amount_cents=100
    )
    request = wallet_pb2.PlaceStakeRequest(round=round_ref("t1", "r1"), order=order)
    answers = [await desk.wallet.place_stake(request, GAME) for desk in (there, here, here)]
    assert len(set(answers)) == 1
    assert True not in came_true
    # A deposit and two stakes.
    assert len(await versions_and_transfers(here)) == 3


async def placed_while(desk: InProcessWallet, round_id: str, change: str) -> str:
    """The reason for which a stake is refused, if this is done while it waits for its locks."""
    seat = await seat_with_a_bet(desk)
    async with desk.engine.begin() as connection:
        await connection.execute(text("SELECT FROM tables FOR UPDATE"))
        placing = asyncio.create_task(desk.place(seat, round_id, 100))
        await waiting_for_lock(desk)
        await connection.execute(text(change))
    with pytest.raises(StoredRefusal) as refused:
        await placing
    # A deposit and the first stake.
    assert len(await versions_and_transfers(desk)) == 2
    return refused.value.reason


@pytest.mark.guarantee("G4")
async def test_g4_a_round_that_ends_while_a_stake_waits_gets_none(here: InProcessWallet, came_true: list[bool]) -> None:
    assert await placed_while(here, "r1", ROUND_ENDS) == "ROUND_ENDED"
    assert came_true == [False]


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("what", WHILE_IT_WAITS)
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g8_what_changes_while_the_locks_are_waited_for_is_noticed(
    here: InProcessWallet, came_true: list[bool], what: str, round_id: str
) -> None:
    change, reason = WHILE_IT_WAITS[what]
    assert await placed_while(here, round_id, change) == reason
    assert came_true == [False]


@pytest.mark.guarantee("G4")
async def test_g4_a_round_that_another_replica_opens_meanwhile_is_one_round(
    here: InProcessWallet, there: InProcessWallet, caplog: pytest.LogCaptureFixture
) -> None:
    await seat_with_a_bet(here)
    seats = [await here.sit_down(f"player-{number}", "t1") for number in range(2)]
    for desk, seat in zip((here, there), seats, strict=True):
        await desk.place(seat, "r1", 100)
    async with here.engine.begin() as connection:
        await connection.execute(text("SELECT FROM tables FOR UPDATE"))
        placing = [
            asyncio.create_task(desk.place(seat, "r2", 100)) for desk, seat in zip((here, there), seats, strict=True)
        ]
        await waiting_for_lock(here, 2)
    await asyncio.gather(*placing)
    async with here.engine.connect() as connection:
        opened = await connection.execute(text("SELECT count(*) FROM rounds WHERE round_id = 'r2'"))
        assert opened.scalar_one() == 1
    assert not caplog.messages


@pytest.mark.guarantee("G1")
async def test_g1_transfers_of_an_account_are_numbered_in_their_order_whoever_wrote_them(
    here: InProcessWallet, there: InProcessWallet, came_true: list[bool]
) -> None:
    seat = await seat_with_a_bet(here)
    for _ in range(3):
        # Twice, for the second one is written from memory, with a number that was drawn before.
        for desk in (here, here, there, there):
            await desk.place(seat, "r1", 10)
        await here.deposit(seat.account_id, 1)
    assert True in came_true
    assert False in came_true
    numbers = [number for _, number in await versions_and_transfers(here)]
    assert numbers == sorted(set(numbers))
    told: list[str] = []
    await Auditor(here.engine, outbox_age_s=1e9, round_hours=1e9).run(lambda _, sentence: told.append(sentence))
    assert told == []


async def test_a_session_that_was_invited_is_active_again_after_a_bet(
    here: InProcessWallet, came_true: list[bool]
) -> None:
    seat = await seat_with_a_bet(here)
    async with here.engine.begin() as connection:
        await connection.execute(text("UPDATE sessions SET state = 2"))
    await here.place(seat, "r1", 100)
    assert came_true == [False]
    assert await here.session_state(seat) == ACTIVE

"""Stakes that are decided with cached rows: every change that others have made meanwhile is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import wallet_pb2
from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import Book
from services.wallet.store import optimistic_stakes, write_cache
from services.wallet.store.answers import StoredRefusal
from services.wallet.store.ledger_rows import AnswerRow
from services.wallet.store.optimistic_stakes import ExpectedState
from services.wallet.store.write_cache import SPARE_NUMBERS, WriteCache
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    GAME,
    MULTI_PLAYER,
    InProcessWallet,
    Seat,
    round_ref,
)

# A round that is cached, and a new one.
ROUNDS = "r1", "r2"
CHANGES_WHILE_BLOCKED = {
    "the session ends": ("UPDATE sessions SET state = 4, end_cause = 3", "SESSION_ENDED"),
    "the account is blocked": ("UPDATE accounts SET blocked = true WHERE kind = 1", "ACCOUNT_BLOCKED"),
    "the table has another owner": ("UPDATE tables SET epoch = 2", "STALE_EPOCH"),
}
ROUND_ENDS = "UPDATE rounds SET state = 3, ended_at = now(), void_reason = 'x'"


@pytest.fixture
def cache_hits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each group decided with cached rows, whether they were up to date."""
    hits: list[bool] = []
    write = optimistic_stakes.write_if_unchanged

    async def recorded(
        connection: DirectConnection, book: Book, answered: Sequence[AnswerRow], expected: ExpectedState, numbers: int
    ) -> list[int]:
        new_numbers = await write(connection, book, answered, expected, numbers)
        hits.append(bool(new_numbers))
        return new_numbers

    monkeypatch.setattr(optimistic_stakes, "write_if_unchanged", recorded)
    return hits


async def seat_with_a_bet(wallet: InProcessWallet) -> Seat:
    """Opens a table and a round, which the wallet then has cached."""
    await wallet.open_table("t1", MULTI_PLAYER)
    seat = await wallet.sit_down("ana", "t1", 1_000)
    await wallet.place(seat, "r1", 100)
    return seat


async def versions_and_transfers(wallet: InProcessWallet) -> list[tuple[int, int]]:
    """Returns the versions of the player's account in order, each with its transfer's number."""
    statement = """
        SELECT DISTINCT entries.version, transfer_no FROM entries JOIN accounts USING (account_no)
        WHERE accounts.kind = 1 ORDER BY entries.version
    """
    async with wallet.engine.connect() as connection:
        return [(version, number) for version, number in await connection.execute(text(statement))]


def test_numbers_are_drawn_for_the_largest_recent_group() -> None:
    cache = WriteCache()
    assert cache.numbers_to_draw(100) == 100 + SPARE_NUMBERS
    after_a_large_group = [cache.numbers_to_draw(1) for _ in range(200)]
    assert after_a_large_group[0] > 90 + SPARE_NUMBERS
    assert after_a_large_group == sorted(after_a_large_group, reverse=True)
    assert after_a_large_group[-1] == 1 + SPARE_NUMBERS


async def test_a_stake_with_cached_rows_is_written_by_one_statement(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    assert cache_hits == []
    await first_replica.place(seat, "r1", 100)
    await first_replica.place(seat, "a-new-round", 100)
    assert cache_hits == [True, True]


@pytest.mark.guarantee("G11")
async def test_g11_a_full_cache_is_emptied_and_stakes_are_placed_all_the_same(
    first_replica: InProcessWallet, cache_hits: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    await first_replica.open_table("t1", MULTI_PLAYER)
    seats = [await first_replica.sit_down(f"player-{number}", "t1", 1_000) for number in range(4)]
    hits: list[int] = []
    for round_id, limit in (("r1", 100), ("r2", 100), ("r3", 2)):
        monkeypatch.setattr(write_cache, "CACHED_ROWS_LIMIT", limit)
        cache_hits.clear()
        for seat in seats:
            await first_replica.place(seat, round_id, 100)
        hits.append(sum(cache_hits))
    _, with_room, without = hits
    assert without < with_room == len(seats)
    assert await first_replica.count("SELECT count(*) FROM stakes") == 12


@pytest.mark.guarantee("G12")
async def test_g12_a_stake_with_the_round_of_another_table_is_not_decided_with_cached_rows(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    await seat_with_a_bet(first_replica)
    await first_replica.open_table("t2", MULTI_PLAYER)
    elsewhere = await first_replica.sit_down("rui", "t2", 1_000)
    await first_replica.place(elsewhere, "r2", 100)
    with pytest.raises(StoredRefusal) as refused:
        await first_replica.place(elsewhere, "r1", 100)
    assert (refused.value.reason, cache_hits) == ("ROUND_MISMATCH", [])


@pytest.mark.guarantee("G1")
async def test_g1_a_group_with_too_few_numbers_draws_more_and_is_written_by_one_statement(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    orders = [
        wallet_pb2.StakeOrder(
            request_id=f"many-{n}", account_id=seat.account_id, session_id=seat.session_id, amount_cents=1
        )
        for n in range(10 * SPARE_NUMBERS)
    ]
    await first_replica.wallet_service.place_stakes(
        wallet_pb2.PlaceStakesRequest(round=round_ref("t1", "r1"), orders=orders), GAME
    )
    await first_replica.place(seat, "r1", 1)
    assert cache_hits == [True, True]
    numbers = [number for _, number in await versions_and_transfers(first_replica)]
    # A deposit, the first stake, the group, and one more.
    assert len(numbers) == len(orders) + 3
    assert numbers == sorted(set(numbers))


@pytest.mark.guarantee("G2")
async def test_g2_a_refusal_decided_with_cached_rows_is_stored_like_any_other(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    with pytest.raises(StoredRefusal) as refused:
        await first_replica.place(seat, "r1", 901)
    assert (refused.value.reason, cache_hits) == ("INSUFFICIENT_FUNDS", [True])
    await first_replica.place(seat, "r1", 900)


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g2_a_withdrawal_by_another_replica_is_noticed(
    first_replica: InProcessWallet, second_replica: InProcessWallet, cache_hits: list[bool], round_id: str
) -> None:
    seat = await seat_with_a_bet(first_replica)
    await second_replica.withdraw(seat.account_id, 800)
    with pytest.raises(StoredRefusal) as refused:
        await first_replica.place(seat, round_id, 101)
    assert (refused.value.reason, cache_hits) == ("INSUFFICIENT_FUNDS", [False])
    await first_replica.place(seat, round_id, 100)
    assert cache_hits == [False, True]


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g2_a_deposit_by_another_replica_covers_the_stake(
    first_replica: InProcessWallet, second_replica: InProcessWallet, cache_hits: list[bool], round_id: str
) -> None:
    seat = await seat_with_a_bet(first_replica)
    await second_replica.deposit(seat.account_id, 100)
    await first_replica.place(seat, round_id, 1_000)
    assert cache_hits == [False]


@pytest.mark.guarantee("G3")
async def test_g3_a_stake_that_another_replica_placed_gets_its_first_answer(
    first_replica: InProcessWallet, second_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    order = wallet_pb2.StakeOrder(
        request_id="once", account_id=seat.account_id, session_id=seat.session_id, amount_cents=100
    )
    request = wallet_pb2.PlaceStakeRequest(round=round_ref("t1", "r1"), order=order)
    answers = [
        await wallet.wallet_service.place_stake(request, GAME)
        for wallet in (second_replica, first_replica, first_replica)
    ]
    assert len(set(answers)) == 1
    assert True not in cache_hits
    # A deposit and two stakes.
    assert len(await versions_and_transfers(first_replica)) == 3


async def placed_while(wallet: InProcessWallet, round_id: str, change: str) -> str:
    """Returns the reason for which a stake is refused if this change is made while it waits for its locks."""
    seat = await seat_with_a_bet(wallet)
    async with wallet.engine.begin() as connection:
        await connection.execute(text("SELECT FROM tables FOR UPDATE"))
        placing = asyncio.create_task(wallet.place(seat, round_id, 100))
        await wallet.wait_for_blocked()
        await connection.execute(text(change))
    with pytest.raises(StoredRefusal) as refused:
        await placing
    # A deposit and the first stake.
    assert len(await versions_and_transfers(wallet)) == 2
    return refused.value.reason


@pytest.mark.guarantee("G4")
async def test_g4_a_round_that_ends_while_a_stake_is_blocked_refuses_it(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    assert await placed_while(first_replica, "r1", ROUND_ENDS) == "ROUND_ENDED"
    assert cache_hits == [False]


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("change", CHANGES_WHILE_BLOCKED)
@pytest.mark.parametrize("round_id", ROUNDS)
async def test_g8_a_change_while_a_stake_is_blocked_is_noticed(
    first_replica: InProcessWallet, cache_hits: list[bool], change: str, round_id: str
) -> None:
    statement, reason = CHANGES_WHILE_BLOCKED[change]
    assert await placed_while(first_replica, round_id, statement) == reason
    assert cache_hits == [False]


@pytest.mark.guarantee("G4")
async def test_g4_two_replicas_that_open_a_round_at_once_open_one(
    first_replica: InProcessWallet, second_replica: InProcessWallet, caplog: pytest.LogCaptureFixture
) -> None:
    await seat_with_a_bet(first_replica)
    seats = [await first_replica.sit_down(f"player-{number}", "t1") for number in range(2)]
    for wallet, seat in zip((first_replica, second_replica), seats, strict=True):
        await wallet.place(seat, "r1", 100)
    async with first_replica.engine.begin() as connection:
        await connection.execute(text("SELECT FROM tables FOR UPDATE"))
        placing = [
            asyncio.create_task(wallet.place(seat, "r2", 100))
            for wallet, seat in zip((first_replica, second_replica), seats, strict=True)
        ]
        await first_replica.wait_for_blocked(2)
    await asyncio.gather(*placing)
    async with first_replica.engine.connect() as connection:
        opened = await connection.execute(text("SELECT count(*) FROM rounds WHERE round_id = 'r2'"))
        assert opened.scalar_one() == 1
    assert not caplog.messages


@pytest.mark.guarantee("G1")
async def test_g1_transfers_of_an_account_by_several_replicas_are_numbered_in_order(
    first_replica: InProcessWallet, second_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    for _ in range(3):
        # Twice each: the second is written with cached rows and a number drawn before.
        for wallet in (first_replica, first_replica, second_replica, second_replica):
            await wallet.place(seat, "r1", 10)
        await first_replica.deposit(seat.account_id, 1)
    assert True in cache_hits
    assert False in cache_hits
    numbers = [number for _, number in await versions_and_transfers(first_replica)]
    assert numbers == sorted(set(numbers))
    assert await first_replica.violations() == []


async def test_an_invited_session_is_active_again_after_a_bet(
    first_replica: InProcessWallet, cache_hits: list[bool]
) -> None:
    seat = await seat_with_a_bet(first_replica)
    async with first_replica.engine.begin() as connection:
        await connection.execute(text("UPDATE sessions SET state = 2"))
    await first_replica.place(seat, "r1", 100)
    assert cache_hits == [False]
    assert await first_replica.session_state(seat) == ACTIVE

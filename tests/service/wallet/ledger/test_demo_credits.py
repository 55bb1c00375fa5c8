"""Demonstration credits: given for nothing, kept apart from euro, and never paid out (`804/2015:31`, `807/2015:33`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio
from sqlalchemy import text

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.audit.auditor import Auditor
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import WalletClient, refusal_facts, refusal_reason
from tests.service.wallet.in_process_wallet import (
    DEMO,
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    REAL,
    InProcessWallet,
    Seat,
    open_wallet,
    player,
)
from tests.service.wallet.killed_process import killed_at_step

STEPS_LIMIT = 60


@pytest_asyncio.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


def refill_of(player_id: str, cents: int, request_id: str = "refill") -> wallet_pb2.RefillDemoAccountRequest:
    return wallet_pb2.RefillDemoAccountRequest(request_id=request_id, player_id=player_id, amount_cents=cents)


async def refill(
    desk: InProcessWallet, player_id: str, cents: int, request_id: str = "refill"
) -> wallet_pb2.RefillDemoAccountResponse:
    answer = await desk.wallet.refill_demo_account(refill_of(player_id, cents, request_id), GAME)
    return wallet_pb2.RefillDemoAccountResponse.FromString(answer)


async def find(
    desk: InProcessWallet, player_id: str, mode: types_pb2.Mode.ValueType = DEMO
) -> wallet_pb2.FindAccountResponse:
    request = wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode)
    return await desk.wallet.find_account(request, GAME)


async def sit_down(desk: InProcessWallet, player_id: str, cents: int) -> Seat:
    """At a demonstration table, with credits to play with."""
    await desk.open_table("fun", MULTI_PLAYER, mode=DEMO)
    account_id = (await refill(desk, player_id, cents)).balance.account_id
    started = await desk.start_session(account_id, "fun")
    return Seat(player_id, account_id, "fun", started.session.session_id)


async def transfers(desk: InProcessWallet) -> list[tuple[int, int, str | None]]:
    async with desk.engine.connect() as connection:
        rows = await connection.execute(text("SELECT kind, mode, reference FROM transfers ORDER BY transfer_no"))
        return [(kind, mode, reference) for kind, mode, reference in rows]


async def violations(desk: InProcessWallet) -> list[str]:
    found: list[str] = []
    # Nobody publishes here, so the outbox is as old as the test's clock.
    await Auditor(desk.engine, outbox_age_s=1e9).run(lambda check, sentence: found.append(f"{check.name}: {sentence}"))
    return found


# -- filling --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G1")
@pytest.mark.rule("804/2015:31")
async def test_g1_a_player_without_an_account_gets_one_with_credits_from_the_books_of_demonstration(
    desk: InProcessWallet,
) -> None:
    real = await desk.open_account("ana", 700)

    filled = await refill(desk, "ana", 100_000)

    assert filled.transfer_id
    assert (filled.balance.mode, filled.balance.free_cents, filled.balance.version) == (DEMO, 100_000, 1)
    assert (await find(desk, "ana")).balance == filled.balance
    # Euro is where it was.
    untouched = (await find(desk, "ana", REAL)).balance
    assert (untouched.account_id, untouched.free_cents, untouched.version) == (real, 700, 1)
    deposit = types_pb2.TRANSFER_KIND_DEPOSIT
    assert await transfers(desk) == [(deposit, REAL, None), (deposit, DEMO, "demonstration")]
    request = wallet_pb2.ListTransactionsRequest(account_id=filled.balance.account_id)
    (told,) = (await desk.wallet.list_transactions(request, OPERATOR)).transactions
    assert (told.transfer_id, told.kind, told.request_id) == (filled.transfer_id, deposit, "refill")
    assert await violations(desk) == []


async def test_it_is_brought_up_to_the_amount_and_not_by_it(desk: InProcessWallet) -> None:
    await refill(desk, "ana", 1_000, "first")

    less = await refill(desk, "ana", 400, "less")
    same = await refill(desk, "ana", 1_000, "same")
    more = await refill(desk, "ana", 1_500, "more")

    assert [(answer.transfer_id, answer.balance.free_cents) for answer in (less, same)] == [(0, 1_000), (0, 1_000)]
    assert more.transfer_id
    assert (more.balance.free_cents, more.balance.version) == (1_500, 2)
    assert len(await transfers(desk)) == 2
    assert await violations(desk) == []


async def test_what_lies_on_the_felt_does_not_count(desk: InProcessWallet) -> None:
    seat = await sit_down(desk, "ana", 1_000)
    await desk.place(seat, "r1", 300)

    again = await refill(desk, "ana", 1_000, "again")

    assert (again.balance.free_cents, again.balance.locked_cents) == (1_000, 300)


@pytest.mark.guarantee("G3")
async def test_g3_sent_again_it_gets_the_same_bytes_and_fills_nothing(desk: InProcessWallet) -> None:
    request = refill_of("ana", 1_000)
    first = await asyncio.gather(*(desk.wallet.refill_demo_account(request, GAME) for _ in range(4)))
    nothing = await desk.wallet.refill_demo_account(refill_of("ana", 10, "nothing"), GAME)
    seat = await sit_down(desk, "ana", 1_000)
    stake = await desk.place(seat, "r1", 995)
    await desk.settle("fun", "r1", {stake: 0})

    later = await desk.wallet.refill_demo_account(request, GAME)
    # That nothing had to be moved is an answer too, and stays one.
    nothing_later = await desk.wallet.refill_demo_account(refill_of("ana", 10, "nothing"), GAME)

    assert {*first, later} == {first[0]}
    assert nothing_later == nothing
    assert (await find(desk, "ana")).balance.free_cents == 5
    for other in (refill_of("ana", 2_000), refill_of("rui", 1_000)):
        with pytest.raises(Refused) as refused:
            await desk.wallet.refill_demo_account(other, GAME)
        assert (refused.value.reason, refused.value.facts) == ("REQUEST_REUSED", {"request_id": "refill"})
    assert await violations(desk) == []


async def test_many_refills_at_once_fill_it_once(desk: InProcessWallet, wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as replica:
        answers = await asyncio.gather(
            *(refill(which, "ana", 1_000, f"r{n}") for n, which in enumerate([desk, replica] * 8))
        )

    assert len([answer for answer in answers if answer.transfer_id]) == 1
    assert {answer.balance.free_cents for answer in answers} == {1_000}
    assert len({answer.balance.account_id for answer in answers}) == 1


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_killed_at_any_step_the_refill_sent_again_acts_once(wallet_database: WalletDatabase) -> None:
    async with open_wallet(wallet_database.url) as desk:
        for step in range(1, STEPS_LIMIT):
            request = refill_of(f"p{step}", 700, f"refill-{step}")
            died = await asyncio.to_thread(
                killed_at_step, wallet_database.url, step, "refill_demo_account", "game", request
            )
            first = await desk.wallet.refill_demo_account(request, GAME)
            assert await desk.wallet.refill_demo_account(request, GAME) == first
            balance = (await find(desk, f"p{step}")).balance
            assert (balance.free_cents, balance.version) == (700, 1)
            if not died:
                break
        # Open, learn, lock, look, write and commit, each before and after.
        assert step > 12
        assert await violations(desk) == []


@pytest.mark.guarantee("G12")
async def test_g12_a_blocked_account_is_not_filled(desk: InProcessWallet) -> None:
    account_id = (await refill(desk, "ana", 100)).balance.account_id
    await desk.wallet.block_account(wallet_pb2.BlockAccountRequest(account_id=account_id, reason="test"), OPERATOR)

    with pytest.raises(Refused) as refused:
        await refill(desk, "ana", 1_000, "again")

    assert (refused.value.reason, refused.value.facts) == ("ACCOUNT_BLOCKED", {"account_id": account_id})
    found = await find(desk, "ana")
    assert (found.blocked, found.balance.free_cents) == (True, 100)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (refill_of("ana", 0), "amount_cents"),
        (refill_of("ana", -1), "amount_cents"),
        (refill_of("ana", 10**10 + 1), "amount_cents"),
        (refill_of("a.na", 1), "player_id"),
        (refill_of("ana", 1, ""), "request_id"),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_is_opened(
    desk: InProcessWallet, wrong: wallet_pb2.RefillDemoAccountRequest, field: str
) -> None:
    with pytest.raises(Refused) as refused:
        await desk.wallet.refill_demo_account(wrong, GAME)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})
    with pytest.raises(Refused) as unknown:
        await find(desk, "ana")
    assert unknown.value.reason == "ACCOUNT_UNKNOWN"


async def test_only_a_game_gives_credits(wallet: WalletClient) -> None:
    for who in (wallet.operator, wallet.bearer("player", "ana")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=who)
        assert refusal_reason(refused.value) == "SCOPE_MISSING"
    answer = await wallet.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=wallet.game)
    assert answer.balance.free_cents == 1_000


# -- never into euro ------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G12")
@pytest.mark.rule("804/2015:31")
@pytest.mark.rule("807/2015:33")
async def test_g12_credits_are_never_paid_out(wallet: WalletClient) -> None:
    filled = await wallet.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=wallet.game)
    account_id = filled.balance.account_id

    for cents in (1, 1_000, 2_000):
        request = wallet_pb2.WithdrawRequest(request_id=f"w-{cents}", account_id=account_id, amount_cents=cents)
        for _ in range(2):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await wallet.wallet.Withdraw(request, metadata=wallet.operator)
            assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
            assert refusal_facts(refused.value) == ("MODE_MISMATCH", {"account_id": account_id, "account_mode": "DEMO"})

    assert await wallet.balance(account_id) == filled.balance


@pytest.mark.rule("804/2015:31")
async def test_euro_is_paid_out_as_ever(desk: InProcessWallet) -> None:
    account_id = await desk.open_account("ana", 700)
    await refill(desk, "ana", 1_000)

    await desk.withdraw(account_id, 700)

    assert (await find(desk, "ana", REAL)).balance.free_cents == 0
    assert (await find(desk, "ana", DEMO)).balance.free_cents == 1_000


# -- finding --------------------------------------------------------------------------------------------------------


async def test_an_account_is_found_by_its_player_and_mode(desk: InProcessWallet) -> None:
    account_id = await desk.open_account("ana", 700)
    request = wallet_pb2.FindAccountRequest(player_id="ana", mode=REAL)

    for who in (player("ana"), OPERATOR, GAME):
        found = await desk.wallet.find_account(request, who)
        assert (found.balance.account_id, found.balance.free_cents, found.blocked) == (account_id, 700, False)
    with pytest.raises(Refused) as foreign:
        await desk.wallet.find_account(request, player("rui"))
    assert foreign.value.reason == "NOT_YOURS"
    # Whether there is one is another player's business as well.
    with pytest.raises(Refused) as nobodys:
        await desk.wallet.find_account(wallet_pb2.FindAccountRequest(player_id="eva", mode=REAL), player("rui"))
    assert nobodys.value.reason == "NOT_YOURS"


async def test_an_account_that_is_not_there_is_said_to_be_unknown(desk: InProcessWallet) -> None:
    await desk.open_account("ana")

    for player_id, mode, name in (("ana", DEMO, "DEMO"), ("rui", REAL, "REAL")):
        with pytest.raises(Refused) as refused:
            await find(desk, player_id, mode)
        assert refused.value.reason == "ACCOUNT_UNKNOWN"
        assert refused.value.facts == {"player_id": player_id, "mode": name}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (wallet_pb2.FindAccountRequest(player_id="ana"), "mode"),
        (wallet_pb2.FindAccountRequest(mode=REAL), "player_id"),
    ],
)
async def test_a_search_names_a_player_and_a_mode(
    desk: InProcessWallet, wrong: wallet_pb2.FindAccountRequest, field: str
) -> None:
    with pytest.raises(Refused) as refused:
        await desk.wallet.find_account(wrong, GAME)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


@pytest.mark.rule("804/2015:31", "807/2015:33")
async def test_whoever_only_tries_never_has_an_account_for_money(desk: InProcessWallet) -> None:
    visitor = "demo-0123456789abcdef"
    for mode in (REAL, DEMO):
        request = wallet_pb2.OpenAccountRequest(player_id=visitor, mode=mode)
        with pytest.raises(Refused) as refused:
            await desk.wallet.open_account(request, OPERATOR)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "player_id"})
    assert (await refill(desk, visitor, 500)).balance.free_cents == 500
    with pytest.raises(Refused) as refused:
        await find(desk, visitor, REAL)
    assert refused.value.reason == "ACCOUNT_UNKNOWN"

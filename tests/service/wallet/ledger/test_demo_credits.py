"""Demonstration credits are free, separate from euro, and never paid out (`804/2015:31`, `807/2015:33`)."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from sqlalchemy import text

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
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
    player,
)
from tests.service.wallet.kills import kill_at_step

STEPS_LIMIT = 60


def refill_of(player_id: str, cents: int, request_id: str = "refill") -> wallet_pb2.RefillDemoAccountRequest:
    return wallet_pb2.RefillDemoAccountRequest(request_id=request_id, player_id=player_id, amount_cents=cents)


async def refill(
    wallet: InProcessWallet, player_id: str, cents: int, request_id: str = "refill"
) -> wallet_pb2.RefillDemoAccountResponse:
    answer = await wallet.wallet_service.refill_demo_account(refill_of(player_id, cents, request_id), GAME)
    return wallet_pb2.RefillDemoAccountResponse.FromString(answer)


async def find(
    wallet: InProcessWallet, player_id: str, mode: types_pb2.Mode.ValueType = DEMO
) -> wallet_pb2.FindAccountResponse:
    request = wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode)
    return await wallet.wallet_service.find_account(request, GAME)


async def sit_down(wallet: InProcessWallet, player_id: str, cents: int) -> Seat:
    """Starts a session at a demonstration table, with credits."""
    await wallet.open_table("fun", MULTI_PLAYER, mode=DEMO)
    account_id = (await refill(wallet, player_id, cents)).balance.account_id
    started = await wallet.start_session(account_id, "fun")
    return Seat(player_id, account_id, "fun", started.session.session_id)


async def transfers(wallet: InProcessWallet) -> list[tuple[int, int, str | None]]:
    async with wallet.engine.connect() as connection:
        rows = await connection.execute(text("SELECT kind, mode, reference FROM transfers ORDER BY transfer_no"))
        return [(kind, mode, reference) for kind, mode, reference in rows]


# -- refills --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G1")
@pytest.mark.rule("804/2015:31")
async def test_g1_a_player_without_an_account_gets_one_with_credits_of_the_demonstration_operator(
    wallet: InProcessWallet,
) -> None:
    real = await wallet.open_account("ana", 700)

    filled = await refill(wallet, "ana", 100_000)

    assert filled.transfer_id
    assert (filled.balance.mode, filled.balance.free_cents, filled.balance.version) == (DEMO, 100_000, 1)
    assert (await find(wallet, "ana")).balance == filled.balance
    # The account in euro is unchanged.
    untouched = (await find(wallet, "ana", REAL)).balance
    assert (untouched.account_id, untouched.free_cents, untouched.version) == (real, 700, 1)
    deposit = types_pb2.TRANSFER_KIND_DEPOSIT
    assert await transfers(wallet) == [(deposit, REAL, None), (deposit, DEMO, "demonstration")]
    request = wallet_pb2.ListTransactionsRequest(account_id=filled.balance.account_id)
    (transaction,) = (await wallet.wallet_service.list_transactions(request, OPERATOR)).transactions
    assert (transaction.transfer_id, transaction.kind, transaction.request_id) == (
        filled.transfer_id,
        deposit,
        "refill",
    )
    assert await wallet.violations() == []


async def test_a_refill_fills_up_to_the_amount_and_does_not_add_it(wallet: InProcessWallet) -> None:
    await refill(wallet, "ana", 1_000, "first")

    less = await refill(wallet, "ana", 400, "less")
    same = await refill(wallet, "ana", 1_000, "same")
    more = await refill(wallet, "ana", 1_500, "more")

    assert [(answer.transfer_id, answer.balance.free_cents) for answer in (less, same)] == [(0, 1_000), (0, 1_000)]
    assert more.transfer_id
    assert (more.balance.free_cents, more.balance.version) == (1_500, 2)
    assert len(await transfers(wallet)) == 2
    assert await wallet.violations() == []


async def test_stakes_in_play_do_not_count_for_a_refill(wallet: InProcessWallet) -> None:
    seat = await sit_down(wallet, "ana", 1_000)
    await wallet.place(seat, "r1", 300)

    again = await refill(wallet, "ana", 1_000, "again")

    assert (again.balance.free_cents, again.balance.locked_cents) == (1_000, 300)


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_refill_gets_the_same_bytes_and_fills_nothing(wallet: InProcessWallet) -> None:
    request = refill_of("ana", 1_000)
    first = await asyncio.gather(*(wallet.wallet_service.refill_demo_account(request, GAME) for _ in range(4)))
    nothing = await wallet.wallet_service.refill_demo_account(refill_of("ana", 10, "nothing"), GAME)
    seat = await sit_down(wallet, "ana", 1_000)
    stake = await wallet.place(seat, "r1", 995)
    await wallet.settle("fun", "r1", {stake: 0})

    later = await wallet.wallet_service.refill_demo_account(request, GAME)
    # That nothing was missing is an answer, too, and stays one.
    nothing_later = await wallet.wallet_service.refill_demo_account(refill_of("ana", 10, "nothing"), GAME)

    assert {*first, later} == {first[0]}
    assert nothing_later == nothing
    assert (await find(wallet, "ana")).balance.free_cents == 5
    for other in (refill_of("ana", 2_000), refill_of("rui", 1_000)):
        with pytest.raises(Refused) as refused:
            await wallet.wallet_service.refill_demo_account(other, GAME)
        assert (refused.value.reason, refused.value.facts) == ("REQUEST_REUSED", {"request_id": "refill"})
    assert await wallet.violations() == []


async def test_many_refills_at_once_fill_the_account_once(
    first_replica: InProcessWallet, second_replica: InProcessWallet
) -> None:
    answers = await asyncio.gather(
        *(refill(wallet, "ana", 1_000, f"r{n}") for n, wallet in enumerate([first_replica, second_replica] * 8))
    )

    assert len([answer for answer in answers if answer.transfer_id]) == 1
    assert {answer.balance.free_cents for answer in answers} == {1_000}
    assert len({answer.balance.account_id for answer in answers}) == 1


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G5")
async def test_killed_at_any_step_the_refill_sent_again_acts_once(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    for step in range(1, STEPS_LIMIT):
        request = refill_of(f"p{step}", 700, f"refill-{step}")
        killed = await kill_at_step(wallet, wallet_database.url, step, "refill_demo_account", "game", request)
        first = await wallet.wallet_service.refill_demo_account(request, GAME)
        assert await wallet.wallet_service.refill_demo_account(request, GAME) == first
        balance = (await find(wallet, f"p{step}")).balance
        assert (balance.free_cents, balance.version) == (700, 1)
        if not killed:
            break
    # Open the account, resolve, lock, read, write and commit, each before and after.
    assert step > 12
    assert await wallet.violations() == []


@pytest.mark.guarantee("G12")
async def test_g12_a_blocked_account_is_not_filled(wallet: InProcessWallet) -> None:
    account_id = (await refill(wallet, "ana", 100)).balance.account_id
    await wallet.wallet_service.block_account(
        wallet_pb2.BlockAccountRequest(account_id=account_id, reason="test"), OPERATOR
    )

    with pytest.raises(Refused) as refused:
        await refill(wallet, "ana", 1_000, "again")

    assert (refused.value.reason, refused.value.facts) == ("ACCOUNT_BLOCKED", {"account_id": account_id})
    found = await find(wallet, "ana")
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
async def test_an_invalid_refill_opens_no_account(
    wallet: InProcessWallet, wrong: wallet_pb2.RefillDemoAccountRequest, field: str
) -> None:
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.refill_demo_account(wrong, GAME)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})
    with pytest.raises(Refused) as unknown:
        await find(wallet, "ana")
    assert unknown.value.reason == "ACCOUNT_UNKNOWN"


async def test_only_a_game_may_refill(wallet_client: WalletClient) -> None:
    for caller in (wallet_client.operator, wallet_client.bearer("player", "ana")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet_client.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=caller)
        assert refusal_reason(refused.value) == "SCOPE_MISSING"
    answer = await wallet_client.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=wallet_client.game)
    assert answer.balance.free_cents == 1_000


# -- payout ---------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G12")
@pytest.mark.rule("804/2015:31")
@pytest.mark.rule("807/2015:33")
async def test_g12_credits_are_never_paid_out(wallet_client: WalletClient) -> None:
    filled = await wallet_client.wallet.RefillDemoAccount(refill_of("ana", 1_000), metadata=wallet_client.game)
    account_id = filled.balance.account_id

    for cents in (1, 1_000, 2_000):
        request = wallet_pb2.WithdrawRequest(request_id=f"w-{cents}", account_id=account_id, amount_cents=cents)
        for _ in range(2):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await wallet_client.wallet.Withdraw(request, metadata=wallet_client.operator)
            assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
            assert refusal_facts(refused.value) == (
                "MODE_MISMATCH",
                {"account_id": account_id, "account_mode": "MODE_DEMO"},
            )

    assert await wallet_client.balance(account_id) == filled.balance


@pytest.mark.rule("804/2015:31")
async def test_euro_is_paid_out_beside_a_demonstration_account(wallet: InProcessWallet) -> None:
    account_id = await wallet.open_account("ana", 700)
    await refill(wallet, "ana", 1_000)

    await wallet.withdraw(account_id, 700)

    assert (await find(wallet, "ana", REAL)).balance.free_cents == 0
    assert (await find(wallet, "ana", DEMO)).balance.free_cents == 1_000


# -- search ---------------------------------------------------------------------------------------------------------


async def test_an_account_is_found_by_its_player_and_mode(wallet: InProcessWallet) -> None:
    account_id = await wallet.open_account("ana", 700)
    request = wallet_pb2.FindAccountRequest(player_id="ana", mode=REAL)

    for caller in (player("ana"), OPERATOR, GAME):
        found = await wallet.wallet_service.find_account(request, caller)
        assert (found.balance.account_id, found.balance.free_cents, found.blocked) == (account_id, 700, False)
    with pytest.raises(Refused) as foreign:
        await wallet.wallet_service.find_account(request, player("rui"))
    assert foreign.value.reason == "NOT_YOURS"
    # Another player is not told whether there is one.
    with pytest.raises(Refused) as unknown:
        await wallet.wallet_service.find_account(
            wallet_pb2.FindAccountRequest(player_id="eva", mode=REAL), player("rui")
        )
    assert unknown.value.reason == "NOT_YOURS"


async def test_a_missing_account_is_unknown(wallet: InProcessWallet) -> None:
    await wallet.open_account("ana")

    for player_id, mode, name in (("ana", DEMO, "MODE_DEMO"), ("rui", REAL, "MODE_REAL")):
        with pytest.raises(Refused) as refused:
            await find(wallet, player_id, mode)
        assert refused.value.reason == "ACCOUNT_UNKNOWN"
        assert refused.value.facts == {"player_id": player_id, "mode": name}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (wallet_pb2.FindAccountRequest(player_id="ana"), "mode"),
        (wallet_pb2.FindAccountRequest(mode=REAL), "player_id"),
    ],
)
async def test_a_search_needs_a_player_and_a_mode(
    wallet: InProcessWallet, wrong: wallet_pb2.FindAccountRequest, field: str
) -> None:
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.find_account(wrong, GAME)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


@pytest.mark.rule("804/2015:31", "807/2015:33")
async def test_a_guest_never_has_an_account_for_money(wallet: InProcessWallet) -> None:
    guest = "demo-0123456789abcdef"
    for mode in (REAL, DEMO):
        request = wallet_pb2.OpenAccountRequest(player_id=guest, mode=mode)
        with pytest.raises(Refused) as refused:
            await wallet.wallet_service.open_account(request, OPERATOR)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "player_id"})
    assert (await refill(wallet, guest, 500)).balance.free_cents == 500
    with pytest.raises(Refused) as refused:
        await find(wallet, guest, REAL)
    assert refused.value.reason == "ACCOUNT_UNKNOWN"

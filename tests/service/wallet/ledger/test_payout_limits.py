"""What a stake may be paid: no more than it can win, nor than the operator allows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.model.state import DEFAULT_STAKE_PAYOUT_CENTS, PayoutLimits
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    InProcessWallet,
    Seat,
    open_wallet,
    round_ref,
)

pytestmark = pytest.mark.guarantee("G12")

LIMITS = PayoutLimits(stake_cents=5_000, round_cents=8_000)


@pytest.fixture
async def limited(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url, payout_limits=LIMITS) as opened:
        yield opened


async def seated(wallet: InProcessWallet) -> Seat:
    return await wallet.sit_down("ana", await wallet.open_table("t1", MULTI_PLAYER))


async def place(
    wallet: InProcessWallet, seat: Seat, stake_id: str, largest_payout_cents: int, cents: int = 100
) -> None:
    order = wallet_pb2.StakeOrder(
        request_id=stake_id,
        account_id=seat.account_id,
        session_id=seat.session_id,
        amount_cents=cents,
        largest_payout_cents=largest_payout_cents,
    )
    await wallet.wallet_service.place_stake(
        wallet_pb2.PlaceStakeRequest(round=round_ref("t1", "r1"), order=order), GAME
    )


async def settle(wallet: InProcessWallet, request_id: str, **payouts: int) -> wallet_pb2.SettleRoundResponse:
    request = wallet_pb2.SettleRoundRequest(
        request_id=request_id,
        round=round_ref("t1", "r1"),
        payouts=[wallet_pb2.StakePayout(stake_id=stake, payout_cents=cents) for stake, cents in payouts.items()],
    )
    return wallet_pb2.SettleRoundResponse.FromString(await wallet.wallet_service.settle_round(request, GAME))


async def refusal(wallet: InProcessWallet, **payouts: int) -> dict[str, str]:
    with pytest.raises(Refused) as refused:
        await settle(wallet, "settle", **payouts)
    assert refused.value.reason == "PAYOUT_TOO_LARGE"
    return dict(refused.value.facts)


async def balance(wallet: InProcessWallet, seat: Seat) -> tuple[int, int]:
    request = wallet_pb2.GetBalanceRequest(account_id=seat.account_id)
    found = (await wallet.wallet_service.get_balance(request, OPERATOR)).balance
    return found.free_cents, found.locked_cents


async def test_a_stake_is_paid_no_more_than_it_says_it_can_win(wallet: InProcessWallet) -> None:
    seat = await seated(wallet)
    await place(wallet, seat, "a", 3_600)
    # The second one goes the short way, with cached rows.
    await place(wallet, seat, "b", 200)
    for payouts, stake_id, limit in (({"a": 3_601, "b": 0}, "a", 3_600), ({"a": 0, "b": 500_000_000}, "b", 200)):
        assert await refusal(wallet, **payouts) == {
            "field": "largest_payout_cents",
            "limit_cents": str(limit),
            "payout_cents": str(payouts[stake_id]),
            "round_id": "r1",
            "stake_id": stake_id,
        }
        assert await balance(wallet, seat) == (99_800, 200)
    # The refusal is no answer: the right payouts settle the round under the same request.
    await settle(wallet, "settle", a=3_600, b=200)
    assert await balance(wallet, seat) == (103_600, 0)
    assert await wallet.violations() == []


async def test_no_stake_and_no_round_is_paid_above_the_operators_limits(
    limited: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    """Where a game does not say what a stake can win, only these limits are left."""
    seat = await seated(limited)
    for stake_id in ("a", "b", "c"):
        await place(limited, seat, stake_id, 0)
    facts = await refusal(limited, a=5_001, b=0, c=0)
    assert (facts["field"], facts["limit_cents"], facts["stake_id"]) == ("stake", "5000", "a")
    facts = await refusal(limited, a=5_000, b=3_000, c=1)
    assert (facts["field"], facts["limit_cents"], facts["payout_cents"]) == ("round", "8000", "8001")
    assert await balance(limited, seat) == (99_700, 300)
    # With a higher limit the same request pays: what was drawn is drawn (G6).
    higher = PayoutLimits(stake_cents=5_000, round_cents=8_001)
    async with open_wallet(wallet_database.url, limited.clock, payout_limits=higher) as raised:
        await settle(raised, "settle", a=5_000, b=3_000, c=1)
        assert await balance(raised, seat) == (107_701, 0)


async def test_a_stake_that_could_win_more_than_the_operator_pays_is_refused_when_placed(
    limited: InProcessWallet,
) -> None:
    seat = await seated(limited)
    await place(limited, seat, "a", LIMITS.stake_cents)
    for stake_id in ("b", "c"):
        with pytest.raises(Refused) as refused:
            await place(limited, seat, stake_id, LIMITS.stake_cents + 1)
        assert (refused.value.reason, refused.value.facts["field"]) == ("PAYOUT_TOO_LARGE", "stake")
    assert await balance(limited, seat) == (99_900, 100)


async def test_the_operators_limit_has_a_default(wallet: InProcessWallet) -> None:
    """Five million euro on one cent."""
    seat = await seated(wallet)
    await place(wallet, seat, "a", 0, cents=1)
    facts = await refusal(wallet, a=500_000_000)
    assert (facts["field"], facts["limit_cents"]) == ("stake", str(DEFAULT_STAKE_PAYOUT_CENTS))


@pytest.mark.guarantee("G12")
async def test_g12_a_table_that_could_pay_more_than_the_limit_is_refused_before_anybody_bets(
    limited: InProcessWallet,
) -> None:
    registration = wallet_pb2.RegisterTableRequest(
        table_id="t9",
        game=GAME.game,
        regulation="804/2015",
        mode=types_pb2.MODE_REAL,
        play=types_pb2.PLAY_MULTI_PLAYER,
        largest_payout_cents=LIMITS.stake_cents + 1,
    )
    with pytest.raises(Refused) as refused:
        await limited.wallet_service.register_table(registration, GAME)
    assert (refused.value.reason, refused.value.facts["field"]) == ("PAYOUT_TOO_LARGE", "stake")
    registration.largest_payout_cents = LIMITS.stake_cents
    await limited.wallet_service.register_table(registration, GAME)


async def test_voiding_returns_a_stake_whatever_it_can_win(limited: InProcessWallet) -> None:
    seat = await seated(limited)
    await place(limited, seat, "a", 1, cents=90_000)
    await limited.void("t1", "r1")
    assert await balance(limited, seat) == (100_000, 0)


async def test_the_database_itself_pays_no_stake_more_than_it_can_win(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    await place(wallet, await seated(wallet), "a", 200)
    connection = await asyncpg.connect(wallet_database.url.replace("+asyncpg", ""))
    try:
        with pytest.raises(asyncpg.CheckViolationError, match="stakes_paid_within_their_prize"):
            await connection.execute("UPDATE stakes SET payout_cents = 201, state = 3")
    finally:
        await connection.close()

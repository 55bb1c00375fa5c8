"""How far an epoch may jump: an absurd one bricks no table, and no sequence of takeovers meets the limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.model import state
from services.wallet.model.state import EPOCH_JUMP_LIMIT
from tests.service.wallet.in_process_wallet import GAME, MULTI_PLAYER, InProcessWallet, Seat

pytestmark = [pytest.mark.guarantee("G8"), pytest.mark.guarantee("G12")]

ABSURD = 10**9


async def refusal(command: Awaitable[object]) -> tuple[str, dict[str, str]]:
    with pytest.raises(Refused) as refused:
        await command
    return refused.value.reason, dict(refused.value.facts)


def commands_at(wallet: InProcessWallet, seat: Seat, epoch: int) -> dict[str, Callable[[], Awaitable[object]]]:
    """Every command that names an epoch, at the table `t1`."""
    table = types_pb2.TableRef(table_id="t1", epoch=epoch)
    round_ = types_pb2.RoundRef(round_id="r1", table=table)
    order = wallet_pb2.StakeOrder(
        request_id="s2", account_id=seat.account_id, session_id=seat.session_id, amount_cents=1
    )
    money, sessions = wallet.wallet_service, wallet.session_service
    account_id, session_id = seat.account_id, seat.session_id
    return {
        "open": lambda: wallet.open_table("t1", MULTI_PLAYER, epoch=epoch),
        "stake": lambda: money.place_stake(wallet_pb2.PlaceStakeRequest(round=round_, order=order), GAME),
        "stakes": lambda: money.place_stakes(wallet_pb2.PlaceStakesRequest(round=round_, orders=[order]), GAME),
        "cancel": lambda: money.cancel_stakes(
            wallet_pb2.CancelStakesRequest(
                request_id="c", round=round_, account_id=account_id, stakes=[wallet_pb2.StakeToCancel(stake_id="s1")]
            ),
            GAME,
        ),
        "pay": lambda: money.pay_stakes(
            wallet_pb2.PayStakesRequest(request_id="p", round=round_, payouts=[wallet_pb2.StakePayout(stake_id="s1")]),
            GAME,
        ),
        "settle": lambda: money.settle_round(wallet_pb2.SettleRoundRequest(request_id="e", round=round_), GAME),
        "void": lambda: money.void_round(
            wallet_pb2.VoidRoundRequest(request_id="v", round=round_, reason="test"), GAME
        ),
        "buy in": lambda: money.buy_in(
            wallet_pb2.BuyInRequest(
                request_id="b", table=table, amount_cents=1, account_id=account_id, session_id=session_id
            ),
            GAME,
        ),
        "cash out": lambda: money.cash_out(
            wallet_pb2.CashOutRequest(request_id="o", table=table, account_id=account_id, session_id=session_id), GAME
        ),
        "hand": lambda: money.transfer_hand(wallet_pb2.TransferHandRequest(request_id="h", round=round_), GAME),
        "announce": lambda: wallet.announce("t1", "r2", epoch),
        "rules": lambda: sessions.apply_specific_rules(
            session_pb2.ApplySpecificRulesRequest(table=table, version=1), GAME
        ),
    }


async def test_g8_an_absurd_epoch_is_refused_and_the_owner_plays_on(wallet: InProcessWallet) -> None:
    await wallet.open_table("t1", MULTI_PLAYER, epoch=7)
    seat = await wallet.sit_down("ana", "t1")
    for command in commands_at(wallet, seat, ABSURD).values():
        reason, facts = await refusal(command())
        assert (reason, facts) == (
            "EPOCH_TOO_HIGH",
            {"table_id": "t1", "epoch": str(ABSURD), "current_epoch": "7", "limit": str(EPOCH_JUMP_LIMIT)},
        )
    assert (await refusal(wallet.open_table("t2", MULTI_PLAYER, epoch=ABSURD)))[0] == "EPOCH_TOO_HIGH"
    assert await wallet.count("SELECT count(*) FROM tables WHERE table_id = 't2'") == 0
    for name, command in commands_at(wallet, seat, 7).items():
        if name in {"open", "stake", "announce", "rules"}:
            await command()
    assert await wallet.count("SELECT epoch FROM tables WHERE table_id = 't1'") == 7


async def test_g8_takeovers_never_meet_the_limit(wallet: InProcessWallet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player's own table that was closed for many takeovers opens again: its configured table's others show them."""
    for module in (state, *(__import__(name, fromlist=["x"]) for name in _USERS)):
        monkeypatch.setattr(module, "EPOCH_JUMP_LIMIT", 10, raising=True)
    await wallet.open_table("own-a", MULTI_PLAYER)
    for epoch in range(2, 60, 8):
        await wallet.open_table("own-b", MULTI_PLAYER, epoch=epoch)
    await wallet.open_table("own-a", MULTI_PLAYER, epoch=58)
    await wallet.open_table("own-c", MULTI_PLAYER, epoch=58)
    # As far as the game's highest epoch is a reason, and no further.
    reason, facts = await refusal(wallet.open_table("own-a", MULTI_PLAYER, epoch=69))
    assert (reason, facts["current_epoch"]) == ("EPOCH_TOO_HIGH", "58")


_USERS = (
    "services.wallet.ledger.book",
    "services.wallet.store.accounts",
    "services.wallet.server.session_service",
    "services.wallet.model.refusals",
)

"""The digest of a command: equal for the same command however it is sent, different for any other one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from feltro.access.v1 import access_pb2
from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.command_digest import digest

pytestmark = pytest.mark.guarantee("G3")


def order(**changes: object) -> wallet_pb2.StakeOrder:
    made = wallet_pb2.StakeOrder(
        request_id="one", account_id="a", session_id="s", amount_cents=100, detail=b"red", traceparent="00-1-2-01"
    )
    for field, value in changes.items():
        setattr(made, field, value)
    return made


def settlement(epoch: int = 3, round_id: str = "r1", cents: int = 200) -> wallet_pb2.SettleRoundRequest:
    return wallet_pb2.SettleRoundRequest(
        request_id="r1:settle",
        round=types_pb2.RoundRef(round_id=round_id, table=types_pb2.TableRef(table_id="t", epoch=epoch)),
        payouts=[wallet_pb2.StakePayout(stake_id="one", payout_cents=cents)],
    )


def test_g3_a_stake_has_the_same_digest_alone_and_together_with_others() -> None:
    alone = wallet_pb2.PlaceStakeRequest(order=order())
    together = wallet_pb2.PlaceStakesRequest(orders=[order(amount_cents=1), order()])
    assert digest(alone.order, "t", "r1") == digest(together.orders[1], "t", "r1")


def test_g3_the_way_a_command_travels_is_no_content() -> None:
    assert digest(order(traceparent="00-3-4-01"), "t", "r1") == digest(order(traceparent=""), "t", "r1")
    assert digest(order(request_id="two"), "t", "r1") == digest(order(), "t", "r1")
    assert digest(settlement(epoch=4)) == digest(settlement(epoch=3)) == digest(settlement(epoch=0))


@pytest.mark.parametrize(
    "other",
    [
        lambda: digest(order(amount_cents=101), "t", "r1"),
        lambda: digest(order(detail=b"black"), "t", "r1"),
        lambda: digest(order(session_id="other"), "t", "r1"),
        lambda: digest(order(), "u", "r1"),
        lambda: digest(order(), "t", "r2"),
        lambda: digest(order(), "tr1", ""),
        lambda: digest(order()),
    ],
)
def test_g3_another_content_or_another_place_is_another_command(other: Callable[[], bytes]) -> None:
    assert other() != digest(order(), "t", "r1")


def test_g3_the_kind_of_command_is_content() -> None:
    deposit = wallet_pb2.DepositRequest(request_id="one", account_id="a", amount_cents=100)
    withdrawal = wallet_pb2.WithdrawRequest(request_id="one", account_id="a", amount_cents=100)
    assert deposit.SerializeToString() == withdrawal.SerializeToString()
    assert digest(deposit) != digest(withdrawal)
    assert digest(settlement(cents=201)) != digest(settlement())


def test_a_request_is_the_same_after_it_was_digested() -> None:
    for request in (order(), settlement(), wallet_pb2.SettleRoundRequest()):
        before = request.SerializeToString(deterministic=True)
        digest(request)
        assert request.SerializeToString(deterministic=True) == before


def test_a_request_with_many_commands_is_not_digested_whole() -> None:
    with pytest.raises(ValueError, match="digest its orders one by one"):
        digest(wallet_pb2.PlaceStakesRequest())


def test_every_command_declares_that_its_id_is_no_content() -> None:
    # A query does nothing: `GetFirstAnswer` asks by the id of a command.
    queries = {
        method.input_type.full_name
        for service in wallet_pb2.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if method.name.startswith(("Get", "Find", "List"))
    }
    declared = {
        message.name: message.fields_by_name["request_id"].GetOptions().Extensions[access_pb2.not_content]
        for message in wallet_pb2.DESCRIPTOR.message_types_by_name.values()
        if "request_id" in message.fields_by_name and message.full_name not in queries
    }
    assert {
        "StakeOrder",
        "CancelStakesRequest",
        "PayStakesRequest",
        "SettleRoundRequest",
        "DepositRequest",
    } <= declared.keys()
    assert all(declared.values()), declared

"""A NUL, which PostgreSQL's text cannot hold, in any text of any command: refused by name, and nothing is attempted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from uuid import uuid4

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from feltro.wallet.v1 import audit_pb2, complaint_pb2, platform_pb2, session_pb2, types_pb2, wallet_pb2
from services.kit.rpc.status import error_info, status_of
from tests.processes.wallet import REAL, WalletClient, refusal_facts

Call = Callable[..., Awaitable[Message]]

# Ids that the wallet itself gives out: one that is spelled otherwise is simply not known. A trace is for the log alone,
# and one that is spelled otherwise is none.
TAKEN_OTHERWISE = {
    "account_id": {"ACCOUNT_UNKNOWN", "SESSION_MISMATCH"},
    "session_id": {"SESSION_UNKNOWN"},
    "stake_id": {"STAKES_MISMATCH"},
    "traceparent": {"done"},
}


def each_with_nul(request: Message) -> Iterator[tuple[str, Message]]:
    """The request as often as it has texts, each time with a NUL in another one."""
    for field in request.DESCRIPTOR.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            changed = _copy(request)
            setattr(changed, field.name, getattr(changed, field.name) + "\0")
            yield field.name, changed
        elif field.type == FieldDescriptor.TYPE_MESSAGE and (inner := _inner(request, field.name)) is not None:
            for name, changed_inner in each_with_nul(inner):
                changed = _copy(request)
                place = _inner(changed, field.name)
                assert place is not None
                place.CopyFrom(changed_inner)
                yield name, changed


def _inner(request: Message, field: str) -> Message | None:
    """A message in the message; the first of several."""
    found = getattr(request, field)
    if isinstance(found, Message):
        return found
    return next(iter(found), None)


def _copy(request: Message) -> Message:
    """Another command of the same content: what is refused may be answered so for ever."""
    copy = type(request)()
    copy.CopyFrom(request)
    if "request_id" in request.DESCRIPTOR.fields_by_name:
        setattr(copy, "request_id", str(uuid4()))  # noqa: B010 - not every message has one
    return copy


async def answered(wallet: WalletClient, call: Call, request: Message) -> str:
    """The reason of the refusal, and for INVALID the field."""
    try:
        await call(request, metadata=wallet.bearer("operator game", "everybody"))
    except grpc.aio.AioRpcError as refused:
        if status_of(refused) is None:
            return refused.code().name
        why, said = refusal_facts(refused)
        return f"{why} {said['field'].rpartition('.')[2]}" if why == "INVALID" else why
    return "done"


@pytest.mark.guarantee("G12")
async def test_a_nul_in_any_text_of_any_command_is_refused_by_its_name(wallet: WalletClient) -> None:
    table, poker = await wallet.open_table("t1"), await wallet.open_table("p1", play=types_pb2.PLAY_POKER)
    seat = await wallet.sit_down("ana", "t1", 10_000)
    guest = await wallet.sit_down("bea", "p1", 10_000)
    round_ = types_pb2.RoundRef(table=table, round_id="t1.1")
    await wallet.place(seat, round_, 100, "stake")
    filed = await wallet.complaints.FileComplaint(
        complaint_pb2.FileComplaintRequest(
            request_id="c-0", account_id=seat.account_id, session_id=seat.session_id, text="why?"
        ),
        metadata=wallet.operator,
    )
    reference = filed.complaint.reference

    order = wallet_pb2.StakeOrder(account_id=seat.account_id, session_id=seat.session_id, amount_cents=100)
    desk, at_tables, complaints, intake = wallet.wallet, wallet.sessions, wallet.complaints, wallet.audit_intake
    commands: list[tuple[Call, Message]] = [
        (desk.OpenAccount, wallet_pb2.OpenAccountRequest(player_id="rui", mode=REAL)),
        (desk.BlockAccount, wallet_pb2.BlockAccountRequest(account_id=guest.account_id, reason="asked for")),
        (desk.UnblockAccount, wallet_pb2.UnblockAccountRequest(account_id=guest.account_id, reason="asked for")),
        (desk.Deposit, wallet_pb2.DepositRequest(account_id=seat.account_id, amount_cents=1)),
        (desk.Withdraw, wallet_pb2.WithdrawRequest(account_id=seat.account_id, amount_cents=1)),
        (
            desk.OpenTable,
            wallet_pb2.OpenTableRequest(
                table=table, game="roulette", regulation="804/2015", mode=REAL, play=types_pb2.PLAY_MULTI_PLAYER
            ),
        ),
        (desk.PlaceStake, wallet_pb2.PlaceStakeRequest(round=round_, order=order)),
        (
            desk.CancelStake,
            wallet_pb2.CancelStakeRequest(round=round_, stake_id="stake", amount_cents=1),
        ),
        (
            desk.SettleRound,
            wallet_pb2.SettleRoundRequest(round=round_, payouts=[wallet_pb2.StakePayout(stake_id="stake")]),
        ),
        (desk.VoidRound, wallet_pb2.VoidRoundRequest(round=round_, reason="no ball")),
        (
            desk.BuyIn,
            wallet_pb2.BuyInRequest(
                table=poker, account_id=guest.account_id, session_id=guest.session_id, amount_cents=100
            ),
        ),
        (
            desk.CashOut,
            wallet_pb2.CashOutRequest(table=poker, account_id=guest.account_id, session_id=guest.session_id),
        ),
        (
            desk.TransferHand,
            wallet_pb2.TransferHandRequest(
                round=types_pb2.RoundRef(table=poker, round_id="p1.1"),
                seats=[
                    wallet_pb2.SeatInHand(
                        account_id=guest.account_id, session_id=guest.session_id, staked_cents=100, won_cents=100
                    )
                ],
            ),
        ),
        (desk.RefillDemoAccount, wallet_pb2.RefillDemoAccountRequest(player_id="demo-1", amount_cents=100)),
        (
            at_tables.StartSession,
            session_pb2.StartSessionRequest(
                account_id=guest.account_id, table_id="t1", device=session_pb2.Device(kind="test")
            ),
        ),
        (
            at_tables.EndSession,
            session_pb2.EndSessionRequest(session_id=guest.session_id, cause=session_pb2.END_CAUSE_OPERATOR),
        ),
        (at_tables.EndPlayerSessions, session_pb2.EndPlayerSessionsRequest(player_id="bea")),
        (at_tables.RecordActivity, session_pb2.RecordActivityRequest(session_id=guest.session_id)),
        (at_tables.AnnounceRound, session_pb2.AnnounceRoundRequest(table=table, round_id="t1.2")),
        (
            at_tables.SetInactivityPolicy,
            session_pb2.SetInactivityPolicyRequest(table_id="t1", policy=session_pb2.InactivityPolicy()),
        ),
        (
            at_tables.ApplySpecificRules,
            session_pb2.ApplySpecificRulesRequest(table=table, version=1, policy=session_pb2.InactivityPolicy()),
        ),
        (
            complaints.FileComplaint,
            complaint_pb2.FileComplaintRequest(account_id=seat.account_id, session_id=seat.session_id, text="why?"),
        ),
        (
            complaints.AddToComplaint,
            complaint_pb2.AddToComplaintRequest(reference=reference, text="well?"),
        ),
        (complaints.ReviewComplaint, complaint_pb2.ReviewComplaintRequest(reference=reference)),
        (complaints.CloseComplaint, complaint_pb2.CloseComplaintRequest(reference=reference)),
        (
            complaints.AnswerComplaint,
            complaint_pb2.AnswerComplaintRequest(reference=reference, text="so"),
        ),
        (wallet.platform.SetPlatformSwitch, platform_pb2.SetPlatformSwitchRequest(reason="drill")),
        (
            intake.RecordIntent,
            audit_pb2.RecordIntentRequest(action_id=str(uuid4()), method="feltro.x.Y/Z", request="{}"),
        ),
        (intake.RecordOutcome, audit_pb2.RecordOutcomeRequest(action_id=str(uuid4()), status="OK")),
    ]
    wrong = [
        f"{request.DESCRIPTOR.name}.{name}: {said}"
        for call, request in commands
        for name, changed in each_with_nul(request)
        if (said := await answered(wallet, call, changed)) not in {f"INVALID {name}"} | TAKEN_OTHERWISE.get(name, set())
    ]
    assert wrong == []


@pytest.mark.guarantee("G9")
async def test_a_nul_in_one_of_many_orders_harms_no_other(wallet: WalletClient) -> None:
    round_ = types_pb2.RoundRef(table=await wallet.open_table("t1"), round_id="t1.1")
    seat = await wallet.sit_down("ana", "t1", 10_000)
    orders = [
        wallet_pb2.StakeOrder(
            request_id=request_id, account_id=account_id, session_id=seat.session_id, amount_cents=100
        )
        for request_id, account_id in (("a\0", seat.account_id), ("b", f"{seat.account_id}\0"), ("c", seat.account_id))
    ]
    request = wallet_pb2.PlaceStakesRequest(round=round_, orders=orders)
    answers = (await wallet.wallet.PlaceStakes(request, metadata=wallet.game)).answers
    said = [error_info(answer.refused) for answer in answers]
    assert [None if info is None else info.reason for info in said] == ["INVALID", "ACCOUNT_UNKNOWN", None]
    assert answers[2].placed.stake_id == "c"


async def test_a_nul_in_what_is_asked_for_is_refused_by_its_name(wallet: WalletClient) -> None:
    desk = wallet.wallet
    asked: list[tuple[Call, Message, str]] = [
        (desk.GetRound, wallet_pb2.GetRoundRequest(round_id="t1.1\0"), "round_id"),
        (desk.ListTransactions, wallet_pb2.ListTransactionsRequest(round_id="t1.1\0"), "round_id"),
        (desk.ListOpenRounds, wallet_pb2.ListOpenRoundsRequest(table_id="t1\0"), "table_id"),
    ]
    for call, request, field in asked:
        assert await answered(wallet, call, request) == f"INVALID {field}"

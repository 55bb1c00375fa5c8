"""A NUL, which PostgreSQL's text cannot hold, is refused by field in any text of any command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from uuid import uuid4

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from feltro.wallet.v1 import (
    audit_pb2,
    complaint_pb2,
    platform_pb2,
    session_pb2,
    ticket_pb2,
    tournament_pb2,
    types_pb2,
    wallet_pb2,
)
from services.kit.rpc.status import error_info, status_of
from tests.processes.wallet import REAL, WalletClient, refusal_facts

Call = Callable[..., Awaitable[Message]]

# The wallet's own ids: one with a NUL is simply unknown. A trace is for the log alone: one with a NUL is ignored.
OTHER_ANSWERS = {
    "account_id": {"ACCOUNT_UNKNOWN", "SESSION_MISMATCH"},
    "session_id": {"SESSION_UNKNOWN"},
    "traceparent": {"done"},
}


def each_with_nul(request: Message) -> Iterator[tuple[str, Message]]:
    """Yields the request once per text in it, with a NUL in that text, and the name of the field."""
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
    """The message in a field; of several, the first."""
    found = getattr(request, field)
    if isinstance(found, Message):
        return found
    return next(iter(found), None)


def _copy(request: Message) -> Message:
    """A new command with the same content: the answer to the old one may be stored."""
    copy = type(request)()
    copy.CopyFrom(request)
    if "request_id" in request.DESCRIPTOR.fields_by_name:
        setattr(copy, "request_id", str(uuid4()))  # noqa: B010 - not every message has one
    return copy


async def answer_of(wallet_client: WalletClient, call: Call, request: Message) -> str:
    """Returns the reason of the refusal, with its field for INVALID, or `done`; the caller may make every call."""
    for caller in (wallet_client.operator, wallet_client.game):
        try:
            await call(request, metadata=caller)
        except grpc.aio.AioRpcError as refused:
            if status_of(refused) is None:
                return refused.code().name
            reason, details = refusal_facts(refused)
            if reason != "SCOPE_MISSING":
                return f"{reason} {details['field'].rpartition('.')[2]}" if reason == "INVALID" else reason
        else:
            return "done"
    return "SCOPE_MISSING"


@pytest.mark.guarantee("G12")
async def test_g12_a_nul_in_any_text_of_any_command_is_refused_by_field(wallet_client: WalletClient) -> None:
    table, poker = await wallet_client.open_table("t1"), await wallet_client.open_table("p1", play=types_pb2.PLAY_POKER)
    seat = await wallet_client.sit_down("ana", "t1", 10_000)
    poker_seat = await wallet_client.sit_down("bea", "p1", 10_000)
    tournament = await wallet_client.open_table("c1", play=types_pb2.PLAY_TOURNAMENT)
    tournaments = wallet_client.tournaments
    prize = tournament_pb2.Award(account_id=seat.account_id, reason=tournament_pb2.AWARD_REASON_PRIZE, amount_cents=1)
    round_ = types_pb2.RoundRef(table=table, round_id="t1.1")
    await wallet_client.place(seat, round_, 100, "stake")
    filed = await wallet_client.complaints.FileComplaint(
        complaint_pb2.FileComplaintRequest(
            request_id="c-0", account_id=seat.account_id, session_id=seat.session_id, text="why?"
        ),
        metadata=wallet_client.operator,
    )
    reference = filed.complaint.reference

    order = wallet_pb2.StakeOrder(account_id=seat.account_id, session_id=seat.session_id, amount_cents=100)
    wallet_service, sessions, complaints, intake = (
        wallet_client.wallet,
        wallet_client.sessions,
        wallet_client.complaints,
        wallet_client.audit_intake,
    )
    commands: list[tuple[Call, Message]] = [
        (wallet_service.OpenAccount, wallet_pb2.OpenAccountRequest(player_id="rui", mode=REAL)),
        (
            wallet_service.BlockAccount,
            wallet_pb2.BlockAccountRequest(account_id=poker_seat.account_id, reason="asked for"),
        ),
        (
            wallet_service.UnblockAccount,
            wallet_pb2.UnblockAccountRequest(account_id=poker_seat.account_id, reason="asked for"),
        ),
        (wallet_service.Deposit, wallet_pb2.DepositRequest(account_id=seat.account_id, amount_cents=1)),
        (wallet_service.Withdraw, wallet_pb2.WithdrawRequest(account_id=seat.account_id, amount_cents=1)),
        (
            wallet_service.OpenTable,
            wallet_pb2.OpenTableRequest(
                table=table, game="roulette", regulation="804/2015", mode=REAL, play=types_pb2.PLAY_MULTI_PLAYER
            ),
        ),
        (wallet_service.PlaceStake, wallet_pb2.PlaceStakeRequest(round=round_, order=order)),
        (
            wallet_service.CancelStakes,
            wallet_pb2.CancelStakesRequest(
                round=round_,
                account_id=seat.account_id,
                stakes=[wallet_pb2.StakeToCancel(stake_id="stake", amount_cents=1)],
            ),
        ),
        (
            wallet_service.PayStakes,
            wallet_pb2.PayStakesRequest(round=round_, payouts=[wallet_pb2.StakePayout(stake_id="stake")]),
        ),
        (
            wallet_service.SettleRound,
            wallet_pb2.SettleRoundRequest(round=round_, payouts=[wallet_pb2.StakePayout(stake_id="stake")]),
        ),
        (wallet_service.VoidRound, wallet_pb2.VoidRoundRequest(round=round_, reason="no ball")),
        (
            wallet_service.BuyIn,
            wallet_pb2.BuyInRequest(
                table=poker, account_id=poker_seat.account_id, session_id=poker_seat.session_id, amount_cents=100
            ),
        ),
        (
            wallet_service.CashOut,
            wallet_pb2.CashOutRequest(table=poker, account_id=poker_seat.account_id, session_id=poker_seat.session_id),
        ),
        (
            wallet_service.TransferHand,
            wallet_pb2.TransferHandRequest(
                round=types_pb2.RoundRef(table=poker, round_id="p1.1"),
                seats=[
                    wallet_pb2.SeatInHand(
                        account_id=poker_seat.account_id,
                        session_id=poker_seat.session_id,
                        staked_cents=100,
                        won_cents=100,
                    )
                ],
            ),
        ),
        (
            tournaments.PayIn,
            tournament_pb2.PayInRequest(
                tournament=tournament,
                account_id=seat.account_id,
                kind=tournament_pb2.PAY_IN_KIND_ENTRY,
                prize_cents=100,
            ),
        ),
        (tournaments.PayOut, tournament_pb2.PayOutRequest(tournament=tournament, awards=[prize], overlay_cents=1)),
        (
            tournaments.SettleTickets,
            tournament_pb2.SettleTicketsRequest(
                tournament=tournament,
                settlement=tournament_pb2.TICKET_SETTLEMENT_REIMBURSE,
                freeroll_settlement=tournament_pb2.TICKET_SETTLEMENT_REPLACE,
                replacement_tournament_id="c2",
            ),
        ),
        (tournaments.CloseTournament, tournament_pb2.CloseTournamentRequest(tournament=tournament)),
        (wallet_service.RefillDemoAccount, wallet_pb2.RefillDemoAccountRequest(player_id="demo-1", amount_cents=100)),
        (
            sessions.StartSession,
            session_pb2.StartSessionRequest(
                account_id=poker_seat.account_id, table_id="t1", device=session_pb2.Device(kind="test")
            ),
        ),
        (
            sessions.EndSession,
            session_pb2.EndSessionRequest(session_id=poker_seat.session_id, cause=session_pb2.END_CAUSE_OPERATOR),
        ),
        (sessions.EndPlayerSessions, session_pb2.EndPlayerSessionsRequest(player_id="bea")),
        (sessions.RecordActivity, session_pb2.RecordActivityRequest(session_id=poker_seat.session_id)),
        (sessions.AnnounceRound, session_pb2.AnnounceRoundRequest(table=table, round_id="t1.2")),
        (
            sessions.SetInactivityPolicy,
            session_pb2.SetInactivityPolicyRequest(table_id="t1", policy=session_pb2.InactivityPolicy(invite=False)),
        ),
        (
            sessions.ApplySpecificRules,
            session_pb2.ApplySpecificRulesRequest(
                table=table, version=1, policy=session_pb2.InactivityPolicy(invite=False)
            ),
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
        (
            wallet_client.platform.SetPlatformSwitch,
            platform_pb2.SetPlatformSwitchRequest(enabled=False, reason="drill"),
        ),
        (
            intake.RecordIntent,
            audit_pb2.RecordIntentRequest(action_id=str(uuid4()), method="feltro.x.Y/Z", request="{}"),
        ),
        (intake.RecordOutcome, audit_pb2.RecordOutcomeRequest(action_id=str(uuid4()), status="OK")),
    ]
    wrong = [
        f"{request.DESCRIPTOR.name}.{name}: {answer}"
        for call, request in commands
        for name, changed in each_with_nul(request)
        if (answer := await answer_of(wallet_client, call, changed))
        not in {f"INVALID {name}"} | OTHER_ANSWERS.get(name, set())
    ]
    assert wrong == []


@pytest.mark.guarantee("G9")
async def test_g9_a_nul_in_one_of_many_orders_fails_no_other(wallet_client: WalletClient) -> None:
    round_ = types_pb2.RoundRef(table=await wallet_client.open_table("t1"), round_id="t1.1")
    seat = await wallet_client.sit_down("ana", "t1", 10_000)
    orders = [
        wallet_pb2.StakeOrder(
            request_id=request_id, account_id=account_id, session_id=seat.session_id, amount_cents=100
        )
        for request_id, account_id in (("a\0", seat.account_id), ("b", f"{seat.account_id}\0"), ("c", seat.account_id))
    ]
    request = wallet_pb2.PlaceStakesRequest(round=round_, orders=orders)
    answers = (await wallet_client.wallet.PlaceStakes(request, metadata=wallet_client.game)).answers
    refusals = [error_info(answer.refused) for answer in answers]
    assert [None if info is None else info.reason for info in refusals] == ["INVALID", "ACCOUNT_UNKNOWN", None]
    assert answers[2].placed.stake_id == "c"


async def test_a_nul_in_a_query_is_refused_by_field(wallet_client: WalletClient) -> None:
    wallet_service = wallet_client.wallet
    queries: list[tuple[Call, Message, str]] = [
        (wallet_service.GetRound, wallet_pb2.GetRoundRequest(round_id="t1.1\0"), "round_id"),
        (wallet_service.ListTransactions, wallet_pb2.ListTransactionsRequest(round_id="t1.1\0"), "round_id"),
        (wallet_service.ListOpenRounds, wallet_pb2.ListOpenRoundsRequest(table_id="t1\0"), "table_id"),
        (
            wallet_client.tournaments.GetTournamentMoney,
            tournament_pb2.GetTournamentMoneyRequest(tournament_id="c1\0"),
            "tournament_id",
        ),
        (wallet_client.tickets.ListTickets, ticket_pb2.ListTicketsRequest(tournament_id="c1\0"), "tournament_id"),
        (wallet_client.tickets.ListTicketChanges, ticket_pb2.ListTicketChangesRequest(ticket_id="a\0"), "ticket_id"),
    ]
    for call, request, field in queries:
        assert await answer_of(wallet_client, call, request) == f"INVALID {field}"

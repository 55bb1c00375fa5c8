"""The wallet over gRPC: tells answers, refusals, a stale epoch, missing answers and faults apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

import grpc
from google.rpc.status_pb2 import Status
from opentelemetry.trace import SpanKind

from feltro.wallet.v1 import (
    session_pb2,
    session_pb2_grpc,
    ticket_pb2,
    ticket_pb2_grpc,
    tournament_pb2,
    tournament_pb2_grpc,
    wallet_pb2,
    wallet_pb2_grpc,
)
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.status import error_info, refused_from, status_of
from services.kit.table.fencing import StaleOwner
from services.kit.table.wallet.client import ServiceTokenRefused, WalletFailed, WalletUnanswered, pages
from services.kit.telemetry import trace

# The service whose certificate the wallet has to show.
WALLET_SERVICE = "wallet"
# After this a call counts as unanswered (G11).
ANSWER_TIMEOUT_S = 5.0
SESSIONS_PAGE_SIZE = 500
_DOMAIN = "wallet.feltro"
# Codes that say nothing about the command itself: the caller sends it again.
_UNANSWERED_CODES = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
)
_RETRY_REASONS = frozenset({"UNAVAILABLE", "OVERLOADED"})
# Only a fault of this service leads to these: the runtime asks for no more than a page.
_OWN_FAULT_REASONS = frozenset({"ANSWER_TOO_LARGE"})
# Refusals of this service's own token: no player may be told that theirs was refused, and no round may stay unpaid for
# it (G12).
_OWN_TOKEN_REASONS = frozenset({"TOKEN_INVALID", "TOKEN_EXPIRED", "SCOPE_MISSING"})

_Answer = TypeVar("_Answer")


def _stale_owner(status: Status) -> StaleOwner:
    info = error_info(status)
    return StaleOwner(status.message, int(info.metadata.get("current_epoch") or 0) if info is not None else 0)


class GrpcWallet:
    """One channel to the wallet, shared by all tables of a process; it may be a relay."""

    def __init__(
        self, channel: grpc.aio.Channel | RelayChannel, metadata: Callable[[], tuple[tuple[str, str], ...]]
    ) -> None:
        # A stub needs nothing of its channel but unary calls.
        as_channel = cast("grpc.aio.Channel", channel)
        self._ledger: wallet_pb2_grpc.WalletServiceAsyncStub = wallet_pb2_grpc.WalletServiceStub(as_channel)
        self._sessions: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(as_channel)
        self._tournaments: tournament_pb2_grpc.TournamentMoneyServiceAsyncStub = (
            tournament_pb2_grpc.TournamentMoneyServiceStub(as_channel)
        )
        self._tickets: ticket_pb2_grpc.TicketServiceAsyncStub = ticket_pb2_grpc.TicketServiceStub(as_channel)
        self._metadata = metadata

    async def _call_for_caller(self, call: Callable[..., Awaitable[_Answer]], request: object) -> _Answer:
        """Calls with the caller's trace: one player's call causes it, and nothing else travels along."""
        header = trace.traceparent()
        return await self._call(call, request, (("traceparent", header),) if header else ())

    async def _call(
        self, call: Callable[..., Awaitable[_Answer]], request: object, headers: tuple[tuple[str, str], ...] = ()
    ) -> _Answer:
        try:
            return await call(request, metadata=self._metadata() + headers, timeout=ANSWER_TIMEOUT_S)
        except grpc.aio.AioRpcError as failed:
            status = status_of(failed)
            info = None if status is None else error_info(status)
            if info is not None and info.reason in _OWN_TOKEN_REASONS:
                raise ServiceTokenRefused(f"{info.reason}: {failed.details()}"[:300]) from failed
            if failed.code() in _UNANSWERED_CODES or (info is not None and info.reason in _RETRY_REASONS):
                raise WalletUnanswered(f"{failed.code().name}: {failed.details()}"[:300]) from failed
            if status is None or info is None or info.domain != _DOMAIN or info.reason in _OWN_FAULT_REASONS:
                raise WalletFailed(f"{failed.code().name}: {failed.details()}"[:300]) from failed
            if info.reason == "STALE_EPOCH":
                raise _stale_owner(status) from None
            raise refused_from(status) from None

    async def register_table(self, request: wallet_pb2.RegisterTableRequest) -> wallet_pb2.RegisterTableResponse:
        return await self._call_for_caller(self._ledger.RegisterTable, request)

    async def open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse:
        return await self._call(self._ledger.OpenTable, request)

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest) -> wallet_pb2.PlaceStakesResponse:
        """Sends the orders in one message, which the batcher of the stakes keeps small enough."""
        if trace.is_recording():
            causes = {order.traceparent for order in request.orders if order.traceparent}
            # Stakes of many calls travel together, each with its own trace: the batch is in none of them.
            parent = causes.pop() if len(causes) == 1 else ""
            with trace.start_span(
                "place stakes",
                parent,
                kind=SpanKind.CLIENT,
                links=causes,
                attributes={"feltro.stakes": len(request.orders)},
            ):
                answer = await self._call_for_caller(self._ledger.PlaceStakes, request)
        else:
            answer = await self._call(self._ledger.PlaceStakes, request)
        for stake in answer.answers:
            if stake.HasField("refused"):
                info = error_info(stake.refused)
                if info is not None and info.reason == "STALE_EPOCH":
                    raise _stale_owner(stake.refused)
        return answer

    async def cancel_stakes(self, request: wallet_pb2.CancelStakesRequest) -> wallet_pb2.CancelStakesResponse:
        return await self._call_for_caller(self._ledger.CancelStakes, request)

    async def get_first_answer(self, request: wallet_pb2.GetFirstAnswerRequest) -> wallet_pb2.GetFirstAnswerResponse:
        return await self._call_for_caller(self._ledger.GetFirstAnswer, request)

    async def pay_stakes(self, request: wallet_pb2.PayStakesRequest) -> wallet_pb2.PayStakesResponse:
        return await self._call(self._ledger.PayStakes, request)

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest) -> wallet_pb2.SettleRoundResponse:
        return await self._call(self._ledger.SettleRound, request)

    async def void_round(self, request: wallet_pb2.VoidRoundRequest) -> wallet_pb2.VoidRoundResponse:
        return await self._call(self._ledger.VoidRound, request)

    async def buy_in(self, request: wallet_pb2.BuyInRequest) -> wallet_pb2.BuyInResponse:
        return await self._call_for_caller(self._ledger.BuyIn, request)

    async def cash_out(self, request: wallet_pb2.CashOutRequest) -> wallet_pb2.CashOutResponse:
        return await self._call(self._ledger.CashOut, request)

    async def transfer_hand(self, request: wallet_pb2.TransferHandRequest) -> wallet_pb2.TransferHandResponse:
        return await self._call(self._ledger.TransferHand, request)

    async def list_table_caves(self, table_id: str) -> Sequence[wallet_pb2.TableCave]:
        async def get_page(request: wallet_pb2.ListTableCavesRequest) -> wallet_pb2.ListTableCavesResponse:
            return await self._call(self._ledger.ListTableCaves, request)

        request = wallet_pb2.ListTableCavesRequest(table_id=table_id, page_size=SESSIONS_PAGE_SIZE)
        return [cave async for page in pages(get_page, request) for cave in page.caves]

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest
    ) -> wallet_pb2.ListTransactionsResponse:
        return await self._call(self._ledger.ListTransactions, request)

    async def get_round(self, request: wallet_pb2.GetRoundRequest) -> wallet_pb2.GetRoundResponse:
        return await self._call(self._ledger.GetRound, request)

    async def list_open_rounds(self, request: wallet_pb2.ListOpenRoundsRequest) -> wallet_pb2.ListOpenRoundsResponse:
        return await self._call_for_caller(self._ledger.ListOpenRounds, request)

    async def end_session(self, request: session_pb2.EndSessionRequest) -> session_pb2.EndSessionResponse:
        return await self._call(self._sessions.EndSession, request)

    async def announce_round(self, request: session_pb2.AnnounceRoundRequest) -> session_pb2.AnnounceRoundResponse:
        return await self._call(self._sessions.AnnounceRound, request)

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest
    ) -> session_pb2.ApplySpecificRulesResponse:
        return await self._call(self._sessions.ApplySpecificRules, request)

    async def list_table_sessions(self, table_id: str) -> Sequence[session_pb2.Session]:
        return await self._list_sessions(
            session_pb2.ListTableSessionsRequest(table_id=table_id, page_size=SESSIONS_PAGE_SIZE)
        )

    async def list_placement_sessions(self, placement_id: str) -> Sequence[session_pb2.Session]:
        return await self._list_sessions(
            session_pb2.ListTableSessionsRequest(
                table_id=placement_id, page_size=SESSIONS_PAGE_SIZE, include_individual=True
            )
        )

    async def _list_sessions(self, request: session_pb2.ListTableSessionsRequest) -> Sequence[session_pb2.Session]:
        async def get_page(request: session_pb2.ListTableSessionsRequest) -> session_pb2.ListTableSessionsResponse:
            return await self._call(self._sessions.ListTableSessions, request)

        return [session async for page in pages(get_page, request) for session in page.sessions]

    async def start_session(self, request: session_pb2.StartSessionRequest) -> session_pb2.StartSessionResponse:
        return await self._call_for_caller(self._sessions.StartSession, request)

    async def get_session(self, request: session_pb2.GetSessionRequest) -> session_pb2.GetSessionResponse:
        return await self._call_for_caller(self._sessions.GetSession, request)

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse:
        return await self._call_for_caller(self._ledger.FindAccount, request)

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse:
        return await self._call_for_caller(self._ledger.RefillDemoAccount, request)

    async def pay_in(self, request: tournament_pb2.PayInRequest) -> tournament_pb2.PayInResponse:
        return await self._call_for_caller(self._tournaments.PayIn, request)

    async def pay_out(self, request: tournament_pb2.PayOutRequest) -> tournament_pb2.PayOutResponse:
        return await self._call(self._tournaments.PayOut, request)

    async def settle_tickets(
        self, request: tournament_pb2.SettleTicketsRequest
    ) -> tournament_pb2.SettleTicketsResponse:
        return await self._call(self._tournaments.SettleTickets, request)

    async def list_tickets(self, request: ticket_pb2.ListTicketsRequest) -> ticket_pb2.ListTicketsResponse:
        return await self._call(self._tickets.ListTickets, request)

    async def list_ticket_changes(
        self, request: ticket_pb2.ListTicketChangesRequest
    ) -> ticket_pb2.ListTicketChangesResponse:
        return await self._call(self._tickets.ListTicketChanges, request)

    async def close_tournament(
        self, request: tournament_pb2.CloseTournamentRequest
    ) -> tournament_pb2.CloseTournamentResponse:
        return await self._call(self._tournaments.CloseTournament, request)

    async def get_tournament_money(
        self, request: tournament_pb2.GetTournamentMoneyRequest
    ) -> tournament_pb2.GetTournamentMoneyResponse:
        return await self._call(self._tournaments.GetTournamentMoney, request)

    async def list_tournament_pay_ins(
        self, request: tournament_pb2.ListTournamentPayInsRequest
    ) -> tournament_pb2.ListTournamentPayInsResponse:
        return await self._call(self._tournaments.ListTournamentPayIns, request)

    async def list_tournament_awards(
        self, request: tournament_pb2.ListTournamentAwardsRequest
    ) -> tournament_pb2.ListTournamentAwardsResponse:
        return await self._call(self._tournaments.ListTournamentAwards, request)

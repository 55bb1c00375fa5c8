"""The wallet over gRPC, as the runtime's `Wallet`: answers, refusals, fences, silences and faults told apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import grpc

from feltro.wallet.v1 import session_pb2, session_pb2_grpc, wallet_pb2, wallet_pb2_grpc
from services.kit import trace
from services.kit.batching import first_batch
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.relay_handler import BATCH_LIMITS
from services.kit.rpc.status import error_info, refused_from, status_of
from services.kit.table.journal.entries import StaleOwner
from services.kit.table.wallet.table_wallet import ServiceTokenRefused, WalletFailed, WalletUnanswered

# After this a call counts as unanswered and is said again (G11).
ANSWER_TIMEOUT_S = 5.0
SESSIONS_PAGE_SIZE = 500
_DOMAIN = "wallet.feltro"
# The wallet, or the way to it, says nothing with these about the command itself, so it is said again.
_SILENT = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED})
_NOT_NOW = frozenset({"UNAVAILABLE", "OVERLOADED"})
# Only a fault of ours leads to it: the runtime asks for no more than a page.
_OF_OURS = frozenset({"ANSWER_TOO_LARGE"})
# The token is this service's own: no player is to hear that it was his, and no round is to stay unpaid for it (G12).
_OF_OWN_TOKEN = frozenset({"TOKEN_INVALID", "TOKEN_EXPIRED", "SCOPE_MISSING"})

_Answer = TypeVar("_Answer")


class ServiceToken:
    """The token with which a game service calls others, read again whenever its file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at = 0
        self._metadata: tuple[tuple[str, str], ...] = ()

    def metadata(self) -> tuple[tuple[str, str], ...]:
        changed_at = self._path.stat().st_mtime_ns
        if changed_at != self._read_at:
            self._metadata = (("authorization", f"Bearer {self._path.read_text().strip()}"),)
            self._read_at = changed_at
        return self._metadata


class GrpcWallet:
    """One channel to the wallet, shared by all tables of a process; it may be a relay."""

    def __init__(
        self, channel: grpc.aio.Channel | RelayChannel, metadata: Callable[[], tuple[tuple[str, str], ...]]
    ) -> None:
        # All that a stub asks of its channel is to make unary calls.
        as_channel = cast("grpc.aio.Channel", channel)
        self._ledger: wallet_pb2_grpc.WalletServiceAsyncStub = wallet_pb2_grpc.WalletServiceStub(as_channel)
        self._sessions: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(as_channel)
        self._metadata = metadata

    async def _ask_for_caller(self, call: Callable[..., Awaitable[_Answer]], request: object) -> _Answer:
        """Where one call of a player causes it, and nothing else travels along: it is a part of his trace."""
        header = trace.traceparent()
        return await self._ask(call, request, (("traceparent", header),) if header else ())

    async def _ask(
        self, call: Callable[..., Awaitable[_Answer]], request: object, more: tuple[tuple[str, str], ...] = ()
    ) -> _Answer:
        try:
            return await call(request, metadata=self._metadata() + more, timeout=ANSWER_TIMEOUT_S)
        except grpc.aio.AioRpcError as failed:
            status = status_of(failed)
            info = None if status is None else error_info(status)
            if info is not None and info.reason in _OF_OWN_TOKEN:
                raise ServiceTokenRefused(f"{info.reason}: {failed.details()}"[:300]) from failed
            if failed.code() in _SILENT or (info is not None and info.reason in _NOT_NOW):
                raise WalletUnanswered(f"{failed.code().name}: {failed.details()}"[:300]) from failed
            if status is None or info is None or info.domain != _DOMAIN or info.reason in _OF_OURS:
                raise WalletFailed(f"{failed.code().name}: {failed.details()}"[:300]) from failed
            if info.reason == "STALE_EPOCH":
                raise StaleOwner(status.message) from None
            raise refused_from(status) from None

    async def open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse:
        return await self._ask(self._ledger.OpenTable, request)

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest) -> wallet_pb2.PlaceStakesResponse:
        """In as many messages as it takes: each order has an answer of its own, and said again it is known (G3)."""
        count = first_batch(request.orders, lambda order: len(order.detail), BATCH_LIMITS)
        if count < len(request.orders):
            first = wallet_pb2.PlaceStakesRequest(round=request.round, orders=request.orders[:count])
            rest = wallet_pb2.PlaceStakesRequest(round=request.round, orders=request.orders[count:])
            placed = await self.place_stakes(first)
            placed.answers.extend((await self.place_stakes(rest)).answers)
            return placed
        answer = await self._ask(self._ledger.PlaceStakes, request)
        for stake in answer.answers:
            if stake.HasField("refused"):
                info = error_info(stake.refused)
                if info is not None and info.reason == "STALE_EPOCH":
                    raise StaleOwner(stake.refused.message)
        return answer

    async def cancel_stake(self, request: wallet_pb2.CancelStakeRequest) -> wallet_pb2.CancelStakeResponse:
        return await self._ask_for_caller(self._ledger.CancelStake, request)

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest) -> wallet_pb2.SettleRoundResponse:
        return await self._ask(self._ledger.SettleRound, request)

    async def void_round(self, request: wallet_pb2.VoidRoundRequest) -> wallet_pb2.VoidRoundResponse:
        return await self._ask(self._ledger.VoidRound, request)

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest
    ) -> wallet_pb2.ListTransactionsResponse:
        return await self._ask(self._ledger.ListTransactions, request)

    async def get_round(self, request: wallet_pb2.GetRoundRequest) -> wallet_pb2.GetRoundResponse:
        return await self._ask(self._ledger.GetRound, request)

    async def list_open_rounds(self, request: wallet_pb2.ListOpenRoundsRequest) -> wallet_pb2.ListOpenRoundsResponse:
        return await self._ask_for_caller(self._ledger.ListOpenRounds, request)

    async def announce_round(self, request: session_pb2.AnnounceRoundRequest) -> session_pb2.AnnounceRoundResponse:
        return await self._ask(self._sessions.AnnounceRound, request)

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest
    ) -> session_pb2.ApplySpecificRulesResponse:
        return await self._ask(self._sessions.ApplySpecificRules, request)

    async def list_table_sessions(self, table_id: str) -> Sequence[session_pb2.Session]:
        request = session_pb2.ListTableSessionsRequest(table_id=table_id, page_size=SESSIONS_PAGE_SIZE)
        sessions: list[session_pb2.Session] = []
        while True:
            page = await self._ask(self._sessions.ListTableSessions, request)
            sessions.extend(page.sessions)
            if not page.next_page_token:
                return sessions
            request.page_token = page.next_page_token

    async def start_session(self, request: session_pb2.StartSessionRequest) -> session_pb2.StartSessionResponse:
        return await self._ask_for_caller(self._sessions.StartSession, request)

    async def get_session(self, request: session_pb2.GetSessionRequest) -> session_pb2.GetSessionResponse:
        return await self._ask_for_caller(self._sessions.GetSession, request)

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse:
        return await self._ask_for_caller(self._ledger.FindAccount, request)

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse:
        return await self._ask_for_caller(self._ledger.RefillDemoAccount, request)

"""The runtime's way to the wallet: every command is said until it is answered, or a later owner shuts us out.

Commands carry request ids of their own, so that saying them again repeats nothing (G3); the runtime never guesses what
became of one.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2

# How long the wallet is left alone after a silence; doubled each time up to the second (G11).
FIRST_RETRY_AFTER_S = 0.05
RETRY_AFTER_MAX_S = 1.0
# How long a read is repeated, and a command before any money depends on it: there may be one for each call of a player,
# and the table's own task comes back to it by itself (G11).
RETRY_TIMEOUT_S = 10.0
# Faults in answer to the same command before it is given up.
FAULTS_LIMIT = 5
# What the request that cancels a stake is called: the stake, and this.
_BACK = ":back"

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class WalletUnanswered(Exception):
    """There was no answer: it is not known whether anything was done."""


class WalletFailed(Exception):
    """There was an answer that none of ours is asked for: a fault of the wallet's, or of this service's.

    It is not known whether anything was done. A fault may pass, so it is said again a few times; then it is seen.
    """


class ServiceTokenRefused(WalletUnanswered):
    """The wallet does not take the token of this service: it has to be given another one. Nothing was done."""


class Wallet(Protocol):
    """One call, one answer.

    Raises `Refused` as the wallet said it, `StaleOwner` for STALE_EPOCH, `WalletSilent`, or `WalletFailed`.
    """

    async def open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse: ...

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest) -> wallet_pb2.PlaceStakesResponse: ...

    async def cancel_stake(self, request: wallet_pb2.CancelStakeRequest) -> wallet_pb2.CancelStakeResponse: ...

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest) -> wallet_pb2.SettleRoundResponse: ...

    async def void_round(self, request: wallet_pb2.VoidRoundRequest) -> wallet_pb2.VoidRoundResponse: ...

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest
    ) -> wallet_pb2.ListTransactionsResponse: ...

    async def get_round(self, request: wallet_pb2.GetRoundRequest) -> wallet_pb2.GetRoundResponse: ...

    async def list_open_rounds(
        self, request: wallet_pb2.ListOpenRoundsRequest
    ) -> wallet_pb2.ListOpenRoundsResponse: ...

    async def announce_round(self, request: session_pb2.AnnounceRoundRequest) -> session_pb2.AnnounceRoundResponse: ...

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest
    ) -> session_pb2.ApplySpecificRulesResponse: ...

    async def list_table_sessions(self, table_id: str) -> Sequence[session_pb2.Session]:
        """Those that have not ended, in the order of their start."""

    async def start_session(self, request: session_pb2.StartSessionRequest) -> session_pb2.StartSessionResponse: ...

    async def get_session(self, request: session_pb2.GetSessionRequest) -> session_pb2.GetSessionResponse: ...

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse: ...

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse: ...


class TableWallet:
    """A wallet that is asked until it answers, for one table under one lease."""

    def __init__(self, wallet: Wallet, table_id: str, epoch: int) -> None:
        self.wallet = wallet
        self.table_ref = types_pb2.TableRef(table_id=table_id, epoch=epoch)

    def round_ref(self, round_id: str) -> types_pb2.RoundRef:
        return types_pb2.RoundRef(round_id=round_id, table=self.table_ref)

    async def open_table(
        self, game: str, regulation: str, mode: types_pb2.Mode.ValueType, play: types_pb2.Play.ValueType
    ) -> wallet_pb2.OpenTableResponse:
        request = wallet_pb2.OpenTableRequest(
            table=self.table_ref, game=game, regulation=regulation, mode=mode, play=play
        )
        return await retry_for_a_while(lambda: self.wallet.open_table(request))

    async def place_stakes(
        self, round_id: str, orders: Sequence[wallet_pb2.StakeOrder]
    ) -> Sequence[wallet_pb2.StakeAnswer]:
        """One answer for each order."""
        request = wallet_pb2.PlaceStakesRequest(round=self.round_ref(round_id), orders=orders)
        return (await retry_until_answered(lambda: self.wallet.place_stakes(request))).answers

    async def cancel_stake(self, round_id: str, stake_id: str) -> wallet_pb2.CancelStakeResponse:
        request = wallet_pb2.CancelStakeRequest(
            request_id=stake_id + _BACK, round=self.round_ref(round_id), stake_id=stake_id
        )
        return await retry_until_answered(lambda: self.wallet.cancel_stake(request))

    async def settle_round(
        self, round_id: str, payouts: dict[str, int], outcome: bytes, session_ids: Sequence[str]
    ) -> wallet_pb2.SettleRoundResponse:
        """The same from whoever sends it: all of it is in the journal (G4)."""
        request = wallet_pb2.SettleRoundRequest(
            request_id=f"{round_id}:settle",
            round=self.round_ref(round_id),
            payouts=[wallet_pb2.StakePayout(stake_id=stake, payout_cents=cents) for stake, cents in payouts.items()],
            outcome=outcome,
            report=wallet_pb2.RoundReport(
                sessions=[wallet_pb2.SessionInRound(session_id=session_id) for session_id in session_ids]
            ),
        )
        return await retry_until_answered(lambda: self.wallet.settle_round(request))

    async def void_round(self, round_id: str, reason: str) -> wallet_pb2.VoidRoundResponse:
        request = wallet_pb2.VoidRoundRequest(
            request_id=f"{round_id}:void", round=self.round_ref(round_id), reason=reason
        )
        return await retry_until_answered(lambda: self.wallet.void_round(request))

    async def get_round(self, round_id: str) -> wallet_pb2.Round:
        return await get_whole_round(
            lambda request: retry_for_a_while(lambda: self.wallet.get_round(request)), round_id
        )

    async def list_round_transactions(self, round_id: str) -> Sequence[types_pb2.Transaction]:
        """All movements of a round, newest first; a round of a full table fits into a few pages."""
        request = wallet_pb2.ListTransactionsRequest(round_id=round_id, page_size=500)
        movements: list[types_pb2.Transaction] = []
        while True:
            page = await retry_for_a_while(lambda: self.wallet.list_transactions(request))
            movements.extend(page.transactions)
            if not page.next_page_token:
                return movements
            request.page_token = page.next_page_token

    async def list_cancellation_times(self, round_id: str) -> dict[str, datetime]:
        """When each stake of a round was cancelled, by its id."""
        return {
            movement.request_id.removesuffix(_BACK): movement.at.ToDatetime(UTC)
            for movement in await self.list_round_transactions(round_id)
            if movement.kind == types_pb2.TRANSFER_KIND_STAKE_CANCELLED and movement.account_id
        }

    async def announce_round(self, round_id: str) -> None:
        request = session_pb2.AnnounceRoundRequest(table=self.table_ref, round_id=round_id)
        await retry_for_a_while(lambda: self.wallet.announce_round(request))

    async def apply_specific_rules(self, version: int, policy: session_pb2.InactivityPolicy) -> None:
        request = session_pb2.ApplySpecificRulesRequest(table=self.table_ref, version=version, policy=policy)
        await retry_for_a_while(lambda: self.wallet.apply_specific_rules(request))

    async def list_sessions(self) -> Sequence[session_pb2.Session]:
        return await retry_for_a_while(lambda: self.wallet.list_table_sessions(self.table_ref.table_id))


async def get_whole_round(
    get_page: Callable[[wallet_pb2.GetRoundRequest], Awaitable[wallet_pb2.GetRoundResponse]], round_id: str
) -> wallet_pb2.Round:
    """A round with all of its stakes, which come in pages."""
    request = wallet_pb2.GetRoundRequest(round_id=round_id)
    page = await get_page(request)
    found = page.round
    while page.next_page_token:
        request.page_token = page.next_page_token
        page = await get_page(request)
        found.stakes.extend(page.round.stakes)
    return found


async def retry_for_a_while(call: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Repeats a call until there is an answer, but not for ever: then it raises `WalletUnanswered`."""
    return await retry_until_answered(call, asyncio.get_running_loop().time() + RETRY_TIMEOUT_S)


async def retry_until_answered(call: Callable[[], Awaitable[_Answer]], give_up_at: float = math.inf) -> _Answer:
    """Repeats a call until there is an answer: for settling, voiding and stakes, which must not stay undecided.

    An owner that has lost the table meanwhile learns it from the answer (G8).
    """
    wait_s, faults = FIRST_RETRY_AFTER_S, 0
    while True:
        try:
            return await call()
        except WalletUnanswered as silent:
            if wait_s == FIRST_RETRY_AFTER_S:
                _log.warning("the wallet does not answer", extra={"error": str(silent)})
            if asyncio.get_running_loop().time() >= give_up_at:
                raise
        except WalletFailed as failed:
            _log.warning("the wallet has failed", extra={"error": str(failed)})
            faults += 1
            if faults == FAULTS_LIMIT:
                raise
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 2, RETRY_AFTER_MAX_S)

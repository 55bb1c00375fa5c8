"""The wallet of one table: sends every command until it is answered, or a later owner has shut this one out.

Commands carry request ids of their own, so that sending them again repeats nothing (G3); the runtime never guesses what
became of one.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.wallet.client import Wallet, WalletFailed, WalletUnanswered, get_whole_round, pages

# The wait after an unanswered call, doubled each time up to the maximum (G11).
FIRST_RETRY_AFTER_S = 0.05
RETRY_AFTER_MAX_S = 1.0
TRANSACTIONS_PAGE_SIZE = 500
# How long a read is repeated, and a command before any money depends on it: there may be one for each call of a player,
# and the table's own task comes back to it by itself (G11).
RETRY_TIMEOUT_S = 10.0
# How long the wallet may answer one command with nothing but faults before the command is given up: time counts and not
# tries, for a fault that passes within seconds must end no round (G9, G11).
FAULTS_TOLERATED_S = 30.0

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


class TableWallet:
    """Calls the wallet for one table under one lease, until it answers."""

    def __init__(self, wallet: Wallet, table_id: str, epoch: int) -> None:
        self.wallet = wallet
        self.table_ref = types_pb2.TableRef(table_id=table_id, epoch=epoch)

    def round_ref(self, round_id: str) -> types_pb2.RoundRef:
        return types_pb2.RoundRef(round_id=round_id, table=self.table_ref)

    async def open_table(
        self,
        game: str,
        regulation: str,
        mode: types_pb2.Mode.ValueType,
        play: types_pb2.Play.ValueType,
        configured_table_id: str = "",
    ) -> wallet_pb2.OpenTableResponse:
        """Declares the table and its owner; `configured_table_id` is that of a player's own table."""
        request = wallet_pb2.OpenTableRequest(
            table=self.table_ref,
            game=game,
            regulation=regulation,
            mode=mode,
            play=play,
            configured_table_id=configured_table_id,
        )
        return await retry_for_a_while(lambda: self.wallet.open_table(request))

    async def place_stakes(
        self, round_id: str, orders: Sequence[wallet_pb2.StakeOrder]
    ) -> Sequence[wallet_pb2.StakeAnswer]:
        """Returns one answer for each order."""
        request = wallet_pb2.PlaceStakesRequest(round=self.round_ref(round_id), orders=orders)
        return (await retry_until_answered(lambda: self.wallet.place_stakes(request))).answers

    async def cancel_stakes(
        self,
        round_id: str,
        account_id: str,
        stakes: Sequence[wallet_pb2.StakeToCancel],
        *,
        request_id: str,
        command_digest: bytes,
    ) -> wallet_pb2.CancelStakesResponse:
        request = wallet_pb2.CancelStakesRequest(
            request_id=request_id,
            round=self.round_ref(round_id),
            account_id=account_id,
            stakes=stakes,
            command_digest=command_digest,
        )
        return await retry_until_answered(lambda: self.wallet.cancel_stakes(request))

    async def pay_stakes(
        self, round_id: str, payouts: Mapping[str, int], request_id: str
    ) -> wallet_pb2.PayStakesResponse:
        """Pays stakes that are decided while their round goes on; they are not named again when it is settled."""
        request = wallet_pb2.PayStakesRequest(
            request_id=request_id, round=self.round_ref(round_id), payouts=_payout_messages(payouts)
        )
        return await retry_until_answered(lambda: self.wallet.pay_stakes(request))

    async def settle_round(
        self, round_id: str, payouts: Mapping[str, int], outcome: bytes, session_ids: Sequence[str]
    ) -> wallet_pb2.SettleRoundResponse:
        """Pays the open stakes of a round and ends it.

        Every owner sends the same request, for all of it is in the journal (G4).
        """
        request = wallet_pb2.SettleRoundRequest(
            request_id=settling_request_id(round_id),
            round=self.round_ref(round_id),
            payouts=_payout_messages(payouts),
            outcome=outcome,
            report=wallet_pb2.RoundReport(
                sessions=[wallet_pb2.SessionInRound(session_id=session_id) for session_id in session_ids]
            ),
        )
        return await retry_until_answered(lambda: self.wallet.settle_round(request))

    async def buy_in(
        self,
        account_id: str,
        session_id: str,
        amount_cents: int,
        commission_cents: int,
        *,
        request_id: str,
        command_digest: bytes,
    ) -> wallet_pb2.BuyInResponse:
        """Moves money from a player's account to their cave, and the commission on it to the house."""
        request = wallet_pb2.BuyInRequest(
            request_id=request_id,
            table=self.table_ref,
            account_id=account_id,
            session_id=session_id,
            amount_cents=amount_cents,
            commission_cents=commission_cents,
            command_digest=command_digest,
        )
        return await retry_until_answered(lambda: self.wallet.buy_in(request))

    async def cash_out(
        self, account_id: str, session_id: str, amount_cents: int = 0, request_id: str = ""
    ) -> wallet_pb2.CashOutResponse:
        """Moves a cave, or a part of it, back to its player's account; the whole of it once for each session."""
        request = wallet_pb2.CashOutRequest(
            request_id=request_id or f"{self.table_ref.table_id}:cash-out:{session_id}",
            table=self.table_ref,
            account_id=account_id,
            session_id=session_id,
            amount_cents=amount_cents,
        )
        return await retry_until_answered(lambda: self.wallet.cash_out(request))

    async def transfer_hand(
        self,
        round_id: str,
        seats: Sequence[wallet_pb2.SeatInHand],
        commission_cents: int,
        outcome: bytes,
        sessions: Sequence[wallet_pb2.SessionInRound],
    ) -> wallet_pb2.TransferHandResponse:
        """Ends a hand among caves (G4).

        What counts as a short cave may have changed since a former owner has sent it: then its answer is returned.
        """
        request = wallet_pb2.TransferHandRequest(
            request_id=hand_request_id(round_id),
            round=self.round_ref(round_id),
            seats=seats,
            commission_cents=commission_cents,
            outcome=outcome,
            report=wallet_pb2.RoundReport(sessions=sessions),
        )
        try:
            return await retry_until_answered(lambda: self.wallet.transfer_hand(request))
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
        first = wallet_pb2.GetFirstAnswerRequest(request_id=request.request_id)
        return (await retry_until_answered(lambda: self.wallet.get_first_answer(first))).transferred

    async def list_caves(self) -> Sequence[wallet_pb2.TableCave]:
        """Reads the caves at the table that are not empty."""
        return await retry_for_a_while(lambda: self.wallet.list_table_caves(self.table_ref.table_id))

    async def void_round(self, round_id: str, reason: str) -> wallet_pb2.VoidRoundResponse:
        request = wallet_pb2.VoidRoundRequest(
            request_id=voiding_request_id(round_id), round=self.round_ref(round_id), reason=reason
        )
        return await retry_until_answered(lambda: self.wallet.void_round(request))

    async def get_round(self, round_id: str) -> wallet_pb2.Round:
        return await get_whole_round(
            lambda request: retry_for_a_while(lambda: self.wallet.get_round(request)), round_id
        )

    async def find_round(self, round_id: str) -> wallet_pb2.Round:
        """Reads a round; one that the ledger does not know is open, and nothing of it was staked or moved."""
        try:
            return await self.get_round(round_id)
        except Refused as refused:
            if refused.reason != "ROUND_UNKNOWN":
                raise
            return wallet_pb2.Round(round_id=round_id, state=types_pb2.ROUND_STATE_OPEN)

    async def list_round_transactions(self, round_id: str) -> Sequence[types_pb2.Transaction]:
        """Reads all transactions of a round, newest first; a round of a full table fits into a few pages."""

        async def get_page(request: wallet_pb2.ListTransactionsRequest) -> wallet_pb2.ListTransactionsResponse:
            return await retry_for_a_while(lambda: self.wallet.list_transactions(request))

        request = wallet_pb2.ListTransactionsRequest(round_id=round_id, page_size=TRANSACTIONS_PAGE_SIZE)
        return [transaction async for page in pages(get_page, request) for transaction in page.transactions]

    async def free_cents(self, player_id: str, mode: types_pb2.Mode.ValueType) -> int:
        """Reads how much money of a player is not staked."""
        request = wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode)
        return (await retry_for_a_while(lambda: self.wallet.find_account(request))).balance.free_cents

    async def end_session(self, session_id: str) -> session_pb2.Session:
        """Ends a player's session, as the operator's rules of the table say; it takes no more bets."""
        request = session_pb2.EndSessionRequest(session_id=session_id, cause=session_pb2.END_CAUSE_OPERATOR)
        return (await retry_for_a_while(lambda: self.wallet.end_session(request))).session

    async def announce_round(self, round_id: str) -> None:
        request = session_pb2.AnnounceRoundRequest(table=self.table_ref, round_id=round_id)
        await retry_for_a_while(lambda: self.wallet.announce_round(request))

    async def apply_specific_rules(self, version: int, policy: session_pb2.InactivityPolicy) -> None:
        request = session_pb2.ApplySpecificRulesRequest(table=self.table_ref, version=version, policy=policy)
        await retry_for_a_while(lambda: self.wallet.apply_specific_rules(request))

    async def list_sessions(self) -> Sequence[session_pb2.Session]:
        return await retry_for_a_while(lambda: self.wallet.list_table_sessions(self.table_ref.table_id))


def _payout_messages(payouts: Mapping[str, int]) -> list[wallet_pb2.StakePayout]:
    return [wallet_pb2.StakePayout(stake_id=stake_id, payout_cents=cents) for stake_id, cents in payouts.items()]


def settling_request_id(round_id: str) -> str:
    """Returns the request id of a round's settlement: every owner has the same."""
    return f"{round_id}:settle"


def hand_request_id(round_id: str) -> str:
    """Returns the request id of a hand's transfer: every owner has the same."""
    return f"{round_id}:hand"


def paying_request_id(round_id: str, position: int) -> str:
    """Returns the request id of an early payment after so many decisions: every owner pays the same then."""
    return f"{round_id}:pay:{position}"


def voiding_request_id(round_id: str) -> str:
    """Returns the request id by which a round becomes void."""
    return f"{round_id}:void"


async def retry_for_a_while(call: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Calls until there is an answer, but not for ever: then it raises `WalletUnanswered`."""
    return await retry_until_answered(call, asyncio.get_running_loop().time() + RETRY_TIMEOUT_S)


async def retry_until_answered(call: Callable[[], Awaitable[_Answer]], give_up_at: float = math.inf) -> _Answer:
    """Calls until there is an answer: for paying, settling, voiding and stakes, which must not stay undecided.

    Only a fault that lasts ends that: `WalletFailed`. An owner that has lost its table meanwhile learns so from the
    answer (G8).
    """
    now = asyncio.get_running_loop().time
    wait_s = FIRST_RETRY_AFTER_S
    # Until when faults are tolerated: since the first of them that nothing else has interrupted.
    tolerated_until: float | None = None
    while True:
        try:
            return await call()
        except WalletUnanswered as unanswered:
            if wait_s == FIRST_RETRY_AFTER_S:
                _log.warning("the wallet does not answer", extra={"error": str(unanswered)})
            if now() >= give_up_at:
                raise
            # It may be starting anew, and what failed before may be mended.
            tolerated_until = None
        except WalletFailed as failed:
            _log.warning("the wallet has failed", extra={"error": str(failed)})
            if tolerated_until is None:
                tolerated_until = now() + FAULTS_TOLERATED_S
            if now() >= min(tolerated_until, give_up_at):
                raise
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 2, RETRY_AFTER_MAX_S)

"""Ends rounds, each once, whoever asks (G4): pays one whose outcome is journalled, gives back any other's stakes.

The owner of a table ends its rounds with this, and whoever takes the table over ends those it left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, Drawn, Ended, Ending, Journal, JournalStake, PlayerResult
from services.kit.table.wallet.table_wallet import TableWallet

# Why a round without an outcome is void when its table changes hands.
OWNER_LOST = "the process that ran the table ended before the outcome was drawn"


class LedgerMismatch(Exception):
    """The wallet has not done what the journal says: nothing more may happen at this table until someone has looked."""


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How a round ended."""

    entry: Ended
    sessions: wallet_pb2.SessionsAfterRound
    balances: dict[str, types_pb2.Balance]
    """After it, by account; of the players who had a stake, where the wallet still says."""


class Settlement(Generic[Bets, Outcome]):
    """The end of one table's rounds."""

    def __init__(self, wallet: TableWallet, journal: Journal, epoch: int) -> None:
        self._bank = wallet
        self._journal = journal
        self._epoch = epoch

    async def settle(self, drawn: Drawn, rules: Rules[Bets, Outcome]) -> RoundResult:
        """Pays what the journal says was drawn."""
        outcome = rules.read_outcome(drawn.outcome)
        payouts = {stake.stake_id: rules.payout_cents(outcome, rules.read_bets(stake.bets)) for stake in drawn.stakes}
        answer = await self._bank.settle_round(drawn.round_id, payouts, drawn.outcome, drawn.session_ids)
        if sum(result.payout_cents for result in answer.results) != sum(payouts.values()):
            raise LedgerMismatch(
                f"round {drawn.round_id}: the wallet has paid other than {sum(payouts.values())} cents"
            )
        entry = Ended(
            drawn.round_id,
            Ending.SETTLED,
            answer.ended_at.ToDatetime(UTC),
            "",
            tuple(payouts.items()),
            _shares(answer.results, drawn.stakes, payouts),
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, answer.sessions, _balances(answer.results))

    async def void(
        self,
        round_id: str,
        reason: str,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake] = (),
        closed_at: datetime | None = None,
    ) -> RoundResult:
        """Gives every stake of a round without an outcome back (`804/2015:21`)."""
        returned = await self.return_stakes(round_id, reason)
        return await self.journal_void(round_id, reason, returned, stakes, cancelled_stakes, closed_at)

    async def return_stakes(self, round_id: str, reason: str) -> wallet_pb2.VoidRoundResponse | None:
        """The money of it; None if a former owner gave it back already, for a reason of his own.

        It stands in the ledger from then on, whatever becomes of the record of it (G4).
        """
        try:
            return await self._bank.void_round(round_id, reason)
        except Refused as refused:
            if refused.reason not in {"REQUEST_REUSED", "ROUND_ENDED"}:
                raise
            return None

    async def journal_void(
        self,
        round_id: str,
        reason: str,
        answer: wallet_pb2.VoidRoundResponse | None,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake],
        closed_at: datetime | None = None,
    ) -> RoundResult:
        """The record of it; `answer` is what `give_back` returned."""
        if answer is None:
            return await self._note_void_of_another(round_id, stakes, cancelled_stakes, closed_at)
        payouts = {stake.stake_id: stake.amount_cents for stake in stakes}
        shares = _shares(answer.results, stakes, payouts)
        ended_at = answer.ended_at.ToDatetime(UTC)
        entry = Ended(
            round_id, Ending.VOID, ended_at, reason, tuple(payouts.items()), shares, stakes, cancelled_stakes, closed_at
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, answer.sessions, _balances(answer.results))

    async def _note_void_of_another(
        self,
        round_id: str,
        stakes: Sequence[JournalStake],
        taken_back: Sequence[CancelledStake],
        closed_at: datetime | None,
    ) -> RoundResult:
        """Journals a void of a former owner, who had another reason and died before he could note it."""
        ledger = await self._bank.get_round(round_id)
        if ledger.state != types_pb2.ROUND_STATE_VOID:
            raise LedgerMismatch(f"round {round_id}: settled in the ledger, and there is no outcome in the journal")
        payouts = {stake.stake_id: stake.amount_cents for stake in stakes}
        results = [
            wallet_pb2.AccountResult(
                account_id=movement.account_id,
                staked_cents=sum(stake.amount_cents for stake in stakes if stake.account_id == movement.account_id),
                payout_cents=sum(stake.amount_cents for stake in stakes if stake.account_id == movement.account_id),
                balance=types_pb2.Balance(
                    free_cents=_after(movement, types_pb2.BALANCE_PART_FREE),
                    locked_cents=_after(movement, types_pb2.BALANCE_PART_LOCKED),
                ),
            )
            for movement in await self._bank.list_round_transactions(round_id)
            if movement.kind == types_pb2.TRANSFER_KIND_ROUND_VOID and movement.account_id
        ]
        entry = Ended(
            round_id,
            Ending.VOID,
            ledger.ended_at.ToDatetime(UTC),
            ledger.void_reason,
            tuple(payouts.items()),
            _shares(results, stakes, payouts),
            stakes,
            taken_back,
            closed_at,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, wallet_pb2.SessionsAfterRound(), {})


def stakes_in_ledger(round_: wallet_pb2.Round, player_ids: dict[str, str]) -> list[JournalStake]:
    """The stakes of a round that was never drawn: all that is left of them is in the ledger."""
    return [
        _in_ledger(stake, player_ids, stake.placed_cents - stake.cancelled_cents)
        for stake in round_.stakes
        if stake.state in {types_pb2.STAKE_STATE_OPEN, types_pb2.STAKE_STATE_RETURNED}
    ]


def cancelled_in_ledger(
    round_: wallet_pb2.Round, player_ids: dict[str, str], cancelled_at: dict[str, datetime]
) -> list[CancelledStake]:
    """Those that were taken back, in that order; `cancelled_at` is what `Bank.cancelled_at` says.

    One that was cancelled under another name than a table gives is left to the ledger, which has it: no record may
    stand in the way of a refund (G4).
    """
    taken = [
        CancelledStake(_in_ledger(stake, player_ids, stake.placed_cents), cancelled_at[stake.stake_id])
        for stake in round_.stakes
        if stake.state == types_pb2.STAKE_STATE_CANCELLED and stake.stake_id in cancelled_at
    ]
    return sorted(taken, key=lambda one: one.cancelled_at)


def _in_ledger(stake: types_pb2.Stake, player_ids: dict[str, str], cents: int) -> JournalStake:
    return JournalStake(
        stake.stake_id,
        "",
        player_ids.get(stake.session_id, ""),
        stake.account_id,
        stake.session_id,
        0,
        cents,
        stake.detail,
        stake.placed_at.ToDatetime(UTC),
    )


def _shares(
    results: Sequence[wallet_pb2.AccountResult], stakes: Sequence[JournalStake], payouts: dict[str, int]
) -> list[PlayerResult]:
    balances = {result.account_id: result.balance for result in results}
    mine: dict[str, list[JournalStake]] = {}
    for stake in stakes:
        mine.setdefault(stake.account_id, []).append(stake)
    shares: list[PlayerResult] = []
    for account_id, owned in mine.items():
        balance = balances.get(account_id)
        if balance is None:
            raise LedgerMismatch(f"the wallet has ended a round without the stakes of {account_id}")
        staked = sum(stake.amount_cents for stake in owned)
        paid = sum(payouts[stake.stake_id] for stake in owned)
        after = balance.free_cents + balance.locked_cents
        shares.append(PlayerResult(owned[0].player_id, owned[0].session_id, staked, paid, after + staked - paid, after))
    return shares


def _balances(results: Sequence[wallet_pb2.AccountResult]) -> dict[str, types_pb2.Balance]:
    return {result.account_id: result.balance for result in results}


def _after(movement: types_pb2.Transaction, pocket: types_pb2.BalancePart.ValueType) -> int:
    return sum(entry.after_cents for entry in movement.entries if entry.balance_part == pocket)

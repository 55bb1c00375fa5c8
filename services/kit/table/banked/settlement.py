"""Ends each round once (G4): pays a round whose outcome is journalled, and returns the stakes of any other.

The owner of a table ends its rounds with this, and so does the next owner with the rounds that the former one left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    Journal,
    JournalStake,
    Moved,
    PlayerResult,
)
from services.kit.table.wallet.table_wallet import TableWallet

# Why a round without an outcome is void when its table changes hands.
OWNER_LOST = "the process that ran the table ended before the outcome was drawn"


class LedgerMismatch(Exception):
    """Wallet and journal disagree: nothing more may happen at this table until an operator has looked."""


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How a round ended."""

    entry: Ended
    sessions: wallet_pb2.SessionsAfterRound
    balances: dict[str, types_pb2.Balance]
    """After the round, by account, for the players who had a stake; empty where the wallet no longer says."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What players had decided when a round ended, and what they were paid before."""

    moves: Sequence[Moved]
    paid: Mapping[str, int]


class Settlement(Generic[Bets, Outcome]):
    """Ends the rounds of one table."""

    def __init__(self, wallet: TableWallet, journal: Journal, epoch: int) -> None:
        self._wallet = wallet
        self._journal = journal
        self._epoch = epoch

    async def settle(self, drawn: Drawn, rules: Rules[Bets, Outcome], decided: Decided | None = None) -> RoundResult:
        """Pays a round by its outcome, which is journalled or follows from what is.

        Of a round in which players decided, `drawn` has all stakes, those of decisions included.
        """
        if drawn.outcome is None:
            raise AssertionError(f"round {drawn.round_id} is settled before it is decided")
        outcome = rules.read_outcome(drawn.outcome)
        # Players bet the same again and again, and the same bets pay the same.
        paid_for = {
            bets: rules.payout_cents(outcome, rules.read_bets(bets)) for bets in {stake.bets for stake in drawn.stakes}
        }
        payouts = {stake.stake_id: paid_for[stake.bets] for stake in drawn.stakes}
        paid = {} if decided is None else decided.paid
        unpaid = {stake_id: cents for stake_id, cents in payouts.items() if stake_id not in paid}
        for stake_id, cents in paid.items():
            if payouts.get(stake_id) != cents:
                raise LedgerMismatch(f"round {drawn.round_id}: {stake_id} was paid {cents} cents, and not its payout")
        answer = await self._wallet.settle_round(drawn.round_id, unpaid, drawn.outcome, drawn.session_ids)
        # The wallet answers about the round as a whole, whenever its stakes were paid.
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
            _player_results(answer.results, drawn.stakes, payouts),
            outcome=None if decided is None else drawn.outcome,
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
        """Makes a round without an outcome void and returns its stakes (`804/2015:21`)."""
        returned = await self.return_stakes(round_id, reason)
        return await self.journal_void(round_id, reason, returned, stakes, cancelled_stakes, closed_at)

    def stakes_of_void(
        self,
        on_record: Sequence[JournalStake],  # noqa: ARG002 - the ledger has them all
        in_ledger: Sequence[JournalStake],
    ) -> Sequence[JournalStake]:
        """Returns the stakes of a dealt round that becomes void."""
        return in_ledger

    async def return_stakes(self, round_id: str, reason: str) -> wallet_pb2.VoidRoundResponse | None:
        """Returns the stakes in the wallet; None if a former owner has done so already, for a reason of its own.

        From then on the void stands in the ledger, whatever becomes of its record in the journal (G4).
        """
        try:
            return await self._wallet.void_round(round_id, reason)
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
        paid: Mapping[str, int] | None = None,
    ) -> RoundResult:
        """Journals a void; `answer` is what `return_stakes` has returned.

        Of a dealt round, `paid` stakes were decided and paid before, and stay so.
        """
        if answer is None:
            return await self._journal_earlier_void(round_id, stakes, cancelled_stakes, closed_at, paid)
        payouts = _returned(stakes, paid)
        results = _player_results(answer.results, stakes, payouts)
        ended_at = answer.ended_at.ToDatetime(UTC)
        entry = Ended(
            round_id,
            Ending.VOID,
            ended_at,
            reason,
            tuple(payouts.items()),
            results,
            stakes,
            cancelled_stakes,
            closed_at,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, answer.sessions, _balances(answer.results))

    async def _journal_earlier_void(
        self,
        round_id: str,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake],
        closed_at: datetime | None,
        paid: Mapping[str, int] | None,
    ) -> RoundResult:
        """Journals the void of a former owner, which had another reason and died before it could journal it."""
        ledger = await self._wallet.get_round(round_id)
        if ledger.state != types_pb2.ROUND_STATE_VOID:
            raise LedgerMismatch(f"round {round_id}: settled in the ledger, and there is no outcome in the journal")
        payouts = _returned(stakes, paid)
        results = await self._balances_in_ledger(round_id, types_pb2.TRANSFER_KIND_ROUND_VOID)
        entry = Ended(
            round_id,
            Ending.VOID,
            ledger.ended_at.ToDatetime(UTC),
            ledger.void_reason,
            tuple(payouts.items()),
            _player_results(results, stakes, payouts),
            stakes,
            cancelled_stakes,
            closed_at,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, wallet_pb2.SessionsAfterRound(), {})

    async def journal_settled_in_ledger(
        self,
        ledger: wallet_pb2.Round,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake],
        drawn: Drawn | None = None,
    ) -> None:
        """Journals a round that the ledger has settled, and that the journal lost when a backup was restored.

        The payments stand (G4). Outcome, stakes and payouts are the ledger's. `drawn` is the deal, if that is on record
        and decisions are lost; otherwise a replay says that the entropy is lost (G10).
        """
        round_id, ended_at = ledger.round_id, ledger.ended_at.ToDatetime(UTC)
        if drawn is None:
            lost_draw = Drawn(
                round_id, ended_at, ended_at, b"", ledger.outcome, stakes, (), DrawTrigger.UNKNOWN, cancelled_stakes
            )
            await self._journal.write_drawn(self._epoch, lost_draw)
        payouts = {stake.stake_id: stake.payout_cents for stake in ledger.stakes}
        paid = {stake.stake_id: payouts[stake.stake_id] for stake in stakes}
        results = await self._balances_in_ledger(round_id, types_pb2.TRANSFER_KIND_ROUND_SETTLED)
        entry = Ended(
            round_id,
            Ending.SETTLED,
            ended_at,
            "",
            tuple(paid.items()),
            _player_results(results, stakes, paid),
            returned_stakes=() if drawn is None else stakes,
            outcome=None if drawn is None else ledger.outcome,
        )
        await self._journal.write_ended(self._epoch, entry)

    async def _balances_in_ledger(
        self, round_id: str, kind: types_pb2.TransferKind.ValueType
    ) -> list[wallet_pb2.AccountResult]:
        """Reads the balances of the players after the transfer that ended a round.

        It has not moved the free money of a player who won nothing: that is what their last bet in the round has left.
        And it has moved nothing of a player whose stakes were all paid before.
        """
        transactions = await self._wallet.list_round_transactions(round_id)
        kinds = {kind, types_pb2.TRANSFER_KIND_STAKES_PAID}
        account_ids = dict.fromkeys(each.account_id for each in transactions if each.kind in kinds and each.account_id)
        return [
            wallet_pb2.AccountResult(
                account_id=account_id,
                balance=types_pb2.Balance(
                    free_cents=_balance_after(account_id, types_pb2.BALANCE_PART_FREE, transactions),
                    locked_cents=_balance_after(account_id, types_pb2.BALANCE_PART_LOCKED, transactions),
                ),
            )
            for account_id in account_ids
        ]


def _returned(stakes: Sequence[JournalStake], paid: Mapping[str, int] | None) -> dict[str, int]:
    """Returns what comes back for each stake of a void round: the stake, or what it was paid before."""
    return {stake.stake_id: (paid or {}).get(stake.stake_id, stake.amount_cents) for stake in stakes}


def _player_results(
    results: Sequence[wallet_pb2.AccountResult], stakes: Sequence[JournalStake], payouts: dict[str, int]
) -> list[PlayerResult]:
    balances = {result.account_id: result.balance for result in results}
    by_account: dict[str, list[JournalStake]] = {}
    for stake in stakes:
        by_account.setdefault(stake.account_id, []).append(stake)
    player_results: list[PlayerResult] = []
    for account_id, owned in by_account.items():
        balance = balances.get(account_id)
        if balance is None:
            raise LedgerMismatch(f"the wallet has ended a round without the stakes of {account_id}")
        staked = sum(stake.amount_cents for stake in owned)
        paid = sum(payouts[stake.stake_id] for stake in owned)
        after = balance.free_cents + balance.locked_cents
        player_results.append(
            PlayerResult(owned[0].player_id, owned[0].session_id, staked, paid, after + staked - paid, after)
        )
    return player_results


def _balances(results: Sequence[wallet_pb2.AccountResult]) -> dict[str, types_pb2.Balance]:
    return {result.account_id: result.balance for result in results}


def _balance_after(
    account_id: str, part: types_pb2.BalancePart.ValueType, transactions: Iterable[types_pb2.Transaction]
) -> int:
    """Returns what the newest of these transactions, which come newest first, has left of one part of a balance."""
    for transaction in transactions:
        for entry in transaction.entries:
            if transaction.account_id == account_id and entry.balance_part == part:
                return entry.after_cents
    return 0

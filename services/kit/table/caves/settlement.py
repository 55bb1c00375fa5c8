"""Ends each hand once (G4): a decided hand moves chips among the caves, any other leaves them as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, cast

from feltro.wallet.v1 import wallet_pb2
from services.kit.table.banked.settlement import Decided, LedgerMismatch, RoundResult, Settlement
from services.kit.table.caves.money import Caves
from services.kit.table.caves.rules import CaveRules, HandResult, SeatAfterHand, SeatResult
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    Ended,
    Ending,
    Journal,
    JournalStake,
    PlayerResult,
)
from services.kit.table.wallet.table_wallet import TableWallet


class HandSettlement(Settlement[Bets, Outcome], Generic[Bets, Outcome]):
    """Ends the hands of one table."""

    def __init__(
        self,
        wallet: TableWallet,
        journal: Journal,
        epoch: int,
        caves: Caves,
        judge: Callable[[Outcome, Decided | None], Sequence[SeatAfterHand]],
    ) -> None:
        """`judge` ends a hand in the lineup of its table, and says what that means for each seat."""
        super().__init__(wallet, journal, epoch)
        self._caves = caves
        self._judge = judge

    async def settle(self, drawn: Drawn, rules: Rules[Bets, Outcome], decided: Decided | None = None) -> RoundResult:
        """Moves what the hand has won and lost, in one transfer with the commission (`806/2015:17`)."""
        if drawn.outcome is None:
            raise AssertionError(f"hand {drawn.round_id} is settled before it is decided")
        cave_rules = cast("CaveRules[Bets, Outcome]", rules)
        outcome = cave_rules.read_outcome(drawn.outcome)
        result = cave_rules.hand_result(outcome)
        caves_after = {stake.stake_id: _cave_after(stake, result) for stake in drawn.stakes}
        seats = {each.seat: each for each in self._judge(outcome, decided)}
        answer = await self._caves.transfer_hand(
            drawn.round_id,
            [
                wallet_pb2.SeatInHand(
                    account_id=stake.account_id,
                    session_id=stake.session_id,
                    staked_cents=result.seats[stake.seat].staked_cents,
                    won_cents=result.seats[stake.seat].won_cents,
                )
                for stake in drawn.stakes
                if result.seats[stake.seat].staked_cents
            ],
            result.commission_cents,
            drawn.outcome,
            _sessions_in_hand(drawn, result, seats),
        )
        await self._release(drawn, seats)
        entry = Ended(
            drawn.round_id,
            Ending.SETTLED,
            answer.ended_at.ToDatetime(UTC),
            "",
            tuple(caves_after.items()),
            [_player_result(stake, result.seats[stake.seat]) for stake in drawn.stakes],
            outcome=None if decided is None else drawn.outcome,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, answer.sessions, {})

    async def _release(self, drawn: Drawn, seats: Mapping[int, SeatAfterHand]) -> None:
        """Gives back what was bought in during the hand and does not fit into the cave that it has left (A-24)."""
        for stake in drawn.stakes:
            after = seats.get(stake.seat)
            if after is not None and after.released_cents:
                await self._caves.release(
                    stake.account_id, stake.session_id, after.released_cents, f"{stake.stake_id}:release"
                )

    async def journal_void(
        self,
        round_id: str,
        reason: str,
        answer: wallet_pb2.VoidRoundResponse | None,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake],
        closed_at: datetime | None = None,
        paid: Mapping[str, int] | None = None,  # noqa: ARG002 - nothing is paid before the end of a hand
    ) -> RoundResult:
        """Journals a void: every cave is as it was at the start of the hand."""
        if answer is None:
            ledger = await self._wallet.get_round(round_id)
            ended_at, reason = ledger.ended_at.ToDatetime(UTC), ledger.void_reason
        else:
            ended_at = answer.ended_at.ToDatetime(UTC)
        entry = Ended(
            round_id,
            Ending.VOID,
            ended_at,
            reason,
            [(stake.stake_id, stake.amount_cents) for stake in stakes],
            [_player_result(stake, SeatResult(0, 0)) for stake in stakes],
            stakes,
            cancelled_stakes,
            closed_at,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, answer.sessions if answer is not None else wallet_pb2.SessionsAfterRound(), {})


def _cave_after(stake: JournalStake, result: HandResult) -> int:
    seat = result.seats[stake.seat]
    after = stake.amount_cents - seat.staked_cents + seat.won_cents
    if after < 0:
        raise LedgerMismatch(f"{stake.stake_id} loses more than the cave that was brought")
    return after


def _player_result(stake: JournalStake, seat: SeatResult) -> PlayerResult:
    """What a hand was for its player: the balances are those of the cave."""
    after = stake.amount_cents - seat.staked_cents + seat.won_cents
    return PlayerResult(stake.player_id, stake.session_id, seat.staked_cents, seat.won_cents, stake.amount_cents, after)


def _sessions_in_hand(
    drawn: Drawn, result: HandResult, seats: Mapping[int, SeatAfterHand]
) -> list[wallet_pb2.SessionInRound]:
    """Says of every session that was dealt in whether its player has bet, or at least decided (`806/2015:70.b`)."""
    in_hand = {stake.session_id: stake.seat for stake in drawn.stakes}
    return [
        wallet_pb2.SessionInRound(
            session_id=session_id,
            bet=session_id in in_hand and result.seats[in_hand[session_id]].staked_cents > 0,
            excused=session_id in in_hand and in_hand[session_id] in seats and seats[in_hand[session_id]].excused,
            cave_below_minimum=(
                session_id in in_hand and in_hand[session_id] in seats and seats[in_hand[session_id]].is_short
            ),
        )
        for session_id in drawn.session_ids
    ]

"""Ends each hand once (G4): a decided hand moves chips among the caves, any other leaves them as they were."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, cast

from feltro.wallet.v1 import wallet_pb2
from services.kit.table.banked.settlement import Decided, LedgerMismatch, RoundResult, Settlement
from services.kit.table.caves.money import Caves
from services.kit.table.caves.rules import CaveRules, HandResult, SeatAfterHand, SeatResult
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import (
    ActedBy,
    CancelledStake,
    Drawn,
    Ended,
    Ending,
    Journal,
    JournalStake,
    PlayerResult,
)
from services.kit.table.wallet.table_wallet import TableWallet

# From the outcome of a hand and its decisions: what it means for each session at the table.
JudgeHand = Callable[[Outcome, Decided | None], Mapping[str, SeatAfterHand]]
# Ends a void hand, by its id, in the lineup.
EndVoidHand = Callable[[str], Awaitable[None]]


class HandSettlement(Settlement[Bets, Outcome], Generic[Bets, Outcome]):
    """Ends the hands of one table."""

    def __init__(
        self,
        wallet: TableWallet,
        journal: Journal,
        epoch: int,
        caves: Caves,
        judge: JudgeHand[Outcome] | None = None,
        end_void_hand: EndVoidHand | None = None,
    ) -> None:
        """`judge` ends a hand in the lineup of its table, and says what that means for each session there.

        Without it, and without `end_void_hand`, nobody is seated yet: a former owner's hand is ended.
        """
        super().__init__(wallet, journal, epoch)
        self._caves = caves
        self._judge = judge
        self._end_void_hand = end_void_hand

    async def settle(self, drawn: Drawn, rules: Rules[Bets, Outcome], decided: Decided | None = None) -> RoundResult:
        """Moves what the hand has won and lost, in one transfer with the commission (`806/2015:17`)."""
        if drawn.outcome is None:
            raise AssertionError(f"hand {drawn.round_id} is settled before it is decided")
        cave_rules = cast("CaveRules[Bets, Outcome]", rules)
        outcome = cave_rules.read_outcome(drawn.outcome)
        result = cave_rules.hand_result(outcome)
        caves_after = {stake.stake_id: _cave_after(stake, result) for stake in drawn.stakes}
        # What is bought in meanwhile is judged with the hand, or by the cave that the hand has left.
        async with self._caves.judging:
            if self._judge is None:
                seats: Mapping[str, SeatAfterHand] = self._judge_without_lineup(drawn, cave_rules, result, decided)
            else:
                seats = self._judge(outcome, decided)
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

    def _judge_without_lineup(
        self, drawn: Drawn, rules: CaveRules[Bets, Outcome], result: HandResult, decided: Decided | None
    ) -> dict[str, SeatAfterHand]:
        """Says what a former owner's hand means for those who were dealt in.

        The hand counts against nobody who may have been there: the others' standing is not known (G9).
        """
        moves = () if decided is None else decided.moves
        left_to_clock = {moved.seat for moved in moves} - {
            moved.seat for moved in moves if moved.acted_by is ActedBy.PLAYER
        }
        judged: dict[str, SeatAfterHand] = {}
        for stake in drawn.stakes:
            moved = result.seats[stake.seat]
            cave_cents = self._caves.cents_of(stake.session_id) - moved.staked_cents + moved.won_cents
            judged[stake.session_id] = SeatAfterHand(
                stake.seat, stake.seat not in left_to_clock, cave_cents < rules.minimum_bet_cents, 0
            )
        return judged

    async def _release(self, drawn: Drawn, seats: Mapping[str, SeatAfterHand]) -> None:
        """Gives back what was bought in during the hand and does not fit into the cave that it has left (A-24)."""
        for stake in drawn.stakes:
            after = seats.get(stake.session_id)
            if after is not None and after.released_cents:
                await self._caves.release(
                    stake.account_id, stake.session_id, after.released_cents, f"{stake.stake_id}:release"
                )

    def stakes_of_void(
        self,
        on_record: Sequence[JournalStake],
        in_ledger: Sequence[JournalStake],  # noqa: ARG002 - the ledger has no stakes of a hand
    ) -> Sequence[JournalStake]:
        """What was brought to a hand is on record alone."""
        return on_record

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
        if self._end_void_hand is not None:
            await self._end_void_hand(round_id)
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
    drawn: Drawn, result: HandResult, seats: Mapping[str, SeatAfterHand]
) -> list[wallet_pb2.SessionInRound]:
    """Says of every session at the table whether its player has bet, or at least was there (`806/2015:70.b`).

    A session of which nothing is known has missed nothing: its player has just come, or leaves.
    """
    bet = {stake.session_id for stake in drawn.stakes if result.seats[stake.seat].staked_cents}
    return [
        wallet_pb2.SessionInRound(
            session_id=session_id,
            bet=session_id in bet,
            excused=session_id not in seats or seats[session_id].excused,
            cave_below_minimum=session_id in seats and seats[session_id].is_short,
        )
        for session_id in drawn.session_ids
    ]

"""Ends each hand once (G4): a decided hand moves chips among the caves, any other leaves them as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, cast

from feltro.wallet.v1 import wallet_pb2
from services.kit.table.banked.settlement import Decided, LedgerMismatch, RoundResult, Settlement
from services.kit.table.caves.money import Caves
from services.kit.table.caves.rules import CaveRules, HandResult, SeatResult
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import (
    ActedBy,
    CancelledStake,
    Drawn,
    Ended,
    Ending,
    Journal,
    JournalStake,
    Moved,
    PlayerResult,
)
from services.kit.table.wallet.table_wallet import TableWallet


class HandSettlement(Settlement[Bets, Outcome], Generic[Bets, Outcome]):
    """Ends the hands of one table."""

    def __init__(self, wallet: TableWallet, journal: Journal, epoch: int, caves: Caves) -> None:
        super().__init__(wallet, journal, epoch)
        self._caves = caves

    async def settle(self, drawn: Drawn, rules: Rules[Bets, Outcome], decided: Decided | None = None) -> RoundResult:
        """Moves what the hand has won and lost, in one transfer with the commission (`806/2015:17`)."""
        if drawn.outcome is None:
            raise AssertionError(f"hand {drawn.round_id} is settled before it is decided")
        cave_rules = cast("CaveRules[Bets, Outcome]", rules)
        result = cave_rules.hand_result(cave_rules.read_outcome(drawn.outcome))
        caves_after = {stake.stake_id: _cave_after(stake, result) for stake in drawn.stakes}
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
            self._sessions_in_hand(drawn, rules.minimum_cents, result, decided),
        )
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

    def _sessions_in_hand(
        self, drawn: Drawn, minimum_cents: int, result: HandResult, decided: Decided | None
    ) -> list[wallet_pb2.SessionInRound]:
        """Says of every session that counts whether its player has bet, or at least decided (`806/2015:70.b`, A-25)."""
        seats = {stake.session_id: stake.seat for stake in drawn.stakes}
        moves = () if decided is None else decided.moves
        return [
            wallet_pb2.SessionInRound(
                session_id=session_id,
                bet=session_id in seats and result.seats[seats[session_id]].staked_cents > 0,
                excused=session_id in seats and not _left_to_the_clock(seats[session_id], moves),
                cave_below_minimum=self._cave_after_hand(session_id, seats, result) < minimum_cents,
            )
            for session_id in drawn.session_ids
        ]

    def _cave_after_hand(self, session_id: str, seats: Mapping[str, int], result: HandResult) -> int:
        """Returns what is in a cave when the hand has moved its chips, what was bought in meanwhile included."""
        held = self._caves.cents_of(session_id)
        if session_id not in seats:
            return held
        seat = result.seats[seats[session_id]]
        return held - seat.staked_cents + seat.won_cents

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


def _left_to_the_clock(seat: int, moves: Sequence[Moved]) -> bool:
    """Whether a player had to decide and the clock did it each time, or nobody sat there."""
    own = [moved.acted_by for moved in moves if moved.seat == seat]
    return bool(own) and all(acted_by in {ActedBy.CLOCK, ActedBy.AWAY} for acted_by in own)

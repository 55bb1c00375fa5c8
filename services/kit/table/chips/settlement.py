"""Ends hands that are played for chips: what they moved is in their outcome, and no money is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Generic

from feltro.wallet.v1 import wallet_pb2
from services.kit.clock import Clock
from services.kit.table.banked.settlement import Decided, RoundResult, Settlement
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import CancelledStake, Drawn, Ended, Ending, Journal, JournalStake, PlayerResult
from services.kit.table.wallet.table_wallet import TableWallet


class ChipSettlement(Settlement[Bets, Outcome], Generic[Bets, Outcome]):
    """Ends the hands of one table. Writing an end again changes nothing (G3)."""

    def __init__(self, wallet: TableWallet, journal: Journal, epoch: int, clock: Clock) -> None:
        super().__init__(wallet, journal, epoch)
        self._clock = clock

    async def settle(
        self,
        drawn: Drawn,
        rules: Rules[Bets, Outcome],  # noqa: ARG002 - of the tables where stakes are paid
        decided: Decided | None = None,
    ) -> RoundResult:
        if drawn.outcome is None:
            raise AssertionError(f"hand {drawn.round_id} has ended before it is decided")
        outcome = None if decided is None else drawn.outcome
        return await self._journal_end(drawn.round_id, Ending.SETTLED, "", drawn.stakes, outcome=outcome)

    async def void(
        self,
        round_id: str,
        reason: str,
        stakes: Sequence[JournalStake],
        cancelled_stakes: Sequence[CancelledStake] = (),  # noqa: ARG002 - nobody bets before a hand
        closed_at: datetime | None = None,
    ) -> RoundResult:
        """Journals a void hand: everybody has the chips that they brought (806/2015:72)."""
        return await self._journal_end(round_id, Ending.VOID, reason, stakes, closed_at=closed_at)

    async def _journal_end(
        self,
        round_id: str,
        ending: Ending,
        reason: str,
        stakes: Sequence[JournalStake],
        *,
        outcome: bytes | None = None,
        closed_at: datetime | None = None,
    ) -> RoundResult:
        entry = Ended(
            round_id,
            ending,
            self._clock.now(),
            reason,
            tuple((stake.stake_id, 0) for stake in stakes),
            [PlayerResult(stake.player_id, stake.session_id, 0, 0, 0, 0) for stake in stakes],
            stakes if ending is Ending.VOID else (),
            closed_at=closed_at,
            outcome=outcome,
        )
        await self._journal.write_ended(self._epoch, entry)
        return RoundResult(entry, wallet_pb2.SessionsAfterRound(), {})

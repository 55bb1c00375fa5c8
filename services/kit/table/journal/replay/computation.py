"""Recomputes a round from the journal alone and compares the result with journal and ledger (G10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Generic

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.randomness.tape import Tape, TapeExhausted
from services.kit.table.encoding import packed
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal import round_messages
from services.kit.table.journal.entries import DrawTrigger, Ending, JournalStake
from services.kit.table.journal.history import RoundRecord

_LEDGER_STATES = {
    Ending.SETTLED: wallet_types.ROUND_STATE_SETTLED,
    Ending.VOID: wallet_types.ROUND_STATE_VOID,
}


@dataclass(frozen=True, slots=True)
class RoundReplay(Generic[Bets, Outcome]):
    """The replay of one round: its record, the rules it was played by, and the ledger's round."""

    record: RoundRecord
    version: types_pb2.ConfigurationVersion
    rules: Rules[Bets, Outcome]
    ledger: wallet_pb2.Round | None

    def compute(self) -> table_pb2.ReplayRoundResponse:
        differences: list[str] = []
        outcome = self._outcome(differences)
        answer = table_pb2.ReplayRoundResponse(
            round=round_messages.table_round(self.record.summary, self.rules),
            entropy=b"" if self.record.drawn is None else self.record.drawn.entropy,
            computed_outcome=None if outcome is None else packed(self.rules.outcome_message(outcome)),
            configuration=self.version,
        )
        journal = dict(self.record.ended.payouts) if self.record.ended is not None else {}
        ledger = {stake.stake_id: stake for stake in self.ledger.stakes} if self.ledger is not None else {}
        answer.stakes.extend(
            self._stake(stake, outcome, journal.get(stake.stake_id, 0), ledger.get(stake.stake_id), differences)
            for stake in self.record.stakes
        )
        answer.cancelled_stakes.extend(
            round_messages.cancelled_stake(each, self.rules) for each in self.record.cancelled_stakes
        )
        self._compare_endings(differences)
        self._compare_cancelled_stakes(differences)
        answer.differences.extend(differences)
        return answer

    def _outcome(self, differences: list[str]) -> Outcome | None:
        """Draws once more from the recorded entropy."""
        drawn = self.record.drawn
        if drawn is None:
            return None
        if drawn.is_lost:
            differences.append(
                "the journal has no entropy: it was restored from a backup older than the draw, and what it has of the "
                "round is the ledger's"
            )
            return self.rules.read_outcome(drawn.outcome)
        try:
            tape = Tape(drawn.entropy)
            outcome = self.rules.draw(tape)
        except TapeExhausted:
            differences.append("the entropy in the journal is too short for a draw")
            return None
        if tape.used != len(drawn.entropy):
            differences.append(f"the draw uses {tape.used} of {len(drawn.entropy)} bytes of entropy")
        if self.rules.outcome_message(outcome).SerializeToString() != drawn.outcome:
            differences.append("the entropy gives another outcome than the journal has")
        return outcome

    def _stake(
        self,
        stake: JournalStake,
        outcome: Outcome | None,
        journal: int,
        in_ledger: wallet_types.Stake | None,
        differences: list[str],
    ) -> table_pb2.ReplayedStake:
        """Computes what a stake pays; `journal` is the payout that the journal has."""
        bets = self.rules.read_bets(stake.bets)
        computed = stake.amount_cents if outcome is None else self.rules.payout_cents(outcome, bets)
        ledger = 0 if in_ledger is None else _paid_cents(in_ledger)
        if self.rules.total_cents(bets) != stake.amount_cents:
            differences.append(f"stake {stake.stake_id}: {stake.amount_cents} cents for other bets")
        if self.record.ended is not None and computed != journal:
            differences.append(f"stake {stake.stake_id}: {computed} computed, {journal} in the journal")
        if self.record.ended is not None and self.ledger is not None and computed != ledger:
            differences.append(f"stake {stake.stake_id}: {computed} computed, {ledger} in the ledger")
        if in_ledger is not None and in_ledger.placed_cents - in_ledger.cancelled_cents != stake.amount_cents:
            differences.append(f"stake {stake.stake_id}: {stake.amount_cents} in the journal, another in the ledger")
        if in_ledger is not None and in_ledger.detail != stake.bets:
            differences.append(f"stake {stake.stake_id}: other bets in the journal than in the ledger")
        return table_pb2.ReplayedStake(
            stake_id=stake.stake_id,
            player_id=stake.player_id,
            amount_cents=stake.amount_cents,
            results=None if outcome is None else packed(self.rules.results_message(outcome, bets)),
            computed_payout_cents=computed,
            journal_payout_cents=journal,
            ledger_payout_cents=ledger,
        )

    def _compare_endings(self, differences: list[str]) -> None:
        ended = self.record.ended
        if ended is not None and ended.ending is Ending.VOID and self.record.drawn is not None:
            differences.append("void in the journal, although it was drawn")
        if self.ledger is None:
            if ended is not None:
                differences.append("the ledger does not know the round")
            return
        expected = wallet_types.ROUND_STATE_OPEN if ended is None else _LEDGER_STATES[ended.ending]
        if self.ledger.state != expected:
            differences.append(
                f"{wallet_types.RoundState.Name(expected)} in the journal, "
                f"{wallet_types.RoundState.Name(self.ledger.state)} in the ledger"
            )
        known = {stake.stake_id for stake in self.record.stakes}
        if ended is not None:
            paid = {stake_id for stake_id, _ in ended.payouts}
            differences.extend(f"stake {stake_id}: paid, and never placed" for stake_id in sorted(paid - known))
        counted = {stake.stake_id for stake in self.ledger.stakes if stake.state != wallet_types.STAKE_STATE_CANCELLED}
        if self.record.drawn is not None or ended is not None:
            differences.extend(f"stake {stake_id}: not in the journal" for stake_id in sorted(counted - known))
            differences.extend(f"stake {stake_id}: not in the ledger" for stake_id in sorted(known - counted))

    def _compare_cancelled_stakes(self, differences: list[str]) -> None:
        """Compares the cancelled stakes; a round recorded before revision 0002 has none, and no draw trigger."""
        if self.ledger is None or (self.record.drawn is None and self.record.ended is None):
            return
        in_journal = Counter(
            (each.stake.stake_id, each.stake.amount_cents, each.stake.bets) for each in self.record.cancelled_stakes
        )
        in_ledger = Counter(
            (stake.stake_id, each.amount_cents, each.detail)
            for stake in self.ledger.stakes
            for each in stake.cancellations
        )
        differences.extend(
            f"stake {stake_id}: {cents} cents taken back in the journal, not so in the ledger"
            for stake_id, cents, _ in (in_journal - in_ledger).elements()
        )
        if self.record.drawn is not None and self.record.drawn.draw_trigger is not DrawTrigger.UNKNOWN:
            differences.extend(
                f"stake {stake_id}: {cents} cents taken back in the ledger, not so in the journal"
                for stake_id, cents, _ in sorted((in_ledger - in_journal).elements())
            )


def _paid_cents(stake: wallet_types.Stake) -> int:
    if stake.state == wallet_types.STAKE_STATE_RETURNED:
        return stake.placed_cents - stake.cancelled_cents
    return stake.payout_cents

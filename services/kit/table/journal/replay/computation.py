"""Recomputes a round from the journal alone and compares the result with journal and ledger (G10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.encoding import packed
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal import round_messages
from services.kit.table.journal.entries import Drawn, DrawTrigger, Ending, JournalStake
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.replay import hands
from services.kit.table.journal.replay.hands import MovedInLedger
from services.kit.table.journal.replay.play import PlayedAgain, play_again

_LEDGER_STATES = {
    Ending.SETTLED: wallet_types.ROUND_STATE_SETTLED,
    Ending.VOID: wallet_types.ROUND_STATE_VOID,
}


@dataclass(frozen=True, slots=True)
class RoundReplay(Generic[Bets, Outcome]):
    """The replay of one round: its record, the rules it was played by, and the ledger's round.

    The record is as `RoundRecord.unsealed` returns it.
    """

    record: RoundRecord
    version: types_pb2.ConfigurationVersion
    rules: Rules[Bets, Outcome]
    ledger: wallet_pb2.Round | None
    moved: MovedInLedger | None = None
    """Of a hand between players: what it has moved in the ledger, where it has no stakes; of one for chips nothing."""

    @property
    def _is_for_chips(self) -> bool:
        return hands.is_for_chips(self.version.configuration.play)

    def compute(self) -> table_pb2.ReplayRoundResponse:
        bets = {stake.stake_id: self.rules.read_bets(stake.bets) for stake in self.record.stakes}
        played = self._play(bets)
        differences = played.differences
        # Until the round has ended, both tell cards that nobody may see; the entropy, until its shoe has (G7).
        drawn, outcome = self.record.drawn, None if self.record.hides_cards else played.outcome
        tells_entropy = drawn is not None and not self.record.seals_entropy and not drawn.is_sealed
        answer = table_pb2.ReplayRoundResponse(
            round=round_messages.table_round(self.record.summary, self.rules),
            entropy=drawn.entropy if drawn is not None and tells_entropy else b"",
            computed_outcome=None if outcome is None else packed(self.rules.outcome_message(outcome)),
            configuration=self.version,
            moves=[round_messages.recorded_move(move, self.rules) for move in self.record.moves],
        )
        journal = self.record.payouts
        ledger = {stake.stake_id: stake for stake in self.ledger.stakes} if self.ledger is not None else {}
        computed = dict[str, int]()
        for stake in self.record.stakes:
            in_ledger = ledger.get(stake.stake_id)
            payout_cents = computed[stake.stake_id] = self._payout_cents(stake, bets[stake.stake_id], played)
            self._compare_stake(stake, bets[stake.stake_id], payout_cents, in_ledger, differences)
            results = None if outcome is None else self.rules.results_message(outcome, bets[stake.stake_id])
            answer.stakes.add(
                stake_id=stake.stake_id,
                player_id=stake.player_id,
                amount_cents=stake.amount_cents,
                results=None if results is None else packed(results),
                computed_payout_cents=payout_cents,
                journal_payout_cents=journal.get(stake.stake_id, 0),
                ledger_payout_cents=self._ledger_payout_cents(stake, in_ledger),
            )
        answer.cancelled_stakes.extend(
            round_messages.cancelled_stake(each, self.rules) for each in self.record.cancelled_stakes
        )
        if self.moved is not None:
            differences += hands.differences(self.record, self.moved, computed)
        self._compare_early_payments(played, differences)
        self._compare_endings(played, differences)
        self._compare_cancelled_stakes(differences)
        answer.differences.extend(differences)
        return answer

    def _ledger_payout_cents(self, stake: JournalStake, in_ledger: wallet_types.Stake | None) -> int:
        if self.moved is not None and self.record.ended is not None:
            return stake.amount_cents + self.moved.by_account.get(stake.account_id, 0)
        return 0 if in_ledger is None else _paid_cents(in_ledger)

    def _play(self, bets: Mapping[str, Bets]) -> PlayedAgain[Bets, Outcome]:
        """Plays the round again from the recorded entropy and decisions."""
        drawn, recorded = self.record.drawn, self.record.outcome
        played: PlayedAgain[Bets, Outcome] = PlayedAgain()
        if drawn is None:
            return played
        if drawn.is_lost:
            played.differences.append(
                "the journal has no entropy: it was restored from a backup older than the draw, and what it has of the "
                "round is the ledger's"
            )
        elif drawn.is_sealed:
            if self.record.ended is not None:
                played.differences.append(f"the entropy cannot be read: key {drawn.sealed_with} is missing or wrong")
        else:
            played = play_again(self.record, drawn, self.rules, bets, Tape(drawn.entropy))
            played.differences += self._shoe_differences(drawn)
            outcome = played.outcome
            if outcome is None or recorded is None:
                return played
            if self.rules.outcome_message(outcome).SerializeToString() != recorded:
                gives = "the entropy gives" if not self.record.moves else "the entropy and the decisions give"
                played.differences.append(f"{gives} another outcome than the journal has")
            return played
        played.outcome = None if recorded is None else self.rules.read_outcome(recorded)
        return played

    def _shoe_differences(self, drawn: Drawn) -> list[str]:
        """Compares where in its shoe the round begins with where the round that was dealt before has left it."""
        before = self.record.before
        if drawn.shoe is None or before is None or before.drawn is None:
            return []
        if before.drawn.drawn_in != drawn.drawn_in:
            return [f"goes on with the shoe of {drawn.drawn_in}, and {before.opened.round_id} had another one"]
        if before.opened.configuration_version != self.record.opened.configuration_version:
            return [f"goes on with the shoe of {drawn.drawn_in} under other rules"]
        bets = {stake.stake_id: self.rules.read_bets(stake.bets) for stake in before.drawn.stakes}
        played = play_again(before, before.drawn, self.rules, bets, Tape(drawn.entropy))
        taken, cut_card = before.drawn.cards_taken + played.cards, self.rules.cut_card
        if taken != drawn.cards_taken:
            left = f"{before.opened.round_id} left it after {taken}"
            return [f"begins after {drawn.cards_taken} cards of its shoe, and {left}"]
        if cut_card is None or taken >= cut_card:
            return [f"goes on with a shoe of which {taken} cards were taken, and the cut card comes after {cut_card}"]
        return []

    def _payout_cents(self, stake: JournalStake, bets: Bets, played: PlayedAgain[Bets, Outcome]) -> int:
        """Computes what a stake pays; before the end of a dealt round, what it has paid early."""
        ended, due = self.record.ended, played.due.get(stake.stake_id)
        if ended is None and self.record.hides_cards:
            return due.cents if due is not None and stake.stake_id in self.record.payouts else 0
        if ended is not None and ended.ending is Ending.VOID and self.record.outcome is None:
            # What was paid before stays.
            early = any(stake.stake_id == paid_id for paid in self.record.paid for paid_id, _ in paid.payouts)
            return due.cents if due is not None and early else stake.amount_cents
        return stake.amount_cents if played.outcome is None else self.rules.payout_cents(played.outcome, bets)

    def _compare_stake(
        self,
        stake: JournalStake,
        bets: Bets,
        computed: int,
        in_ledger: wallet_types.Stake | None,
        differences: list[str],
    ) -> None:
        journal = self.record.payouts.get(stake.stake_id, 0)
        ledger = 0 if in_ledger is None else _paid_cents(in_ledger)
        if self.rules.total_cents(bets) != stake.amount_cents:
            differences.append(f"stake {stake.stake_id}: {stake.amount_cents} cents for other bets")
        if self.record.ended is not None and computed != journal:
            differences.append(f"stake {stake.stake_id}: {computed} computed, {journal} in the journal")
        if self.record.ended is not None and self.ledger is not None and self.moved is None and computed != ledger:
            differences.append(f"stake {stake.stake_id}: {computed} computed, {ledger} in the ledger")
        if in_ledger is not None and in_ledger.placed_cents - in_ledger.cancelled_cents != stake.amount_cents:
            differences.append(f"stake {stake.stake_id}: {stake.amount_cents} in the journal, another in the ledger")
        if in_ledger is not None and in_ledger.detail != stake.bets:
            differences.append(f"stake {stake.stake_id}: other bets in the journal than in the ledger")

    def _compare_early_payments(self, played: PlayedAgain[Bets, Outcome], differences: list[str]) -> None:
        """Compares what was paid before the end with what the rules decide for good by then."""
        drawn = self.record.drawn
        if drawn is None or drawn.is_lost or drawn.is_sealed:
            return
        ended = {} if self.record.ended is None else dict(self.record.ended.payouts)
        for paid in self.record.paid:
            for stake_id, cents in paid.payouts:
                due = played.due.get(stake_id)
                if due is None or due.position > paid.position:
                    differences.append(
                        f"stake {stake_id}: paid after {paid.position} decisions, when the rules had not decided it"
                    )
                elif due.cents != cents:
                    differences.append(f"stake {stake_id}: {due.cents} due early, {cents} paid early")
                if ended.get(stake_id, cents) != cents:
                    differences.append(f"stake {stake_id}: {cents} paid early, {ended[stake_id]} at the end")

    def _compare_endings(self, played: PlayedAgain[Bets, Outcome], differences: list[str]) -> None:
        ended, drawn = self.record.ended, self.record.drawn
        if ended is not None and ended.ending is Ending.VOID and drawn is not None and not drawn.is_sealed:
            # A hand between players may become void as long as it is not decided (`806/2015:72`).
            if self.moved is None:
                differences.append("void in the journal, although it was drawn")
            elif played.outcome is not None:
                differences.append("void in the journal, although it was decided")
        if self.ledger is None:
            if ended is not None and not self._is_for_chips:
                differences.append("the ledger does not know the round")
            return
        if self._is_for_chips:
            differences.append("the ledger knows the round, although it was played for chips")
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
        if drawn is not None or ended is not None:
            differences.extend(f"stake {stake_id}: not in the journal" for stake_id in sorted(counted - known))
            missing = known - counted if self.moved is None else set[str]()
            differences.extend(f"stake {stake_id}: not in the ledger" for stake_id in sorted(missing))

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
            # Where players decide, the stake of a decision that was never made is given back, and in the ledger alone.
            is_dealt = self.record.drawn.outcome is None
            known = {each.stake.stake_id for each in self.record.cancelled_stakes}
            known |= {stake.stake_id for stake in self.record.stakes}
            differences.extend(
                f"stake {stake_id}: {cents} cents taken back in the ledger, not so in the journal"
                for stake_id, cents, _ in sorted((in_ledger - in_journal).elements())
                if not is_dealt or stake_id in known
            )


def _paid_cents(stake: wallet_types.Stake) -> int:
    if stake.state == wallet_types.STAKE_STATE_RETURNED:
        return stake.placed_cents - stake.cancelled_cents
    return stake.payout_cents

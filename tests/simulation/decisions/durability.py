"""Checks what the runtime says of decisions when it says it: it is durable (G5) and names no hidden card (G7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from google.protobuf.any_pb2 import Any as AnyMessage

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from services.kit.table.encoding import acted_by_value
from services.kit.table.game import DealtRound, RunsOut
from services.wallet.model.state import StakeState
from tests.named_cards import named_cards, unpacked
from tests.simulation.environment.games import dealt_again, is_answer

if TYPE_CHECKING:
    from tests.simulation.environment.catalogue import InMemoryCatalogue
    from tests.simulation.environment.journal import InMemoryJournal, RoundEntries
    from tests.simulation.environment.wallet import InMemoryWallet


class DurableDecisions:
    """Compares each event and answer about decisions with journal and wallet."""

    def __init__(
        self,
        wallet: InMemoryWallet,
        journal: InMemoryJournal,
        catalogue: InMemoryCatalogue,
        seen_cards: Callable[[DealtRound[Any, Any]], Counter[str]],
        report: Callable[[str, str], None],
    ) -> None:
        self.first_decide_by: dict[tuple[str, int], datetime] = {}
        """Until when each turn could be decided at least, of all that was announced."""
        self._wallet = wallet
        self._journal = journal
        self._catalogue = catalogue
        self._seen_cards = seen_cards
        self._report = report

    # -- answers -----------------------------------------------------------------------------------------------------

    def check_answer(self, answer: object) -> None:
        if isinstance(answer, table_pb2.ActResponse):
            self._check_act(answer)
        elif is_answer(answer, "DealResponse"):
            dealt = cast("Any", answer)
            entries = self._journal.rounds.get(dealt.round_id)
            if entries is None or (entries.drawn is None and entries.ended is None):
                self._report("G5", f"{dealt.round_id} was answered as dealt and is not so in the journal")

    def _check_act(self, answer: table_pb2.ActResponse) -> None:
        entries = self._journal.rounds.get(answer.round_id)
        if entries is None or not 0 < answer.position <= len(entries.moves):
            self._report(
                "G5", f"decision {answer.position} of {answer.round_id} was acknowledged before it was durable"
            )
            return
        stake = entries.moves[answer.position - 1].stake
        if (stake.stake_id, stake.amount_cents) != (answer.stake_id, answer.staked_cents) if stake else answer.stake_id:
            self._report("G5", f"decision {answer.position} of {answer.round_id} was acknowledged with another stake")
        if answer.stake_id and answer.stake_id not in self._wallet.stakes:
            self._report("G5", f"{answer.stake_id} was acknowledged and is not in the wallet")

    # -- events ------------------------------------------------------------------------------------------------------

    def check_event(self, event: events_pb2.TableEvent) -> None:
        kind = event.WhichOneof("event")
        if kind == "round_dealt":
            dealt = event.round_dealt
            self._note_turn(dealt.round_id, dealt.turn)
            self._check_view(dealt.round_id, 0, dealt.view)
        elif kind == "move_made":
            self._check_move(event.move_made)
        elif kind == "cards_shown":
            self._check_cards_shown(event.cards_shown)
        elif kind == "stakes_paid":
            self._check_paid(event.stakes_paid)
        elif kind == "snapshot_published":
            self._check_snapshot(event.snapshot_published.snapshot)
        elif kind == "outcome_drawn":
            self._check_outcome(event.outcome_drawn)

    def _note_turn(self, round_id: str, turn: types_pb2.Turn) -> None:
        if turn.HasField("decide_by"):
            key, announced = (round_id, turn.turn), turn.decide_by.ToDatetime(UTC)
            self.first_decide_by[key] = min(announced, self.first_decide_by.get(key, announced))

    def _check_move(self, made: events_pb2.MoveMade) -> None:
        self._note_turn(made.round_id, made.turn)
        entries = self._journal.rounds.get(made.round_id)
        if entries is None or not 0 < made.position <= len(entries.moves):
            self._report("G5", f"decision {made.position} of {made.round_id} was published before it was journalled")
            return
        moved = entries.moves[made.position - 1]
        if (moved.seat, moved.move, acted_by_value(moved.acted_by)) != (made.seat, made.move.value, made.acted_by):
            self._report("G10", f"decision {made.position} of {made.round_id} was published otherwise than journalled")
        if moved.stake is not None and moved.stake.stake_id not in self._wallet.stakes:
            self._report("G5", f"decision {made.position} of {made.round_id} was published before it was staked")
        self._check_view(made.round_id, made.position, made.view)

    def _check_cards_shown(self, shown: events_pb2.CardsShown) -> None:
        """Checks that cards are shown of a hand that is decided."""
        entries = self._journal.rounds.get(shown.round_id)
        if entries is None or entries.drawn is None or self._states(entries)[-1].turn is not None:
            self._report("G5", f"cards of {shown.round_id} were published before the last decision was journalled")
            return
        self._check_view(shown.round_id, len(entries.moves), shown.view)

    def _check_paid(self, paid: events_pb2.StakesPaid) -> None:
        entries = self._journal.rounds.get(paid.round_id)
        if entries is None or not entries.paid:
            self._report("G5", f"a payment of {paid.round_id} was published before it was journalled")
            return
        payouts = dict(entries.paid[-1].payouts)
        stakes = [self._wallet.stakes[stake_id].stake for stake_id in payouts]
        if any(stake.state is not StakeState.PAID for stake in stakes):
            self._report("G5", f"a payment of {paid.round_id} was published and is not in the wallet")
        told = sum(result.staked_cents for result in paid.results), sum(result.payout_cents for result in paid.results)
        if told != (sum(stake.placed_cents for stake in stakes), sum(payouts.values())):
            self._report("G10", f"the published payment of {paid.round_id} is not the journalled one")

    def _check_snapshot(self, snapshot: types_pb2.TableSnapshot) -> None:
        round_ = snapshot.round
        if not round_.HasField("view"):
            return
        self._note_turn(round_.round_id, round_.turn)
        entries = self._journal.rounds.get(round_.round_id)
        if entries is None or entries.drawn is None:
            self._report("G5", f"{round_.round_id} was published as dealt before that was journalled")
            return
        # A former owner may publish the state before the decisions that it does not know of.
        states = self._states(entries)
        as_shown = [state for at, state in enumerate(states) if round_.view.value in _views(states, at)]
        if not as_shown:
            self._report("G10", f"a snapshot shows {round_.round_id} as it never was")
            return
        self._check_cards(round_.round_id, round_.view, as_shown[0])

    def _check_view(self, round_id: str, position: int, view: AnyMessage) -> None:
        """Checks that a view is that of the journalled cards after so many decisions."""
        entries = self._journal.rounds.get(round_id)
        if entries is None or entries.drawn is None:
            self._report("G5", f"{round_id} was published as dealt before that was journalled")
            return
        states = self._states(entries)
        state = states[position]
        if view.value not in _views(states, position):
            self._report(
                "G6", f"the published cards of {round_id} after {position} decisions are not the journalled ones"
            )
        self._check_cards(round_id, view, state)

    def _check_outcome(self, drawn: events_pb2.OutcomeDrawn) -> None:
        entries = self._journal.rounds.get(drawn.round_id)
        if entries is None or entries.drawn is None or entries.drawn.outcome is not None or entries.drawn.is_lost:
            return
        state = self._states(entries)[-1]
        if state.turn is not None:
            self._report("G4", f"the outcome of {drawn.round_id} was published while somebody had to decide")
            return
        rules = self._rules(entries)
        if rules.outcome_message(state.outcome).SerializeToString() != drawn.outcome.value:
            self._report("G6", f"the published outcome of {drawn.round_id} is not the journalled one")
        self._check_cards(drawn.round_id, drawn.outcome, state)

    def _check_cards(self, round_id: str, shown: AnyMessage, state: DealtRound[Any, Any]) -> None:
        named = Counter(named_cards(unpacked(shown)))
        if unseen := named - self._seen_cards(state):
            self._report("G7", f"{round_id} names {dict(unseen)}, which nobody may see")

    def _rules(self, entries: RoundEntries) -> Any:  # noqa: ANN401 - of whatever game
        opened = entries.opened
        return self._catalogue.rules_in_force(opened.placement_id, opened.configuration_version).rules

    def _states(self, entries: RoundEntries) -> list[DealtRound[Any, Any]]:
        """Returns the round as it was dealt and after each decision, from the journal alone."""
        assert entries.drawn is not None
        states = [dealt_again(self._rules(entries), entries.drawn)]
        for moved in entries.moves:
            stake_id = "" if moved.stake is None else moved.stake.stake_id
            states.append(states[-1].after(moved.seat, moved.move, stake_id))
        return states


def _views(states: list[DealtRound[Any, Any]], position: int) -> list[bytes]:
    """Returns what may be shown after so many decisions: after the last one, street by street where cards follow."""
    state = states[position]
    views = [state.view()]
    if state.turn is None and isinstance(state, RunsOut):
        views = [street.view for street in state.run_out(states[position - 1].cards_shown if position else 0)] or views
    return [view.SerializeToString() for view in views]

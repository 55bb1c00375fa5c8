"""Looks, whenever the runtime says or acknowledges something, whether that is durable at this moment (G5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2
from services.kit.table.events import messages as appearance
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import RoundState
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.wallet import InMemoryWallet


class DurabilityChecker:
    """Notes every breach, in the order in which they were seen."""

    def __init__(self, now: Callable[[], datetime], wallet: InMemoryWallet, journal: InMemoryJournal) -> None:
        self.violations: list[str] = []
        self.closes_at: dict[str, datetime] = {}
        """Of each round that was opened to many: the moment that was announced."""
        self.outcomes: dict[str, bytes] = {}
        """Every outcome that anybody was told."""
        self._now = now
        self._ledger = wallet
        self._journal = journal

    def report(self, guarantee: str, what: str) -> None:
        self.violations.append(f"{guarantee}: {what}")

    # -- what players are told ---------------------------------------------------------------------------------------

    def check_answer(self, answer: object) -> None:
        """A process is about to send an answer."""
        if isinstance(answer, roulette_pb2.RepeatBetsResponse | roulette_pb2.PlaceBetsResponse):
            self._stake_is_there(answer.stake)
        elif isinstance(answer, roulette_pb2.SpinResponse):
            self._round_has_ended(answer)

    def _stake_is_there(self, said: roulette_pb2.PlacedStake) -> None:
        known = self._ledger.stakes.get(said.stake_id)
        if known is None:
            self.report("G5", f"{said.stake_id} was acknowledged and is not in the wallet")
        elif known.stake.placed_cents != said.amount_cents:
            self.report("G5", f"{said.stake_id} was acknowledged with another amount than the wallet has")
        if said.round_id not in self._journal.rounds:
            self.report("G5", f"{said.stake_id} was acknowledged for a round that was never opened")

    def _round_has_ended(self, said: roulette_pb2.SpinResponse) -> None:
        written = self._journal.rounds.get(said.round_id)
        if written is None or written.ended is None:
            self.report("G5", f"the result of {said.round_id} was told before its end was journalled")
            return
        void = written.ended.ending is Ending.VOID
        if void == said.HasField("outcome"):
            self.report("G5", f"{said.round_id} was told to be other than it is journalled")
        self._is_ended(said.round_id, RoundState.VOID if void else RoundState.SETTLED)

    def _is_ended(self, round_id: str, state: RoundState) -> None:
        known = self._ledger.rounds.get(round_id)
        if known is None or known.round.state is not state:
            self.report("G5", f"{round_id} was told to be {state.name} and is not so in the wallet")

    # -- what everybody is told --------------------------------------------------------------------------------------

    def check_event(self, event: events_pb2.TableEvent) -> None:
        """An event is about to go to the bus."""
        kind = event.WhichOneof("event")
        if kind == "round_opened":
            self._opened(event.round_opened)
        elif kind == "bets_placed":
            self._placed(event.bets_placed)
        elif kind == "outcome_drawn":
            self._drawn(event.outcome_drawn)
        elif kind == "round_settled":
            self._settled(event.round_settled)
        elif kind == "round_void":
            self._ended(event.round_void.round_id, Ending.VOID)

    def _opened(self, said: events_pb2.RoundOpened) -> None:
        if not said.round.HasField("closes_at"):
            return
        if said.round.round_id not in self._journal.rounds:
            self.report("G5", f"{said.round.round_id} was said to be open before that was journalled")
        closes_at = said.round.closes_at.ToDatetime(self._now().tzinfo)
        self.closes_at.setdefault(said.round.round_id, closes_at)
        written = self._journal.rounds.get(said.round.round_id)
        if written is not None and written.opened.closes_at is not None:
            window = written.opened.closes_at - written.opened.opened_at
            if closes_at - self._now() < window:
                self.report("903-B/2015:6.1.4", f"the window of {said.round.round_id} is shorter than laid down")

    def _placed(self, said: events_pb2.BetsPlaced) -> None:
        stakes = self._ledger.stakes_of(said.round_id)
        if not any(known.stake.placed_cents == said.amount_cents for known in stakes):
            self.report("G5", f"a bet of {said.amount_cents} in {said.round_id} was shown and is not in the wallet")

    def _drawn(self, said: events_pb2.OutcomeDrawn) -> None:
        written = self._journal.rounds.get(said.round_id)
        if written is None or written.drawn is None:
            self.report("G5", f"the outcome of {said.round_id} was shown before it was journalled")
            return
        if written.drawn.outcome != said.outcome.value:
            self.report("G6", f"the outcome of {said.round_id} that was shown is not the journalled one")
        if appearance.draw_trigger_value(written.drawn.draw_trigger) != said.draw_trigger:
            self.report(
                "GLI-19 4.16", f"the journal says otherwise than was told on whose word {said.round_id} was drawn"
            )

    def _settled(self, said: events_pb2.RoundSettled) -> None:
        self._ended(said.round_id, Ending.SETTLED)
        written = self._journal.rounds.get(said.round_id)
        if written is None or written.ended is None:
            return
        journalled = sorted((share.staked_cents, share.payout_cents) for share in written.ended.player_results)
        if sorted((result.staked_cents, result.payout_cents) for result in said.results) != journalled:
            self.report("G10", f"the results of {said.round_id} that were shown are not the journalled ones")

    def _ended(self, round_id: str, ending: Ending) -> None:
        written = self._journal.rounds.get(round_id)
        if written is None or written.ended is None or written.ended.ending is not ending:
            self.report("G5", f"{round_id} was said to be {ending.name} before that was journalled")
        self._is_ended(round_id, RoundState.SETTLED if ending is Ending.SETTLED else RoundState.VOID)

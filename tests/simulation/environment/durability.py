"""Checks, whenever the runtime publishes or acknowledges something, that it is durable at that moment (G5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2
from services.kit.table.encoding import draw_trigger_value
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import RoundState, StakeState
from tests.simulation.decisions.durability import DurableDecisions
from tests.simulation.environment.catalogue import InMemoryCatalogue
from tests.simulation.environment.games import SimulatedGame, is_answer
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.environment.wallet import InMemoryWallet


class DurabilityChecker:
    """Records every violation, in the order of its discovery."""

    def __init__(
        self,
        now: Callable[[], datetime],
        wallet: InMemoryWallet,
        journal: InMemoryJournal,
        catalogue: InMemoryCatalogue,
        game: SimulatedGame,
    ) -> None:
        self.violations: list[str] = []
        self.closes_at: dict[str, datetime] = {}
        """The announced close of each round of a multi-player table."""
        self._now = now
        self._wallet = wallet
        self._journal = journal
        self._is_for_chips = game.is_for_chips
        self.decisions = DurableDecisions(wallet, journal, catalogue, game.seen_cards, self.report)

    def report(self, guarantee: str, what: str) -> None:
        self.violations.append(f"{guarantee}: {what}")

    # -- answers to players ------------------------------------------------------------------------------------------

    def check_answer(self, answer: object) -> None:
        """Checks an answer that a process is about to send."""
        answered = cast("Any", answer)
        if is_answer(answer, "PlaceBetsResponse", "RepeatBetsResponse"):
            self._check_stake(answered.stake)
        elif is_answer(answer, "SpinResponse"):
            self._check_spin(answered)
        else:
            self.decisions.check_answer(answer)

    def _check_stake(self, placed: roulette_pb2.PlacedStake) -> None:
        stored = self._wallet.stakes.get(placed.stake_id)
        if stored is None:
            self.report("G5", f"{placed.stake_id} was acknowledged and is not in the wallet")
        elif stored.stake.placed_cents != placed.amount_cents:
            self.report("G5", f"{placed.stake_id} was acknowledged with another amount than the wallet has")
        if placed.round_id not in self._journal.rounds:
            self.report("G5", f"{placed.stake_id} was acknowledged for a round that was never opened")

    def _check_spin(self, spun: roulette_pb2.SpinResponse) -> None:
        entries = self._journal.rounds.get(spun.round_id)
        if entries is None or entries.ended is None:
            self.report("G5", f"the result of {spun.round_id} was answered before its end was journalled")
            return
        void = entries.ended.ending is Ending.VOID
        if void == spun.HasField("outcome"):
            self.report("G5", f"{spun.round_id} was answered to be other than it is journalled")
        self._check_ended_in_wallet(spun.round_id, RoundState.VOID if void else RoundState.SETTLED)

    def _check_ended_in_wallet(self, round_id: str, state: RoundState) -> None:
        stored = self._wallet.rounds.get(round_id)
        if stored is None or stored.round.state is not state:
            self.report("G5", f"{round_id} was reported {state.name} and is not so in the wallet")

    # -- events ------------------------------------------------------------------------------------------------------

    def check_event(self, event: events_pb2.TableEvent) -> None:
        """Checks an event that a table is about to publish."""
        kind = event.WhichOneof("event")
        if kind == "round_opened":
            self._check_opened(event.round_opened)
        elif kind == "bets_placed":
            self._check_placed(event.bets_placed)
        elif kind == "bets_cancelled":
            self._check_cancelled(event.bets_cancelled)
        elif kind == "outcome_drawn":
            self._check_drawn(event.outcome_drawn)
        elif kind == "round_settled":
            self._check_settled(event.round_settled)
        elif kind == "round_voided":
            self._check_ended(event.round_voided.round_id, Ending.VOID)
        try:
            self.decisions.check_event(event)
        except Exception as failed:
            self.report("broken check", f"{event.WhichOneof('event')}: {failed!r}")
            raise

    def _check_opened(self, opened: events_pb2.RoundOpened) -> None:
        if not opened.round.HasField("closes_at"):
            return
        if opened.round.round_id not in self._journal.rounds:
            self.report("G5", f"{opened.round.round_id} was published as open before that was journalled")
        closes_at = opened.round.closes_at.ToDatetime(self._now().tzinfo)
        self.closes_at.setdefault(opened.round.round_id, closes_at)
        entries = self._journal.rounds.get(opened.round.round_id)
        if entries is not None and entries.opened.closes_at is not None:
            window = entries.opened.closes_at - entries.opened.opened_at
            if closes_at - self._now() < window:
                self.report("903-B/2015:6.1.4", f"the window of {opened.round.round_id} is shorter than configured")

    def _check_placed(self, placed: events_pb2.BetsPlaced) -> None:
        stored = self._wallet.stakes.get(placed.stake_id)
        if stored is None or stored.stake.placed_cents != placed.amount_cents:
            self.report(
                "G5", f"the stake {placed.stake_id} in {placed.round_id} was published and is not in the wallet"
            )

    def _check_cancelled(self, cancelled: events_pb2.BetsCancelled) -> None:
        stored = self._wallet.stakes.get(cancelled.stake_id)
        taken_back = [] if stored is None else [each.amount_cents for each, _ in stored.cancellations]
        whole = stored is not None and stored.stake.state is StakeState.CANCELLED
        if cancelled.amount_cents not in taken_back or (not cancelled.remaining_cents and not whole):
            self.report("G5", f"{cancelled.stake_id} was published as cancelled and is not so in the wallet")

    def _check_drawn(self, drawn: events_pb2.OutcomeDrawn) -> None:
        entries = self._journal.rounds.get(drawn.round_id)
        if entries is None or entries.drawn is None:
            self.report("G5", f"the outcome of {drawn.round_id} was published before it was journalled")
            return
        if entries.drawn.outcome not in {None, drawn.outcome.value}:
            self.report("G6", f"the published outcome of {drawn.round_id} is not the journalled one")
        if draw_trigger_value(entries.drawn.draw_trigger) != drawn.draw_trigger:
            self.report("GLI-19 4.16", f"the published draw trigger of {drawn.round_id} is not the journalled one")

    def _check_settled(self, settled: events_pb2.RoundSettled) -> None:
        self._check_ended(settled.round_id, Ending.SETTLED)
        entries = self._journal.rounds.get(settled.round_id)
        if entries is None or entries.ended is None:
            return
        journalled = sorted((result.staked_cents, result.payout_cents) for result in entries.ended.player_results)
        if sorted((result.staked_cents, result.payout_cents) for result in settled.results) != journalled:
            self.report("G10", f"the published results of {settled.round_id} are not the journalled ones")

    def _check_ended(self, round_id: str, ending: Ending) -> None:
        entries = self._journal.rounds.get(round_id)
        if entries is None or entries.ended is None or entries.ended.ending is not ending:
            self.report("G5", f"{round_id} was published as {ending.name} before that was journalled")
        if self._is_for_chips:
            return
        self._check_ended_in_wallet(round_id, RoundState.SETTLED if ending is Ending.SETTLED else RoundState.VOID)

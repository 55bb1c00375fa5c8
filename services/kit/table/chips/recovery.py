"""What a former owner left at a table of chips: a hand that goes on, or one that is ended now."""

from __future__ import annotations

import dataclasses
import logging
from datetime import datetime, timedelta
from typing import Generic

from feltro.table.v1 import events_pb2
from services.kit.table.banked.settlement import OWNER_LOST, Decided, Settlement
from services.kit.table.chips.rules import chip_rules
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events import messages
from services.kit.table.game import Bets, Outcome
from services.kit.table.hands.times import recovered_within
from services.kit.table.journal.entries import Drawn, UnfinishedRound
from services.kit.table.live.dependencies import EventPublisher, RuntimeDependencies
from services.kit.table.owned.recovery import HAND_INTERRUPTED, deal_again_readably, last_turn_began
from services.kit.table.owned.unreadable_rounds import UnreadableRound, UnreadableRounds
from services.kit.table.turns.resuming import ResumedRound

_log = logging.getLogger(__name__)


class HandRecovery(Generic[Bets, Outcome]):
    """Ends the unfinished hands of one tournament, or lets them go on."""

    def __init__(self, placement_id: str, dependencies: RuntimeDependencies[Bets, Outcome]) -> None:
        self._placement_id = placement_id
        self._catalogue = dependencies.catalogue
        self._clock = dependencies.clock
        self.unreadable = UnreadableRounds(dependencies.clock)

    async def recover(
        self, unfinished: UnfinishedRound, settlement: Settlement[Bets, Outcome], publisher: EventPublisher
    ) -> ResumedRound[Bets, Outcome] | None:
        """Returns a dealt hand that goes on with its very cards; None if it has ended now.

        A hand of which nothing was dealt is void: its director has it played. Raises `UnreadableRound` as long as the
        cards cannot be read and the hand may wait.
        """
        round_id, drawn = unfinished.opened.round_id, unfinished.drawn
        if drawn is None:
            await self._void(round_id, OWNER_LOST, None, settlement, publisher)
            return None
        version = unfinished.opened.configuration_version
        rules = await self._catalogue.rules_of_version(self._placement_id, version)
        try:
            resumed = deal_again_readably(unfinished, drawn, rules)
        except UnreadableRound:
            reason = self.unreadable.void_reason(round_id)
            if reason is None and self._is_interrupted_for_too_long(last_turn_began(unfinished, drawn), rules):
                reason = HAND_INTERRUPTED
            if reason is None:
                raise
            await self._void(round_id, reason, drawn, settlement, publisher)
            self.unreadable.forget(round_id)
            return None
        self.unreadable.forget(round_id)
        if resumed.dealt.turn is None:
            await self._settle(resumed, settlement, publisher)
            return None
        if self._is_interrupted_for_too_long(resumed.shown_at, rules):
            await self._void(round_id, HAND_INTERRUPTED, drawn, settlement, publisher)
            return None
        _log.info("a hand of a former owner goes on", extra={"round_id": round_id})
        return resumed

    def _is_interrupted_for_too_long(self, turn_began_at: datetime, rules: VersionedRules[Bets, Outcome]) -> bool:
        decision = timedelta(milliseconds=rules.configuration.decision_ms)
        return self._clock.now() - turn_began_at > recovered_within(decision, chip_rules(rules).times)

    async def _settle(
        self, resumed: ResumedRound[Bets, Outcome], settlement: Settlement[Bets, Outcome], publisher: EventPublisher
    ) -> None:
        """Journals the end of a hand that was decided."""
        outcome = resumed.rules.rules.outcome_message(resumed.dealt.outcome)
        decided = dataclasses.replace(resumed.drawn, outcome=outcome.SerializeToString(deterministic=True))
        result = await settlement.settle(decided, resumed.rules.rules, Decided(resumed.moves, resumed.paid))
        seats = {stake.player_id: stake.seat for stake in decided.stakes}
        now = self._clock.now()
        self._publish(
            publisher,
            messages.outcome_drawn(decided.round_id, outcome, decided.draw_trigger, now),
            messages.round_settled(decided.round_id, seats, result.entry, now),
        )

    async def _void(
        self,
        round_id: str,
        reason: str,
        drawn: Drawn | None,
        settlement: Settlement[Bets, Outcome],
        publisher: EventPublisher,
    ) -> None:
        """Journals a void hand: everybody has the chips that they brought (806/2015:72)."""
        await settlement.void(round_id, reason, () if drawn is None else drawn.stakes)
        self._publish(publisher, messages.round_voided(round_id, reason, self._clock.now()))
        _log.info("a hand of a former owner is void", extra={"round_id": round_id, "reason": reason})

    def _publish(self, publisher: EventPublisher, *events: events_pb2.TableEvent) -> None:
        for event in events:
            event.at.FromDatetime(self._clock.now())
        publisher.publish(*events)

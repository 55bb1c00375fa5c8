"""The shoe of one table where it goes on from round to round, until its cut card has come.

Cards that are still in it are as hidden as a hole card (G6, G7): what is told of a shoe is how many were taken. The
next owner finds it in the journal. It begins a new one where it is not certain which cards have been seen (G12).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from feltro.table.v1 import types_pb2
from services.kit.randomness.source import Randomness, draw
from services.kit.randomness.tape import Tape
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, DealtRound, Outcome, Rules, StakeOnTable
from services.kit.table.journal.entries import Drawn, Ending, LatestDeal, ShoePosition
from services.kit.table.turns.resuming import ResumedRound, decided_from

# Why a shoe does not go on, in the log.
ROUNDS_LOST = "the journal lacks rounds that were dealt later"
DECISIONS_LOST = "the journal lacks decisions of its last round"
ROUND_VOID = "its last round is void"
UNREADABLE = "its entropy cannot be read"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenShoe:
    """A shoe whose cut card has not come: the next round is dealt from it, if the rules stay the same."""

    configuration_version: int
    entropy: bytes
    position: ShoePosition
    """Where the next round begins."""


@dataclass(frozen=True, slots=True)
class Deal(Generic[Bets, Outcome]):
    """A round as it was dealt, and from what."""

    round: DealtRound[Bets, Outcome]
    entropy: bytes
    shoe: ShoePosition | None


class TableShoe(Generic[Bets, Outcome]):
    """Deals each round from the shoe that the round before has left, or from a new one."""

    def __init__(self, left: OpenShoe | None) -> None:
        """`left` is the shoe as the table's latest round has left it."""
        self._left = left

    def take_up(self, resumed: ResumedRound[Bets, Outcome]) -> None:
        """Notes the shoe of a former owner's round, which is not decided yet."""
        drawn = resumed.drawn
        if drawn.shoe is not None:
            self._left = OpenShoe(resumed.opened.configuration_version, drawn.entropy, drawn.shoe)

    def deal(
        self,
        randomness: Randomness,
        round_id: str,
        configuration_version: int,
        rules: Rules[Bets, Outcome],
        stakes: Sequence[StakeOnTable[Bets]],
    ) -> Deal[Bets, Outcome]:
        """Deals a round; raises `SourceFailed` if that needs entropy and there is none."""
        left = self._for(configuration_version)
        if left is not None:
            dealt = rules.deal(stakes, Tape(left.entropy), left.position.cards_taken)
            return Deal(dealt, left.entropy, left.position)
        dealt, entropy = draw(randomness, lambda tape: rules.deal(stakes, tape))
        return Deal(dealt, entropy, None if rules.cut_card is None else ShoePosition(round_id, 0))

    def leave(
        self,
        drawn: Drawn,
        configuration_version: int,
        rules: Rules[Bets, Outcome],
        dealt: DealtRound[Bets, Outcome],
    ) -> types_pb2.Shoe | None:
        """Notes how a decided round leaves its shoe, and returns the message that says so."""
        self._left = _left_by(drawn, configuration_version, rules, dealt)
        if drawn.shoe is None or rules.cut_card is None:
            return None
        return types_pb2.Shoe(cards_taken=drawn.cards_taken + dealt.cards_shown, cut_card=rules.cut_card)

    def message(self, configuration_version: int, rules: Rules[Bets, Outcome]) -> types_pb2.Shoe | None:
        """Builds the message about the shoe before a round under these rules; None if each has a shuffle of its own."""
        if rules.cut_card is None:
            return None
        left = self._for(configuration_version)
        return types_pb2.Shoe(cards_taken=0 if left is None else left.position.cards_taken, cut_card=rules.cut_card)

    def _for(self, configuration_version: int) -> OpenShoe | None:
        """Returns the shoe that a round goes on with; None if it begins a new one, as under other rules."""
        left = self._left
        return left if left is not None and left.configuration_version == configuration_version else None


def _left_by(
    drawn: Drawn, configuration_version: int, rules: Rules[Bets, Outcome], dealt: DealtRound[Bets, Outcome]
) -> OpenShoe | None:
    """Returns the shoe as a decided round leaves it; None if its cut card has come, or it was for that round alone."""
    if drawn.shoe is None or rules.cut_card is None:
        return None
    taken = drawn.cards_taken + dealt.cards_shown
    if taken >= rules.cut_card:
        return None
    return OpenShoe(configuration_version, drawn.entropy, ShoePosition(drawn.shoe.round_id, taken))


def shoe_on_record(
    latest: LatestDeal | None, configured: VersionedRules[Bets, Outcome], last_round_number: int
) -> OpenShoe | None:
    """Returns the shoe that a table's former owner has left, under the rules in force; None if a new one begins.

    The ledger may know rounds that the journal lost when it was restored from a backup, and `last_round_number` is the
    newest of both: their cards were seen, so that the shoe of an earlier round does not go on. Neither does that of a
    dealt round which became void because its cards could not be read.
    """
    if latest is None or latest.drawn.shoe is None:
        return None
    if latest.opened.configuration_version != configured.version.version:
        return None
    why_not = _why_not_certain(latest, last_round_number)
    if why_not:
        _log.warning("a shoe does not go on", extra={"round_id": latest.opened.round_id, "reason": why_not})
        return None
    rules = configured.rules
    try:
        dealt = decided_from(rules, latest.drawn, latest.moves)
        decided = dealt.turn is None and rules.outcome_message(dealt.outcome).SerializeToString() == latest.outcome
    except Exception as failed:  # noqa: BLE001 - whatever it was, the table is dealt from another shoe
        # The cause names no card (G7).
        extra = {"round_id": latest.opened.round_id, "reason": type(failed).__name__}
        _log.warning("a shoe does not go on", extra=extra)
        return None
    if not decided:
        _log.warning("a shoe does not go on", extra={"round_id": latest.opened.round_id, "reason": DECISIONS_LOST})
        return None
    return _left_by(latest.drawn, latest.opened.configuration_version, rules, dealt)


def _why_not_certain(latest: LatestDeal, last_round_number: int) -> str:
    """Returns why it is not certain which cards of a shoe were seen; empty if it is."""
    if latest.opened.number + latest.rounds_since != last_round_number:
        return ROUNDS_LOST
    if latest.ending is not Ending.SETTLED:
        return ROUND_VOID
    return UNREADABLE if latest.drawn.is_sealed or latest.drawn.is_lost else ""

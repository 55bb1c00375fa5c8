"""Reads the specific rules of a table for the second implementation of poker."""

from __future__ import annotations

from services.poker.specific_rules import CommissionMode, HeadsUpBlinds, Limit, NoFlopNoDrop, SpecificRules
from services.poker.variant import Variant
from tests.engine.poker.second_implementation.reference import Conditions

_PERSONAL_CARDS = {Variant.HOLDEM: 2, Variant.OMAHA: 4}
_LIMITS = {Limit.NO_LIMIT: "none", Limit.POT_LIMIT: "pot", Limit.HALF_POT: "half", Limit.FIXED_RAISES: "fixed"}
_NO_FLOP = {
    NoFlopNoDrop.ANY_PREFLOP_END: "any_preflop_end",
    NoFlopNoDrop.WALK_ONLY: "walk_only",
    NoFlopNoDrop.LITERAL: "literal",
}


def conditions(rules: SpecificRules) -> Conditions:
    """Returns what the specific rules say about a hand."""
    return Conditions(
        _PERSONAL_CARDS[rules.variant],
        rules.small_blind_cents,
        rules.big_blind_cents,
        _LIMITS[rules.limit],
        rules.max_raises_per_turn,
        rules.bet_units,
        rules.commission_bps if rules.commission_mode is CommissionMode.POT else 0,
        rules.commission_cap_cents,
        rules.commission_cap_per_hand,
        _NO_FLOP[rules.no_flop_no_drop],
        rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND,
    )

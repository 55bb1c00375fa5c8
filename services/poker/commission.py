"""The operator's commission: of pots or of caves (16-19), rounded so that it stays within the law's percentages."""

from __future__ import annotations

from typing import NamedTuple

from services.kit.table.refusals import rule_violated
from services.poker.specific_rules import SMALLEST_CHARGED_CENTS, CommissionMode, SpecificRules

WHOLE_BPS = 10_000
# The ends of what is lawful: at least 1 % of a pot (17.a), at least 5 % of a cave (17.b).
_LEAST_OF_POT, _LEAST_OF_CAVE = 100, 20


class CaveCharge(NamedTuple):
    """What buying chips costs: the account pays `debit_cents`, which are the chips and the commission."""

    debit_cents: int
    chips_cents: int
    commission_cents: int


def of_payment(rules: SpecificRules, gross_cents: int, charged_cents: int = 0) -> int:
    """Returns the commission on one payment out of pots, after what the same hand was charged before it.

    Rounded down to the cent: any rounding up would break the ceiling of 5 % on small pots (A-11).
    """
    if rules.commission_mode is CommissionMode.CAVE:
        return 0
    commission_cents = gross_cents * rules.commission_bps // WHOLE_BPS
    if rules.commission_cap_cents is None:
        return commission_cents
    cap_cents = rules.commission_cap_cents - (charged_cents if rules.commission_cap_per_hand else 0)
    # No cap takes the commission below 1 %, rounded up.
    return min(commission_cents, max(cap_cents, -(-gross_cents // _LEAST_OF_POT)))


def of_cave(rules: SpecificRules, amount_cents: int) -> CaveCharge:
    """Returns what a cave inicial or a *reposição* of this amount costs (17.b, A-13)."""
    if rules.commission_mode is CommissionMode.POT:
        return CaveCharge(amount_cents, amount_cents, 0)
    if amount_cents < SMALLEST_CHARGED_CENTS:
        rule = rules.variant.rule("17.b")
        sentence = f"{amount_cents} cents have no whole cent of commission between 5 % and 20 % ({rule})."
        raise rule_violated("amount_cents", SMALLEST_CHARGED_CENTS, rule, sentence)
    floored_cents = amount_cents * rules.commission_bps // WHOLE_BPS
    commission_cents = max(floored_cents, -(-amount_cents // _LEAST_OF_CAVE))
    if rules.commission_on_top:
        return CaveCharge(amount_cents + commission_cents, amount_cents, commission_cents)
    return CaveCharge(amount_cents, amount_cents - commission_cents, commission_cents)

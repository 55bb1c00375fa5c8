"""The expected return of the game, exactly: section 6 of the rulebook, for the default rules and each option.

The rulebook's figures are of simulations, printed with two digits and a standard error of 0.0035. These are computed,
so that each has to lie within rounding and two standard errors of the printed one. A shoe takes about 12 seconds, most
of it for the bank's hands, which all lines of the shoe share.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import pytest

from services.blackjack.engine import SpecificRules
from tests.engine.blackjack.expected_return import expected_net
from tests.engine.blackjack.tables import DEFAULT

ROUNDING, STANDARD_ERROR = 0.005, 0.0035

NO_SPECIALS = dataclasses.replace(DEFAULT, special_prizes=False)


class Line(NamedTuple):
    """One line of the rulebook's table: rules, what is assumed beside them, and the bank's edge in percent."""

    rules: SpecificRules
    printed: dict[int, float]
    may_give_up: bool = True
    may_split_aces_again: bool = True


LINES = {
    "default": Line(DEFAULT, {4: 0.17, 6: 0.21, 8: 0.22}),
    "no special prizes (16.e)": Line(NO_SPECIALS, {4: 0.26, 6: 0.30, 8: 0.32}),
    "no giving up, for comparison only": Line(DEFAULT, {6: 0.45, 8: 0.47}, may_give_up=False),
    "one split (16.c)": Line(dataclasses.replace(DEFAULT, splits_limit=1), {6: 0.32}),
    "aces are not split again": Line(DEFAULT, {6: 0.27}, may_split_aces_again=False),
    "any score may be doubled (16.a)": Line(dataclasses.replace(DEFAULT, double_any_score=True), {6: 0.11}),
    "neither special prizes nor giving up": Line(NO_SPECIALS, {6: 0.56}, may_give_up=False),
}


@pytest.mark.slow
@pytest.mark.rule("805/2015:15", "805/2015:16.a", "805/2015:16.c", "805/2015:16.e", "805/2015:25")
@pytest.mark.parametrize("packs", [4, 6, 8])
def test_the_bank_keeps_what_the_rulebook_says(packs: int) -> None:
    for name, line in LINES.items():
        if packs in line.printed:
            rules = dataclasses.replace(line.rules, packs=packs)
            net = expected_net(rules, may_give_up=line.may_give_up, may_split_aces_again=line.may_split_aces_again)
            assert abs(-100 * net - line.printed[packs]) <= ROUNDING + 2 * STANDARD_ERROR, name

"""The checks of bets that lean on each other find what is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.baccarat.engine import Table
from services.baccarat.game import BaccaratRules
from services.kit.table.game import Totals
from tests.simulation.leaning_bets.game import BACCARAT
from tests.simulation.leaning_bets.test_faults_at_every_step import watched
from tests.simulation.test_faults_at_every_step import run_script

_FITS = Table.fits


def _judge_all_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BaccaratRules, "bets_lean_on_each_other", False)


def _forget_what_is_under_way(patch: pytest.MonkeyPatch) -> None:
    def fits(table: Table, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        _FITS(table, counted, {}, {}, change)

    patch.setattr(Table, "fits", fits)


def _count_on_what_is_under_way(patch: pytest.MonkeyPatch) -> None:
    def fits(table: Table, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        sums = {name: counted.get(name, 0) + coming.get(name, 0) for name in {*counted, *coming}}
        _FITS(table, sums, {}, {}, change)

    patch.setattr(Table, "fits", fits)


@pytest.mark.parametrize(
    ("name", "fault", "rule"),
    [
        ("individual", _judge_all_at_once, "812/2015:13"),
        ("macau", _forget_what_is_under_way, "812/2015:43.a"),
        ("macau", _count_on_what_is_under_way, "812/2015:43.a"),
    ],
)
def test_what_is_broken_is_found(
    name: str, fault: Callable[[pytest.MonkeyPatch], None], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: list[list[str]] = []
    run_script(watched(name, broken), step=None, game=BACCARAT)
    assert broken == [[]]
    fault(monkeypatch)
    run_script(watched(name, broken), step=None, game=BACCARAT)
    assert any(rule in each for each in broken[-1])

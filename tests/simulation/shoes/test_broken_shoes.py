"""Breaks each promise about shoes on purpose: the scenario that makes it has to fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from services.kit.table.game import DealtRound, Rules
from services.kit.table.journal.entries import Drawn
from services.kit.table.journal.history import RoundRecord
from services.kit.table.live import shoe
from services.kit.table.live.shoe import OpenShoe, TableShoe
from services.kit.table.owned import owned_tables
from tests.simulation.environment.journal import InMemoryJournal
from tests.simulation.shoes import test_hidden_cards, test_shoes

BreakPromise = Callable[[pytest.MonkeyPatch], None]


def _shuffles_each_time(patch: pytest.MonkeyPatch) -> None:
    """A table forgets its shoe after each round."""
    patch.setattr(TableShoe, "_for", lambda *_: None)


def _forgets_the_shoe(patch: pytest.MonkeyPatch) -> None:
    """The next owner begins another shoe."""
    patch.setattr(owned_tables, "shoe_on_record", lambda *_: None)


def _forgets_where_it_took_up(patch: pytest.MonkeyPatch) -> None:
    """The owner that goes on with a hand tells of a new shoe."""
    patch.setattr(TableShoe, "take_up", lambda *_: None)


def _deals_the_same_cards_again(patch: pytest.MonkeyPatch) -> None:
    """Each round of a shoe begins with its first card."""
    left_by = shoe._left_by

    def from_the_beginning(
        drawn: Drawn, version: int, rules: Rules[Any, Any], dealt: DealtRound[Any, Any]
    ) -> OpenShoe | None:
        left = left_by(drawn, version, rules, dealt)
        return None if left is None else dataclasses.replace(left, position=left.position._replace(cards_taken=0))

    patch.setattr(shoe, "_left_by", from_the_beginning)


def _passes_the_cut_card(patch: pytest.MonkeyPatch) -> None:
    """A shoe goes on although its cut card has come."""

    def without_end(drawn: Drawn, version: int, _: Rules[Any, Any], dealt: DealtRound[Any, Any]) -> OpenShoe | None:
        if drawn.shoe is None:
            return None
        position = drawn.shoe._replace(cards_taken=drawn.cards_taken + dealt.cards_shown)
        return OpenShoe(version, drawn.entropy, position)

    patch.setattr(shoe, "_left_by", without_end)


def _keeps_the_shoe_under_other_rules(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TableShoe, "_for", lambda self, _: self._left)


def _seals_nothing(patch: pytest.MonkeyPatch) -> None:
    """The journal holds the order of a shoe in the open."""
    write = InMemoryJournal.write_drawn

    def plain(self: InMemoryJournal, epoch: int, entry: Drawn) -> None:
        write(self, epoch, dataclasses.replace(entry, hides_cards=False))

    patch.setattr(InMemoryJournal, "write_drawn", plain)


def _ignores_lost_rounds(patch: pytest.MonkeyPatch) -> None:
    """What a restored journal has lost is not noticed."""
    patch.setattr(shoe, "_why_not_certain", lambda *_: "")


def _tells_the_entropy(patch: pytest.MonkeyPatch) -> None:
    """A replay tells the entropy as soon as the round has ended."""
    patch.setattr(RoundRecord, "seals_entropy", RoundRecord.hides_cards)


def _never_tells_the_entropy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RoundRecord, "seals_entropy", property(lambda _: True))


# The scenario that has to fail, for each break.
FOUND_BY: dict[BreakPromise, Callable[[], None]] = {
    _shuffles_each_time: test_shoes.test_a_shoe_goes_on_until_its_cut_card_has_come,
    _forgets_the_shoe: lambda: test_shoes.test_g6_the_next_owner_goes_on_with_the_very_shoe(killed=True),
    _forgets_where_it_took_up: lambda: test_shoes.test_g6_the_next_owner_goes_on_with_the_very_shoe(killed=False),
    _deals_the_same_cards_again: test_shoes.test_a_shoe_goes_on_until_its_cut_card_has_come,
    _passes_the_cut_card: test_shoes.test_a_shoe_goes_on_until_its_cut_card_has_come,
    _keeps_the_shoe_under_other_rules: test_shoes.test_other_rules_begin_another_shoe,
    _seals_nothing: test_shoes.test_a_table_for_many_goes_on_with_its_shoe,
    _ignores_lost_rounds: test_shoes.test_g12_cards_that_a_restored_journal_has_lost_do_not_come_again,
    _tells_the_entropy: test_hidden_cards.test_g7_worlds_that_differ_in_the_cards_of_a_shoe_say_the_same,
    _never_tells_the_entropy: (
        test_hidden_cards.test_g10_the_entropy_of_a_shoe_is_told_when_the_table_is_dealt_from_another_one
    ),
}


@pytest.mark.parametrize("mutate", FOUND_BY, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_broken_promise_is_found(mutate: BreakPromise, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        FOUND_BY[mutate]()

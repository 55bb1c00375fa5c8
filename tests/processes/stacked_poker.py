"""The real poker service with stacked decks: where a test has written one for a hand, its entropy deals that one.

Everything else is the service itself. The journal has the entropy, so a replay deals the same cards (G10).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from services.kit.cards.card import Card
from services.kit.cards.shoe import packs
from services.kit.randomness.source import Randomness
from services.kit.table.game import Rules, StakeOnTable
from services.kit.table.live.shoe import Deal, TableShoe
from services.poker.__main__ import main
from tests.processes.poker import PokerProcess

_FOLDER = "STACKED_DECKS"
# As many bytes as two questions for entropy give, which is what a deck takes.
_ENTROPY_BYTES = 64


@dataclass
class StackedPokerProcess(PokerProcess):
    """One `python -m tests.processes.stacked_poker`, a replica."""

    @property
    def module(self) -> str:
        return "tests.processes.stacked_poker"

    @property
    def decks(self) -> Path:
        folder = self.home / "decks"
        folder.mkdir(exist_ok=True)
        return folder

    def variables(self) -> dict[str, str]:
        return {**super().variables(), _FOLDER: str(self.decks)}

    def stack(self, round_id: str, deck: Sequence[Card]) -> None:
        """Stacks the deck of a hand that is not dealt yet."""
        (self.decks / round_id).write_bytes(entropy_of(deck))


def entropy_of(deck: Sequence[Card]) -> bytes:
    """Returns entropy from which `Tape.shuffled` makes this deck: each exchange that it makes, by its place."""
    order = list(packs(1))
    assert sorted(map(order.index, deck)) == list(range(len(order))), "a deck has every card once"
    places = []
    for last in range(len(order) - 1, 0, -1):
        chosen = order.index(deck[last])
        order[last], order[chosen] = order[chosen], order[last]
        places.append(chosen)
    return bytes(places).ljust(_ENTROPY_BYTES, b"\0")


class _Stacked(Randomness):
    """Gives the entropy that a test has written, and fresh entropy behind it."""

    def __init__(self, written: bytes, source: Randomness) -> None:
        self._written = written
        self._source = source

    def take(self, count: int) -> bytes:
        given, self._written = self._written[:count], self._written[count:]
        return given or self._source.take(count)


_deal = TableShoe.deal


def _deal_stacked(
    shoe: TableShoe[Any, Any],
    randomness: Randomness,
    round_id: str,
    configuration_version: int,
    rules: Rules[Any, Any],
    stakes: Sequence[StakeOnTable[Any]],
) -> Deal[Any, Any]:
    deck = Path(os.environ[_FOLDER], round_id)
    if deck.exists():
        randomness = _Stacked(deck.read_bytes(), randomness)
    return _deal(shoe, randomness, round_id, configuration_version, rules, stakes)


if __name__ == "__main__":
    with mock.patch.object(TableShoe, "deal", _deal_stacked):
        sys.exit(main())

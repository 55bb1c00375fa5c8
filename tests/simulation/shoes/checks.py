"""Checks that each round of a run was dealt from the shoe that the round before has left, or lawfully from another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from services.kit.table.journal.entries import Ending, ShoePosition
from tests.simulation.environment.games import dealt_again

if TYPE_CHECKING:
    from tests.simulation.environment.journal import RoundEntries
    from tests.simulation.environment.world import World


def violations(world: World) -> Iterator[str]:
    """Returns the violations, each beginning with its guarantee."""
    by_table: dict[str, list[RoundEntries]] = {}
    for entries in world.journal.rounds.values():
        by_table.setdefault(entries.opened.table_id, []).append(entries)
    for rounds in by_table.values():
        before: RoundEntries | None = None
        for entries in sorted(rounds, key=lambda each: each.opened.number):
            drawn = entries.drawn
            if drawn is None or drawn.is_lost:
                continue
            yield from _of_round(world, before, entries)
            before = entries


def _of_round(world: World, before: RoundEntries | None, entries: RoundEntries) -> Iterator[str]:
    drawn, opened = entries.drawn, entries.opened
    assert drawn is not None
    rules = world.catalogue.rules_in_force(opened.placement_id, opened.configuration_version).rules
    if rules.cut_card is None:
        if drawn.shoe is not None:
            yield f"G6: {drawn.round_id} is dealt from a shoe of several rounds, and is to have one of its own"
        return
    if not drawn.hides_cards:
        yield f"G7: the journal does not seal the shoe of {drawn.round_id}"
    if before is not None and _is_lost_between(world, before, entries):
        # A new shoe, or one that the journal knows.
        return
    left = None if before is None else _left(world, before, opened.configuration_version)
    if drawn.shoe != (left or ShoePosition(drawn.round_id, 0)):
        yield f"G6: {drawn.round_id} is dealt from {drawn.shoe}, and the round before has left {left}"
    if left is not None and before is not None and before.drawn is not None and before.drawn.entropy != drawn.entropy:
        yield f"G6: {drawn.round_id} is dealt from another order than its shoe has"


def _is_lost_between(world: World, before: RoundEntries, entries: RoundEntries) -> bool:
    """Whether the journal has lost rounds, or a part of the round before, when it was restored from a backup."""
    known = {
        each.opened.number for each in world.journal.rounds.values() if each.opened.table_id == entries.opened.table_id
    }
    between = range(before.opened.number, entries.opened.number)
    return before.opened.round_id in world.rounds_lost or not known.issuperset(between)


def _left(world: World, before: RoundEntries, version: int) -> ShoePosition | None:
    """Returns where a round has left its shoe; None if a new one begins."""
    drawn, opened, ended = before.drawn, before.opened, before.ended
    if drawn is None or drawn.shoe is None or opened.configuration_version != version:
        return None
    if ended is None or ended.ending is not Ending.SETTLED:
        return None
    rules = world.catalogue.rules_in_force(opened.placement_id, version).rules
    taken = drawn.shoe.cards_taken + dealt_again(rules, drawn, before.moves).cards_shown
    assert rules.cut_card is not None
    return ShoePosition(drawn.shoe.round_id, taken) if taken < rules.cut_card else None

"""Checks the hands of a finished run that was played for chips: none is lost or made, and no money has moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from feltro.poker.v1 import poker_pb2
from services.kit.table.journal.entries import Ending

if TYPE_CHECKING:
    from tests.simulation.environment.journal import RoundEntries
    from tests.simulation.environment.world import World


def hand_agrees(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """A hand moves chips among those who were dealt in, and nothing in the ledger."""
    assert entries.ended is not None
    if round_id in world.wallet.rounds or any(each.movement.round_id == round_id for each in world.wallet.movements):
        yield f"G1: {round_id} is played for chips, and the ledger knows it"
    money = [stake.amount_cents for stake in entries.stakes] + [cents for _, cents in entries.ended.payouts]
    if any(money):
        yield f"G1: {round_id} is played for chips, and {money} cents are on record"
    if entries.drawn is None or entries.ended.ending is Ending.VOID:
        return
    brought = {stake.seat: poker_pb2.SeatInHand.FromString(stake.bets) for stake in entries.drawn.stakes}
    outcome = poker_pb2.Outcome.FromString(entries.outcome or b"")
    left = {each.seat: each.stack_cents for each in outcome.view.seats}
    if left.keys() != brought.keys() or sum(left.values()) != sum(each.cave_cents for each in brought.values()):
        yield f"810/2015: {round_id} has left {left} of {brought}"
    if outcome.commission_cents:
        yield f"810/2015: {round_id} has taken a commission of {outcome.commission_cents}"

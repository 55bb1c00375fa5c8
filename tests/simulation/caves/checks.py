"""Checks the hands of a finished run: what each has moved among the caves, and who has seen which cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import events_pb2
from services.kit.table.journal.entries import Ending
from services.poker.game import PokerRules
from services.wallet.model.state import AccountKind
from tests.engine.poker.second_implementation import reference
from tests.engine.poker.second_implementation.conditions import conditions
from tests.named_cards import unpacked
from tests.simulation.environment.games import dealt_again

if TYPE_CHECKING:
    from tests.simulation.environment.journal import RoundEntries
    from tests.simulation.environment.world import World


def hand_agrees(world: World, round_id: str, entries: RoundEntries) -> Iterator[str]:
    """A hand has moved in the ledger what the journal says, and the commission; a void hand has moved nothing."""
    assert entries.ended is not None
    wallet, moved = world.wallet, dict[str, int]()
    commission_cents = 0
    for stored in wallet.movements:
        if stored.movement.round_id != round_id:
            continue
        account, cents = stored.movement.account, sum(amount for _, _, amount in stored.entries)
        if account.kind is AccountKind.CAVE:
            owner = wallet.book.accounts[account.owner_no or 0].player_id or ""
            moved[owner] = moved.get(owner, 0) + cents
        elif account.kind is AccountKind.BANK:
            commission_cents += cents
        else:
            yield f"G1: {round_id} has moved money of {account.account_id}"
    results = {each.player_id: each.payout_cents - each.staked_cents for each in entries.ended.player_results}
    if {player_id: cents for player_id, cents in results.items() if cents} != {
        player_id: cents for player_id, cents in moved.items() if cents
    }:
        yield f"G10: {round_id} has moved {moved} among the caves, and the journal says {results}"
    if sum(results.values()) + commission_cents:
        yield f"G1: {round_id} has made or lost money: {results}, commission {commission_cents}"
    brought = {} if entries.drawn is None else {stake.stake_id: stake.amount_cents for stake in entries.drawn.stakes}
    paid = dict(entries.ended.payouts)
    if entries.ended.ending is Ending.VOID and (paid != brought or moved):
        yield f"806/2015:72: {round_id} is void, and has left {paid} of {brought}"
    if entries.ended.ending is Ending.SETTLED and round_id not in world.rounds_lost:
        yield from _paid_by_the_regulation(world, round_id, entries, commission_cents)


def _paid_by_the_regulation(world: World, round_id: str, entries: RoundEntries, commission_cents: int) -> Iterator[str]:
    """A second implementation pays the hand's journal as the ledger did."""
    assert entries.drawn is not None
    assert entries.ended is not None
    rules = world.catalogue.rules_in_force(entries.opened.placement_id, entries.opened.configuration_version).rules
    assert isinstance(rules, PokerRules)
    under, stakes = conditions(rules.table.specific_rules), entries.drawn.stakes
    moves = [(moved.seat, moved.move) for moved in entries.moves]
    paid = reference.paid(under, [stake.bets for stake in stakes], entries.drawn.entropy, moves)
    caves = {stake.seat: dict(entries.ended.payouts).get(stake.stake_id, 0) for stake in stakes}
    if (paid.caves, paid.commission) != (caves, commission_cents):
        yield f"G10: {round_id} has left {caves} and taken {commission_cents}, and the regulation says {paid}"


def own_view(world: World, player_id: str, changed: events_pb2.OwnViewChanged) -> Iterator[str]:
    """A player was told their own cards and nobody else's."""
    entries = world.journal.rounds[changed.round_id]
    assert entries.drawn is not None
    rules = world.catalogue.rules_in_force(entries.opened.placement_id, entries.opened.configuration_version).rules
    view, dealt = unpacked(changed.own_view), dealt_again(rules, entries.drawn)
    seats = [stake.seat for stake in entries.drawn.stakes if stake.player_id == player_id]
    own: Any = dealt.own_view(seats[0], 0) if seats else None
    if not isinstance(view, poker_pb2.OwnView) or own is None or list(own.cards) != list(view.cards):
        yield f"G7: {player_id} was told other cards than their own in {changed.round_id}"

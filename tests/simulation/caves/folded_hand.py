"""A hand in which one player folds, and all that it tells the others (G7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.poker import dealt_hand
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.scenario import Scenario
from tests.simulation.told import told, told_answers

PLAYERS = 3
# Two personal cards for each, and the board: the rest of the pack is never dealt.
DEALT = 2 * PLAYERS + 5
DECK = (*PACK[::5], *(card for at, card in enumerate(PACK) if at % 5))


@contextmanager
def stacked_deck(deck: Sequence[Card]) -> Iterator[None]:
    """Has every hand dealt from this deck."""

    def stacked(packs: int, tape: Tape) -> tuple[Card, ...]:
        """Takes as much entropy as a shuffle."""
        shuffled_shoe(packs, tape)
        return tuple(deck)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealt_hand, "shuffled_shoe", stacked)
        yield


def with_other_cards(position: int, first: int, second: int) -> list[Card]:
    """Returns the deck with the personal cards of one player exchanged for those at two other positions."""
    own = (position, position + PLAYERS)
    deck = list(DECK)
    deck[own[0]], deck[first] = deck[first], deck[own[0]]
    if second != own[0]:
        deck[own[1]], deck[second] = deck[second], deck[own[1]]
    return deck


def with_other_undealt_cards() -> list[Card]:
    return [*DECK[:DEALT], *reversed(DECK[DEALT:])]


def with_another_board() -> list[Card]:
    """Returns the deck with another last card of the board."""
    return [*DECK[: DEALT - 1], *reversed(DECK[DEALT - 1 :])]


def position_of(scenario: Scenario, table_id: str, seat: int) -> int:
    """Returns the place of a seat in the order in which the first hand of a table was dealt."""
    dealt = poker_pb2.View()
    scenario.published("round_dealt", table_id)[0].view.Unpack(dealt)
    return [each.seat for each in dealt.seats].index(seat)


async def play_and_fold(
    scenario: Scenario, players: Sequence[PokerPlayer], folder: PokerPlayer, hand_id: str, table_id: str
) -> list[bytes]:
    """Plays a hand with a takeover after which one player folds; returns everything that the other players can see."""
    said = await _tables(players, folder)
    turn = await folder.wait_for_turn()
    # Impossible actions of all three are refused with the bounds of the one in turn.
    for player in players:
        await player.prepare_act(turn, RAISE, 101)[1]()
        await player.prepare_act(turn, CHECK)[1]()
    await scenario.kill_owner()
    await in_turn(folder)
    said += await _tables(players, folder)
    await folder.act(FOLD)
    while scenario.round_entries(hand_id).ended is None:
        for player in players:
            own = await player.own_turn()
            if own is not None and own.round_id == hand_id:
                await player.prepare_act(own, CALL if own.legal.to_call_cents else CHECK)[1]()
        said += await _tables(players, folder)
    said += told_answers(scenario.world)
    said += map(told, scenario.events(table_id))
    views = scenario.world.own_views.by_player
    said += [told(view) for player in players if player is not folder for view in views.get(player.player_id, ())]
    return said


async def _tables(players: Sequence[PokerPlayer], folder: PokerPlayer) -> list[bytes]:
    """Returns what players see of the table, less what the player who folds may see alone."""
    seen = []
    for player in players:
        table = await player.get_table()
        assert isinstance(table, table_pb2.GetTableResponse)
        if player is folder:
            table.own_seat.ClearField("own_view")
        seen.append(told(table))
    return seen

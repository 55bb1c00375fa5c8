"""Hole cards of a tournament are for their owner alone (G7): worlds that differ in unseen cards say the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from google.protobuf.message import Message

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.refusal import Refused
from services.poker import dealt_hand
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.chips.director import Course
from tests.simulation.chips.scenario import FIRST_TABLE, ChipScenario
from tests.simulation.chips.test_hands import FIRST, THREE

# Two personal cards for each of three, and the board: the rest of the pack is never dealt.
DEALT = 2 * 3 + 5


def _told(message: object) -> bytes:
    if isinstance(message, Refused):
        return f"{message.reason} {message.sentence} {sorted(message.facts.items())}".encode()
    assert isinstance(message, Message)
    return message.SerializeToString(deterministic=True)


async def _tables(players: Sequence[PokerPlayer], folder: PokerPlayer) -> list[bytes]:
    """Returns what players see of the table, less what the player who folds may see alone."""
    seen = []
    for player in players:
        table = await player.get_table()
        assert isinstance(table, table_pb2.GetTableResponse)
        if player is folder:
            table.own_seat.ClearField("own_view")
        seen.append(_told(table))
    return seen


def _run(deck: Sequence[Card]) -> tuple[list[bytes], int]:
    """Plays a hand from a deck in which one player folds; returns all that was said, and the player's position."""

    async def script(scenario: ChipScenario) -> tuple[list[bytes], int]:
        players = await scenario.start()
        folder = await in_turn(*players)
        said = await _tables(players, folder)
        dealt = poker_pb2.View()
        scenario.published("round_dealt", FIRST_TABLE)[0].view.Unpack(dealt)
        turn = await folder.wait_for_turn()
        for player in players:
            await player.prepare_act(turn, RAISE, 101)[1]()
            await player.prepare_act(turn, CHECK)[1]()
        await scenario.kill_owner()
        await in_turn(folder)
        said += await _tables(players, folder)
        await folder.act(FOLD)
        while scenario.round_entries(FIRST).ended is None:
            for player in players:
                own = await player.own_turn()
                if own is not None and own.round_id == FIRST:
                    await player.prepare_act(own, CALL if own.legal.to_call_cents else CHECK)[1]()
            said += await _tables(players, folder)
        for command in scenario.world.commands:
            said += [_told(answer) for answer in command.answers if isinstance(answer, Refused | Message)]
        said += [event.SerializeToString(deterministic=True) for event in scenario.events(FIRST_TABLE)]
        said += [
            view.SerializeToString(deterministic=True)
            for player in players
            for view in scenario.world.own_views.by_player.get(player.player_id, ())
            if player is not folder
        ]
        # What the director learns, and with it everybody who follows the tournament.
        await scenario.wait_until(lambda: scenario.director.reported)
        said += [repr(fact).encode() for fact in scenario.director.reported]
        said += [repr(scenario.round_entries(FIRST).ended).encode(), *map(str.encode, scenario.world.trace)]
        seat = {"ana": 1, "rui": 2, "eva": 4}[folder.player_id]
        return said, [each.seat for each in dealt.seats].index(seat)

    def stacked(packs: int, tape: Tape) -> tuple[Card, ...]:
        """Takes as much entropy as a shuffle."""
        shuffled_shoe(packs, tape)
        return tuple(deck)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealt_hand, "shuffled_shoe", stacked)
        return ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.rule("806/2015:34.a")
def test_g7_worlds_that_differ_in_folded_and_undealt_cards_say_the_same() -> None:
    deck = list(PACK[::5]) + [card for at, card in enumerate(PACK) if at % 5]
    said, position = _run(deck)
    assert len(said) > 60
    own = (position, position + 3)
    for first, second in ((DEALT, DEALT + 1), (own[1], own[0])):
        other = list(deck)
        other[own[0]], other[first] = other[first], other[own[0]]
        if second != own[0]:
            other[own[1]], other[second] = other[second], other[own[1]]
        again, _ = _run(other)
        assert again == said
    assert _run([*deck[:DEALT], *reversed(deck[DEALT:])])[0] == said
    # And the cards do matter: with another board the same players are told another end.
    assert _run([*deck[: DEALT - 1], *reversed(deck[DEALT - 1 :])])[0] != said

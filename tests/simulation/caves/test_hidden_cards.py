"""Personal cards are for their owner alone (G7): worlds that differ in unseen cards say the same, byte for byte."""

from __future__ import annotations

import logging
from collections import defaultdict
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
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.environment.process_output import counted, kept_log
from tests.simulation.scenario import TABLE_ID

FIRST = f"{TABLE_ID}.1"
PLAYERS = 3
# Two personal cards for each, and the board: the rest of the pack is never dealt.
DEALT = 2 * PLAYERS + 5


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

    async def script(scenario: PokerScenario) -> tuple[list[bytes], int]:
        # A simulated world is silent unless it is listened to.
        logging.disable(logging.NOTSET)
        players = await scenario.seat_players("ana", "rui", "eva")
        folder = await in_turn(*players)
        said = await _tables(players, folder)
        dealt = poker_pb2.View()
        scenario.published("round_dealt")[0].view.Unpack(dealt)
        turn = await folder.wait_for_turn()
        # Impossible actions of all three are refused with the bounds of the one in turn.
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
            for answer in command.answers:
                if isinstance(answer, Refused | Message):
                    said.append(_told(answer))
        said += [event.SerializeToString(deterministic=True) for event in scenario.events()]
        said += [
            view.SerializeToString(deterministic=True)
            for player in players
            for view in scenario.world.own_views.by_player.get(player.player_id, ())
            if player is not folder
        ]
        said += [scenario.world.wallet.rounds[FIRST].outcome, *map(str.encode, scenario.world.trace)]
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        said.append(repr(ended).encode())
        assert log.lines
        said += log.lines
        grown = {sample: count - before[sample] for sample, count in sorted(counted().items())}
        said += [f"{sample} {count}".encode() for sample, count in grown.items() if count]
        seat = {"ana": 1, "rui": 2, "eva": 3}[folder.player_id]
        return said, [each.seat for each in dealt.seats].index(seat)

    def stacked(packs: int, tape: Tape) -> tuple[Card, ...]:
        """Takes as much entropy as a shuffle."""
        shuffled_shoe(packs, tape)
        return tuple(deck)

    before = defaultdict(float, counted())
    with pytest.MonkeyPatch.context() as patch, kept_log() as log:
        patch.setattr(dealt_hand, "shuffled_shoe", stacked)
        return PokerScenario(min_players=PLAYERS).run(script)


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.rule("806/2015:2.d", "806/2015:11.d", "806/2015:34.a")
def test_g7_worlds_that_differ_in_folded_and_undealt_cards_say_the_same() -> None:
    deck = list(PACK[::5]) + [card for at, card in enumerate(PACK) if at % 5]
    said, position = _run(deck)
    assert len(said) > 60
    # The folded cards are others, which nobody else has, and so is what is never dealt.
    own = (position, position + PLAYERS)
    for first, second in ((DEALT, DEALT + 1), (30, 51), (own[1], own[0])):
        other = list(deck)
        other[own[0]], other[first] = other[first], other[own[0]]
        if second != own[0]:
            other[own[1]], other[second] = other[second], other[own[1]]
        again, _ = _run(other)
        assert again == said
    undealt = [*deck[:DEALT], *reversed(deck[DEALT:])]
    assert _run(undealt)[0] == said
    # And the cards do matter: with another board the same players are told another end.
    assert _run([*deck[: DEALT - 1], *reversed(deck[DEALT - 1 :])])[0] != said

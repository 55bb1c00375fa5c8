"""Shoes that go on from round to round: what clients see of them, and when a replay shows their order."""

from __future__ import annotations

from uuid import uuid4

import pytest

from feltro.table.v1 import types_pb2
from tests.processes.wallet import DEMO, REAL
from tests.service.every_game.platform import FOR_MANY, INDIVIDUAL, PlayedGame, watch

# Reached in the fifth round at the latest, and no sooner than in the second.
CUT_CARD = 17


@pytest.mark.rule("805/2015:4.b", "805/2015:38", "812/2015:6.b", "812/2015:38")
@pytest.mark.guarantee("G6", "G7", "G10")
@pytest.mark.parametrize("mode", [REAL, DEMO], ids=["for money", "demonstration"])
async def test_a_shoe_goes_on_until_its_cut_card_has_come(banked_game: PlayedGame, mode: int) -> None:
    # Poker is dealt from a new pack in every hand (`806/2015:2.j`).
    game = banked_game
    table_id = await game.new_table(play=INDIVIDUAL, mode=mode, **game.with_cut_card(CUT_CARD))
    player = await (game.sit_down(table_id) if mode == REAL else game.enter(f"guest-{uuid4()}", table_id))
    watcher = await watch(game, player.table_id)
    played, taken = list[str](), 0
    while not played or taken:
        round_id = await game.open_round(player)
        opened = (await watcher.wait_for("round_opened", round_id)).round_opened
        assert opened.shoe == types_pb2.Shoe(cards_taken=taken, cut_card=CUT_CARD)
        await game.bet(player, round_id)
        await game.draw(player, round_id)
        played.append(round_id)
        left = (await watcher.wait_for("outcome_drawn", round_id)).outcome_drawn.shoe
        assert left.cut_card == CUT_CARD
        assert taken + 4 <= left.cards_taken
        # The round in which the cut card comes is the last.
        taken = left.cards_taken if left.cards_taken < CUT_CARD else 0
        await game.open_round(player)
        shown = (await game.client.table(player.player_id, player.table_id)).table
        assert shown.shoe == types_pb2.Shoe(cards_taken=taken, cut_card=CUT_CARD)
    assert 2 <= len(played) <= 5
    # Computed with the sealed order, which is not told before the table is dealt from another shoe.
    for each in played:
        replayed = await game.client.replay(each)
        assert (list(replayed.differences), replayed.entropy) == ([], b"")
        assert replayed.HasField("computed_outcome")

    first_of_next = await game.open_round(player)
    await game.bet(player, first_of_next)
    await game.draw(player, first_of_next)

    orders = {(await game.client.replay(each)).entropy for each in played}
    assert len(orders) == 1
    assert orders != {b""}
    assert (await game.client.replay(first_of_next)).entropy == b""


@pytest.mark.guarantee("G6")
async def test_new_specific_rules_begin_another_shoe_at_a_table_for_many(banked_game: PlayedGame) -> None:
    # As above.
    game = banked_game
    table_id = await game.new_table(play=FOR_MANY, **game.with_cut_card(100))
    player = await game.sit_down(table_id)
    watcher = await watch(game, table_id)

    async def play() -> int:
        """Plays a round; returns how many cards were taken before."""
        round_id = await game.open_round(player)
        await game.bet(player, round_id)
        await game.end_betting([player], round_id)
        return (await watcher.wait_for("round_opened", round_id)).round_opened.shoe.cards_taken

    assert await play() == 0
    assert await play() >= 4
    # In force from the next round on: one is open, under the old rules.
    await game.open_round(player)
    await game.client.configure(table_id, game.rules(play=FOR_MANY, **game.with_cut_card(99)))
    assert await play() >= 8
    assert await play() == 0
    assert await play() >= 4

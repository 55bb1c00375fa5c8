"""The owner is killed around a deal from a shoe that goes on: the next owner deals on from it, and no card comes twice.

That the cards are those of the shoe, the replay of all rounds finds when the tests of this folder have run.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.service.blackjack_crash.conftest import Crash
from tests.service.blackjack_crash.hands import BET_CENTS, TABLE, cards_of, shoe_of
from tests.service.game_driver import SeatedPlayer


async def _play(crash: Crash, player: SeatedPlayer) -> tuple[str, int]:
    """Plays a round; returns it, and how many cards it has taken."""
    round_id = await crash.driver.deal(player, {"1": BET_CENTS})
    return round_id, cards_of(await crash.driver.finish(player, round_id))


@pytest.mark.slow
@pytest.mark.guarantee("G4", "G5", "G6", "G8", "G9")
@pytest.mark.rule("805/2015:4.b", "805/2015:27", "903-B/2015:6.3.4", "903-B/2015:6.7.5")
@pytest.mark.parametrize("keeps", [False, True], ids=["before", "after"])
async def test_g6_the_owner_is_killed_before_and_after_a_deal_from_its_shoe_is_on_record(
    crash: Crash, *, keeps: bool
) -> None:
    driver, gates, journal = crash.driver, crash.journal_gates, crash.journal
    player, resting = await driver.seat_new_player(TABLE), await driver.seat_new_player(TABLE)
    (first, cards), (rested, rested_cards) = await _play(crash, player), await _play(crash, resting)
    assert await shoe_of(journal, first) == (first, 0)
    second, more = await _play(crash, player)
    assert await shoe_of(journal, second) == (first, cards)
    taken = cards + more

    round_id = await driver.wait_for_open_round(player)
    await driver.bet(player, round_id, "1", BET_CENTS)
    await gates.close("draws")
    deal = asyncio.create_task(driver.blackjack.deal(player.player_id, player.table_id, round_id))
    await gates.wait_until_held()
    await asyncio.to_thread(crash.two.owner.kill)
    if not keeps:
        await gates.cut()
    await gates.open_all()
    await asyncio.wait([deal])
    await crash.two.follow(player, resting)

    settled = await driver.finish(player, round_id)
    if keeps:
        # The very cards, and nobody was asked again.
        assert await shoe_of(journal, round_id) == (first, taken)
        assert not settled.round.void_reason
        taken += cards_of(settled)
    else:
        # Nobody has seen them: the bet goes back, and the next round gets them.
        assert await shoe_of(journal, round_id) is None
        assert settled.round.void_reason
    after, _ = await _play(crash, player)
    assert await shoe_of(journal, after) == (first, taken)
    # Another player's shoe lay still meanwhile.
    assert await shoe_of(journal, (await _play(crash, resting))[0]) == (rested, rested_cards)

"""What a game's page has to show is the platform's to say, and it says the same to one that comes later."""

from __future__ import annotations

import pytest

from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, unpack_bets

CENTS = 100_000
BETS = {"17": 200, "red": 500}


@pytest.mark.rule("903-B/2015:6.2.1")
async def test_name_balance_stakes_and_the_beginning_of_play_are_the_platform_s(
    driver: RouletteDriver, regulation: str
) -> None:
    player_id = await driver.new_player(CENTS)
    entered = await driver.roulette.enter(player_id, INDIVIDUAL_TABLES[regulation])
    seated_player = await driver.seat(player_id, INDIVIDUAL_TABLES[regulation])
    began = entered.session.started_at
    assert began.ToNanoseconds() > 0
    assert entered.table.configuration.name.pt
    # A round lies behind him, and another has his bets on it: he has played since he sat down, not since then.
    spun = await driver.play(seated_player, {"black": 300})
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)
    left = spun.balance.free_cents - sum(BETS.values())

    async with driver.platform.roulette.client() as elsewhere:
        again = await elsewhere.enter(player_id, INDIVIDUAL_TABLES[regulation])

    assert again.session.session_id == entered.session.session_id
    assert again.session.started_at == began
    assert (await driver.session(seated_player)).session.started_at == began
    assert again.table.configuration.name == entered.table.configuration.name
    (stake,) = again.own_seat.stakes
    assert (unpack_bets(stake.bets), stake.amount_cents) == (BETS, sum(BETS.values()))
    assert await driver.balance(seated_player) == (left, sum(BETS.values()))

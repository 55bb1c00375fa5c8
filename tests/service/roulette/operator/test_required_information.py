"""The information that a game has to show comes from the platform, and is the same for a client that joins later."""

from __future__ import annotations

import pytest

from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, unpack_bets

CENTS = 100_000
BETS = {"17": 200, "red": 500}


@pytest.mark.rule("903-B/2015:6.2.1")
async def test_name_balance_stakes_and_start_of_play_come_from_the_platform(
    driver: RouletteDriver, regulation: str
) -> None:
    player_id = await driver.new_player(CENTS)
    entered = await driver.roulette.enter(player_id, INDIVIDUAL_TABLES[regulation])
    seated_player = await driver.seat(player_id, INDIVIDUAL_TABLES[regulation])
    started_at = entered.session.started_at
    assert started_at.ToNanoseconds() > 0
    assert entered.table.configuration.name.pt
    # The session began before the last round and before the bets of this one.
    spun = await driver.play(seated_player, {"black": 300})
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)
    left = spun.balance.free_cents - sum(BETS.values())

    async with driver.platform.roulette.client() as device:
        again = await device.enter(player_id, INDIVIDUAL_TABLES[regulation])

    assert again.session.session_id == entered.session.session_id
    assert again.session.started_at == started_at
    assert (await driver.session(seated_player)).session.started_at == started_at
    assert again.table.configuration.name == entered.table.configuration.name
    (stake,) = again.own_seat.stakes
    assert (unpack_bets(stake.bets), stake.amount_cents) == (BETS, sum(BETS.values()))
    assert await driver.balance(seated_player) == (left, sum(BETS.values()))

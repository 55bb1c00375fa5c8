"""Tournaments from their creation to their end at the real services: what players pay and get, and who may do what when."""

from __future__ import annotations

from feltro.poker.v1 import tournament_pb2
from tests.service.poker_tournament.platform import MONEY_CENTS, TournamentDriver, rules


async def test_a_sit_and_go_is_played_and_paid(driver: TournamentDriver) -> None:
    tournament = await driver.create(rules())
    players = [await driver.new_player() for _ in range(2)]
    for player in players:
        entered = await driver.register(tournament, player)
        assert entered.entry.own
    over = await driver.until_over(tournament)
    assert over.phase == tournament_pb2.TOURNAMENT_PHASE_FINISHED
    ranked = await driver.players(tournament)
    assert [each.rank for each in ranked] == [1, 2]
    balances = sorted([await driver.balance(player) for player in players])
    assert balances == [MONEY_CENTS - 1_100, MONEY_CENTS - 1_100 + 2_000]
    pool = await driver.pool(tournament)
    assert pool.pool_cents == 0

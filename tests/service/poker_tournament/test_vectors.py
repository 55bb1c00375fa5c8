"""Vectors of the rulebook by their numbers, played through the real services: their cards and chips to the last one."""

from __future__ import annotations

import asyncio
from datetime import UTC

import pytest

from feltro.poker.v1 import tournament_pb2, tournament_rules_pb2
from tests.service.poker_tournament.hands import ACES, NOTHING, QUEENS, begin
from tests.service.poker_tournament.platform import MONEY_CENTS, TournamentDriver, rules
from tests.service.poker_tournament.test_tournaments import refused, replay

ENTRY = tournament_rules_pb2.TournamentPrice(prize_cents=1_000, fee_cents=100)
# Small and big blind alike: whoever folds one of them loses as much as whoever folds the other.
BLIND = 20
LEVELS = [
    tournament_rules_pb2.TournamentLevel(small_blind=blind, big_blind=blind, seconds=36_000) for blind in (BLIND, 40)
]


@pytest.mark.rule("810/2015:23", "810/2015:31", "810/2015:36.b", "810/2015:38")
@pytest.mark.guarantee("G1")
async def test_t_03_and_t_07_cancelled_after_three_rebuys_and_six_eliminations(driver: TournamentDriver) -> None:
    made = rules(seats=10, max_players=10, starting_stack=1_500, levels=LEVELS, rebuys_max=1, rebuy_until_level=1)
    players = [await driver.new_player() for _ in range(10)]
    table = await begin(driver, made, players, {1: (ACES, *NOTHING[:9])})
    # By position in the first hand; those who end with 8000, 2000, 4000 and 5500 chips are a, d, c and b.
    a, d, x, c, out1, out2, b, out3, out4, out5 = await table.order()
    table.stack(2, QUEENS, *NOTHING[:4])
    await table.play(
        [
            *((x, "all in"), (c, "c"), (out1, "c"), (out2, "c")),
            *((b, "f"), (out3, "f"), (out4, "f"), (out5, "f"), (a, "c"), (d, "c")),
        ]
    )
    for player in (c, d, x):
        await table.asked_to_rebuy(player)
        await driver.rebuy(table.tournament, player)
    for player in (out1, out2):
        await table.asked_to_rebuy(player)
        await driver.decline_rebuy(table.tournament, player)
    # The button is a's: it stays with those who are left.
    assert await table.order() == [b, out3, out4, out5, a]
    table.stack(3, *NOTHING[:1], ACES, *NOTHING[1:5])
    await table.play([(out4, "all in"), (out5, "f"), (a, "f"), (b, "c"), (out3, "c")])
    for player in (out3, out4):
        await table.asked_to_rebuy(player)
        await driver.decline_rebuy(table.tournament, player)
    await table.until_chips({a: 9_000, b: 4_500, c: 1_500, d: 1_500, x: 1_500, out5: 1_500})
    assert await table.order() == [x, c, b, out5, a, d]
    table.stack(4, ACES, *NOTHING[:4])
    await table.play([(b, "c"), (out5, "f"), (a, "980"), (d, "f"), (x, "all in"), (c, "c"), (b, "f"), (a, "f")])
    assert await table.order() == [b, out5, a, d, c]
    await table.play([(a, "f"), (d, "f"), (c, "f"), (b, "all in"), (out5, "c")])
    await table.asked_to_rebuy(out5)
    await driver.decline_rebuy(table.tournament, out5)
    assert await table.order() == [a, d, c, b]
    await table.play([(c, "f"), (b, "480"), (a, "f"), (d, "all in"), (b, "f")])
    await table.until_chips({a: 8_000, b: 5_500, c: 4_000, d: 2_000})

    cancelled = await driver.cancel(table.tournament, "a power cut")

    assert (cancelled.phase, cancelled.cancelled_rule) == (tournament_pb2.TOURNAMENT_PHASE_CANCELLED, "810/2015:36.b")
    paid = {a: 4_792, b: 3_639, c: 2_946, d: 2_023}
    spent = {player: 2_200 if player in {c, d, x} else 1_100 for player in players}
    for player in players:
        # T-07: of those who are out nobody gets anything, with a rebuy (x) or without.
        assert await driver.balance(player) == MONEY_CENTS - spent[player] + paid.get(player, 0)
    money = await driver.pool(table.tournament)
    assert sum(each.prize_cents + each.fee_cents for each in money.paid_in) == 14_300
    assert sum(each.amount_cents for each in money.awarded) == 13_400
    report = await driver.report(table.tournament)
    assert (report.fee_cents, report.shortfall_cents, report.pool_cents) == (900, 0, 0)
    await driver.until_closed(table.tournament)
    explained = await replay(driver, table.tournament)
    assert f"pays 3692 cents to {a}: share_by_chips (810/2015:36.b)" in explained


@pytest.mark.rule("810/2015:50", "810/2015:51", "810/2015:54")
async def test_t_09_two_out_in_one_hand_with_equal_chips_divide_both_prizes(driver: TournamentDriver) -> None:
    payouts = [
        tournament_rules_pb2.PayoutRow(entries_up_to=5, bps=[10_000]),
        tournament_rules_pb2.PayoutRow(entries_up_to=10, bps=[3_500, 2_500, 1_617, 1_000, 800, 583]),
    ]
    made = rules(seats=6, max_players=6, starting_stack=3_000, levels=LEVELS, payouts=payouts, guarantee_cents=50_000)
    players = [await driver.new_player() for _ in range(6)]
    table = await begin(driver, made, players, {1: (ACES, *NOTHING[:5])})
    winner, one, other, *others = await table.order()
    await table.play([(other, "all in"), *((each, "f") for each in others), (winner, "c"), (one, "c")])
    await driver.until(table.tournament, lambda seen: seen.players_left == 4)
    shown = {each.player_id: each for each in await driver.players(table.tournament)}
    first, second = sorted((one, other), key=players.index)
    assert [(shown[each].rank, shown[each].rank_to, shown[each].rank_final) for each in (first, second)] == [
        (5, 6, True),
        (5, 6, True),
    ]
    # The odd cent is for the player who registered first (T-A-22).
    assert (shown[first].prize_cents, shown[second].prize_cents) == (3_458, 3_457)
    async with asyncio.timeout(60):
        while await driver.balance(second) != MONEY_CENTS - 1_100 + 3_457:
            await asyncio.sleep(0.02)
    assert await driver.balance(first) == MONEY_CENTS - 1_100 + 3_458
    await driver.cancel(table.tournament, "the end of the test")


@pytest.mark.rule("810/2015:21", "810/2015:31", "810/2015:44")
async def test_t_20_without_funds_for_a_rebuy_a_player_is_out_by_the_hand_that_was_lost(
    driver: TournamentDriver,
) -> None:
    made = rules(seats=4, max_players=4, starting_stack=1_500, levels=LEVELS, rebuys_max=1, rebuy_until_level=1)
    players = [await driver.new_player(2_000) for _ in range(4)]
    table = await begin(driver, made, players, {1: (ACES, *NOTHING[:3])})
    winner, poor, third, last = await table.order()
    table.stack(2, *NOTHING[:2], ACES)
    await table.play([(third, "f"), (last, "f"), (winner, "all in"), (poor, "c")])
    asked = await table.asked_to_rebuy(poor)
    assert await driver.balance(poor) == 900
    assert await refused(driver.rebuy(table.tournament, poor)) == "INSUFFICIENT_FUNDS"
    assert (await driver.tournament(table.tournament, poor)).own == asked, "there is time to deposit"
    # The others play on meanwhile: who is out in a later hand is ranked higher, whenever the time is up.
    assert await table.order() == [third, last, winner]
    await table.play([(winner, "all in"), (third, "c"), (last, "f")])
    await table.asked_to_rebuy(third)
    await driver.decline_rebuy(table.tournament, third)
    until = asked.decide_by.ToDatetime(UTC)
    while (at := (await driver.tournament(table.tournament)).at.ToDatetime(UTC)) <= until:
        await driver.poker.advance_tables((until - at).total_seconds() + 1)
    await driver.until(table.tournament, lambda seen: seen.players_left == 2)
    shown = {each.player_id: each for each in await driver.players(table.tournament)}
    assert [(shown[each].standing, shown[each].rank) for each in (third, poor)] == [
        (tournament_pb2.ENTRY_STANDING_OUT, 3),
        (tournament_pb2.ENTRY_STANDING_OUT, 4),
    ]
    assert await refused(driver.rebuy(table.tournament, poor)) == "NOT_REGISTERED"
    assert await driver.balance(poor) == 900
    await driver.cancel(table.tournament, "the end of the test")

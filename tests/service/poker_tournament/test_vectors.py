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
# Small and big blind are equal: folding either of them loses the same.
BLIND = 20
LEVELS = [
    tournament_rules_pb2.TournamentLevel(small_blind=blind, big_blind=blind, seconds=36_000) for blind in (BLIND, 40)
]
# Six players with 3000 chips; fifth place is paid 4000 cents, and sixth 2915.
SIX_PAID = rules(
    seats=6,
    max_players=6,
    starting_stack=3_000,
    levels=LEVELS,
    payouts=[
        tournament_rules_pb2.PayoutRow(entries_up_to=5, bps=[10_000]),
        tournament_rules_pb2.PayoutRow(entries_up_to=10, bps=[3_500, 2_500, 1_617, 1_000, 800, 583]),
    ],
    guarantee_cents=50_000,
)


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


@pytest.mark.rule("810/2015:36.c", "810/2015:54")
@pytest.mark.guarantee("G1")
async def test_t_04_cancelled_in_the_money_the_operator_makes_up_what_was_earned(driver: TournamentDriver) -> None:
    made = rules(seats=9, max_players=9, starting_stack=1_500, levels=LEVELS)
    players = [await driver.new_player() for _ in range(9)]
    table = await begin(driver, made, players, {1: (ACES, *NOTHING[:8])})
    a, out1, fourth, out2, out3, out4, out5, b, third = await table.order()
    table.stack(2, NOTHING[0], ACES, *NOTHING[1:3])
    table.stack(3, *NOTHING[:2], ACES)
    await table.play(
        [
            *((fourth, "c"), (out2, "all in"), *((each, "c") for each in (out3, out4, out5))),
            *((b, "f"), (third, "f"), (a, "c"), (out1, "c"), (fourth, "f")),
        ]
    )
    assert await table.order() == [fourth, b, third, a]
    await table.play([(third, "f"), (a, "f"), (fourth, "all in"), (b, "c")])
    assert await table.order() == [third, a, b]
    await table.play([(b, "all in"), (third, "c"), (a, "f")])
    await table.until_chips({a: 9_000, b: 4_500})
    cancelled = await driver.cancel(table.tournament, "a power cut")
    assert cancelled.cancelled_rule == "810/2015:36.c"
    paid = {a: 5_767, b: 3_433, third: 1_800}
    for player in players:
        assert await driver.balance(player) == MONEY_CENTS - 1_100 + paid.get(player, 0)
    report = await driver.report(table.tournament)
    assert (report.prizes_paid_cents, report.refunded_cents, report.shares_paid_cents) == (1_800, 2_200, 7_000)
    # The bank has the fees of those who are out, and makes up the rest: 1100 cents more than it has got.
    assert (report.shortfall_cents, report.fee_cents, report.pool_cents) == (1_800, 700, 0)
    await driver.until_closed(table.tournament)
    assert "adds 1800 cents that the cancellation lacks" in await replay(driver, table.tournament)


@pytest.mark.rule("810/2015:33", "810/2015:36.b")
async def test_t_05_bounties_that_were_won_before_the_cancellation_stay_won(driver: TournamentDriver) -> None:
    price = tournament_rules_pb2.TournamentPrice(prize_cents=600, fee_cents=100, bounty_cents=300)
    payouts = [tournament_rules_pb2.PayoutRow(entries_up_to=6, bps=[10_000])]
    made = rules(price=price, payouts=payouts, seats=6, max_players=6, starting_stack=1_500, levels=LEVELS)
    players = [await driver.new_player() for _ in range(6)]
    table = await begin(driver, made, players, {1: (ACES, *NOTHING[:5])})
    a, out1, out2, b, out3, out4 = await table.order()
    table.stack(2, ACES, *NOTHING[:3])
    await table.play([(out2, "all in"), (b, "f"), (out3, "f"), (out4, "f"), (a, "c"), (out1, "c")])
    assert await table.order() == [b, out3, out4, a]
    await table.play([(out4, "all in"), (a, "f"), (b, "c"), (out3, "c")])
    assert await table.order() == [a, b]
    await table.play([(a, "c"), (b, "500"), (a, "all in"), (b, "f")])
    await table.until_chips({a: 5_000, b: 4_000})
    cancelled = await driver.cancel(table.tournament, "a power cut")
    assert cancelled.cancelled_rule == "810/2015:36.b"
    paid = {a: 2_333 + 600, b: 2_067 + 600}
    for player in players:
        assert await driver.balance(player) == MONEY_CENTS - 1_000 + paid.get(player, 0)
    report = await driver.report(table.tournament)
    assert (report.bounties_paid_cents, report.fee_cents, report.pool_cents) == (1_200, 400, 0)


@pytest.mark.rule("810/2015:50")
async def test_t_08_of_two_out_in_one_hand_the_larger_stack_takes_the_higher_prize(driver: TournamentDriver) -> None:
    players = [await driver.new_player() for _ in range(6)]
    table = await begin(driver, SIX_PAID, players, {})
    x, blind, other, y, donor, last = await table.order()
    # In two hands without any cards to compare, chips go where the vector has them.
    await table.play([(other, "f"), (y, "250"), (donor, "f"), (last, "f"), (x, "all in"), (blind, "f"), (y, "f")])
    assert await table.order() == [blind, other, y, donor, last, x]
    winner = blind
    table.stack(3, *NOTHING[:5], ACES)
    await table.play(
        [
            *((y, "f"), (donor, "70"), (last, "f"), (x, "c"), (winner, "400"), (other, "f"), (donor, "c"), (x, "f")),
            *((winner, "100"), (donor, "f")),
        ]
    )
    await table.until_chips({x: 3_200, y: 2_750, winner: 3_470, other: 2_980, donor: 2_600, last: 3_000})
    assert await table.order() == [other, y, donor, last, x, winner]
    await table.play([(donor, "f"), (last, "f"), (x, "all in"), (winner, "c"), (other, "f"), (y, "c")])
    await driver.until(table.tournament, lambda seen: seen.players_left == 4)
    shown = {each.player_id: each for each in await driver.players(table.tournament)}
    assert [(shown[each].rank, shown[each].rank_to, shown[each].prize_cents) for each in (x, y)] == [
        (5, 5, 4_000),
        (6, 6, 2_915),
    ]
    await driver.cancel(table.tournament, "the end of the test")


@pytest.mark.rule("810/2015:33", "810/2015:34")
async def test_t_16_two_winners_share_a_bounty_and_the_champion_has_their_own(driver: TournamentDriver) -> None:
    price = tournament_rules_pb2.TournamentPrice(prize_cents=1_000, fee_cents=100, bounty_cents=2_505)
    made = rules(price=price, seats=3, max_players=3, starting_stack=1_500, levels=LEVELS)
    players = [await driver.new_player() for _ in range(3)]
    table = await begin(driver, made, players, {1: ("AsKs", "AhKh", "Qc6d")})
    champion, second, out = await table.order()
    table.stack(2, NOTHING[0], "QsQh")
    await table.play([(out, "all in"), (champion, "c"), (second, "c")])
    # The odd cent is for the first one clockwise from the button.
    assert await table.order() == [second, champion]
    shown = {each.player_id: each for each in await driver.players(table.tournament)}
    assert (shown[champion].bounties_cents, shown[second].bounties_cents) == (1_253, 1_252)
    await table.play([(second, "all in"), (champion, "c")])
    await driver.until_over(table.tournament)
    cost = 1_000 + 100 + 2_505
    assert await driver.balance(champion) == MONEY_CENTS - cost + 3_000 + 1_253 + 2 * 2_505
    assert await driver.balance(second) == MONEY_CENTS - cost + 1_252
    assert await driver.balance(out) == MONEY_CENTS - cost


@pytest.mark.rule("810/2015:50", "810/2015:51", "810/2015:54")
async def test_t_09_two_out_in_one_hand_with_equal_chips_divide_both_prizes(driver: TournamentDriver) -> None:
    players = [await driver.new_player() for _ in range(6)]
    table = await begin(driver, SIX_PAID, players, {1: (ACES, *NOTHING[:5])})
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

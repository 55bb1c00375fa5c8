"""Caves: filling them within the bounds, during a hand and between hands, and leaving with what is in them."""

from __future__ import annotations

from uuid import uuid4

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.wallet.v1 import session_pb2
from tests.service.game_driver import SeatedPlayer
from tests.service.poker.platform import MONEY_CENTS, PokerDriver, outcome_of
from tests.service.refusals import Refusal, refusal_of


async def refused_buy_in(driver: PokerDriver, player: SeatedPlayer, cents: int) -> Refusal:
    before = await driver.balance(player), await driver.caves(player.table_id)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.buy_in(player, cents)
    assert (await driver.balance(player), await driver.caves(player.table_id)) == before
    return refusal_of(refused.value)


@pytest.mark.rule("806/2015:8", "806/2015:14", "811/2015:8", "811/2015:14")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
@pytest.mark.parametrize("cents", [1_999, 10_001])
async def test_a_cave_is_filled_within_its_bounds_alone(driver: PokerDriver, regulation: str, cents: int) -> None:
    player = await driver.seat_new_player(await driver.new_table(regulation=regulation), seat=3)

    refused = await refused_buy_in(driver, player, cents)

    assert refused.reason == "CAVE_OUT_OF_BOUNDS"
    assert refused.facts["amount_cents"] == str(cents)
    assert (refused.facts["minimum_cents"], refused.facts["maximum_cents"]) == ("2000", "10000")
    assert refused.facts["rule"].startswith(regulation)


@pytest.mark.rule("806/2015:5", "806/2015:9")
async def test_a_player_has_the_seat_that_they_chose_and_a_cave_of_their_money(driver: PokerDriver) -> None:
    table_id = await driver.new_table()
    player = await driver.seat_new_player(table_id, seat=4)
    assert await driver.standings(table_id) == {4: "SHORT"}

    bought = await driver.buy_in(player, 2_000)

    assert (bought.amount_cents, bought.commission_cents) == (2_000, 0)
    assert bought.balance.free_cents == await driver.balance(player) == MONEY_CENTS - 2_000
    assert await driver.caves(table_id) == {4: 2_000}
    with pytest.raises(grpc.aio.AioRpcError) as taken:
        await driver.seat_new_player(table_id, seat=4)
    assert refusal_of(taken.value).reason == "SEAT_TAKEN"


@pytest.mark.guarantee("G3")
async def test_g3_a_buy_in_that_is_sent_twice_fills_the_cave_once(driver: PokerDriver) -> None:
    player = await driver.seat_new_player(await driver.new_table())
    request_id = str(uuid4())

    first = await driver.buy_in(player, 5_000, request_id)
    again = await driver.buy_in(player, 5_000, request_id)

    assert first == again
    assert await driver.caves(player.table_id) == {player.seat: 5_000}
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.buy_in(player, 2_000, request_id)
    assert refusal_of(refused.value).reason == "REQUEST_REUSED"


@pytest.mark.rule("806/2015:11.b", "811/2015:11.b")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_what_is_bought_in_during_a_hand_is_in_play_from_the_next_one_on(
    driver: PokerDriver, regulation: str
) -> None:
    players = await driver.begin(5_000, 5_000, regulation=regulation, limit=poker_pb2.LIMIT_POT)
    table_id = players[0].table_id
    playing = await driver.playing(table_id)
    stacks = {seat.seat: seat.stack_cents + seat.bet_cents for seat in playing.view.seats}

    await driver.buy_in(players[0], 3_000)

    now = await driver.playing(table_id)
    assert {seat.seat: seat.stack_cents + seat.bet_cents for seat in now.view.seats} == stacks
    assert await driver.balance(players[0]) == MONEY_CENTS - 8_000
    round_id = await driver.play(players, "f")
    await driver.ended(players[0], round_id)
    following = await driver.next_hand(table_id, round_id)
    brought = {seat.seat: seat.stack_cents + seat.bet_cents for seat in following.view.seats}
    assert brought[1] in {7_950, 8_050}


@pytest.mark.rule("806/2015:10", "806/2015:69", "811/2015:10", "811/2015:69")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_player_between_hands_leaves_at_once_with_the_cave(driver: PokerDriver, regulation: str) -> None:
    player = await driver.seat_new_player(await driver.new_table(regulation=regulation))
    await driver.buy_in(player, 5_000)
    assert await driver.balance(player) == MONEY_CENTS - 5_000

    await driver.leave(player)
    await driver.session_ended(player)

    assert await driver.balance(player) == MONEY_CENTS
    table = await driver.wait_for(player.table_id, lambda table: not table.caves)
    assert table.seated == 0


@pytest.mark.rule("806/2015:10", "811/2015:10")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_player_who_sits_out_leaves_at_once_while_others_play(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=poker_pb2.LIMIT_POT)
    table_id, leaving = players[0].table_id, players[2]
    first = await driver.play(players, "f f")
    await driver.ended(leaving, first)
    await driver.set_presence(leaving, "AWAY")
    playing = await driver.next_hand(table_id, first)
    cave_cents = (await driver.caves(table_id))[leaving.seat]

    await driver.leave(leaving)
    await driver.session_ended(leaving)

    # The hand goes on meanwhile, and is paid as any other.
    assert await driver.balance(leaving) == MONEY_CENTS - 5_000 + cave_cents
    table = await driver.wait_for(table_id, lambda table: len(table.caves) == 2)
    assert (table.round.round_id, table.round.turn.turn) == (playing.round_id, playing.turn)
    await driver.play(players, "f")
    ended = await driver.ended(players[0], playing.round_id)
    assert not ended.round.void_reason
    assert {each.seat for each in outcome_of(ended).results} == {1, 2}


@pytest.mark.rule("806/2015:10", "806/2015:67", "811/2015:67")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_player_in_a_hand_leaves_after_it_and_folds_until_then(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(5_000, 5_000, 5_000, regulation=regulation, limit=poker_pb2.LIMIT_POT)
    table_id = players[0].table_id
    playing = await driver.playing(table_id)
    leaving = next(player for player in players if player.seat == playing.view.big_blind)

    await driver.leave(leaving)

    assert (await driver.standings(table_id))[leaving.seat] == "LEAVING"
    assert (await driver.session(leaving)).session.state != session_pb2.SESSION_STATE_ENDED
    round_id = await driver.play([player for player in players if player != leaving], "c")
    small_blind = next(player for player in players if player.seat == playing.view.small_blind)
    await driver.act(small_blind, await driver.playing(table_id), poker_pb2.ACTION_FOLD)
    outcome = outcome_of(await driver.ended(leaving, round_id))
    await driver.end_result(table_id)
    ended = await driver.session_ended(leaving)
    (result,) = (each for each in outcome.results if each.seat == leaving.seat)
    # Who has left folds; the big blind is lost, and the rest of the cave is the player's.
    assert (result.staked_cents, result.won_cents) == (100, 0)
    assert await driver.balance(leaving) == MONEY_CENTS - 100
    summary = ended.summary
    assert (summary.staked_cents, summary.payout_cents, summary.net_cents, summary.rounds) == (100, 0, -100, 1)


@pytest.mark.rule("806/2015:17.b", "806/2015:67", "811/2015:17.b", "811/2015:67")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_commission_on_caves_is_paid_when_they_are_filled_and_none_on_pots(
    driver: PokerDriver, regulation: str
) -> None:
    table_id = await driver.new_table(
        regulation=regulation, limit=poker_pb2.LIMIT_POT, commission_mode=poker_pb2.COMMISSION_MODE_CAVE
    )
    players = await driver.begin(5_000, 5_000, table_id=table_id)
    # 10 % besides the cave.
    assert [await driver.balance(player) for player in players] == [MONEY_CENTS - 5_500] * 2

    played = await driver.play_to_showdown(players)

    assert outcome_of(played).commission_cents == 0
    assert sum((await driver.caves(table_id)).values()) == 10_000
    for player in players:
        await driver.leave(player)
    await driver.end_result(table_id)
    for player in players:
        summary = (await driver.session_ended(player)).summary
        assert (summary.commission_cents, summary.staked_cents) == (500, 100)
        assert summary.net_cents == summary.payout_cents - 600


@pytest.mark.rule("806/2015:12", "806/2015:15", "806/2015:71")
async def test_a_player_who_has_lost_the_cave_is_not_dealt_in_until_it_is_filled_again(driver: PokerDriver) -> None:
    players = await driver.begin(2_000, 2_000)
    table_id = players[0].table_id
    caves, round_id = {player.seat: 2_000 for player in players}, ""
    # Equal hands share the pot, and perhaps not evenly: then the hand that is better next may leave a cent.
    while all(caves.values()):
        playing = await (driver.next_hand(table_id, round_id) if round_id else driver.playing(table_id))
        round_id = await driver.play(players, f"r{playing.legal.max_to_cents} c")
        await driver.ended(players[0], round_id)
        caves = await driver.caves(table_id)
    broke = next(player for player in players if not caves[player.seat])
    assert sum(caves.values()) < 4_000
    assert (await driver.standings(table_id))[broke.seat] == "SHORT"

    refused = await refused_buy_in(driver, broke, 50)
    assert refused.reason == "CAVE_OUT_OF_BOUNDS"
    await driver.buy_in(broke, 2_000)

    following = await driver.next_hand(table_id, round_id)
    assert {seat.seat for seat in following.view.seats} == {1, 2}


@pytest.mark.rule("806/2015:7", "806/2015:68")
async def test_a_player_who_sits_out_keeps_the_seat_and_comes_back(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000, 5_000)
    table_id = players[0].table_id
    round_id = await driver.play(players, "f f")
    await driver.ended(players[0], round_id)

    away = await driver.set_presence(players[2], "AWAY")
    again = await driver.set_presence(players[2], "AWAY")

    assert away == again
    assert (away.seat, (await driver.standings(table_id))[3]) == (3, "AWAY")
    second = await driver.next_hand(table_id, round_id)
    assert {seat.seat for seat in second.view.seats} == {1, 2}
    await driver.set_presence(players[2], "PLAYING")
    await driver.play(players, "f")
    await driver.ended(players[0], second.round_id)
    third = await driver.next_hand(table_id, second.round_id)
    assert {seat.seat for seat in third.view.seats} == {1, 2, 3}

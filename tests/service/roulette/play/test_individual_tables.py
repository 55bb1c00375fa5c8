"""The wheel for one player: he launches the ball himself, and sees at once what it came to."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from feltro.table.v1 import types_pb2
from tests.engine.roulette import reference
from tests.service.roulette.platform import (
    INDIVIDUAL_TABLES,
    LONG_WINDOW_MS,
    RouletteDriver,
    SeatedPlayer,
    amounts_by_place,
    refusal,
    refusal_of,
    unpack_outcome,
)

CENTS = 100_000
BETS = {"17": 100, "red": 500, "double-column-1-2": 200, "dozen-3": 300}


@pytest.mark.rule("804/2015:4", "804/2015:15", "807/2015:4", "807/2015:17")
async def test_the_player_launches_the_ball(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    seen = (await driver.get_table(seated_player)).table
    assert not seen.round.HasField("closes_at")
    await driver.bet(seated_player, round_id, BETS)

    spun = await driver.spin(seated_player, round_id)

    number = spun.outcome.number
    assert spun.staked_cents == 1100
    assert spun.payout_cents == reference.payout(BETS, number)
    for result in spun.results.results:
        assert result.amount_cents == BETS[result.place]
        assert result.payout_cents == reference.payout({result.place: BETS[result.place]}, number)
        assert result.prize_cents == max(0, result.payout_cents - result.amount_cents)
    left = CENTS - 1100 + spun.payout_cents
    assert (spun.balance.free_cents, spun.balance.locked_cents) == await driver.balance(seated_player) == (left, 0)
    assert spun.next_round_id == await driver.wait_for_open_round(seated_player) != round_id


@pytest.mark.rule("804/2015:5", "807/2015:5")
@pytest.mark.guarantee("G1")
async def test_many_rounds_leave_what_arithmetic_says(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    left = CENTS
    for _ in range(30):
        spun = await driver.play(seated_player, BETS)
        left += int(reference.payout(BETS, spun.outcome.number)) - 1100
        assert spun.balance.free_cents == left
    assert await driver.balance(seated_player) == (left, 0)


@pytest.mark.rule("804/2015:17", "807/2015:19")
@pytest.mark.guarantee("G6")
async def test_the_number_comes_first_then_the_money(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    watch = await driver.watch(seated_player.table_id)
    spun = await driver.play(seated_player, BETS)
    settled = (await watch.wait_for("round_settled", spun.round_id)).round_settled

    assert watch.kinds(spun.round_id) == [
        "round_opened",
        "bets_placed",
        "betting_closed",
        "outcome_drawn",
        "round_settled",
    ]
    drawn = next(watch.events_of("outcome_drawn", spun.round_id)).outcome_drawn
    assert unpack_outcome(drawn.outcome) == spun.outcome
    assert [(each.seat, each.staked_cents, each.payout_cents) for each in settled.results] == [
        (seated_player.seat, 1100, spun.payout_cents)
    ]
    (lived,) = await driver.rounds(seated_player)
    assert lived.round.drawn_at.ToNanoseconds() <= lived.round.ended_at.ToNanoseconds()


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_a_launch_repeated_is_one_launch(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    answers = await asyncio.gather(*(driver.spin(seated_player, round_id) for _ in range(5)))
    answers.append(await driver.spin(seated_player, round_id))

    assert {answer.SerializeToString() for answer in answers[:5]} == {answers[0].SerializeToString()}
    assert answers[5].outcome == answers[0].outcome
    assert (await driver.rounds(seated_player))[0].payout_cents == answers[0].payout_cents


async def test_nothing_is_launched_without_a_bet(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    refused = await refusal(driver.spin(seated_player, round_id))
    assert (refused.reason, refused.facts) == ("NOTHING_STAKED", {"round_id": round_id})


async def test_a_round_of_long_ago_is_not_launched_again(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    first = await driver.play(seated_player, BETS)
    await driver.play(seated_player, BETS)

    refused = await refusal(driver.spin(seated_player, first.round_id))

    assert (refused.reason, refused.facts["round_id"]) == ("BETTING_CLOSED", first.round_id)


@pytest.mark.rule("804/2015:14", "807/2015:16")
async def test_at_a_table_of_many_nobody_launches_the_ball(driver: RouletteDriver) -> None:
    seated_player = await driver.seat_new_player(await driver.new_table(window_ms=LONG_WINDOW_MS))
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    refused = await refusal(driver.spin(seated_player, round_id))

    assert (refused.reason, refused.facts) == (
        "WRONG_PLAY",
        {"table_id": seated_player.table_id, "play": "MULTI_PLAYER"},
    )


@pytest.mark.guarantee("G6")
async def test_nothing_can_be_bet_on_a_ball_that_rolls(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    answers = await asyncio.gather(
        driver.spin(seated_player, round_id),
        *(driver.bet(seated_player, round_id, {"even": 100}) for _ in range(10)),
        return_exceptions=True,
    )

    (lived,) = await driver.rounds(seated_player)
    in_time = sum(not isinstance(answer, BaseException) for answer in answers[1:])
    assert lived.staked_cents == 1100 + 100 * in_time
    for answer in answers[1:]:
        if isinstance(answer, BaseException):
            assert isinstance(answer, grpc.aio.AioRpcError)
            assert refusal_of(answer).reason == "BETTING_CLOSED"


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
async def test_the_platform_launches_for_whoever_leaves_with_a_bet(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    """His bet stands, and everybody who looks the round up learns that it was not he who launched."""
    watch = await driver.watch(seated_player.table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    await driver.leave(seated_player)

    await watch.wait_for("round_settled", round_id)
    left = (await watch.wait_for("seat_left")).seat_left
    assert left.seat == seated_player.seat
    (lived,) = await driver.rounds(seated_player)
    assert lived.payout_cents == reference.payout(BETS, unpack_outcome(lived.round.outcome).number)
    assert await driver.balance(seated_player) == (CENTS - 1100 + lived.payout_cents, 0)
    replayed = await driver.roulette.replay(round_id)
    (drawn,) = watch.events_of("outcome_drawn", round_id)
    launches = {drawn.outcome_drawn.draw_trigger, lived.round.draw_trigger, replayed.round.draw_trigger}
    assert launches == {types_pb2.DRAW_TRIGGER_SESSION_ENDED}


@pytest.mark.rule("GLI-19 4.16")
async def test_it_is_on_record_that_the_player_launched(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    watch = await driver.watch(seated_player.table_id)
    spun = await driver.play(seated_player, BETS)

    (lived,) = await driver.rounds(seated_player)
    replayed = await driver.roulette.replay(spun.round_id)
    drawn = await watch.wait_for("outcome_drawn", spun.round_id)
    launches = {drawn.outcome_drawn.draw_trigger, lived.round.draw_trigger, replayed.round.draw_trigger}
    assert launches == {types_pb2.DRAW_TRIGGER_PLAYER}


async def test_everybody_has_a_table_of_his_own(driver: RouletteDriver, regulation: str) -> None:
    one, other = await driver.seat_new_players(INDIVIDUAL_TABLES[regulation], 2)
    assert one.table_id != other.table_id

    await driver.bet(one, await driver.wait_for_open_round(one), {"17": 100})

    assert not (await driver.get_table(other)).table.bets
    assert amounts_by_place(
        (await driver.bet(other, await driver.wait_for_open_round(other), {"18": 100})).on_felt
    ) == {"18": 100}
    refused = await refusal(driver.roulette.table(one.player_id, INDIVIDUAL_TABLES[regulation]))
    assert refused.reason == "TABLE_UNKNOWN"

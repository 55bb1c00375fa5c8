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
async def test_the_player_launches_the_ball(room: RouletteDriver, guest: SeatedPlayer) -> None:
    round_id = await room.wait_for_open_round(guest)
    seen = (await room.get_table(guest)).table
    assert not seen.round.HasField("closes_at")
    await room.bet(guest, round_id, BETS)

    spun = await room.spin(guest, round_id)

    number = spun.outcome.number
    assert spun.staked_cents == 1100
    assert spun.payout_cents == reference.payout(BETS, number)
    for result in spun.results.results:
        assert result.amount_cents == BETS[result.place]
        assert result.payout_cents == reference.payout({result.place: BETS[result.place]}, number)
        assert result.prize_cents == max(0, result.payout_cents - result.amount_cents)
    left = CENTS - 1100 + spun.payout_cents
    assert (spun.balance.free_cents, spun.balance.locked_cents) == await room.balance(guest) == (left, 0)
    assert spun.next_round_id == await room.wait_for_open_round(guest) != round_id


@pytest.mark.rule("804/2015:5", "807/2015:5")
@pytest.mark.guarantee("G1")
async def test_many_rounds_leave_what_arithmetic_says(room: RouletteDriver, guest: SeatedPlayer) -> None:
    left = CENTS
    for _ in range(30):
        spun = await room.play(guest, BETS)
        left += int(reference.payout(BETS, spun.outcome.number)) - 1100
        assert spun.balance.free_cents == left
    assert await room.balance(guest) == (left, 0)


@pytest.mark.rule("804/2015:17", "807/2015:19")
@pytest.mark.guarantee("G6")
async def test_the_number_comes_first_then_the_money(room: RouletteDriver, guest: SeatedPlayer) -> None:
    watch = await room.watch(guest.table_id)
    spun = await room.play(guest, BETS)
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
        (guest.seat, 1100, spun.payout_cents)
    ]
    (lived,) = await room.rounds(guest)
    assert lived.round.drawn_at.ToNanoseconds() <= lived.round.ended_at.ToNanoseconds()


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_a_launch_repeated_is_one_launch(room: RouletteDriver, guest: SeatedPlayer) -> None:
    round_id = await room.wait_for_open_round(guest)
    await room.bet(guest, round_id, BETS)

    answers = await asyncio.gather(*(room.spin(guest, round_id) for _ in range(5)))
    answers.append(await room.spin(guest, round_id))

    assert {answer.SerializeToString() for answer in answers[:5]} == {answers[0].SerializeToString()}
    assert answers[5].outcome == answers[0].outcome
    assert (await room.rounds(guest))[0].payout_cents == answers[0].payout_cents


async def test_nothing_is_launched_without_a_bet(room: RouletteDriver, guest: SeatedPlayer) -> None:
    round_id = await room.wait_for_open_round(guest)
    refused = await refusal(room.spin(guest, round_id))
    assert (refused.reason, refused.facts) == ("NOTHING_STAKED", {"round_id": round_id})


async def test_a_round_of_long_ago_is_not_launched_again(room: RouletteDriver, guest: SeatedPlayer) -> None:
    first = await room.play(guest, BETS)
    await room.play(guest, BETS)

    refused = await refusal(room.spin(guest, first.round_id))

    assert (refused.reason, refused.facts["round_id"]) == ("BETTING_CLOSED", first.round_id)


@pytest.mark.rule("804/2015:14", "807/2015:16")
async def test_at_a_table_of_many_nobody_launches_the_ball(room: RouletteDriver) -> None:
    guest = await room.seat_new_player(await room.new_table(window_ms=LONG_WINDOW_MS))
    round_id = await room.wait_for_open_round(guest)
    await room.bet(guest, round_id, BETS)

    refused = await refusal(room.spin(guest, round_id))

    assert (refused.reason, refused.facts) == ("WRONG_PLAY", {"table_id": guest.table_id, "play": "MULTI_PLAYER"})


@pytest.mark.guarantee("G6")
async def test_nothing_can_be_bet_on_a_ball_that_rolls(room: RouletteDriver, guest: SeatedPlayer) -> None:
    round_id = await room.wait_for_open_round(guest)
    await room.bet(guest, round_id, BETS)

    answers = await asyncio.gather(
        room.spin(guest, round_id),
        *(room.bet(guest, round_id, {"even": 100}) for _ in range(10)),
        return_exceptions=True,
    )

    (lived,) = await room.rounds(guest)
    in_time = sum(not isinstance(answer, BaseException) for answer in answers[1:])
    assert lived.staked_cents == 1100 + 100 * in_time
    for answer in answers[1:]:
        if isinstance(answer, BaseException):
            assert isinstance(answer, grpc.aio.AioRpcError)
            assert refusal_of(answer).reason == "BETTING_CLOSED"


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
async def test_the_platform_launches_for_whoever_leaves_with_a_bet(room: RouletteDriver, guest: SeatedPlayer) -> None:
    """His bet stands, and everybody who looks the round up learns that it was not he who launched."""
    watch = await room.watch(guest.table_id)
    round_id = await room.wait_for_open_round(guest)
    await room.bet(guest, round_id, BETS)

    await room.leave(guest)

    await watch.wait_for("round_settled", round_id)
    left = (await watch.wait_for("seat_left")).seat_left
    assert left.seat == guest.seat
    (lived,) = await room.rounds(guest)
    assert lived.payout_cents == reference.payout(BETS, unpack_outcome(lived.round.outcome).number)
    assert await room.balance(guest) == (CENTS - 1100 + lived.payout_cents, 0)
    replayed = await room.roulette.replay(round_id)
    (drawn,) = watch.events_of("outcome_drawn", round_id)
    launches = {drawn.outcome_drawn.draw_trigger, lived.round.draw_trigger, replayed.round.draw_trigger}
    assert launches == {types_pb2.DRAW_TRIGGER_SESSION_ENDED}


@pytest.mark.rule("GLI-19 4.16")
async def test_it_is_on_record_that_the_player_launched(room: RouletteDriver, guest: SeatedPlayer) -> None:
    watch = await room.watch(guest.table_id)
    spun = await room.play(guest, BETS)

    (lived,) = await room.rounds(guest)
    replayed = await room.roulette.replay(spun.round_id)
    drawn = await watch.wait_for("outcome_drawn", spun.round_id)
    launches = {drawn.outcome_drawn.draw_trigger, lived.round.draw_trigger, replayed.round.draw_trigger}
    assert launches == {types_pb2.DRAW_TRIGGER_PLAYER}


async def test_everybody_has_a_table_of_his_own(room: RouletteDriver, regulation: str) -> None:
    one, other = await room.seat_new_players(INDIVIDUAL_TABLES[regulation], 2)
    assert one.table_id != other.table_id

    await room.bet(one, await room.wait_for_open_round(one), {"17": 100})

    assert not (await room.get_table(other)).table.bets
    assert amounts_by_place((await room.bet(other, await room.wait_for_open_round(other), {"18": 100})).on_felt) == {
        "18": 100
    }
    refused = await refusal(room.roulette.table(one.player_id, INDIVIDUAL_TABLES[regulation]))
    assert refused.reason == "TABLE_UNKNOWN"

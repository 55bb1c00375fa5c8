"""Individual tables: the player launches the ball and sees the result at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import grpc
import pytest

from feltro.table.v1 import types_pb2
from tests.engine.roulette import reference
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal, refusal_of
from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, amounts_by_place, unpack_outcome

CENTS = 100_000
BETS = {"17": 100, "red": 500, "double-column-1-2": 200, "dozen-3": 300}


@pytest.mark.rule("804/2015:4", "804/2015:15", "807/2015:4", "807/2015:17")
async def test_the_player_launches_the_ball(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    table = (await driver.get_table(seated_player)).table
    assert not table.round.HasField("closes_at")
    await driver.bet(seated_player, round_id, BETS)

    spun = await driver.spin(seated_player, round_id)

    number = spun.outcome.number
    assert spun.staked_cents == 1100
    assert spun.payout_cents == reference.payout(BETS, number)
    for result in spun.results.results:
        assert result.amount_cents == BETS[result.place]
        assert result.payout_cents == reference.payout({result.place: BETS[result.place]}, number)
        assert result.prize_cents == max(0, result.payout_cents - result.amount_cents)
    free_cents = CENTS - 1100 + spun.payout_cents
    assert (
        (spun.balance.free_cents, spun.balance.locked_cents) == await driver.balance(seated_player) == (free_cents, 0)
    )
    assert spun.next_round_id == await driver.wait_for_open_round(seated_player) != round_id


@pytest.mark.rule("804/2015:5", "807/2015:5")
@pytest.mark.guarantee("G1")
async def test_g1_the_balance_after_many_rounds_is_what_arithmetic_says(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    free_cents = CENTS
    for _ in range(30):
        spun = await driver.play(seated_player, BETS)
        free_cents += int(reference.payout(BETS, spun.outcome.number)) - 1100
        assert spun.balance.free_cents == free_cents
    assert await driver.balance(seated_player) == (free_cents, 0)


@pytest.mark.rule("804/2015:17", "807/2015:19")
@pytest.mark.guarantee("G6")
async def test_g6_the_number_is_published_before_the_payout(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    watcher = await driver.watch(seated_player.table_id)
    spun = await driver.play(seated_player, BETS)
    settled = (await watcher.wait_for("round_settled", spun.round_id)).round_settled

    assert watcher.kinds(spun.round_id) == [
        "round_opened",
        "bets_placed",
        "betting_closed",
        "outcome_drawn",
        "round_settled",
    ]
    drawn = next(watcher.events_of("outcome_drawn", spun.round_id)).outcome_drawn
    assert unpack_outcome(drawn.outcome) == spun.outcome
    assert [(each.seat, each.staked_cents, each.payout_cents) for each in settled.results] == [
        (seated_player.seat, 1100, spun.payout_cents)
    ]
    (player_round,) = await driver.rounds(seated_player)
    # The round ends with the ledger's transfer.
    assert driver.ledger_ns(player_round.round.drawn_at) <= player_round.round.ended_at.ToNanoseconds()


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_spin_takes_effect_once(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    answers = await asyncio.gather(*(driver.spin(seated_player, round_id) for _ in range(5)))
    answers.append(await driver.spin(seated_player, round_id))

    assert {answer.SerializeToString() for answer in answers[:5]} == {answers[0].SerializeToString()}
    assert answers[5].outcome == answers[0].outcome
    assert (await driver.rounds(seated_player))[0].payout_cents == answers[0].payout_cents


async def test_a_spin_without_a_bet_is_refused(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    refused = await refusal(driver.spin(seated_player, round_id))
    assert (refused.reason, refused.facts) == ("NOTHING_STAKED", {"round_id": round_id})


@pytest.mark.guarantee("G3")
async def test_g3_a_spin_in_an_old_round_gets_its_first_answer(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    first = await driver.play(seated_player, BETS)
    await driver.play(seated_player, BETS)

    repeated = await driver.spin(seated_player, first.round_id)
    # The next round has opened long ago.
    assert not repeated.HasField("next_round_opens_at")
    first.ClearField("next_round_opens_at")
    assert repeated == first
    # A stranger learns nothing of it, nor of a round that there never was.
    stranger = replace(await driver.seat_new_player(await driver.new_table()), table_id=seated_player.table_id)
    unseen = await refusal(driver.spin(stranger, first.round_id))
    assert (unseen.reason, unseen.facts) == ("TABLE_UNKNOWN", {"table_id": seated_player.table_id})
    never = f"{seated_player.table_id}.999"
    refused = await refusal(driver.spin(seated_player, never))
    assert (refused.reason, refused.facts["round_id"]) == ("BETTING_CLOSED", never)


@pytest.mark.rule("804/2015:14", "807/2015:16")
async def test_no_player_spins_at_a_multi_player_table(driver: RouletteDriver) -> None:
    seated_player = await driver.seat_new_player(await driver.new_table())
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    refused = await refusal(driver.spin(seated_player, round_id))

    assert (refused.reason, refused.facts) == (
        "WRONG_PLAY",
        {"table_id": seated_player.table_id, "play": "PLAY_MULTI_PLAYER"},
    )


@pytest.mark.guarantee("G6")
async def test_g6_no_bet_is_taken_once_the_ball_rolls(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    answers = await asyncio.gather(
        driver.spin(seated_player, round_id),
        *(driver.bet(seated_player, round_id, {"even": 100}) for _ in range(10)),
        return_exceptions=True,
    )

    (player_round,) = await driver.rounds(seated_player)
    in_time = sum(not isinstance(answer, BaseException) for answer in answers[1:])
    assert player_round.staked_cents == 1100 + 100 * in_time
    for answer in answers[1:]:
        if isinstance(answer, BaseException):
            assert isinstance(answer, grpc.aio.AioRpcError)
            assert refusal_of(answer).reason == "BETTING_CLOSED"


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
async def test_g9_the_platform_spins_for_a_player_who_leaves_with_a_bet(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    """The bet stands, and the record says that the player did not launch."""
    watcher = await driver.watch(seated_player.table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, BETS)

    await driver.leave(seated_player)

    await watcher.wait_for("round_settled", round_id)
    left = (await watcher.wait_for("seat_left")).seat_left
    assert left.seat == seated_player.seat
    (player_round,) = await driver.rounds(seated_player)
    assert player_round.payout_cents == reference.payout(BETS, unpack_outcome(player_round.round.outcome).number)
    assert await driver.balance(seated_player) == (CENTS - 1100 + player_round.payout_cents, 0)
    replayed = await driver.roulette.replay(round_id)
    (drawn,) = watcher.events_of("outcome_drawn", round_id)
    triggers = {drawn.outcome_drawn.draw_trigger, player_round.round.draw_trigger, replayed.round.draw_trigger}
    assert triggers == {types_pb2.DRAW_TRIGGER_SESSION_ENDED}


@pytest.mark.rule("GLI-19 4.16")
async def test_the_record_says_that_the_player_launched(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    watcher = await driver.watch(seated_player.table_id)
    spun = await driver.play(seated_player, BETS)

    (player_round,) = await driver.rounds(seated_player)
    replayed = await driver.roulette.replay(spun.round_id)
    drawn = await watcher.wait_for("outcome_drawn", spun.round_id)
    triggers = {drawn.outcome_drawn.draw_trigger, player_round.round.draw_trigger, replayed.round.draw_trigger}
    assert triggers == {types_pb2.DRAW_TRIGGER_PLAYER}


async def test_every_player_has_an_individual_table(driver: RouletteDriver, regulation: str) -> None:
    one, other = await driver.seat_new_players(INDIVIDUAL_TABLES[regulation], 2)
    assert one.table_id != other.table_id

    await driver.bet(one, await driver.wait_for_open_round(one), {"17": 100})

    assert not (await driver.get_table(other)).table.bets
    assert amounts_by_place(
        (await driver.bet(other, await driver.wait_for_open_round(other), {"18": 100})).on_felt
    ) == {"18": 100}
    refused = await refusal(driver.roulette.table(one.player_id, INDIVIDUAL_TABLES[regulation]))
    assert refused.reason == "TABLE_UNKNOWN"

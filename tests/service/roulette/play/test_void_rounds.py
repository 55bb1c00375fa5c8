"""Void rounds: only where no number was determined, and then everybody has all his stakes back."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.service.roulette.platform import (
    LONG_WINDOW_MS,
    WHEEL_BY_REGULATION,
    Refusal,
    RouletteDriver,
    SeatedPlayer,
    refusal,
    refusal_of,
)

CENTS = 100_000


@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.3.3", "GLI-19 A.6.4")
@pytest.mark.guarantee("G4")
async def test_a7_a_malfunction_before_the_draw_gives_every_stake_back(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], window_ms=LONG_WINDOW_MS)
    guests = await driver.seat_new_players(table_id, 3)
    watch = await driver.watch(table_id)
    round_id = await driver.wait_for_open_round(guests[0])
    for seated_player, cents in zip(guests, (500, 700, 300), strict=True):
        await driver.bet(seated_player, round_id, {"17": cents})

    await driver.void(table_id, round_id, "the wheel stands still")

    void = (await watch.wait_for("round_void", round_id)).round_void
    assert (void.reason, void.phrase.pt) == (
        "the wheel stands still",
        "Ocorreu um erro; a jogada é nula e todas as apostas são devolvidas.",
    )
    assert "outcome_drawn" not in watch.kinds(round_id)
    for seated_player, cents in zip(guests, (500, 700, 300), strict=True):
        assert await driver.balance(seated_player) == (CENTS, 0)
        (lived,) = await driver.rounds(seated_player)
        assert (lived.round.state, lived.round.void_reason) == (types_pb2.ROUND_STATE_VOID, "the wheel stands still")
        assert not lived.round.HasField("outcome")
        assert (lived.staked_cents, lived.payout_cents) == (cents, cents)
        assert (lived.balance_before_cents, lived.balance_after_cents) == (CENTS, CENTS)
        # Neither a win nor a loss.
        summary = (await driver.session(seated_player)).summary
        assert (summary.staked_cents, summary.won_cents, summary.net_cents, summary.rounds) == (0, 0, 0, 0)
    # And play goes on.
    assert (
        await watch.wait_for("round_opened", after=watch.events[-1].seq - 1)
    ).round_opened.round.round_id != round_id


@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.guarantee("G6")
async def test_a_round_with_a_number_cannot_become_void(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    spun = await driver.play(seated_player, {"17": 500})
    before = await driver.balance(seated_player)

    refused = await refusal(driver.void(seated_player.table_id, spun.round_id))

    assert refused == Refusal("ROUND_DECIDED", {"round_id": spun.round_id}, code=grpc.StatusCode.FAILED_PRECONDITION)
    assert await driver.balance(seated_player) == before
    (lived,) = await driver.rounds(seated_player)
    assert lived.round.state == types_pb2.ROUND_STATE_SETTLED


@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.guarantee("G4")
async def test_a_ball_that_rolls_and_a_void_at_once_are_one_end(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    for _ in range(10):
        left, _ = await driver.balance(seated_player)
        round_id = await driver.wait_for_open_round(seated_player)
        await driver.bet(seated_player, round_id, {"17": 500})
        spun, void = await asyncio.gather(
            driver.spin(seated_player, round_id), driver.void(seated_player.table_id, round_id), return_exceptions=True
        )
        lived = (await driver.rounds(seated_player, page_size=1))[0]
        if lived.round.state == types_pb2.ROUND_STATE_VOID:
            assert not isinstance(void, BaseException)
            assert await driver.balance(seated_player) == (left, 0)
            assert isinstance(spun, grpc.aio.AioRpcError) or spun.void_reason  # type: ignore[union-attr]
        else:
            assert not isinstance(spun, BaseException)
            assert isinstance(void, grpc.aio.AioRpcError)
            assert refusal_of(void).reason == "ROUND_DECIDED"
            assert await driver.balance(seated_player) == (left - 500 + lived.payout_cents, 0)


@pytest.mark.rule("804/2015:21", "807/2015:23")
@pytest.mark.guarantee("G1")
async def test_bets_on_their_way_into_a_void_round_are_refused_or_given_back(driver: RouletteDriver) -> None:
    table_id = await driver.new_table(window_ms=LONG_WINDOW_MS)
    guests = await driver.seat_new_players(table_id, 15)
    round_id = await driver.wait_for_open_round(guests[0])

    bets = [asyncio.create_task(driver.bet(seated_player, round_id, {"red": 100})) for seated_player in guests]
    await asyncio.sleep(0.005)
    await driver.void(table_id, round_id)
    answers = await asyncio.gather(*bets, return_exceptions=True)

    for seated_player, answer in zip(guests, answers, strict=True):
        assert await driver.balance(seated_player) == (CENTS, 0)
        if isinstance(answer, grpc.aio.AioRpcError):
            assert refusal_of(answer).reason == "BETTING_CLOSED"
            assert await driver.rounds(seated_player) == []
        else:
            assert (await driver.rounds(seated_player))[0].round.state == types_pb2.ROUND_STATE_VOID


async def test_the_player_who_launched_hears_why_the_round_is_void(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 500})
    await driver.void(seated_player.table_id, round_id, "the ball has left the wheel")

    spun = await driver.spin(seated_player, round_id)

    assert spun.void_reason == "the ball has left the wheel"
    assert not spun.HasField("outcome")
    assert (spun.staked_cents, spun.payout_cents, spun.balance.free_cents) == (500, 500, CENTS)


@pytest.mark.guarantee("G12")
async def test_only_the_operator_declares_a_round_void_and_says_why(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 500})
    request = table_pb2.VoidOpenRoundRequest(
        table_id=seated_player.table_id, round_id=round_id, reason="I feel like it"
    )

    by_player = await refusal(driver.roulette.tables.VoidOpenRound(request, metadata=driver.metadata_of(seated_player)))
    without_reason = await refusal(driver.void(seated_player.table_id, round_id, "  "))
    unknown = await refusal(driver.void(seated_player.table_id, f"{seated_player.table_id}.999"))

    assert (by_player.reason, by_player.facts) == ("SCOPE_MISSING", {"needed": "operator"})
    assert (without_reason.reason, without_reason.facts) == ("INVALID", {"field": "reason"})
    assert unknown.reason == "ROUND_DECIDED"
    assert await driver.balance(seated_player) == (CENTS - 500, 500)


@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
async def test_a_player_who_is_cut_off_while_the_ball_rolls_is_paid(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    watch = await driver.watch(seated_player.table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    async with driver.platform.roulette.client() as device:
        await device.bet(seated_player.player_id, seated_player.table_id, round_id, {"red": 500, "black": 500})
        launching = asyncio.create_task(device.spin(seated_player.player_id, seated_player.table_id, round_id))
        await asyncio.sleep(0.002)
        launching.cancel()
    if not (await driver.get_table(seated_player)).table.past_outcomes:
        # Cut off before the launch was heard: the bet stands, and he launches when he is back.
        await driver.spin(seated_player, round_id)
    await watch.wait_for("round_settled", round_id)

    (lived,) = await driver.rounds(seated_player)
    assert lived.round.state == types_pb2.ROUND_STATE_SETTLED
    assert (await driver.balance(seated_player))[0] == CENTS - 1000 + lived.payout_cents
    assert lived.payout_cents in {0, 1000}
    assert (await driver.session(seated_player)).session.state == session_pb2.SESSION_STATE_ACTIVE

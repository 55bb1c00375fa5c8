"""Void rounds: only where no number was drawn, and then all stakes are returned."""

from __future__ import annotations

import asyncio
import itertools

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import Refusal, refusal, refusal_of
from tests.service.roulette.lost_calls import LostAt, lose_call
from tests.service.roulette.platform import WHEEL_BY_REGULATION, RouletteDriver

CENTS = 100_000


@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.3.3", "GLI-19 A.6.4")
@pytest.mark.guarantee("G4")
async def test_a7_a_malfunction_before_the_draw_returns_every_stake(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    players = await driver.seat_new_players(table_id, 3)
    watcher = await driver.watch(table_id)
    round_id = await driver.wait_for_open_round(players[0])
    for seated_player, cents in zip(players, (500, 700, 300), strict=True):
        await driver.bet(seated_player, round_id, {"17": cents})

    await driver.void(table_id, round_id, "the wheel stands still")

    void = (await watcher.wait_for("round_voided", round_id)).round_voided
    assert (void.reason, void.phrase.pt) == (
        "the wheel stands still",
        "Ocorreu um erro; a jogada é nula e todas as apostas são devolvidas.",
    )
    assert "outcome_drawn" not in watcher.kinds(round_id)
    for seated_player, cents in zip(players, (500, 700, 300), strict=True):
        assert await driver.balance(seated_player) == (CENTS, 0)
        (player_round,) = await driver.rounds(seated_player)
        assert (player_round.round.state, player_round.round.void_reason) == (
            wallet_types.ROUND_STATE_VOID,
            "the wheel stands still",
        )
        assert not player_round.round.HasField("outcome")
        assert (player_round.staked_cents, player_round.payout_cents) == (cents, cents)
        assert (player_round.balance_before_cents, player_round.balance_after_cents) == (CENTS, CENTS)
        # Neither a win nor a loss.
        summary = (await driver.session(seated_player)).summary
        assert (summary.staked_cents, summary.payout_cents, summary.net_cents, summary.rounds) == (0, 0, 0, 0)
    # The next round opens.
    assert (
        await watcher.wait_for("round_opened", after=watcher.events[-1].seq - 1)
    ).round_opened.round.round_id != round_id


@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.guarantee("G6")
async def test_g6_a_drawn_round_cannot_become_void(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    spun = await driver.play(seated_player, {"17": 500})
    before = await driver.balance(seated_player)

    refused = await refusal(driver.void(seated_player.table_id, spun.round_id))

    assert refused == Refusal("ROUND_DECIDED", {"round_id": spun.round_id}, code=grpc.StatusCode.FAILED_PRECONDITION)
    assert await driver.balance(seated_player) == before
    (player_round,) = await driver.rounds(seated_player)
    assert player_round.round.state == wallet_types.ROUND_STATE_SETTLED


@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.guarantee("G4")
async def test_g4_a_spin_and_a_void_at_once_end_the_round_once(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    for _ in range(10):
        before, _ = await driver.balance(seated_player)
        round_id = await driver.wait_for_open_round(seated_player)
        await driver.bet(seated_player, round_id, {"17": 500})
        spun, void = await asyncio.gather(
            driver.spin(seated_player, round_id), driver.void(seated_player.table_id, round_id), return_exceptions=True
        )
        player_round = (await driver.rounds(seated_player, page_size=1))[0]
        if player_round.round.state == wallet_types.ROUND_STATE_VOID:
            assert not isinstance(void, BaseException)
            assert await driver.balance(seated_player) == (before, 0)
            assert isinstance(spun, grpc.aio.AioRpcError) or spun.void_reason  # type: ignore[union-attr]
        else:
            assert not isinstance(spun, BaseException)
            assert isinstance(void, grpc.aio.AioRpcError)
            assert refusal_of(void).reason == "ROUND_DECIDED"
            assert await driver.balance(seated_player) == (before - 500 + player_round.payout_cents, 0)


@pytest.mark.rule("804/2015:21", "807/2015:23")
@pytest.mark.guarantee("G1")
@pytest.mark.parametrize("answered", [0, 1, 8])
async def test_g1_bets_on_their_way_into_a_void_round_are_refused_or_returned(
    driver: RouletteDriver, answered: int
) -> None:
    table_id = await driver.new_table()
    players = await driver.seat_new_players(table_id, 15)
    round_id = await driver.wait_for_open_round(players[0])

    bets = [asyncio.create_task(driver.bet(seated_player, round_id, {"red": 100})) for seated_player in players]
    for first in itertools.islice(asyncio.as_completed(bets), answered):
        await first
    await driver.void(table_id, round_id)
    answers = await asyncio.gather(*bets, return_exceptions=True)

    for seated_player, answer in zip(players, answers, strict=True):
        assert await driver.balance(seated_player) == (CENTS, 0)
        if isinstance(answer, grpc.aio.AioRpcError):
            assert refusal_of(answer).reason == "BETTING_CLOSED"
            assert await driver.rounds(seated_player) == []
        else:
            assert (await driver.rounds(seated_player))[0].round.state == wallet_types.ROUND_STATE_VOID


async def test_a_spin_in_a_void_round_returns_the_reason(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 500})
    await driver.void(seated_player.table_id, round_id, "the ball has left the wheel")

    spun = await driver.spin(seated_player, round_id)

    assert spun.void_reason == "the ball has left the wheel"
    assert not spun.HasField("outcome")
    assert (spun.staked_cents, spun.payout_cents, spun.balance.free_cents) == (500, 500, CENTS)


@pytest.mark.guarantee("G12")
async def test_g12_only_the_operator_voids_a_round_and_gives_a_reason(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 500})
    request = table_pb2.VoidOpenRoundRequest(
        table_id=seated_player.table_id, round_id=round_id, reason="the wheel stands still"
    )

    by_player = await refusal(driver.roulette.tables.VoidOpenRound(request, metadata=driver.metadata_of(seated_player)))
    without_reason = await refusal(driver.void(seated_player.table_id, round_id, "  "))
    table_id = seated_player.table_id
    unknown = [
        await refusal(driver.void(table_id, round_id))
        for round_id in ("none", f"{table_id}.999", f"{table_id}.0", f"{table_id}.01", f"{table_id}.", "another.1")
    ]

    assert (by_player.reason, by_player.facts) == ("SCOPE_MISSING", {"needed": "operator"})
    assert (without_reason.reason, without_reason.facts) == ("INVALID", {"field": "reason"})
    assert {(each.reason, each.code) for each in unknown} == {("ROUND_UNKNOWN", grpc.StatusCode.NOT_FOUND)}
    assert await driver.balance(seated_player) == (CENTS - 500, 500)


@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("lost_at", LostAt)
async def test_g9_a_player_who_is_disconnected_during_the_spin_is_paid(
    driver: RouletteDriver, seated_player: SeatedPlayer, lost_at: LostAt
) -> None:
    watcher = await driver.watch(seated_player.table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    request = roulette_pb2.SpinRequest(table_id=seated_player.table_id, round_id=round_id)
    async with driver.platform.roulette.client() as device:
        await device.bet(seated_player.player_id, seated_player.table_id, round_id, {"red": 500, "black": 500})
        call = device.roulette.Spin(request, metadata=driver.metadata_of(seated_player))
        await lose_call(call, lost_at, lambda: watcher.wait_for("betting_closed", round_id))
    if lost_at is not LostAt.WHEN_IN_EFFECT:
        # The spin may not have arrived: the bet stands, and the player spins after reconnecting.
        await driver.spin(seated_player, round_id)
    await watcher.wait_for("round_settled", round_id)

    (player_round,) = await driver.rounds(seated_player)
    assert player_round.round.state == wallet_types.ROUND_STATE_SETTLED
    assert (await driver.balance(seated_player))[0] == CENTS - 1000 + player_round.payout_cents
    assert player_round.payout_cents in {0, 1000}
    assert (await driver.session(seated_player)).session.state == session_pb2.SESSION_STATE_ACTIVE

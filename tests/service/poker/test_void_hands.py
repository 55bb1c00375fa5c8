"""Hands that an operator declares void: everybody gets back what they have bet, and a decided hand stands."""

from __future__ import annotations

import grpc
import pytest

from tests.service.poker.platform import FOLD, MONEY_CENTS, RAISE, PokerDriver
from tests.service.refusals import refusal_of

REASON = "the cards were shown by mistake"


@pytest.mark.guarantee("G1", "G4", "G7")
@pytest.mark.rule("806/2015:72", "811/2015:72", "903-B/2015:6.3.3")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_hand_in_play_is_void_when_an_operator_says_so(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(5_000, 10_000, 5_000, regulation=regulation)
    table_id = players[0].table_id
    watcher = await driver.watch(table_id)
    playing = await driver.playing(table_id)
    by_seat = {player.seat: player for player in players}
    await driver.act(by_seat[playing.seat], playing, RAISE, 200)

    await driver.void(table_id, playing.round_id, REASON)

    assert await driver.caves(table_id) == {1: 5_000, 2: 10_000, 3: 5_000}
    ended = await driver.ended(players[0], playing.round_id)
    assert (ended.round.void_reason, ended.staked_cents, ended.payout_cents) == (REASON, 5_000, 5_000)
    assert not ended.round.HasField("outcome")
    void = (await watcher.wait_for("round_voided")).round_voided
    assert (void.round_id, void.reason) == (playing.round_id, REASON)
    assert void.phrase.pt
    # It counts for no session, and the next hand is dealt to all of them.
    assert (await driver.session(players[0])).summary.rounds == 0
    following = await driver.next_hand(table_id, playing.round_id)
    assert {seat.stack_cents + seat.bet_cents for seat in following.view.seats} == {5_000, 10_000}
    assert len(following.view.seats) == 3
    assert sum([await driver.balance(player) for player in players]) == 3 * MONEY_CENTS - 20_000


@pytest.mark.guarantee("G4", "G6")
@pytest.mark.rule("806/2015:72", "811/2015:72")
async def test_a_decided_hand_stands(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000)
    table_id = players[0].table_id
    playing = await driver.playing(table_id)
    await driver.act(players[playing.seat - 1], playing, FOLD)
    await driver.ended(players[0], playing.round_id)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.void(table_id, playing.round_id, REASON)

    assert refusal_of(refused.value).reason == "ROUND_DECIDED"
    assert sorted((await driver.caves(table_id)).values()) == [4_950, 5_050]

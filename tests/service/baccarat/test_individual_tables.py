"""Individual tables: the player starts the deal and sees the result at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.service.baccarat.platform import (
    ALONE,
    CENTS,
    INDIVIDUAL,
    BaccaratDriver,
    amounts,
    answer_of,
    expected_payout,
    unpack_outcome,
)
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal

BETS = {"ponto": 500, "banca": 1000, "tie": 100, "ponto-pair": 100, "banca-pair": 200}


@pytest.fixture
async def ana(driver: BaccaratDriver) -> SeatedPlayer:
    """A player at an individual table."""
    return await driver.seat_new_player(ALONE)


@pytest.mark.rule("812/2015:4", "812/2015:16", "812/2015:24", "812/2015:25", "812/2015:26.a", "812/2015:28")
async def test_the_player_starts_the_deal(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    assert not (await driver.get_table(ana)).table.round.HasField("closes_at")
    await driver.bet(ana, round_id, BETS)

    dealt = await driver.deal(ana, round_id)

    assert dealt.staked_cents == 1900
    assert dealt.payout_cents == expected_payout(dealt.outcome, BETS)
    for result in dealt.results.results:
        assert result.amount_cents == BETS[result.place]
        assert result.payout_cents == expected_payout(dealt.outcome, {result.place: BETS[result.place]})
    free_cents = CENTS - 1900 + dealt.payout_cents
    assert (dealt.balance.free_cents, dealt.balance.locked_cents) == await driver.balance(ana) == (free_cents, 0)
    assert dealt.next_round_id == await driver.wait_for_open_round(ana) != round_id


@pytest.mark.rule("812/2015:22", "812/2015:23", "812/2015:26.a")
@pytest.mark.guarantee("G1")
async def test_g1_the_balance_after_many_rounds_is_what_arithmetic_says(
    driver: BaccaratDriver, ana: SeatedPlayer
) -> None:
    free_cents, winners = CENTS, set()
    for _ in range(40):
        dealt = await driver.play(ana, BETS)
        winners.add(dealt.outcome.winner)
        free_cents += expected_payout(dealt.outcome, BETS) - 1900
        assert dealt.balance.free_cents == free_cents
    assert await driver.balance(ana) == (free_cents, 0)
    assert winners >= {baccarat_pb2.WINNER_PONTO, baccarat_pb2.WINNER_BANCA}


@pytest.mark.rule("812/2015:17")
@pytest.mark.guarantee("G6")
async def test_g6_the_cards_are_published_before_the_payout(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    watcher = await driver.watch(ana.table_id)
    dealt = await driver.play(ana, BETS)
    settled = (await watcher.wait_for("round_settled", dealt.round_id)).round_settled

    kinds = watcher.kinds(dealt.round_id)
    assert kinds[:3] == ["round_opened", "bets_placed", "betting_closed"]
    assert kinds.index("outcome_drawn") < kinds.index("round_settled")
    drawn = next(watcher.events_of("outcome_drawn", dealt.round_id)).outcome_drawn
    assert unpack_outcome(drawn.outcome) == dealt.outcome
    assert [(each.seat, each.staked_cents, each.payout_cents) for each in settled.results] == [
        (ana.seat, 1900, dealt.payout_cents)
    ]


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_deal_takes_effect_once(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, BETS)

    answers = await asyncio.gather(*(driver.deal(ana, round_id) for _ in range(5)))
    await driver.play(ana, BETS)
    later = await driver.deal(ana, round_id)

    assert {answer.SerializeToString() for answer in answers} == {answers[0].SerializeToString()}
    assert (later.outcome, later.payout_cents, later.results) == (
        answers[0].outcome,
        answers[0].payout_cents,
        answers[0].results,
    )
    # A stranger learns nothing of it.
    stranger = replace(await driver.seat_new_player(ALONE), table_id=ana.table_id)
    assert await answer_of(driver.deal(stranger, round_id)) == "TABLE_UNKNOWN"


async def test_a_deal_without_a_bet_is_refused(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    refused = await refusal(driver.deal(ana, round_id))
    assert (refused.reason, refused.facts) == ("NOTHING_STAKED", {"round_id": round_id})


@pytest.mark.rule("812/2015:31")
@pytest.mark.guarantee("G10")
async def test_g10_the_last_round_is_shown_and_replayed(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    dealt = await driver.play(ana, BETS)

    (last,) = await driver.rounds(ana)

    assert (last.staked_cents, last.payout_cents) == (1900, dealt.payout_cents)
    assert unpack_outcome(last.round.outcome) == dealt.outcome
    (stake,) = last.stakes
    results = baccarat_pb2.BetResults()
    assert stake.results.Unpack(results)
    assert results == dealt.results
    replayed = await driver.baccarat.replay(dealt.round_id)
    assert not replayed.differences
    assert unpack_outcome(replayed.round.outcome) == dealt.outcome


@pytest.mark.rule("812/2015:30", "GLI-19 4.16")
@pytest.mark.guarantee("G9")
async def test_g9_the_platform_deals_for_a_player_who_leaves_with_a_bet(
    driver: BaccaratDriver, ana: SeatedPlayer
) -> None:
    watcher = await driver.watch(ana.table_id)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, BETS)

    await driver.leave(ana)

    await watcher.wait_for("round_settled", round_id)
    (player_round,) = await driver.rounds(ana)
    assert player_round.payout_cents == expected_payout(unpack_outcome(player_round.round.outcome), BETS)
    assert player_round.round.draw_trigger == types_pb2.DRAW_TRIGGER_SESSION_ENDED
    assert await driver.balance(ana) == (CENTS - 1900 + player_round.payout_cents, 0)


@pytest.mark.rule("812/2015:32", "812/2015:33")
async def test_a_session_ends_with_what_was_staked_and_won(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    paid = [(await driver.play(ana, BETS)).payout_cents for _ in range(3)]
    await driver.leave(ana)
    summary = (await driver.session(ana)).summary
    assert (summary.staked_cents, summary.payout_cents, summary.rounds) == (3 * 1900, sum(paid), 3)
    assert summary.net_cents == sum(paid) - 3 * 1900


@pytest.mark.rule("812/2015:29")
@pytest.mark.guarantee("G4")
async def test_q8_a_malfunction_before_the_cards_are_drawn_returns_every_bet(
    driver: BaccaratDriver, ana: SeatedPlayer
) -> None:
    """A pair is returned like any other bet."""
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 1000, "ponto-pair": 100})

    await driver.void(ana.table_id, round_id, "the shoe has fallen")

    assert await driver.balance(ana) == (CENTS, 0)
    (player_round,) = await driver.rounds(ana)
    assert player_round.round.state == wallet_types.ROUND_STATE_VOID
    assert not player_round.round.HasField("outcome")
    dealt = await driver.deal(ana, round_id)
    assert (dealt.void_reason, dealt.payout_cents) == ("the shoe has fallen", 1100)
    assert not dealt.HasField("outcome")


@pytest.mark.rule("812/2015:29")
@pytest.mark.guarantee("G6")
async def test_g6_a_dealt_round_cannot_become_void(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    dealt = await driver.play(ana, BETS)
    before = await driver.balance(ana)
    assert await answer_of(driver.void(ana.table_id, dealt.round_id)) == "ROUND_DECIDED"
    assert await driver.balance(ana) == before


@pytest.mark.rule("812/2015:5")
async def test_every_player_has_an_individual_table(driver: BaccaratDriver) -> None:
    one, other = await driver.seat_new_players(ALONE, 2)
    assert one.table_id != other.table_id
    await driver.bet(one, await driver.wait_for_open_round(one), {"tie": 100})
    assert not (await driver.get_table(other)).table.bets
    refused = await refusal(driver.baccarat.roads(other.player_id, one.table_id))
    assert refused.reason == "TABLE_UNKNOWN"


@pytest.mark.rule("812/2015:26.b")
async def test_commission_on_one_score_is_charged_by_the_tables_rules(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table(
        play=INDIVIDUAL, rules={"commission": baccarat_pb2.COMMISSION_HALF_ON_SCORE, "half_scores": [6]}
    )
    player = await driver.seat_new_player(table_id)
    for _ in range(20):
        dealt = await driver.play(player, {"banca": 1000})
        (result,) = dealt.results.results
        banca_wins = dealt.outcome.winner == baccarat_pb2.WINNER_BANCA
        charged = 500 if banca_wins and dealt.outcome.banca_score == 6 else 0
        prize = 1000 - charged if banca_wins else 0
        assert (result.commission_cents, result.prize_cents) == (charged, prize)


@pytest.mark.rule("812/2015:37", "812/2015:38")
async def test_a_demonstration_is_played_with_credits_alone(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table(play=INDIVIDUAL, mode=wallet_types.MODE_DEMO)
    player = await driver.seat_new_player(table_id, 0)
    dealt = await driver.play(player, {"ponto": 500})
    assert dealt.balance.mode == wallet_types.MODE_DEMO
    assert dealt.payout_cents == expected_payout(dealt.outcome, {"ponto": 500})


@pytest.mark.rule("812/2015:9", "812/2015:10", "812/2015:15.a", "812/2015:15.b", "812/2015:15.c")
async def test_the_layout_says_what_may_be_bet(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    request = baccarat_pb2.GetLayoutRequest(table_id=ana.table_id)
    layout = await driver.baccarat.baccarat.GetLayout(request, metadata=driver.baccarat.player(ana.player_id))
    maxima = {chance.place: chance.maximum_cents for chance in layout.chances}
    assert maxima == {"ponto": 7000, "banca": 7000, "tie": 1500, "ponto-pair": 800, "banca-pair": 800}
    # All of it at once, but for the difference of ponto and banca.
    placed = await driver.bet(ana, await driver.wait_for_open_round(ana), maxima | {"banca": 6900})
    assert amounts(placed.on_felt) == maxima | {"banca": 6900}

"""Information for players: the pace of the deal, the bank's latest results, void rounds, and session summaries."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from tests.service.blackjack.platform import ALONE, BlackjackDriver
from tests.service.blackjack.test_tables_for_many import deal_to, play_out
from tests.service.game_driver import unpacked
from tests.service.refusals import refusal

DEALING_MS, DECISION_MS = 5_000, 3_000


@pytest.mark.rule("805/2015:3", "805/2015:14", "903-B/2015:6.1.4")
async def test_cards_take_their_time_and_the_clock_of_a_decision_begins_when_they_lie(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table(dealing_ms=DEALING_MS, decision_ms=DECISION_MS)
    player = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    while True:
        round_id = await deal_to(driver, [player])
        playing = await driver.playing(player, round_id)
        if playing is not None and not playing.view.offers:
            break
        await driver.blackjack.advance_tables(60)

    dealt = (await watcher.wait_for("round_dealt", round_id)).round_dealt
    at = next(watcher.events_of("round_dealt", round_id)).at.ToDatetime(UTC)
    shown_at, decide_by = dealt.shown_at.ToDatetime(UTC), dealt.turn.decide_by.ToDatetime(UTC)
    # Two cards for the player and two for the bank, dealt from a moment before the event on: not as long as a card.
    assert timedelta(milliseconds=3 * DEALING_MS) < shown_at - at <= timedelta(milliseconds=4 * DEALING_MS)
    assert decide_by - shown_at == timedelta(milliseconds=DECISION_MS)
    # The time of the decision and that of the deal: then the default is taken.
    await driver.blackjack.advance_tables((4 * DEALING_MS + DECISION_MS) / 1000)
    made = (await watcher.wait_for("move_made", round_id)).move_made
    assert made.acted_by == types_pb2.ACTED_BY_CLOCK


@pytest.mark.rule("805/2015:4.c", "805/2015:31")
async def test_the_table_shows_the_banks_latest_results(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    player = await driver.seat_new_player(table_id)
    played = []
    for _ in range(3):
        round_id = await deal_to(driver, [player])
        await play_out(driver, [player], round_id)
        played.append(round_id)
    await driver.wait_for_open_round(player)

    past = (await driver.get_table(player)).table.past_outcomes
    assert [each.round_id for each in past] == played[::-1]
    recorded = [each.round.outcome for each in (await driver.blackjack.rounds(player.player_id)).rounds]
    assert [each.outcome for each in past] == recorded
    for each in past:
        bank = unpacked(each.outcome, blackjack_pb2.Outcome()).bank
        assert bank.score or bank.cards


@pytest.mark.rule("805/2015:28")
@pytest.mark.guarantee("G4")
async def test_g4_before_the_deal_a_round_may_be_void_and_bets_come_back_and_after_it_the_hand_counts(
    driver: BlackjackDriver,
) -> None:
    player = await driver.seat_new_player(ALONE)
    round_id = await driver.wait_for_open_round(player)
    await driver.bet(player, round_id, "1", 1000)
    before = await driver.balance(player)
    void = table_pb2.VoidOpenRoundRequest(table_id=player.table_id, round_id=round_id, reason="the cards are changed")
    await driver.blackjack.tables.VoidOpenRound(void, metadata=driver.blackjack.operator)
    settled = await driver.ended(player, round_id)
    assert settled.round.void_reason == "the cards are changed"
    assert await driver.balance(player) == (before[0] + 1000, 0)

    playing = await driver.deal_until(player, lambda playing: playing.costs("STAND"), {"1": 1000})
    void.round_id = playing.round_id
    refused = await refusal(driver.blackjack.tables.VoidOpenRound(void, metadata=driver.blackjack.operator))
    assert refused.reason == "ROUND_DECIDED"
    assert not (await driver.finish(player, playing.round_id)).round.void_reason


@pytest.mark.rule("805/2015:2.g", "805/2015:33", "805/2015:34")
async def test_a_session_ends_with_the_sum_of_its_hands(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    rounds = [await driver.finish(player, await driver.deal(player, {"1": 1000})) for _ in range(3)]

    summary = (await driver.leave(player)).summary

    assert summary.rounds == 3
    assert summary.staked_cents == sum(each.staked_cents for each in rounds)
    assert summary.payout_cents == sum(each.payout_cents for each in rounds)
    assert summary.net_cents == summary.payout_cents - summary.staked_cents


@pytest.mark.rule("805/2015:32", "805/2015:P.4", "903-B/2015:6.1.6")
@pytest.mark.parametrize(
    ("language", "begins"), [("pt", "# Mesa: regras do jogo"), ("en", "# Table: rules of the game")]
)
async def test_the_rules_of_a_table_are_read_without_playing(
    driver: BlackjackDriver, language: str, begins: str
) -> None:
    request = table_pb2.GetRulesRequest(table_id=ALONE, language=language)
    rules = await driver.blackjack.tables.GetRules(request)
    assert rules.text.startswith(begins)
    assert "805/2015" in rules.text

"""A hand at an individual table: the player has the cards dealt, decides without a clock, and is paid at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from tests.service.blackjack.platform import ALONE, ALONE_ON_SEVEN, EVERY_PLACE, ROUNDS_LIMIT, BlackjackDriver, Playing
from tests.service.game_driver import unpacked
from tests.service.refusals import refusal

CENTS = 100_000_000
SEVEN_BETS = dict.fromkeys(EVERY_PLACE, 1000)
MULTIPLES = {0, 1, 2, 3, 4, 5, 2.5, 0.5}


@pytest.mark.rule(
    "805/2015:2.f", "805/2015:5", "805/2015:13", "805/2015:14", "805/2015:17", "805/2015:26", "805/2015:31"
)
@pytest.mark.guarantee("G5")
async def test_g5_a_hand_is_dealt_decided_and_paid_and_told_in_that_order(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    watcher = await driver.watch(player.table_id)

    def may_stand_as_dealt(playing: Playing) -> object:
        return playing.costs("STAND") and len(playing.view.hands[0].cards) == 2

    playing = await driver.deal_until(player, may_stand_as_dealt, {"1": 1000})
    # Without a clock: there is only the deadline of the open hand.
    deadline = (await driver.get_table(player)).table.round.turn.decide_by
    opened = (await watcher.wait_for("round_opened", playing.round_id)).at
    assert deadline.ToSeconds() - opened.ToSeconds() > 23 * 3600
    free_before, locked = await driver.balance(player)
    assert locked == 1000
    # Two cards each, the bank's second face down.
    assert [len(hand.cards) for hand in playing.view.hands] == [2]
    assert playing.view.bank.cards[1] == ""

    acted = await driver.act(player, playing, "STAND", 1)

    assert (acted.round_id, acted.staked_cents, acted.stake_id) == (playing.round_id, 0, "")
    settled = await driver.ended(player, playing.round_id)
    outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
    assert len(outcome.bank.cards) >= 2
    assert "" not in outcome.bank.cards
    assert settled.payout_cents == sum(result.payout_cents for result in outcome.results)
    assert await driver.balance(player) == (free_before + settled.payout_cents, 0)
    await watcher.wait_for("round_settled", playing.round_id)
    kinds = watcher.kinds(playing.round_id)
    assert kinds[:4] == ["round_opened", "bets_placed", "betting_closed", "round_dealt"]
    assert kinds[-3:] == ["move_made", "outcome_drawn", "round_settled"]
    drawn = next(watcher.events_of("outcome_drawn", playing.round_id)).outcome_drawn
    assert unpacked(drawn.outcome, blackjack_pb2.Outcome()) == outcome
    assert drawn.draw_trigger == types_pb2.DRAW_TRIGGER_PLAYER


@pytest.mark.guarantee("G1")
async def test_g1_the_balance_after_many_rounds_is_what_the_records_say(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    free_cents = CENTS
    for _ in range(10):
        settled = await driver.finish(player, await driver.deal(player, SEVEN_BETS))
        outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
        assert settled.staked_cents == 7000
        assert settled.payout_cents == sum(result.payout_cents for result in outcome.results)
        assert {result.payout_cents / result.amount_cents for result in outcome.results} <= MULTIPLES
        assert settled.balance_after_cents - settled.balance_before_cents == settled.payout_cents - 7000
        free_cents += settled.payout_cents - 7000
    assert await driver.balance(player) == (free_cents, 0)


@pytest.mark.rule("805/2015:13", "903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_deal_deals_once(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    round_id = await driver.wait_for_open_round(player)
    refused = await refusal(driver.blackjack.deal(player.player_id, player.table_id, round_id))
    assert (refused.reason, refused.facts) == ("NOTHING_STAKED", {"round_id": round_id})
    await driver.bet(player, round_id, "1", 1000)

    deals = (driver.blackjack.deal(player.player_id, player.table_id, round_id) for _ in range(4))
    answers = await asyncio.gather(*deals)
    await driver.finish(player, round_id)
    answers.append(await driver.blackjack.deal(player.player_id, player.table_id, round_id))

    assert {answer.round_id for answer in answers} == {round_id}
    assert {answer.void_reason for answer in answers} == {""}
    assert {answer.staked_cents for answer in answers} == {1000}


@pytest.mark.rule("805/2015:15.b", "805/2015:21", "805/2015:24")
@pytest.mark.guarantee("G3")
async def test_g3_a_double_and_a_split_are_staked_before_they_take_effect_and_once(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    for decision, name in (("DOUBLE", ".1.double"), ("SPLIT", ".2")):

        def wanted(playing: Playing, decision: str = decision) -> object:
            return playing.costs(decision)

        playing = await driver.deal_until(player, wanted, SEVEN_BETS)
        ((place, cost_cents),) = playing.costs(decision)
        assert cost_cents == 1000
        free_cents, locked_cents = await driver.balance(player)

        answers = await asyncio.gather(
            *(driver.act(player, playing, decision, place, request_id=f"once-{playing.round_id}") for _ in range(3))
        )
        assert {answer.SerializeToString() for answer in answers} == {answers[0].SerializeToString()}
        assert answers[0].staked_cents == 1000

        settled = await driver.finish(player, playing.round_id)
        made = [stake for stake in settled.stakes if stake.stake_id == answers[0].stake_id]
        assert [stake.amount_cents for stake in made] == [1000]
        assert [bet.place for bet in unpacked(made[0].bets, blackjack_pb2.Bets()).bets] == [f"{place}{name}"]
        balance = await driver.balance(player)
        paid_later = balance[0] - (free_cents - 1000)
        assert balance[1] == 0
        assert paid_later <= settled.payout_cents
        assert locked_cents >= 1000
        # Repeated after the round, the command has its first answer.
        again = await driver.act(player, playing, decision, place, request_id=f"once-{playing.round_id}")
        assert again == answers[0]


@pytest.mark.rule("805/2015:15.f", "805/2015:25.f", "805/2015:25.g", "805/2015:16.d")
async def test_an_insurance_is_staked_and_wins_twice_its_amount_or_is_lost(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    playing = await driver.deal_until(player, lambda playing: playing.costs("INSURE"), SEVEN_BETS)
    place, most_cents = playing.costs("INSURE")[0]
    assert most_cents == 500
    for cents in (502, 501, 0):
        refused = await refusal(driver.act(player, playing, "INSURE", place, cents))
        assert (refused.reason, refused.facts["limit_cents"]) == ("INSURANCE_REFUSED", "500")
    _, locked_cents = await driver.balance(player)

    acted = await driver.act(player, playing, "INSURE", place, 300)

    assert acted.staked_cents == 300
    assert (await driver.balance(player))[1] == locked_cents + 300
    outcome = unpacked((await driver.finish(player, playing.round_id)).round.outcome, blackjack_pb2.Outcome())
    (insured,) = [result for result in outcome.results if result.place == f"{place}.insurance"]
    assert (insured.amount_cents, insured.payout_cents) == (300, 900 if outcome.bank.blackjack else 0)
    (offer,) = [offer for offer in outcome.offers if offer.place == place]
    assert (offer.insurance_cents, offer.taken) == (300, True)


@pytest.mark.rule("805/2015:20.a", "805/2015:15.e")
async def test_what_is_decided_for_good_is_paid_while_other_hands_are_played(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    watcher = await driver.watch(player.table_id)
    playing = await driver.deal_until(
        player,
        # Blackjacks are paid in the moments after the deal, and would be counted with what is paid here.
        lambda playing: (
            playing.costs("GIVE_UP")
            and playing.costs("GIVE_UP")[0][0] < 7
            and not any(hand.blackjack for hand in playing.view.hands)
        ),
        SEVEN_BETS,
    )
    free_cents, locked_cents = await driver.balance(player)
    ((place, _),) = playing.costs("GIVE_UP")

    await driver.act(player, playing, "GIVE_UP", place)

    # Half of the bet is back, the other half is lost, and the round goes on if other hands are left to play.
    paid = (await watcher.wait_for("move_made", playing.round_id)).move_made
    if paid.HasField("turn"):
        await watcher.wait_for("stakes_paid", playing.round_id)
        assert await driver.balance(player) == (free_cents + 500, locked_cents - 1000)
    settled = await driver.finish(player, playing.round_id)
    outcome = unpacked(settled.round.outcome, blackjack_pb2.Outcome())
    assert [result.payout_cents for result in outcome.results if result.place == str(place)] == [500]
    assert settled.payout_cents == sum(result.payout_cents for result in outcome.results)


@pytest.mark.rule("805/2015:20.a")
async def test_a_blackjack_against_2_to_9_is_paid_at_the_deal(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    watcher = await driver.watch(player.table_id)

    def has_paid_hand(playing: Playing) -> bool:
        return any(hand.state == blackjack_pb2.HAND_STATE_PAID for hand in playing.view.hands)

    playing = await driver.deal_until(player, has_paid_hand, SEVEN_BETS)

    paid = (await watcher.wait_for("stakes_paid", playing.round_id)).stakes_paid
    hands = [hand for hand in playing.view.hands if hand.state == blackjack_pb2.HAND_STATE_PAID]
    assert all(hand.blackjack for hand in hands)
    assert [(result.seat, result.payout_cents) for result in paid.results] == [(player.seat, 2500 * len(hands))]
    await driver.finish(player, playing.round_id)


@pytest.mark.rule("805/2015:15.b", "805/2015:24")
async def test_a_decision_that_the_money_does_not_pay_for_is_not_offered_and_changes_nothing(
    driver: BlackjackDriver,
) -> None:
    rich = await driver.seat_new_player(ALONE)
    for _ in range(ROUNDS_LIMIT):
        # Just the bet, and less than that beside it.
        player = await driver.seat_new_player(ALONE, cents=1800)
        playing = await driver.playing(player, await driver.deal(player, {"1": 1000}))
        if playing is None or playing.view.hands[0].score not in {9, 10, 11} or playing.costs("DECLINE"):
            continue
        assert not playing.costs("DOUBLE")
        refused = await refusal(driver.act(player, playing, "DOUBLE", 1))
        assert (refused.domain, refused.reason) == ("wallet.feltro", "INSUFFICIENT_FUNDS")
        assert await driver.playing(player, playing.round_id) == playing
        assert await driver.balance(player) == (800, 1000)
        await driver.finish(player, playing.round_id)
        break
    else:
        raise AssertionError(f"no hand of 9, 10 or 11 in {ROUNDS_LIMIT} rounds")
    assert await driver.balance(rich) == (CENTS, 0)


@pytest.mark.rule("805/2015:15", "805/2015:24")
@pytest.mark.guarantee("G12")
async def test_g12_what_is_late_wrong_or_anothers_is_refused_and_changes_nothing(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    playing = await driver.deal_until(
        player, lambda playing: playing.costs("DRAW") and playing.view.hands[0].score < 9, {"1": 1000}
    )

    refused = await refusal(driver.act(player, playing, "STAND", 1))
    assert (refused.reason, refused.facts["decision"], refused.facts["rule"]) == (
        "DECISION_ILLEGAL",
        "DECISION_STAND",
        "805/2015:15.a",
    )
    assert "DECISION_DRAW" in refused.facts["legal"].split(", ")
    later = replace(playing, turn=playing.turn + 1)
    refused = await refusal(driver.act(player, later, "DRAW", 1))
    assert (refused.reason, refused.facts["current_turn"]) == ("TURN_OVER", str(playing.turn))
    assert await driver.playing(player, playing.round_id) == playing

    request_id = f"draw-{playing.round_id}"
    await driver.act(player, playing, "DRAW", 1, request_id=request_id)
    refused = await refusal(driver.act(player, playing, "GIVE_UP", 1, request_id=request_id))
    assert refused.reason == "REQUEST_REUSED"
    refused = await refusal(driver.act(player, playing, "DRAW", 1))
    assert refused.reason == "TURN_OVER"
    settled = await driver.finish(player, playing.round_id)
    refused = await refusal(driver.act(player, playing, "DRAW", 1))
    assert (refused.reason, refused.facts["current_turn"]) == ("TURN_OVER", "0")
    assert [move.position for move in settled.moves] == list(range(1, len(settled.moves) + 1))


@pytest.mark.rule("805/2015:29", "805/2015:30", "805/2015:35.a", "903-B/2015:6.3.2")
@pytest.mark.guarantee("G9")
async def test_g9_a_hand_stays_open_for_a_player_who_comes_back(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    playing = await driver.deal_until(player, lambda playing: playing.costs("STAND"), {"1": 1000})
    await driver.blackjack.advance_tables(3600)
    assert (await driver.balance(player))[1] == 1000

    back = await driver.seat(player.player_id, ALONE)
    again = await driver.playing(back, playing.round_id)

    assert again is not None
    assert again.view == playing.view
    assert again.options == playing.options
    await driver.act(back, again, "STAND", 1)
    settled = await driver.ended(back, playing.round_id)
    assert settled.moves[-1].acted_by == types_pb2.ACTED_BY_PLAYER


@pytest.mark.rule("805/2015:29", "903-B/2015:6.3.2")
async def test_at_the_published_deadline_the_defaults_are_taken(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    playing = await driver.deal_until(player, lambda playing: playing.costs("STAND"), {"1": 1000})

    await driver.blackjack.advance_tables(24 * 3600)

    settled = await driver.ended(player, playing.round_id)
    (move,) = [move for move in settled.moves if move.acted_by == types_pb2.ACTED_BY_CLOCK]
    assert unpacked(move.move, blackjack_pb2.Move()).decision == blackjack_pb2.DECISION_STAND


async def test_bets_lie_on_places_and_are_taken_back(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE_ON_SEVEN)
    round_id = await driver.wait_for_open_round(player)
    for place, cents, reason in (
        ("8", 1000, "PLACE_UNKNOWN"),
        ("3.2", 1000, "PLACE_UNKNOWN"),
        ("3", 498, "BELOW_MINIMUM"),
        ("3", 501, "OFF_STEP"),
        ("3", 50_002, "ABOVE_MAXIMUM"),
    ):
        assert (await refusal(driver.bet(player, round_id, place, cents))).reason == reason
    placed = await driver.bet(player, round_id, "3", 1000)
    added = await driver.bet(player, round_id, "3", 600)
    assert [(bet.place, bet.amount_cents) for bet in added.on_felt.bets] == [("3", 1600)]
    request = blackjack_pb2.CancelBetsRequest(
        request_id=f"cancel-{round_id}",
        table_id=player.table_id,
        round_id=round_id,
        bets=[blackjack_pb2.Bet(place="3", amount_cents=1000)],
    )
    cancelled = await driver.blackjack.blackjack.CancelBets(request, metadata=driver.blackjack.player(player.player_id))
    assert list(cancelled.cancelled_stake_ids) == [added.stake.stake_id]
    assert [(part.stake_id, part.amount_cents) for part in cancelled.reduced_stakes] == [(placed.stake.stake_id, 600)]
    await driver.blackjack.deal(player.player_id, player.table_id, round_id)
    settled = await driver.finish(player, round_id)
    assert settled.staked_cents >= 600
    assert len(settled.cancelled_stakes) == 2


async def test_the_layout_shows_the_tables_options(driver: BlackjackDriver) -> None:
    request = blackjack_pb2.GetLayoutRequest(table_id=ALONE_ON_SEVEN)
    layout = await driver.blackjack.blackjack.GetLayout(request, metadata=driver.blackjack.operator)
    assert (layout.rules.packs, layout.rules.places, layout.rules.places_per_player) == (6, 7, 7)
    assert (layout.rules.minimum_cents, layout.rules.maximum_cents, layout.rules.step_cents) == (500, 50_000, 2)

"""Tables for many: one result for all, the limits of Macau over the whole table, and the roads."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta

import grpc
import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.roads import ROWS
from tests.processes.baccarat import PRIZE_CAP_CENTS, configuration
from tests.service.baccarat.platform import (
    CENTS,
    INDIVIDUAL,
    WINDOW_MS,
    BaccaratDriver,
    amounts,
    answer_of,
    expected_payout,
    unpack_outcome,
)
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal


@pytest.mark.rule("812/2015:3", "812/2015:4", "812/2015:5", "812/2015:27")
async def test_one_round_binds_everybody(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table()
    watcher = await driver.watch(table_id)
    players = await driver.seat_new_players(table_id, 3)
    round_id = await driver.wait_for_open_round(players[0])
    shown = (await driver.get_table(players[0])).table.round
    window = shown.closes_at.ToDatetime(UTC) - shown.opened_at.ToDatetime(UTC)
    assert window.total_seconds() * 1000 >= WINDOW_MS
    opened = (await watcher.wait_for("round_opened", round_id)).round_opened
    assert opened.phrase.pt
    placed = [{"ponto": 500}, {"banca": 1000, "tie": 100}, {"banca-pair": 200}]
    await asyncio.gather(*(driver.bet(player, round_id, bets) for player, bets in zip(players, placed, strict=True)))
    # No player starts the deal here.
    assert await answer_of(driver.deal(players[0], round_id)) == "WRONG_PLAY"

    await driver.end_betting()

    closed = (await watcher.wait_for("betting_closed", round_id)).betting_closed
    assert closed.phrase.pt
    outcome = unpack_outcome((await watcher.wait_for("outcome_drawn", round_id)).outcome_drawn.outcome)
    await watcher.wait_for("round_settled", round_id)
    for player, bets in zip(players, placed, strict=True):
        (own,) = await driver.rounds(player)
        assert unpack_outcome(own.round.outcome) == outcome
        assert own.payout_cents == expected_payout(outcome, bets)
        assert await driver.balance(player) == (CENTS - sum(bets.values()) + own.payout_cents, 0)
    assert await answer_of(driver.bet(players[0], round_id, {"ponto": 100})) == "BETTING_CLOSED"


@pytest.mark.rule("812/2015:30")
@pytest.mark.guarantee("G9")
async def test_q9_a_player_who_is_gone_is_paid(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table()
    watcher = await driver.watch(table_id)
    ana, rui = await driver.seat_new_players(table_id, 2)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"banca": 1000})
    await driver.bet(rui, round_id, {"ponto": 500})
    await driver.leave(ana)
    await driver.end_betting()
    await watcher.wait_for("round_settled", round_id)
    (own,) = await driver.rounds(ana)
    assert own.round.state == wallet_types.ROUND_STATE_SETTLED
    assert own.payout_cents == expected_payout(unpack_outcome(own.round.outcome), {"banca": 1000})
    assert await driver.balance(ana) == (CENTS - 1000 + own.payout_cents, 0)


@pytest.mark.rule("812/2015:6.a")
async def test_a_table_has_nine_places_at_most(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table()
    players = await driver.seat_new_players(table_id, 9)
    assert sorted(player.seat for player in players) == list(range(1, 10))
    assert await answer_of(driver.seat_new_player(table_id)) == "TABLE_FULL"


@pytest.mark.rule("812/2015:6.b", "812/2015:26", "812/2015:P.2", "812/2015:P.3")
@pytest.mark.guarantee("G12")
async def test_q11_rules_beyond_the_regulation_are_refused_with_the_rule(driver: BaccaratDriver) -> None:
    for rules, rule in (({"packs": 7}, "6.b"), ({"places": 10}, "6.a"), ({"commission": 0}, "26")):
        refused = await refusal(driver.baccarat.configure(driver.unique_name("table"), configuration(rules=rules)))
        assert (refused.reason, refused.facts.get("rule")) in {
            ("RULE_VIOLATED", f"812/2015:{rule}"),
            # The contract's own bound.
            ("INVALID", None),
        }
    # One stake could get back more than the wallet pays.
    large = configuration(macau=True, rules={"player_maximum_cents": 100_000_000})
    refused = await refusal(driver.baccarat.configure(driver.unique_name("table"), large))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "configuration.rules"})
    unapproved = table_pb2.ConfigureTableRequest(
        request_id=driver.unique_name("request"), table_id=driver.unique_name("table"), configuration=configuration()
    )
    call = driver.baccarat.tables.ConfigureTable(unapproved, metadata=driver.baccarat.operator)
    assert (await refusal(call)).reason in {"RULE_VIOLATED", "INVALID"}


@pytest.mark.rule("812/2015:P.1", "812/2015:P.4", "812/2015:32")
async def test_the_rules_are_published_to_everybody(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table(macau=True)
    for language, words in (("pt", "Limites de toda a mesa"), ("en", "Limits of the whole table")):
        request = table_pb2.GetRulesRequest(table_id=table_id, language=language)
        answer = await driver.baccarat.tables.GetRules(request)
        assert words in answer.text
        assert "812/2015" in answer.text


# -- Macau -------------------------------------------------------------------------------------------------------------


async def macau_table(driver: BaccaratDriver, players: int, cents: int = CENTS) -> list[SeatedPlayer]:
    return await driver.seat_new_players(await driver.new_table(macau=True), players, cents)


async def on_felt_of_all(driver: BaccaratDriver, player: SeatedPlayer) -> dict[str, int]:
    """What all players have on the felt."""
    found: dict[str, int] = {}
    for of_seat in (await driver.get_table(player)).table.bets:
        bets = baccarat_pb2.Bets()
        assert of_seat.bets.Unpack(bets)
        for place, cents in amounts(bets).items():
            found[place] = found.get(place, 0) + cents
    return found


def verify_within_cap(bets: dict[str, int]) -> None:
    """Rule 43, in its own words."""
    assert abs(bets.get("ponto", 0) - bets.get("banca", 0)) <= PRIZE_CAP_CENTS, bets
    assert bets.get("tie", 0) * 10 <= PRIZE_CAP_CENTS, bets
    assert (bets.get("ponto-pair", 0) + bets.get("banca-pair", 0)) * 100 <= 8 * PRIZE_CAP_CENTS, bets


@pytest.mark.rule("812/2015:39", "812/2015:40", "812/2015:41", "812/2015:42", "812/2015:43", "812/2015:43.a")
async def test_q4_the_balance_of_all_players_stays_within_the_cap(driver: BaccaratDriver) -> None:
    ana, rui = await macau_table(driver, 2)
    round_id = await driver.wait_for_open_round(ana)
    # Far above 70 times the minimum (40); the counterweight of another makes room.
    await driver.bet(ana, round_id, {"ponto": 100_000})
    refused = await refusal(driver.bet(ana, round_id, {"ponto": 100}))
    assert (refused.reason, refused.facts) == (
        "ABOVE_TABLE_LIMIT",
        {"limit_cents": str(PRIZE_CAP_CENTS), "rule": "812/2015:43.a"},
    )
    await driver.bet(rui, round_id, {"banca": 50_000})
    await driver.bet(ana, round_id, {"ponto": 50_000})
    assert await answer_of(driver.bet(ana, round_id, {"ponto": 100})) == "ABOVE_TABLE_LIMIT"


@pytest.mark.rule("812/2015:43.b", "812/2015:43.c")
async def test_q5_ties_and_pairs_stay_within_their_shares(driver: BaccaratDriver) -> None:
    ana, rui = await macau_table(driver, 2)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"tie": 6_000, "ponto-pair": 4_000})
    await driver.bet(rui, round_id, {"tie": 4_000, "banca-pair": 4_000})
    for bets, rule in (({"tie": 100}, "812/2015:43.b"), ({"banca-pair": 100}, "812/2015:43.c")):
        refused = await refusal(driver.bet(ana, round_id, bets))
        assert (refused.reason, refused.facts["rule"]) == ("ABOVE_TABLE_LIMIT", rule)


@pytest.mark.rule("812/2015:43.a")
async def test_q6_what_others_lean_on_cannot_be_taken_back(driver: BaccaratDriver) -> None:
    ana, rui = await macau_table(driver, 2)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(rui, round_id, {"banca": 60_000})
    await driver.bet(ana, round_id, {"ponto": 150_000})

    refused = await refusal(driver.cancel_bets(rui, round_id, {"banca": 20_000}))
    assert (refused.reason, refused.facts["rule"]) == ("ABOVE_TABLE_LIMIT", "812/2015:43.a")
    assert await answer_of(driver.cancel_bets(rui, round_id)) == "ABOVE_TABLE_LIMIT"
    await driver.cancel_bets(rui, round_id, {"banca": 10_000})
    await driver.cancel_bets(ana, round_id)
    await driver.cancel_bets(rui, round_id)


@pytest.mark.rule("812/2015:40")
async def test_a_player_may_bet_what_the_platform_takes_and_no_more(driver: BaccaratDriver) -> None:
    (ana,) = await macau_table(driver, 1)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 540_000, "banca": 450_000})
    refused = await refusal(driver.bet(ana, round_id, {"banca": 20_000}))
    assert (refused.reason, refused.facts) == (
        "ABOVE_TOTAL",
        {"amount_cents": "1010000", "maximum_cents": "1000000", "rule": "812/2015:40"},
    )


@pytest.mark.rule("812/2015:13", "812/2015:39")
async def test_q7_the_difference_binds_in_macau_too(driver: BaccaratDriver) -> None:
    (ana,) = await macau_table(driver, 1)
    round_id = await driver.wait_for_open_round(ana)
    assert await answer_of(driver.bet(ana, round_id, {"ponto": 50_000, "banca": 49_940})) == "BETS_TOO_CLOSE"


@pytest.mark.rule("812/2015:43.a")
@pytest.mark.guarantee("G2", "G12")
async def test_nobody_leans_on_a_bet_that_the_wallet_may_refuse(driver: BaccaratDriver) -> None:
    """A counterweight is none before it counts, and a bet under way counts against the other side."""
    table_id = (ana := (await macau_table(driver, 1))[0]).table_id
    poor = await driver.seat_new_player(table_id, 5_000)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 100_000})

    answers = await driver.sent_at_once(
        ana,
        answer_of(driver.bet(poor, round_id, {"banca": 60_000})),
        answer_of(driver.bet(ana, round_id, {"ponto": 50_000})),
    )
    assert answers == ["INSUFFICIENT_FUNDS", "ABOVE_TABLE_LIMIT"]
    verify_within_cap(await on_felt_of_all(driver, ana))

    rui = await driver.seat_new_player(table_id)
    await driver.bet(rui, round_id, {"banca": 60_000})
    # What is being taken back may go: nobody may lean on it any more.
    answers = await driver.sent_at_once(
        ana,
        answer_of(driver.cancel_bets(rui, round_id, {"banca": 60_000})),
        answer_of(driver.bet(ana, round_id, {"ponto": 100})),
    )
    assert answers == ["", "ABOVE_TABLE_LIMIT"]
    # Nor may two be taken back that only one of may go.
    await driver.cancel_bets(ana, round_id)
    await driver.bet(rui, round_id, {"banca": 60_000})
    other = await driver.seat_new_player(table_id)
    await driver.bet(other, round_id, {"banca": 60_000, "ponto": 20_000})
    await driver.bet(ana, round_id, {"ponto": 150_000})
    answers = await driver.sent_at_once(
        ana,
        answer_of(driver.cancel_bets(rui, round_id, {"banca": 50_000})),
        answer_of(driver.cancel_bets(other, round_id, {"banca": 30_000})),
    )
    assert answers == ["", "ABOVE_TABLE_LIMIT"]
    verify_within_cap(await on_felt_of_all(driver, ana))


@pytest.mark.rule("812/2015:43", "812/2015:43.a", "812/2015:43.b", "812/2015:43.c")
@pytest.mark.guarantee("G2", "G12")
async def test_the_caps_hold_at_every_moment_under_refusals_and_removals(driver: BaccaratDriver) -> None:
    """Some players have no money for what they ask, others take back: no sum that counts ever passes its limit."""
    rich = await macau_table(driver, 5)
    poor = [await driver.seat_new_player(rich[0].table_id, 40_000) for _ in range(4)]
    watcher = await driver.watch(rich[0].table_id)
    round_id = await driver.wait_for_open_round(rich[0])

    async def bet_on(player: SeatedPlayer, side: str, cents: int) -> None:
        for number in range(6):
            await answer_of(driver.bet(player, round_id, {side: cents, "tie": 1_000}))
            await answer_of(driver.bet(player, round_id, {side: cents}))
            if number % 2:
                await answer_of(driver.cancel_bets(player, round_id, {side: cents}))

    await asyncio.gather(
        *(bet_on(player, side, 30_000) for player, side in zip(rich, ("ponto", "banca") * 3, strict=False)),
        # The counterweights that the wallet refuses.
        *(bet_on(player, side, 60_000) for player, side in zip(poor, ("banca", "ponto") * 2, strict=True)),
    )

    final = await on_felt_of_all(driver, rich[0])
    assert final
    verify_within_cap(final)
    await driver.end_betting()
    await watcher.wait_for("round_settled", round_id)
    # What counted after each change, in the order in which the table told it.
    counted: dict[str, int] = {}
    changes = 0
    for event in watcher.events:
        kind = event.WhichOneof("event")
        if kind not in {"bets_placed", "bets_cancelled"}:
            continue
        bets = baccarat_pb2.Bets()
        told = event.bets_placed if kind == "bets_placed" else event.bets_cancelled
        assert told.bets.Unpack(bets)
        for place, cents in amounts(bets).items():
            counted[place] = counted.get(place, 0) + (cents if kind == "bets_placed" else -cents)
        verify_within_cap(counted)
        changes += 1
    assert changes > 10
    assert {place: cents for place, cents in counted.items() if cents} == final


# -- roads -------------------------------------------------------------------------------------------------------------


async def test_the_roads_show_the_rounds_that_were_paid(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table(play=INDIVIDUAL)
    ana = await driver.seat_new_player(table_id)
    assert not (await driver.baccarat.roads(ana.player_id, ana.table_id)).bead_road
    played = []
    for number in range(12):
        if number == 5:
            void = await driver.wait_for_open_round(ana)
            await driver.bet(ana, void, {"tie": 100})
            await driver.void(ana.table_id, void)
        played.append(await driver.play(ana, {"ponto": 100}))

    roads = await driver.baccarat.roads(ana.player_id, ana.table_id)

    assert [(cell.round_id, cell.winner) for cell in roads.bead_road] == [
        (dealt.round_id, dealt.outcome.winner) for dealt in played
    ]
    assert [cell.score for cell in roads.bead_road] == [
        max(dealt.outcome.ponto_score, dealt.outcome.banca_score) for dealt in played
    ]
    winners = [dealt.outcome.winner for dealt in played if dealt.outcome.winner != baccarat_pb2.WINNER_TIE]
    assert [mark.winner for mark in roads.big_road] == winners
    assert all(0 <= mark.row < ROWS for mark in roads.big_road)
    ties = len(played) - len(winners)
    assert roads.ties_before_first + sum(mark.ties for mark in roads.big_road) == ties


async def test_the_roads_of_a_table_for_many_are_public_and_unknown_tables_have_none(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table()
    assert not (await driver.baccarat.baccarat.GetRoads(baccarat_pb2.GetRoadsRequest(table_id=table_id))).bead_road
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await driver.baccarat.baccarat.GetRoads(baccarat_pb2.GetRoadsRequest(table_id="nowhere"))
    assert "no such table" in str(unknown.value.details())


@pytest.mark.rule("812/2015:3", "812/2015:27")
async def test_dealing_takes_its_time_on_the_screen(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table(dealing_ms=5_000, result_shown_ms=1_000)
    ana = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 500})
    await driver.end_betting()
    event = await watcher.wait_for("outcome_drawn", round_id)
    outcome = unpack_outcome(event.outcome_drawn.outcome)
    dealing = event.outcome_drawn.shown_at.ToDatetime(UTC) - event.at.ToDatetime(UTC)
    # A card after another, as a dealer would lay them.
    expected = timedelta(seconds=5) * (len(outcome.ponto) + len(outcome.banca))
    # It begins a moment before the event. How long a moment is on a busy machine nobody knows: not as long as a card.
    assert expected - timedelta(seconds=4) < dealing <= expected
    refused = await refusal(driver.baccarat.configure(driver.unique_name("t"), configuration(dealing_ms=5_001)))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", "configuration.dealing_ms")

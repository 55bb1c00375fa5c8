"""Bets: placed, repeated and cancelled; each command takes effect once (G3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from tests.engine.roulette import reference
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import Refusal, refusal
from tests.service.roulette.lost_calls import LostAt, lose_call
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    amounts_by_place,
    bet_messages,
    unpack_bets,
)

WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}
CENTS = 100_000


async def get_layout(driver: RouletteDriver, seated_player: SeatedPlayer) -> roulette_pb2.GetLayoutResponse:
    request = roulette_pb2.GetLayoutRequest(table_id=seated_player.table_id)
    return await driver.roulette.roulette.GetLayout(request, metadata=driver.metadata_of(seated_player))


# -- placing ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:8", "807/2015:9")
@pytest.mark.guarantee("G5")
async def test_g5_an_acknowledged_bet_counts(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)

    answer = await driver.bet(seated_player, round_id, {"17": 500, "red": 1000})

    assert (answer.stake.round_id, answer.stake.amount_cents) == (round_id, 1500)
    assert amounts_by_place(answer.stake.bets) == amounts_by_place(answer.on_felt) == {"17": 500, "red": 1000}
    balance = answer.stake.balance
    assert (balance.free_cents, balance.locked_cents) == await driver.balance(seated_player) == (CENTS - 1500, 1500)
    shown = await driver.get_table(seated_player)
    (own,) = shown.own_seat.stakes
    assert (own.stake_id, own.amount_cents) == (answer.stake.stake_id, 1500)
    assert unpack_bets(own.bets) == {"17": 500, "red": 1000}
    (on_felt,) = shown.table.bets
    assert (on_felt.seat, on_felt.staked_cents) == (seated_player.seat, 1500)


@pytest.mark.rule("804/2015:7", "804/2015:8", "804/2015:9", "807/2015:7", "807/2015:9", "807/2015:10")
async def test_every_place_of_the_layout_takes_bets(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    layout = await get_layout(driver, seated_player)
    places = {place.place: place.minimum_cents for place in layout.places}
    assert set(places) == set(reference.legal_places(WHEELS[regulation]))

    answer = await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), places)

    assert amounts_by_place(answer.on_felt) == places


@pytest.mark.rule("807/2015:8")
async def test_a_call_bet_is_placed_as_its_components(driver: RouletteDriver) -> None:
    seated_player = await driver.seat_new_player(INDIVIDUAL_TABLES["807"])
    call_bets = {call.place: call for call in (await get_layout(driver, seated_player)).call_bets}

    answer = await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"voisins": 200})

    assert answer.stake.amount_cents == 200 * call_bets["voisins"].units == 1800
    assert amounts_by_place(answer.on_felt) == {
        each.place: each.amount_cents * 200 for each in call_bets["voisins"].components
    }


@pytest.mark.rule("804/2015:11", "807/2015:12")
async def test_limits_apply_to_all_bets_of_a_round_together(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 2950})

    refused = await refusal(driver.bet(seated_player, round_id, {"red": 100, "17": 100}))

    assert refused.reason == "ABOVE_MAXIMUM"
    assert (refused.facts["place"], refused.facts["amount_cents"], refused.facts["maximum_cents"]) == (
        "17",
        "3050",
        "3000",
    )
    assert refused.facts["rule"].startswith(("804/2015:11", "807/2015:12"))
    assert await driver.balance(seated_player) == (CENTS - 2950, 2950)


@pytest.mark.parametrize(
    ("bets", "reason", "facts"),
    [
        ({"3-4": 100}, "BET_ILLEGAL", {"place": "3-4"}),
        ({"0-1-2-3-4-5": 100}, "BET_ILLEGAL", {"place": "0-1-2-3-4-5"}),
        ({"the moon": 100}, "BET_ILLEGAL", {"place": "the moon"}),
        ({"17": 99}, "BELOW_MINIMUM", {"place": "17", "amount_cents": "99", "minimum_cents": "100"}),
        ({"double-dozen-1-2": 101}, "ODD_CENTS", {"place": "double-dozen-1-2", "amount_cents": "101"}),
        ({"17": 100, "red": 54_100}, "ABOVE_MAXIMUM", {"place": "red", "maximum_cents": "54000"}),
        ({}, "INVALID", {"field": "bets"}),
        ({"17": -100}, "INVALID", {"field": "bets[0].amount_cents"}),
    ],
)
@pytest.mark.guarantee("G12")
async def test_g12_an_invalid_bet_is_refused_with_its_reason(
    driver: RouletteDriver, seated_player: SeatedPlayer, bets: dict[str, int], reason: str, facts: dict[str, str]
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)

    refused = await refusal(driver.bet(seated_player, round_id, bets))

    assert (refused.reason, refused.domain) == (reason, "table.feltro")
    assert refused.facts.items() >= facts.items()
    assert "rule" in refused.facts or reason == "INVALID"
    assert await driver.balance(seated_player) == (CENTS, 0)
    assert not (await driver.get_table(seated_player)).own_seat.stakes


async def test_a_bet_that_the_table_does_not_offer_is_refused(driver: RouletteDriver) -> None:
    american = await driver.seat_new_player(INDIVIDUAL_TABLES["804"])
    without_calls = await driver.seat_new_player(await driver.new_table(play=INDIVIDUAL, call_bets=False))

    illegal = await refusal(driver.bet(american, await driver.wait_for_open_round(american), {"voisins": 100}))
    not_offered = await refusal(
        driver.bet(without_calls, await driver.wait_for_open_round(without_calls), {"voisins": 100})
    )

    assert (illegal.reason, illegal.facts["rule"]) == ("BET_ILLEGAL", "804/2015:7")
    assert (not_offered.reason, not_offered.facts["place"]) == ("BET_NOT_OFFERED", "voisins")


@pytest.mark.guarantee("G2")
async def test_g2_the_wallets_refusal_reaches_the_player(driver: RouletteDriver, regulation: str) -> None:
    seated_player = await driver.seat_new_player(INDIVIDUAL_TABLES[regulation], 500)
    round_id = await driver.wait_for_open_round(seated_player)

    refused = await refusal(driver.bet(seated_player, round_id, {"red": 600}))

    assert (refused.reason, refused.domain) == ("INSUFFICIENT_FUNDS", "wallet.feltro")
    assert refused.facts == {
        "account_id": seated_player.account_id,
        "free_cents": "500",
        "locked_cents": "0",
        "needed_cents": "600",
    }
    # The refused bet has left nothing behind.
    assert amounts_by_place((await driver.bet(seated_player, round_id, {"red": 500})).on_felt) == {"red": 500}


async def test_only_a_seated_player_bets_at_a_table(driver: RouletteDriver) -> None:
    stranger = await driver.new_player()
    seated_player = await driver.seat_new_player(await driver.new_table())
    round_id = await driver.wait_for_open_round(seated_player)

    for named in (round_id, "none"):
        refused = await refusal(driver.roulette.bet(stranger, seated_player.table_id, named, {"red": 100}))
        # Only players who sit there learn which round is under way.
        assert refused == Refusal(
            "NOT_SEATED", {"table_id": seated_player.table_id}, code=grpc.StatusCode.FAILED_PRECONDITION
        )


async def test_a_bet_names_the_round_that_takes_it(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    played = (await driver.play(seated_player, {"red": 100})).round_id
    current = await driver.wait_for_open_round(seated_player)
    before = await driver.balance(seated_player)

    for wrong in (played, f"{seated_player.table_id}.999"):
        refused = await refusal(driver.bet(seated_player, wrong, {"red": 100}))
        assert refused.reason == "BETTING_CLOSED"
        assert (refused.facts["round_id"], refused.facts["current_round_id"]) == (wrong, current)
    assert await driver.balance(seated_player) == before


# -- G3: each command takes effect once -------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_bets_once(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id, request_id = await driver.wait_for_open_round(seated_player), str(uuid4())

    answers = await asyncio.gather(*(driver.bet(seated_player, round_id, {"17": 300}, request_id) for _ in range(10)))
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, request_id))
    locked = await driver.balance(seated_player)
    await driver.spin(seated_player, round_id)
    after = await driver.balance(seated_player)
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, request_id))
    await driver.play(seated_player, {"red": 100})
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, request_id))

    assert locked == (CENTS - 300, 300)
    assert {answer.stake.stake_id for answer in answers} == {answers[0].stake.stake_id}
    assert {answer.stake.amount_cents for answer in answers} == {300}
    assert {answer.stake.placed_at.ToNanoseconds() for answer in answers} == {
        answers[0].stake.placed_at.ToNanoseconds()
    }
    assert after[0] in {CENTS - 300, CENTS - 300 + 36 * 300}
    assert len(await driver.rounds(seated_player)) == 2


@pytest.mark.guarantee("G3")
async def test_g3_a_request_id_names_one_bet_only(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id, request_id = await driver.wait_for_open_round(seated_player), str(uuid4())
    await driver.bet(seated_player, round_id, {"17": 300}, request_id)

    refused = [
        await refusal(driver.bet(seated_player, round_id, {"17": 400}, request_id)),
        await refusal(driver.cancel_bets(seated_player, round_id, None, request_id)),
    ]
    await driver.spin(seated_player, round_id)
    refused.append(await refusal(driver.bet(seated_player, round_id, {"17": 400}, request_id)))
    later = await driver.wait_for_open_round(seated_player)
    refused.append(await refusal(driver.bet(seated_player, later, {"17": 300}, request_id)))
    refused.append(await refusal(driver.cancel_bets(seated_player, later, None, request_id)))
    elsewhere = await driver.seat_new_players(await driver.new_table(), 1)
    other_table = replace(seated_player, table_id=elsewhere[0].table_id)
    refused.append(await refusal(driver.bet(other_table, round_id, {"17": 300}, request_id)))

    assert [each.reason for each in refused] == ["REQUEST_REUSED"] * 6
    assert {each.facts["request_id"] for each in refused} == {request_id}
    (player_round,) = await driver.rounds(seated_player)
    assert player_round.staked_cents == 300


async def test_request_ids_are_each_players_own(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    one, other = await driver.seat_new_players(table_id, 2)
    round_id = await driver.wait_for_open_round(one)

    answers = await asyncio.gather(
        driver.bet(one, round_id, {"17": 300}, "same"), driver.bet(other, round_id, {"18": 400}, "same")
    )

    assert [answer.stake.amount_cents for answer in answers] == [300, 400]


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("lost_at", LostAt)
async def test_g3_a_player_who_got_no_answer_repeats_the_request_and_bets_once(
    driver: RouletteDriver, seated_player: SeatedPlayer, lost_at: LostAt
) -> None:
    watcher = await driver.watch(seated_player.table_id)
    round_id, request_id = await driver.wait_for_open_round(seated_player), str(uuid4())
    request = roulette_pb2.PlaceBetsRequest(
        request_id=request_id, table_id=seated_player.table_id, round_id=round_id, bets=bet_messages({"black": 700})
    )
    async with driver.platform.roulette.client() as device:
        call = device.roulette.PlaceBets(request, metadata=driver.metadata_of(seated_player))
        await lose_call(call, lost_at, lambda: watcher.wait_for("bets_placed", round_id))
    # From another device, the same request.
    answer = await driver.bet(seated_player, round_id, {"black": 700}, request_id)

    assert answer.stake.amount_cents == 700
    assert await driver.balance(seated_player) == (CENTS - 700, 700)


# -- cancelling -------------------------------------------------------------------------------------------------------


async def test_all_bets_are_cancelled(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})
    await driver.bet(seated_player, round_id, {"17": 200, "red": 100})

    cancelled = await driver.cancel_bets(seated_player, round_id)

    assert (cancelled.cancelled_cents, amounts_by_place(cancelled.on_felt), cancelled.balance.free_cents) == (
        600,
        {},
        CENTS,
    )
    assert await driver.balance(seated_player) == (CENTS, 0)
    assert (await refusal(driver.spin(seated_player, round_id))).reason == "NOTHING_STAKED"
    assert (await refusal(driver.cancel_bets(seated_player, round_id))).reason == "NOT_ON_FELT"


async def test_a_part_of_the_bets_is_cancelled_and_the_rest_stays(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300, "red": 1000})
    await driver.bet(seated_player, round_id, {"black": 200})

    cancelled = await driver.cancel_bets(seated_player, round_id, {"red": 400})

    assert (cancelled.cancelled_cents, amounts_by_place(cancelled.on_felt)) == (
        400,
        {"17": 300, "red": 600, "black": 200},
    )
    assert (
        (cancelled.balance.free_cents, cancelled.balance.locked_cents)
        == await driver.balance(seated_player)
        == (98_900, 1_100)
    )
    spun = await driver.spin(seated_player, round_id)
    assert {result.place: result.amount_cents for result in spun.results.results} == amounts_by_place(cancelled.on_felt)


async def test_bets_are_changed_by_cancelling_and_placing(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    await driver.cancel_bets(seated_player, round_id, {"17": 300})
    changed = await driver.bet(seated_player, round_id, {"18": 300})

    assert amounts_by_place(changed.on_felt) == {"18": 300}
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_cancellation_takes_effect_once(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id, request_id = await driver.wait_for_open_round(seated_player), str(uuid4())
    await driver.bet(seated_player, round_id, {"17": 300})
    await driver.bet(seated_player, round_id, {"17": 300})

    answers = await asyncio.gather(
        *(driver.cancel_bets(seated_player, round_id, {"17": 300}, request_id) for _ in range(5))
    )

    assert {answer.cancelled_cents for answer in answers} == {300}
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


async def test_no_more_is_cancelled_than_lies_on_the_felt(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    more = await refusal(driver.cancel_bets(seated_player, round_id, {"17": 400}))
    elsewhere = await refusal(driver.cancel_bets(seated_player, round_id, {"18": 300}))
    too_little_left = await refusal(driver.cancel_bets(seated_player, round_id, {"17": 250}))

    assert (more.reason, more.facts["place"]) == ("NOT_ON_FELT", "17")
    assert (elsewhere.reason, elsewhere.facts["place"]) == ("NOT_ON_FELT", "18")
    assert too_little_left.reason == "BELOW_MINIMUM"
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


async def test_a_bet_stays_where_cancelling_is_forbidden(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, cancel_forbidden=True)
    seated_player = await driver.seat_new_player(table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    assert (await refusal(driver.cancel_bets(seated_player, round_id))).reason == "CANCEL_FORBIDDEN"
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


# -- repeating --------------------------------------------------------------------------------------------------------


async def test_the_bets_of_the_last_round_are_placed_again(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    first = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, first, {"17": 300})
    await driver.bet(seated_player, first, {"17": 100, "red": 1000})
    await driver.spin(seated_player, first)
    before, _ = await driver.balance(seated_player)
    round_id, request_id = await driver.wait_for_open_round(seated_player), str(uuid4())

    repeated = await asyncio.gather(*(driver.repeat(seated_player, round_id, request_id) for _ in range(3)))

    assert amounts_by_place(repeated[0].on_felt) == {"17": 400, "red": 1000}
    assert {each.stake.stake_id for each in repeated} == {repeated[0].stake.stake_id}
    assert await driver.balance(seated_player) == (before - 1400, 1400)
    await driver.spin(seated_player, round_id)
    assert (await driver.repeat(seated_player, round_id, request_id)).stake.stake_id == repeated[0].stake.stake_id


async def test_repeated_bets_count_towards_the_limits(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    await driver.play(seated_player, {"17": 2000})
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.repeat(seated_player, round_id)

    assert (await refusal(driver.repeat(seated_player, round_id))).reason == "ABOVE_MAXIMUM"


async def test_a_player_without_a_round_at_the_table_has_nothing_to_repeat(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    refused = await refusal(driver.repeat(seated_player, await driver.wait_for_open_round(seated_player)))

    assert (refused.reason, refused.facts) == ("NOTHING_TO_REPEAT", {"table_id": seated_player.table_id})

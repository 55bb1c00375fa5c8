"""Bets as a player places them, repeats them and takes them back; each command acts once."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from tests.engine.roulette import reference
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    LONG_WINDOW_MS,
    WHEEL_BY_REGULATION,
    Refusal,
    RouletteDriver,
    SeatedPlayer,
    amounts_by_place,
    refusal,
    unpack_bets,
)

WHEELS = {"804": "AMERICAN_38", "807": "FRENCH"}
CENTS = 100_000


async def layout(driver: RouletteDriver, seated_player: SeatedPlayer) -> roulette_pb2.GetLayoutResponse:
    request = roulette_pb2.GetLayoutRequest(table_id=seated_player.table_id)
    return await driver.roulette.roulette.GetLayout(request, metadata=driver.metadata_of(seated_player))


# -- placing --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:8", "807/2015:9")
@pytest.mark.guarantee("G5")
async def test_a_bet_that_is_answered_counts(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)

    answer = await driver.bet(seated_player, round_id, {"17": 500, "red": 1000})

    assert (answer.stake.round_id, answer.stake.amount_cents) == (round_id, 1500)
    assert amounts_by_place(answer.stake.bets) == amounts_by_place(answer.on_felt) == {"17": 500, "red": 1000}
    balance = answer.stake.balance
    assert (balance.free_cents, balance.locked_cents) == await driver.balance(seated_player) == (CENTS - 1500, 1500)
    seen = await driver.get_table(seated_player)
    (own,) = seen.own_seat.stakes
    assert (own.stake_id, own.amount_cents) == (answer.stake.stake_id, 1500)
    assert unpack_bets(own.bets) == {"17": 500, "red": 1000}
    (lying,) = seen.table.bets
    assert (lying.seat, lying.staked_cents) == (seated_player.seat, 1500)


@pytest.mark.rule("804/2015:7", "804/2015:8", "804/2015:9", "807/2015:7", "807/2015:9", "807/2015:10")
async def test_every_area_of_the_board_takes_chips(
    driver: RouletteDriver, seated_player: SeatedPlayer, regulation: str
) -> None:
    board = await layout(driver, seated_player)
    places = {place.place: place.minimum_cents for place in board.places}
    assert set(places) == set(reference.legal_places(WHEELS[regulation]))

    answer = await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), places)

    assert amounts_by_place(answer.on_felt) == places


@pytest.mark.rule("807/2015:8")
async def test_a_call_bet_is_placed_as_its_components(driver: RouletteDriver) -> None:
    seated_player = await driver.seat_new_player(INDIVIDUAL_TABLES["807"])
    board = {call.place: call for call in (await layout(driver, seated_player)).call_bets}

    answer = await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"voisins": 200})

    assert answer.stake.amount_cents == 200 * board["voisins"].units == 1800
    assert amounts_by_place(answer.on_felt) == {
        each.place: each.amount_cents * 200 for each in board["voisins"].components
    }


@pytest.mark.rule("804/2015:11", "807/2015:12")
async def test_limits_hold_for_all_bets_of_a_round_together(
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
        ({"17": -100}, "INVALID", {"field": "amount_cents"}),
    ],
)
@pytest.mark.guarantee("G12")
async def test_a_bet_that_cannot_be_is_refused_with_the_reason(
    driver: RouletteDriver, seated_player: SeatedPlayer, bets: dict[str, int], reason: str, facts: dict[str, str]
) -> None:
    round_id = await driver.wait_for_open_round(seated_player)

    refused = await refusal(driver.bet(seated_player, round_id, bets))

    assert (refused.reason, refused.domain) == (reason, "table.feltro")
    assert refused.facts.items() >= facts.items()
    assert "rule" in refused.facts or reason == "INVALID"
    assert await driver.balance(seated_player) == (CENTS, 0)
    assert not (await driver.get_table(seated_player)).own_seat.stakes


async def test_what_the_table_does_not_offer_is_refused(driver: RouletteDriver) -> None:
    american = await driver.seat_new_player(INDIVIDUAL_TABLES["804"])
    plain = await driver.seat_new_player(await driver.new_table(play=INDIVIDUAL, call_bets=False))

    called = await refusal(driver.bet(american, await driver.wait_for_open_round(american), {"voisins": 100}))
    not_offered = await refusal(driver.bet(plain, await driver.wait_for_open_round(plain), {"voisins": 100}))

    assert (called.reason, called.facts["rule"]) == ("BET_ILLEGAL", "804/2015:7")
    assert (not_offered.reason, not_offered.facts["place"]) == ("BET_NOT_OFFERED", "voisins")


@pytest.mark.guarantee("G2")
async def test_the_wallets_refusal_passes_through(driver: RouletteDriver, regulation: str) -> None:
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
    # Nothing of it is left: what he can pay he may bet.
    assert amounts_by_place((await driver.bet(seated_player, round_id, {"red": 500})).on_felt) == {"red": 500}


async def test_only_who_sits_at_the_table_bets_there(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    stranger = await driver.new_player()
    round_id = await driver.wait_for_open_round(seated_player)

    refused = await refusal(driver.roulette.bet(stranger, seated_player.table_id, round_id, {"red": 100}))

    assert refused == Refusal(
        "NOT_SEATED", {"table_id": seated_player.table_id}, code=grpc.StatusCode.FAILED_PRECONDITION
    )


async def test_a_bet_names_the_round_that_takes_it(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    played = (await driver.play(seated_player, {"red": 100})).round_id
    now = await driver.wait_for_open_round(seated_player)
    before = await driver.balance(seated_player)

    for wrong in (played, f"{seated_player.table_id}.999"):
        refused = await refusal(driver.bet(seated_player, wrong, {"red": 100}))
        assert refused.reason == "BETTING_CLOSED"
        assert (refused.facts["round_id"], refused.facts["current_round_id"]) == (wrong, now)
    assert await driver.balance(seated_player) == before


# -- once -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_a_click_repeated_at_once_and_later_bets_once(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id, click = await driver.wait_for_open_round(seated_player), str(uuid4())

    answers = await asyncio.gather(*(driver.bet(seated_player, round_id, {"17": 300}, click) for _ in range(10)))
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, click))
    locked = await driver.balance(seated_player)
    await driver.spin(seated_player, round_id)
    after = await driver.balance(seated_player)
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, click))
    await driver.play(seated_player, {"red": 100})
    answers.append(await driver.bet(seated_player, round_id, {"17": 300}, click))

    assert locked == (CENTS - 300, 300)
    assert {answer.stake.stake_id for answer in answers} == {answers[0].stake.stake_id}
    assert {answer.stake.amount_cents for answer in answers} == {300}
    assert {answer.stake.placed_at.ToNanoseconds() for answer in answers} == {
        answers[0].stake.placed_at.ToNanoseconds()
    }
    assert after[0] in {CENTS - 300, CENTS - 300 + 36 * 300}
    assert len(await driver.rounds(seated_player)) == 2


@pytest.mark.guarantee("G3")
async def test_a_request_id_stands_for_one_bet_only(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id, click = await driver.wait_for_open_round(seated_player), str(uuid4())
    await driver.bet(seated_player, round_id, {"17": 300}, click)

    refused = [
        await refusal(driver.bet(seated_player, round_id, {"17": 400}, click)),
        await refusal(driver.cancel_bets(seated_player, round_id, None, click)),
    ]
    await driver.spin(seated_player, round_id)
    refused.append(await refusal(driver.bet(seated_player, round_id, {"17": 400}, click)))

    assert [each.reason for each in refused] == ["REQUEST_REUSED"] * 3
    assert {each.facts["request_id"] for each in refused} == {click}
    (lived,) = await driver.rounds(seated_player)
    assert lived.staked_cents == 300


async def test_two_players_may_choose_the_same_request_id(driver: RouletteDriver) -> None:
    table_id = await driver.new_table(window_ms=LONG_WINDOW_MS)
    one, other = await driver.seat_new_players(table_id, 2)
    round_id = await driver.wait_for_open_round(one)

    answers = await asyncio.gather(
        driver.bet(one, round_id, {"17": 300}, "same"), driver.bet(other, round_id, {"18": 400}, "same")
    )

    assert [answer.stake.amount_cents for answer in answers] == [300, 400]


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
async def test_whoever_hears_no_answer_asks_again_and_bets_once(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    round_id, click = await driver.wait_for_open_round(seated_player), str(uuid4())
    async with driver.platform.roulette.client() as device:
        unheard = asyncio.create_task(
            device.bet(seated_player.player_id, seated_player.table_id, round_id, {"black": 700}, click)
        )
        await asyncio.sleep(0.003)
        unheard.cancel()
    # Another device, the same click.
    answer = await driver.bet(seated_player, round_id, {"black": 700}, click)

    assert answer.stake.amount_cents == 700
    assert await driver.balance(seated_player) == (CENTS - 700, 700)


# -- taking back ----------------------------------------------------------------------------------------------------


async def test_all_bets_are_taken_back(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})
    await driver.bet(seated_player, round_id, {"17": 200, "red": 100})

    taken = await driver.cancel_bets(seated_player, round_id)

    assert (taken.cancelled_cents, amounts_by_place(taken.on_felt), taken.balance.free_cents) == (600, {}, CENTS)
    assert await driver.balance(seated_player) == (CENTS, 0)
    assert (await refusal(driver.spin(seated_player, round_id))).reason == "NOTHING_STAKED"
    assert (await refusal(driver.cancel_bets(seated_player, round_id))).reason == "NOT_ON_FELT"


async def test_a_part_is_taken_back_and_the_rest_stays(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300, "red": 1000})
    await driver.bet(seated_player, round_id, {"black": 200})

    taken = await driver.cancel_bets(seated_player, round_id, {"red": 400})

    assert (taken.cancelled_cents, amounts_by_place(taken.on_felt)) == (400, {"17": 300, "red": 600, "black": 200})
    assert (
        (taken.balance.free_cents, taken.balance.locked_cents) == await driver.balance(seated_player) == (98_900, 1_100)
    )
    spun = await driver.spin(seated_player, round_id)
    assert {result.place: result.amount_cents for result in spun.results.results} == amounts_by_place(taken.on_felt)


async def test_bets_are_changed_by_taking_back_and_placing(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    await driver.cancel_bets(seated_player, round_id, {"17": 300})
    changed = await driver.bet(seated_player, round_id, {"18": 300})

    assert amounts_by_place(changed.on_felt) == {"18": 300}
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


@pytest.mark.guarantee("G3")
async def test_taking_back_acts_once(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id, click = await driver.wait_for_open_round(seated_player), str(uuid4())
    await driver.bet(seated_player, round_id, {"17": 300})
    await driver.bet(seated_player, round_id, {"17": 300})

    answers = await asyncio.gather(*(driver.cancel_bets(seated_player, round_id, {"17": 300}, click) for _ in range(5)))

    assert {answer.cancelled_cents for answer in answers} == {300}
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


async def test_no_more_is_taken_back_than_lies_there(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    more = await refusal(driver.cancel_bets(seated_player, round_id, {"17": 400}))
    elsewhere = await refusal(driver.cancel_bets(seated_player, round_id, {"18": 300}))
    too_little_left = await refusal(driver.cancel_bets(seated_player, round_id, {"17": 250}))

    assert (more.reason, more.facts["place"]) == ("NOT_ON_FELT", "17")
    assert (elsewhere.reason, elsewhere.facts["place"]) == ("NOT_ON_FELT", "18")
    assert too_little_left.reason == "BELOW_MINIMUM"
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


async def test_where_taking_back_is_forbidden_a_bet_stays(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, cancel_forbidden=True)
    seated_player = await driver.seat_new_player(table_id)
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 300})

    assert (await refusal(driver.cancel_bets(seated_player, round_id))).reason == "CANCEL_FORBIDDEN"
    assert await driver.balance(seated_player) == (CENTS - 300, 300)


# -- repeating ------------------------------------------------------------------------------------------------------


async def test_the_bets_of_the_last_round_are_placed_again(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    first = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, first, {"17": 300})
    await driver.bet(seated_player, first, {"17": 100, "red": 1000})
    await driver.spin(seated_player, first)
    before, _ = await driver.balance(seated_player)
    round_id, click = await driver.wait_for_open_round(seated_player), str(uuid4())

    repeated = await asyncio.gather(*(driver.repeat(seated_player, round_id, click) for _ in range(3)))

    assert amounts_by_place(repeated[0].on_felt) == {"17": 400, "red": 1000}
    assert {each.stake.stake_id for each in repeated} == {repeated[0].stake.stake_id}
    assert await driver.balance(seated_player) == (before - 1400, 1400)
    await driver.spin(seated_player, round_id)
    assert (await driver.repeat(seated_player, round_id, click)).stake.stake_id == repeated[0].stake.stake_id


async def test_a_bet_on_top_of_repeated_ones_is_held_against_the_limits(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    await driver.play(seated_player, {"17": 2000})
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.repeat(seated_player, round_id)

    assert (await refusal(driver.repeat(seated_player, round_id))).reason == "ABOVE_MAXIMUM"


async def test_whoever_has_not_played_here_has_nothing_to_repeat(
    driver: RouletteDriver, seated_player: SeatedPlayer
) -> None:
    refused = await refusal(driver.repeat(seated_player, await driver.wait_for_open_round(seated_player)))

    assert (refused.reason, refused.facts) == ("NOTHING_TO_REPEAT", {"table_id": seated_player.table_id})

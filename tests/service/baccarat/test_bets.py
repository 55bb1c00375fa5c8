"""Bets: placed, repeated and taken back; ponto and banca of a player always differ by the minimum (rule 13)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable
from uuid import uuid4

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from tests.processes.baccarat import bet_messages
from tests.service.baccarat.platform import ALONE, CENTS, INDIVIDUAL, BaccaratDriver, amounts, answer_of
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.lost_calls import LostAt, lose_call


@pytest.fixture
async def ana(driver: BaccaratDriver) -> SeatedPlayer:
    """A player at an individual table."""
    return await driver.seat_new_player(ALONE)


async def on_felt(driver: BaccaratDriver, player: SeatedPlayer) -> dict[str, int]:
    """What the player has on the felt."""
    found: dict[str, int] = {}
    for stake in (await driver.get_table(player)).own_seat.stakes:
        bets = baccarat_pb2.Bets()
        assert stake.bets.Unpack(bets)
        for place, cents in amounts(bets).items():
            found[place] = found.get(place, 0) + cents
    return found


def keeps_the_difference(bets: dict[str, int], minimum_cents: int = 100) -> bool:
    """Rule 13, in its own words."""
    ponto, banca = bets.get("ponto", 0), bets.get("banca", 0)
    return not (ponto and banca) or abs(ponto - banca) >= minimum_cents


@pytest.mark.rule("812/2015:9", "812/2015:10")
@pytest.mark.guarantee("G5")
async def test_g5_an_acknowledged_bet_counts(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    answer = await driver.bet(ana, round_id, {"banca": 500, "tie": 200})
    assert amounts(answer.stake.bets) == amounts(answer.on_felt) == {"banca": 500, "tie": 200}
    assert await driver.balance(ana) == (CENTS - 700, 700)
    assert await on_felt(driver, ana) == {"banca": 500, "tie": 200}


@pytest.mark.parametrize(
    ("bets", "reason", "facts"),
    [
        ({"player": 100}, "BET_ILLEGAL", {"place": "player", "rule": "812/2015:9"}),
        ({"ponto": 99}, "BELOW_MINIMUM", {"minimum_cents": "100", "rule": "812/2015:14"}),
        ({"banca": 110}, "OFF_STEP", {"step_cents": "20", "rule": "812/2015:26.a"}),
        ({"ponto": 7_001}, "ABOVE_MAXIMUM", {"maximum_cents": "7000", "rule": "812/2015:15.a"}),
        ({"tie": 1_501}, "ABOVE_MAXIMUM", {"maximum_cents": "1500", "rule": "812/2015:15.b"}),
        ({"banca-pair": 801}, "ABOVE_MAXIMUM", {"maximum_cents": "800", "rule": "812/2015:15.c"}),
        ({"ponto": 1000, "banca": 1000}, "BETS_TOO_CLOSE", {"difference_cents": "100", "rule": "812/2015:13"}),
        ({}, "INVALID", {"field": "bets"}),
        ({"ponto": -100}, "INVALID", {"field": "bets[0].amount_cents"}),
    ],
)
@pytest.mark.rule("812/2015:13", "812/2015:14", "812/2015:15.a", "812/2015:15.b", "812/2015:15.c")
@pytest.mark.guarantee("G12")
async def test_g12_an_invalid_bet_is_refused_with_its_reason(
    driver: BaccaratDriver, ana: SeatedPlayer, bets: dict[str, int], reason: str, facts: dict[str, str]
) -> None:
    round_id = await driver.wait_for_open_round(ana)
    refused = await refusal(driver.bet(ana, round_id, bets))
    assert (refused.reason, refused.domain) == (reason, "table.feltro")
    assert refused.facts.items() >= facts.items()
    assert await driver.balance(ana) == (CENTS, 0)


@pytest.mark.rule("812/2015:10")
async def test_pairs_are_refused_where_the_table_has_none(driver: BaccaratDriver) -> None:
    player = await driver.seat_new_player(await driver.new_table(play=INDIVIDUAL, rules={"without_pairs": True}))
    refused = await refusal(driver.bet(player, await driver.wait_for_open_round(player), {"ponto-pair": 100}))
    assert (refused.reason, refused.facts["rule"]) == ("BET_NOT_OFFERED", "812/2015:10")


# -- rule 13 -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("812/2015:13")
async def test_q1_every_placing_is_judged_with_what_lies_there(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 1000})
    for too_close in (1000, 920, 1080):
        assert await answer_of(driver.bet(ana, round_id, {"banca": too_close})) == "BETS_TOO_CLOSE"
    assert amounts((await driver.bet(ana, round_id, {"banca": 900})).on_felt) == {"ponto": 1000, "banca": 900}
    assert await answer_of(driver.bet(ana, round_id, {"banca": 100})) == "BETS_TOO_CLOSE"
    assert amounts((await driver.bet(ana, round_id, {"banca": 200})).on_felt) == {"ponto": 1000, "banca": 1100}


@pytest.mark.rule("812/2015:13")
async def test_every_removal_is_judged_too(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(ana)
    await driver.bet(ana, round_id, {"ponto": 1000, "banca": 500})
    await driver.bet(ana, round_id, {"ponto": 200})

    assert await answer_of(driver.cancel_bets(ana, round_id, {"ponto": 700})) == "BETS_TOO_CLOSE"
    assert await answer_of(driver.cancel_bets(ana, round_id, {"ponto": 650})) == "BETS_TOO_CLOSE"
    assert await on_felt(driver, ana) == {"ponto": 1200, "banca": 500}
    taken = await driver.cancel_bets(ana, round_id, {"ponto": 600})
    assert amounts(taken.on_felt) == {"ponto": 600, "banca": 500}
    # A whole side may go.
    assert amounts((await driver.cancel_bets(ana, round_id, {"ponto": 600})).on_felt) == {"banca": 500}


@pytest.mark.rule("812/2015:13")
@pytest.mark.guarantee("G2")
async def test_a_bet_that_leaned_on_one_that_the_wallet_refused_is_refused(driver: BaccaratDriver) -> None:
    """Ponto 1000 and banca 1000 would come to count if the 500 between them were only asked for."""
    player = await driver.seat_new_player(ALONE, cents=2_200)
    round_id = await driver.wait_for_open_round(player)
    await driver.bet(player, round_id, {"ponto": 1000})

    answers = await driver.sent_at_once(
        player,
        # There is no money for this one, which would make the difference.
        answer_of(driver.bet(player, round_id, {"ponto": 5000})),
        answer_of(driver.bet(player, round_id, {"banca": 1000})),
    )

    assert answers == ["INSUFFICIENT_FUNDS", "BETS_TOO_CLOSE"]
    assert await on_felt(driver, player) == {"ponto": 1000}
    assert await driver.balance(player) == (1_200, 1000)


@pytest.mark.rule("812/2015:13")
@pytest.mark.guarantee("G2", "G3")
async def test_the_difference_holds_after_every_answer_however_bets_cross(driver: BaccaratDriver) -> None:
    """Bets, removals and refusals for want of money, all at once: whatever each answer says lies there is allowed."""
    player = await driver.seat_new_player(ALONE, cents=4_000)
    asked = (("ponto", 500), ("ponto", 5000), ("banca", 500), ("banca", 600))
    for first in range(6):
        round_id = await driver.wait_for_open_round(player)
        calls: list[Awaitable[baccarat_pb2.PlaceBetsResponse | baccarat_pb2.CancelBetsResponse]] = []
        for number, (side, cents) in enumerate(itertools.islice(itertools.cycle(asked), first, first + 14)):
            if number % 4 == 3:
                calls.append(driver.cancel_bets(player, round_id, {side: 300}))
            else:
                calls.append(driver.bet(player, round_id, {side: cents}))
        answers = await driver.sent_at_once(player, *calls)
        seen = [amounts(answer.on_felt) for answer in answers if not isinstance(answer, BaseException)]
        assert seen
        assert all(keeps_the_difference(each) for each in seen), seen
        assert keeps_the_difference(await on_felt(driver, player))
        # And when betting closes.
        dealt = await driver.deal(player, round_id)
        placed: dict[str, int] = {}
        for result in dealt.results.results:
            placed[result.place] = placed.get(result.place, 0) + result.amount_cents
        assert keeps_the_difference(placed)
        free_cents, _ = await driver.balance(player)
        await driver.wallet.open_account(player.player_id, max(0, 4_000 - free_cents))


@pytest.mark.rule("812/2015:13")
@pytest.mark.guarantee("G11")
async def test_g11_only_so_many_bets_of_a_player_wait_for_each_other(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    """Closing waits for them: those beyond are refused at once, and may be sent again."""
    round_id = await driver.wait_for_open_round(ana)
    requests = [str(uuid4()) for _ in range(60)]

    answers = await asyncio.gather(
        *(answer_of(driver.bet(ana, round_id, {"tie": 100}, request_id)) for request_id in requests[:15])
    )
    assert set(answers) == {""}
    burst = await asyncio.gather(
        *(answer_of(driver.bet(ana, round_id, {"ponto": 100}, request_id)) for request_id in requests[15:])
    )
    assert set(burst) <= {"", "OVERLOADED"}
    assert "" in burst
    for request_id, answer in zip(requests[15:], burst, strict=True):
        if answer:
            await driver.bet(ana, round_id, {"ponto": 100}, request_id)
    assert await on_felt(driver, ana) == {"tie": 1500, "ponto": 4500}


# -- commands act once -------------------------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_bets_once_and_gets_its_first_answer(
    driver: BaccaratDriver, ana: SeatedPlayer
) -> None:
    round_id, request_id = await driver.wait_for_open_round(ana), str(uuid4())
    answers = await asyncio.gather(*(driver.bet(ana, round_id, {"ponto": 300}, request_id) for _ in range(10)))
    assert await driver.balance(ana) == (CENTS - 300, 300)
    await driver.deal(ana, round_id)
    await driver.play(ana, {"banca": 100})
    answers.append(await driver.bet(ana, round_id, {"ponto": 300}, request_id))
    assert {answer.SerializeToString() for answer in answers} == {answers[0].SerializeToString()}
    assert await answer_of(driver.bet(ana, round_id, {"ponto": 400}, request_id)) == "REQUEST_REUSED"


@pytest.mark.guarantee("G3")
async def test_g3_a_refused_request_may_be_sent_again(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    """What was refused only because of other bets is no answer for ever."""
    round_id, request_id = await driver.wait_for_open_round(ana), str(uuid4())
    await driver.bet(ana, round_id, {"ponto": 1000})
    assert await answer_of(driver.bet(ana, round_id, {"banca": 1000}, request_id)) == "BETS_TOO_CLOSE"
    await driver.cancel_bets(ana, round_id)
    assert amounts((await driver.bet(ana, round_id, {"banca": 1000}, str(uuid4()))).on_felt) == {"banca": 1000}


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("lost_at", LostAt)
async def test_g3_a_player_who_got_no_answer_repeats_the_request_and_bets_once(
    driver: BaccaratDriver, ana: SeatedPlayer, lost_at: LostAt
) -> None:
    watcher = await driver.watch(ana.table_id)
    round_id, request_id = await driver.wait_for_open_round(ana), str(uuid4())
    request = baccarat_pb2.PlaceBetsRequest(
        request_id=request_id, table_id=ana.table_id, round_id=round_id, bets=bet_messages({"banca": 700})
    )
    async with driver.platform.baccarat.client() as device:
        call = device.baccarat.PlaceBets(request, metadata=driver.baccarat.player(ana.player_id))
        await lose_call(call, lost_at, lambda: watcher.wait_for("bets_placed", round_id))
    answer = await driver.bet(ana, round_id, {"banca": 700}, request_id)
    assert answer.stake.amount_cents == 700
    assert await driver.balance(ana) == (CENTS - 700, 700)


async def test_bets_stay_where_cancelling_is_forbidden(driver: BaccaratDriver) -> None:
    player = await driver.seat_new_player(await driver.new_table(play=INDIVIDUAL, cancel_forbidden=True))
    round_id = await driver.wait_for_open_round(player)
    await driver.bet(player, round_id, {"tie": 300})
    assert await answer_of(driver.cancel_bets(player, round_id)) == "CANCEL_FORBIDDEN"


async def test_the_bets_of_the_last_round_are_placed_again(driver: BaccaratDriver, ana: SeatedPlayer) -> None:
    first = await driver.wait_for_open_round(ana)
    assert await answer_of(driver.baccarat.repeat_bets(ana.player_id, ana.table_id, first)) == "NOTHING_TO_REPEAT"
    await driver.bet(ana, first, {"ponto": 300})
    await driver.bet(ana, first, {"ponto": 100, "tie": 1000})
    await driver.deal(ana, first)
    round_id, request_id = await driver.wait_for_open_round(ana), str(uuid4())

    repeated = await asyncio.gather(
        *(driver.baccarat.repeat_bets(ana.player_id, ana.table_id, round_id, request_id) for _ in range(3))
    )

    assert amounts(repeated[0].on_felt) == {"ponto": 400, "tie": 1000}
    assert {each.stake.stake_id for each in repeated} == {repeated[0].stake.stake_id}
    # They are judged like any others.
    again = driver.baccarat.repeat_bets(ana.player_id, ana.table_id, round_id)
    assert await answer_of(again) == "ABOVE_MAXIMUM"

"""Decisions that may not be: each is refused with its reason, the bounds and the rule, and changes nothing."""

from __future__ import annotations

from uuid import uuid4

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from tests.service.game_driver import SeatedPlayer
from tests.service.poker.platform import CALL, CHECK, DECISION_S, FOLD, RAISE, Playing, PokerDriver
from tests.service.refusals import Refusal, refusal_of


async def begin(driver: PokerDriver, **rules: object) -> tuple[SeatedPlayer, list[SeatedPlayer], Playing]:
    """A table of three: whose turn it is, the others, and the hand."""
    table_id = await driver.new_table(**rules)
    players = await driver.begin(10_000, 10_000, 10_000, table_id=table_id)
    playing = await driver.playing(players[0].table_id)
    acting = next(player for player in players if player.seat == playing.seat)
    return acting, [player for player in players if player != acting], playing


async def refused(
    driver: PokerDriver, player: SeatedPlayer, playing: Playing, action: int, to_cents: int = 0
) -> Refusal:
    """How a decision is refused, at a table that is as it was before."""
    before = await driver.table(player.table_id)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await driver.act(player, playing, action, to_cents)
    after = await driver.table(player.table_id)
    after.at.CopyFrom(before.at)
    assert after == before
    return refusal_of(error.value)


@pytest.mark.rule("806/2015:23", "806/2015:34.d", "811/2015:23", "811/2015:34.d")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_raise_below_the_minimum_is_refused_with_the_bounds(driver: PokerDriver, regulation: str) -> None:
    acting, _, playing = await begin(driver, regulation=regulation, limit=poker_pb2.LIMIT_NO_LIMIT)
    assert (playing.legal.min_to_cents, playing.legal.max_to_cents) == (200, 10_000)

    found = await refused(driver, acting, playing, RAISE, 199)

    assert (found.reason, found.facts["amount_cents"]) == ("BELOW_MINIMUM", "199")
    assert (found.facts["minimum_cents"], found.facts["maximum_cents"]) == ("200", "10000")
    assert found.facts["rule"].startswith(regulation)


@pytest.mark.rule("806/2015:24.a", "806/2015:24.b", "806/2015:24.c")
@pytest.mark.rule("811/2015:24.a", "811/2015:24.b", "811/2015:24.c")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
@pytest.mark.parametrize(("limit", "most"), [("NO_LIMIT", 10_000), ("POT", 350), ("HALF_POT", 225)])
async def test_a_raise_above_the_limit_is_refused_with_the_bounds(
    driver: PokerDriver, regulation: str, limit: str, most: int
) -> None:
    named = poker_pb2.Limit.Value(f"LIMIT_{limit}")
    acting, _, playing = await begin(driver, regulation=regulation, limit=named)

    found = await refused(driver, acting, playing, RAISE, most + 1)

    assert (found.reason, found.facts["amount_cents"]) == ("ABOVE_MAXIMUM", str(most + 1))
    assert (found.facts["minimum_cents"], found.facts["maximum_cents"]) == ("200", str(most))
    await driver.act(acting, playing, RAISE, most)
    assert (await driver.playing(acting.table_id)).view.total_cents == 150 + most


@pytest.mark.rule("806/2015:34.b", "811/2015:34.b")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_check_where_there_is_a_bet_to_match_is_refused(driver: PokerDriver, regulation: str) -> None:
    acting, _, playing = await begin(driver, regulation=regulation, limit=poker_pb2.LIMIT_POT)

    found = await refused(driver, acting, playing, CHECK)

    assert (found.reason, found.facts["decision"]) == ("DECISION_ILLEGAL", "ACTION_CHECK")
    assert found.facts["to_call_cents"] == "100"


@pytest.mark.rule("806/2015:33", "811/2015:33")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_out_of_turn_nobody_decides(driver: PokerDriver, regulation: str) -> None:
    acting, others, playing = await begin(driver, regulation=regulation, limit=poker_pb2.LIMIT_POT)

    for player in others:
        found = await refused(driver, player, playing, CALL)
        assert found.reason == "NOT_YOUR_TURN"
        assert found.facts["turn_of"] == str(acting.seat)


async def test_who_does_not_sit_at_the_table_decides_nothing(driver: PokerDriver) -> None:
    _, _, playing = await begin(driver)
    table_id = playing.round_id.rpartition(".")[0]
    stranger = await driver.seat_new_player(await driver.new_table())
    elsewhere = SeatedPlayer(stranger.player_id, stranger.account_id, stranger.session_id, table_id, playing.seat)

    assert (await refused(driver, elsewhere, playing, FOLD)).reason == "NOT_SEATED"


@pytest.mark.guarantee("G3")
async def test_g3_a_decision_that_is_sent_twice_counts_once(driver: PokerDriver) -> None:
    acting, _, playing = await begin(driver)
    request_id = str(uuid4())

    first = await driver.act(acting, playing, RAISE, 300, request_id)
    after = await driver.playing(acting.table_id)
    again = await driver.act(acting, playing, RAISE, 300, request_id)

    assert first == again
    assert (await driver.playing(acting.table_id)) == after
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await driver.act(acting, playing, FOLD, request_id=request_id)
    assert refusal_of(error.value).reason == "REQUEST_REUSED"


@pytest.mark.rule("806/2015:43", "806/2015:45", "806/2015:73", "811/2015:43", "811/2015:45", "811/2015:73")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
async def test_a_decision_that_comes_late_is_refused_and_the_clock_has_folded(
    driver: PokerDriver, regulation: str
) -> None:
    acting, _, playing = await begin(driver, regulation=regulation, limit=poker_pb2.LIMIT_POT)
    watcher = await driver.watch(acting.table_id)

    # No gateway has the player's line: they get extra time when theirs is up, and that passes as well.
    await driver.poker.advance_tables(3 * DECISION_S)
    await watcher.wait_for("turn_changed")
    await driver.poker.advance_tables(3 * DECISION_S)

    moved = (await watcher.wait_for("move_made")).move_made
    assert (moved.seat, moved.acted_by) == (acting.seat, types_pb2.ACTED_BY_CLOCK)
    move = poker_pb2.Move()
    assert moved.move.Unpack(move)
    assert move.action == FOLD
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await driver.act(acting, playing, CALL)
    assert refusal_of(error.value).reason == "TURN_OVER"


async def test_a_decision_that_is_none_is_refused(driver: PokerDriver) -> None:
    acting, _, playing = await begin(driver)

    assert (await refused(driver, acting, playing, 0)).reason == "INVALID"
    assert (await refused(driver, acting, playing, CALL, 100)).facts["field"] == "move.to_cents"

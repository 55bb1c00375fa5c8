"""Switches: a table or the whole game goes off at once, its round is finished, and the log names the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import platform_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    wait_until,
)

TABLE, GAME = types_pb2.SWITCH_SCOPE_TABLE, types_pb2.SWITCH_SCOPE_GAME


async def switch(
    driver: RouletteDriver, table_id: str, *, enabled: bool, reason: str = "the felt is torn", request_id: str = ""
) -> types_pb2.Switch:
    """Sets the switch of one table, or of the game if none is named."""
    request = table_pb2.SetSwitchRequest(
        request_id=request_id or str(uuid4()),
        game="roulette",
        scope=TABLE if table_id else GAME,
        table_id=table_id,
        enabled=enabled,
        reason=reason,
    )
    return (await driver.roulette.tables.SetSwitch(request, metadata=driver.roulette.operator)).switch


@pytest.fixture
async def game_stays_on(driver: RouletteDriver) -> AsyncIterator[None]:
    """Switches the game on again after the test."""
    yield
    await switch(driver, "", enabled=True, reason="the test is over")


async def enabled(driver: RouletteDriver, table_id: str) -> bool:
    listed = (
        await driver.roulette.tables.ListTables(table_pb2.ListTablesRequest(game="roulette", page_size=500))
    ).tables
    return next(table.enabled for table in listed if table.table_id == table_id)


@pytest.mark.guarantee("G12")
async def test_g12_a_switch_that_says_neither_on_nor_off_is_refused(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    request = table_pb2.SetSwitchRequest(
        request_id=str(uuid4()), game="roulette", scope=TABLE, table_id=table_id, reason="the felt is torn"
    )
    refused = await refusal(driver.roulette.tables.SetSwitch(request, metadata=driver.roulette.operator))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "enabled"})
    assert await enabled(driver, table_id)


@pytest.mark.rule("903-B/2015:6.3.1", "903-B/2015:6.3.2")
async def test_a_multi_player_table_that_is_switched_off_finishes_its_round(
    driver: RouletteDriver, regulation: str
) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    seated_player = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    round_id = await driver.bet_in_open_round(seated_player, {"red": 100})

    await switch(driver, table_id, enabled=False)
    await driver.bet(seated_player, round_id, {"black": 100})
    refused = await refusal(driver.roulette.enter(await driver.new_player(), table_id))
    await driver.end_betting()
    settled = await watcher.wait_for("round_settled", round_id)
    off = await watcher.wait_for("table_switched", after=settled.seq)
    shown = (await driver.get_table(seated_player)).table
    was_enabled = await enabled(driver, table_id)
    await switch(driver, table_id, enabled=True, reason="mended")
    on = await watcher.wait_for("table_switched", after=off.seq)
    again = await watcher.wait_for("round_opened", after=on.seq)

    assert (refused.reason, refused.facts) == ("TABLE_DISABLED", {"table_id": table_id, "why": "the felt is torn"})
    assert (off.table_switched.enabled, off.table_switched.reason) == (False, "the felt is torn")
    assert (shown.phase, shown.disabled_reason) == (types_pb2.PHASE_DISABLED, "the felt is torn")
    assert (was_enabled, await enabled(driver, table_id)) == (False, True)
    assert on.table_switched.enabled
    assert again.round_opened.round.round_id != round_id
    (player_round,) = await driver.rounds(seated_player)
    assert (player_round.round.state, player_round.staked_cents) == (wallet_types.ROUND_STATE_SETTLED, 200)


@pytest.mark.rule("903-B/2015:6.3.1")
async def test_an_individual_table_that_is_switched_off_plays_the_bet_and_takes_no_other(
    driver: RouletteDriver, regulation: str
) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    betting, idle = await driver.seat_new_players(table_id, 2)
    round_id, idle_round_id = await driver.wait_for_open_round(betting), await driver.wait_for_open_round(idle)
    await driver.bet(betting, round_id, {"red": 100})
    watcher = await driver.watch(idle.table_id)

    await switch(driver, table_id, enabled=False)
    await watcher.wait_for("table_switched")
    first_bet = await refusal(driver.bet(idle, idle_round_id, {"red": 100}))
    spun = await driver.spin(betting, round_id)
    next_bet = await refusal(driver.bet(betting, spun.next_round_id, {"red": 100}))
    entering = await refusal(driver.roulette.enter(await driver.new_player(), table_id))

    assert first_bet.reason == next_bet.reason == "BETTING_CLOSED"
    assert spun.HasField("outcome")
    assert (entering.reason, entering.facts["why"]) == ("TABLE_DISABLED", "the felt is torn")
    # A seated player may still enter from another device.
    assert (await driver.roulette.enter(betting.player_id, table_id)).own_seat.session_id == betting.session_id


@pytest.mark.rule("903-B/2015:6.3.1")
async def test_the_whole_game_is_switched_off_and_on(
    driver: RouletteDriver, game_stays_on: None, seated_player: SeatedPlayer, regulation: str
) -> None:
    watcher = await driver.watch(seated_player.table_id)
    await driver.wait_for_open_round(seated_player)

    await switch(driver, "", enabled=False, reason="the regulator asks for it")
    off = await watcher.wait_for("table_switched")
    refused = [
        await refusal(driver.roulette.enter(await driver.new_player(), table_id))
        for table_id in INDIVIDUAL_TABLES.values()
    ]
    listed = [await enabled(driver, table_id) for table_id in INDIVIDUAL_TABLES.values()]
    # The switch of a table does not override the game's.
    await switch(driver, INDIVIDUAL_TABLES[regulation], enabled=True, reason="but I want to")
    still = await refusal(driver.roulette.enter(await driver.new_player(), INDIVIDUAL_TABLES[regulation]))
    await switch(driver, "", enabled=True, reason="the regulator is content")
    await watcher.wait_for("round_opened", after=off.seq)

    assert {(each.reason, each.facts["why"]) for each in [*refused, still]} == {
        ("TABLE_DISABLED", "the regulator asks for it")
    }
    assert listed == [False, False]
    assert [await enabled(driver, table_id) for table_id in INDIVIDUAL_TABLES.values()] == [True, True]
    await driver.play(seated_player, {"red": 100})


async def switch_all_games(driver: RouletteDriver, *, enabled: bool, reason: str) -> None:
    request = platform_pb2.SetPlatformSwitchRequest(request_id=str(uuid4()), enabled=enabled, reason=reason)
    await driver.wallet.platform.SetPlatformSwitch(request, metadata=driver.wallet.operator)


@pytest.fixture
async def platform_stays_on(driver: RouletteDriver) -> AsyncIterator[None]:
    """Switches the platform on again after the test."""
    yield
    await switch_all_games(driver, enabled=True, reason="the test is over")


@pytest.mark.rule("903-B/2015:6.3.1", "903-B/2015:6.3.2")
async def test_all_games_are_switched_off_and_on_and_the_round_is_finished(
    driver: RouletteDriver, game_stays_on: None, platform_stays_on: None, regulation: str
) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    seated_player = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    round_id = await driver.bet_in_open_round(seated_player, {"red": 100})

    await switch_all_games(driver, enabled=False, reason="the regulator asks for it")

    async def off() -> bool:
        return not await enabled(driver, table_id)

    # The tables learn of the platform's switch a moment later.
    await wait_until(off)
    await driver.end_betting()
    settled = await watcher.wait_for("round_settled", round_id)
    switched = await watcher.wait_for("table_switched", after=settled.seq)
    refused = [
        await refusal(driver.roulette.enter(await driver.new_player(), table_id))
        for table_id in INDIVIDUAL_TABLES.values()
    ]
    # Neither the game's switch nor the table's overrides the platform's.
    await switch(driver, "", enabled=True, reason="but I want to")
    await switch(driver, table_id, enabled=True, reason="but I want to")
    still = await refusal(driver.roulette.enter(await driver.new_player(), table_id))
    was_enabled = await enabled(driver, table_id)
    # The platform's switch does not override the game's.
    await switch(driver, "", enabled=False, reason="the wheels are cleaned")
    await switch_all_games(driver, enabled=True, reason="the regulator is content")

    async def off_for_cleaning() -> bool:
        refused = await refusal(driver.roulette.enter(await driver.new_player(), table_id))
        assert refused.reason == "TABLE_DISABLED"
        return refused.facts["why"] == "the wheels are cleaned"

    await wait_until(off_for_cleaning)
    await switch(driver, "", enabled=True, reason="they are clean")
    await watcher.wait_for("round_opened", after=switched.seq)

    assert (switched.table_switched.enabled, switched.table_switched.reason) == (False, "the regulator asks for it")
    assert {(each.reason, each.facts["why"]) for each in [*refused, still]} == {
        ("TABLE_DISABLED", "the regulator asks for it")
    }
    assert not was_enabled
    (player_round,) = await driver.rounds(seated_player)
    assert (player_round.round.state, player_round.staked_cents) == (wallet_types.ROUND_STATE_SETTLED, 100)


@pytest.mark.rule("903-B/2015:6.3.1", "903-B/2015:6.3.6.6")
@pytest.mark.guarantee("G3")
async def test_g3_every_switch_is_logged_once_with_operator_and_reason(driver: RouletteDriver) -> None:
    table_id = await driver.new_table(play=INDIVIDUAL)
    request_id = str(uuid4())

    off = [await switch(driver, table_id, enabled=False, request_id=request_id) for _ in range(2)]
    on = await switch(driver, table_id, enabled=True, reason="mended")
    refused = await refusal(switch(driver, table_id, enabled=True, request_id=request_id))
    without_reason = await refusal(switch(driver, table_id, enabled=False, reason=" "))
    without_table = await refusal(switch(driver, "nowhere", enabled=False))
    first = await driver.roulette.tables.ListSwitches(
        table_pb2.ListSwitchesRequest(game="roulette", page_size=1), metadata=driver.roulette.operator
    )
    second = await driver.roulette.tables.ListSwitches(
        table_pb2.ListSwitchesRequest(game="roulette", page_size=1, page_token=first.next_page_token),
        metadata=driver.roulette.operator,
    )

    assert off[0] == off[1]
    assert [*first.switches, *second.switches] == [on, off[0]]
    assert (off[0].set_by, off[0].reason, off[0].enabled) == ("back-office", "the felt is torn", False)
    assert on.switch_no == off[0].switch_no + 1
    assert (refused.reason, refused.facts) == ("REQUEST_REUSED", {"request_id": request_id})
    assert (without_reason.reason, without_reason.facts) == ("INVALID", {"field": "reason"})
    assert without_table.reason == "TABLE_UNKNOWN"

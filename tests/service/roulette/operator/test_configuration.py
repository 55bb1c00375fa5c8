"""Specific rules: what the operator may set, and when a new version takes effect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from uuid import uuid4

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.wallet import DEMO
from tests.service.refusals import refusal
from tests.service.roulette.platform import (
    INDIVIDUAL,
    WHEEL_BY_REGULATION,
    WINDOW_MS,
    RouletteDriver,
    amounts_by_place,
    table_rules,
)


def rules_of(regulation: str, **more: object) -> types_pb2.TableConfiguration:
    return table_rules(wheel=WHEEL_BY_REGULATION[regulation], **more)


def request_for(
    table_id: str, rules: types_pb2.TableConfiguration, *, request_id: str = "", approval: str = "SRIJ/1"
) -> table_pb2.ConfigureTableRequest:
    return table_pb2.ConfigureTableRequest(
        request_id=request_id or str(uuid4()), table_id=table_id, configuration=rules, approval_reference=approval
    )


async def enter_rules(
    driver: RouletteDriver, request: table_pb2.ConfigureTableRequest
) -> types_pb2.ConfigurationVersion:
    return (await driver.roulette.tables.ConfigureTable(request, metadata=driver.roulette.operator)).version


@pytest.mark.rule("804/2015:P.3", "807/2015:P.3")
@pytest.mark.parametrize("approval", ["", "   "])
@pytest.mark.guarantee("G12")
async def test_without_the_regulators_approval_no_rules_take_effect(
    driver: RouletteDriver, regulation: str, approval: str
) -> None:
    unconfigured = driver.unique_name("table")
    configured = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    changed = rules_of(regulation, play=INDIVIDUAL, minimum_cents=200)

    refused = [
        await refusal(enter_rules(driver, request_for(table_id, changed, approval=approval)))
        for table_id in (unconfigured, configured)
    ]

    for each in refused:
        assert each.reason == "RULE_VIOLATED"
        assert (each.facts["field"], each.facts["rule"]) == ("approval_reference", f"{regulation}/2015:P.3")
    assert await driver.open_refusal(unconfigured) == "TABLE_UNKNOWN"
    seated_player = await driver.seat_new_player(configured)
    assert (
        await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"red": 100})
    ).stake.amount_cents == 100


# A change to specific rules.
Change = Callable[[types_pb2.TableConfiguration], object]


def specific(**rules: object) -> Change:
    def change(configured: types_pb2.TableConfiguration) -> None:
        unpacked = roulette_pb2.SpecificRules()
        configured.rules.Unpack(unpacked)
        unpacked.MergeFrom(roulette_pb2.SpecificRules(**rules))  # type: ignore[arg-type]
        configured.rules.Pack(unpacked)

    return change


def general(**fields: object) -> Change:
    def change(configured: types_pb2.TableConfiguration) -> None:
        for name, value in fields.items():
            setattr(configured, name, value)

    return change


def inactivity(**policy: object) -> Change:
    return lambda configured: configured.inactivity.MergeFrom(session_pb2.InactivityPolicy(invite=True, **policy))  # type: ignore[arg-type]


def straight_maximum(times: int) -> roulette_pb2.KindMaximum:
    return roulette_pb2.KindMaximum(kind=roulette_pb2.KIND_STRAIGHT, times_minimum=times)


@pytest.mark.rule("804/2015:P.2", "807/2015:P.2")
@pytest.mark.parametrize(
    ("change", "field", "bound", "articles"),
    [
        (general(betting_window_ms=2_999), "betting_window_ms", "3000", ("903-B/2015:6.1.4",) * 2),
        (
            specific(maxima=[straight_maximum(31)]),
            "rules.maxima[0].times_minimum",
            "30",
            ("804/2015:11.a.i", "807/2015:12.a.i"),
        ),
        (specific(total_maximum_cents=99), "rules.total_maximum_cents", "100", ("804/2015:12", "807/2015:13")),
        (inactivity(missed_rounds=4), "inactivity.missed_rounds", "5", ("804/2015:28.b", "807/2015:30.b")),
        (inactivity(idle_seconds=179), "inactivity.idle_seconds", "180", ("804/2015:28.a", "807/2015:30.a")),
        (inactivity(end_after_seconds=59), "inactivity.end_after_seconds", "60", ("804/2015:29", "807/2015:31")),
    ],
)
async def test_specific_rules_beyond_the_regulation_are_refused(
    driver: RouletteDriver, regulation: str, change: Change, field: str, bound: str, articles: tuple[str, str]
) -> None:
    table_id, rules = driver.unique_name("table"), rules_of(regulation)
    change(rules)

    refused = await refusal(enter_rules(driver, request_for(table_id, rules)))

    assert refused.reason == "RULE_VIOLATED"
    assert refused.facts == {"field": f"configuration.{field}", "bound": bound, "rule": articles[regulation == "807"]}
    assert await driver.open_refusal(table_id) == "TABLE_UNKNOWN"


@pytest.mark.rule("804/2015:6.a", "807/2015:6.a", "807/2015:8")
async def test_each_regulation_has_its_own_wheel_and_bets(driver: RouletteDriver) -> None:
    french = rules_of("804")
    specific(wheel=roulette_pb2.WHEEL_FRENCH)(french)
    with_call_bets = rules_of("804")
    specific(call_bets=True)(with_call_bets)

    wheel = await refusal(enter_rules(driver, request_for(driver.unique_name("table"), french)))
    call_bets = await refusal(enter_rules(driver, request_for(driver.unique_name("table"), with_call_bets)))

    path = "configuration.rules"
    assert (wheel.reason, wheel.facts["rule"]) == ("RULE_VIOLATED", "804/2015:6.a")
    assert (call_bets.reason, call_bets.facts["field"]) == ("RULE_VIOLATED", f"{path}.call_bets")
    assert wheel.facts["field"] == f"{path}.wheel"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (general(mode=DEMO), "mode"),
        (general(play=INDIVIDUAL), "play"),
        (general(regulation="804/2015"), "regulation"),
        (general(game="poker"), "game"),
    ],
)
async def test_mode_play_regulation_and_game_of_a_table_never_change(
    driver: RouletteDriver, change: Change, field: str
) -> None:
    table_id, rules = await driver.new_table(), rules_of("807")
    change(rules)

    refused = await refusal(enter_rules(driver, request_for(table_id, rules)))

    assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.{field}"})


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_a_new_version_takes_effect_with_the_next_round(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    seated_player = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    first = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, first, {"red": 100})

    shorter = WINDOW_MS // 2
    version = await driver.roulette.configure(table_id, rules_of(regulation, minimum_cents=200, window_ms=shorter))
    during = await driver.bet(seated_player, first, {"red": 100})
    await driver.void(table_id, first)
    opened = (
        await watcher.wait_for("round_opened", after=(await watcher.wait_for("round_voided", first)).seq)
    ).round_opened
    refused = await refusal(driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"black": 100}))
    window = opened.round.closes_at.ToDatetime(UTC) - opened.round.opened_at.ToDatetime(UTC)

    assert version.version == 2
    assert amounts_by_place(during.on_felt) == {"red": 200}
    assert (refused.reason, refused.facts["minimum_cents"]) == ("BELOW_MINIMUM", "200")
    assert opened.round.configuration_version == 2
    assert timedelta(milliseconds=shorter) <= window < timedelta(milliseconds=WINDOW_MS)
    (player_round,) = await driver.rounds(seated_player)
    assert player_round.round.configuration_version == 1
    assert (await driver.get_table(seated_player)).table.configuration_version == 2


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_a_round_with_a_bet_at_an_individual_table_keeps_its_rules(
    driver: RouletteDriver, regulation: str
) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    betting, idle = await driver.seat_new_players(table_id, 2)
    first, idle_round_id = await driver.wait_for_open_round(betting), await driver.wait_for_open_round(idle)
    await driver.bet(betting, first, {"red": 100})

    await driver.roulette.configure(table_id, rules_of(regulation, play=INDIVIDUAL, minimum_cents=200))
    watcher = await driver.watch(idle.table_id)
    opened = await watcher.wait_for("round_opened")
    await watcher.wait_for("round_opened", after=opened.seq)

    assert amounts_by_place((await driver.bet(betting, first, {"red": 100})).on_felt) == {"red": 200}
    await driver.spin(betting, first)
    assert (await driver.rounds(betting))[0].round.configuration_version == 1
    assert (
        await refusal(driver.bet(betting, await driver.wait_for_open_round(betting), {"red": 100}))
    ).reason == "BELOW_MINIMUM"
    # A round without a bet opens anew.
    assert (
        await refusal(driver.bet(idle, await driver.wait_for_open_round(idle), {"red": 100}))
    ).reason == "BELOW_MINIMUM"
    assert (await driver.get_table(idle)).table.round.round_id == idle_round_id


async def test_rules_may_be_entered_for_later(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    seated_player = await driver.seat_new_player(table_id)
    request = request_for(table_id, rules_of(regulation, play=INDIVIDUAL, minimum_cents=200))
    later = driver.tables_now() + timedelta(minutes=10)
    request.effective_at.FromDatetime(later)

    await enter_rules(driver, request)
    spun = await driver.play(seated_player, {"red": 100})
    await driver.wait_for_open_round(seated_player)
    await driver.advance_tables(600)
    watcher = await driver.watch(seated_player.table_id)
    before = opened = await watcher.wait_for("round_opened")
    while opened.round_opened.round.configuration_version == 1:
        before, opened = opened, await watcher.wait_for("round_opened", after=opened.seq)
    past = request_for(table_id, rules_of(regulation, play=INDIVIDUAL))
    past.effective_at.FromDatetime(driver.tables_now() - timedelta(seconds=1))
    refused = await refusal(enter_rules(driver, past))

    assert opened.round_opened.round.configuration_version == 2
    assert before.at.ToDatetime(UTC) < later <= opened.at.ToDatetime(UTC)
    # No bet lay in it yet: the round opens anew.
    assert opened.round_opened.round.round_id == before.round_opened.round.round_id == spun.next_round_id
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "effective_at"})


@pytest.mark.rule("903-B/2015:6.3.6.6")
@pytest.mark.guarantee("G3")
async def test_g3_every_version_is_kept_with_operator_and_approval(driver: RouletteDriver, regulation: str) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    second = request_for(
        table_id,
        rules_of(regulation, play=INDIVIDUAL, minimum_cents=200),
        request_id=driver.unique_name("r"),
        approval="SRIJ/2",
    )

    entered = [await enter_rules(driver, second) for _ in range(3)]
    other = request_for(table_id, rules_of(regulation, play=INDIVIDUAL), request_id=second.request_id)
    refused = await refusal(enter_rules(driver, other))
    listed, listed_page = [
        await driver.roulette.tables.ListConfigurations(
            table_pb2.ListConfigurationsRequest(table_id=table_id, page_size=size), metadata=driver.roulette.operator
        )
        for size in (0, 1)
    ]

    assert entered[0] == entered[1] == entered[2]
    assert (refused.reason, refused.facts) == ("REQUEST_REUSED", {"request_id": second.request_id})
    assert [version.version for version in listed.versions] == [2, 1]
    for page_token, number in (("", 2), (listed_page.next_page_token, 1)):
        request = table_pb2.ListConfigurationsRequest(table_id=table_id, page_size=1, page_token=page_token)
        page = await driver.roulette.tables.ListConfigurations(request, metadata=driver.roulette.operator)
        assert [version.version for version in page.versions] == [change.version for change in page.changes] == [number]
        assert [change.replaces for change in page.changes] == [number - 1]
        assert bool(page.next_page_token) == (number == 2)
    assert [version.approval_reference for version in listed.versions] == ["SRIJ/2", "SRIJ/test"]
    assert {version.entered_by for version in listed.versions} == {"back-office"}
    assert listed.versions[0] == entered[0]
    assert listed.versions[0].configuration == second.configuration


@pytest.mark.rule("804/2015:12", "807/2015:13")
async def test_the_operator_may_leave_doubles_out_and_cap_a_round(driver: RouletteDriver, regulation: str) -> None:
    rules = rules_of(regulation, play=INDIVIDUAL)
    specific(without_doubles=True, total_maximum_cents=1_000, maxima=[straight_maximum(3)])(rules)
    seated_player = await driver.seat_new_player(await driver.configure_table(driver.unique_name("table"), rules))
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"red": 800})

    double = await refusal(driver.bet(seated_player, round_id, {"double-dozen-1-2": 100}))
    total = await refusal(driver.bet(seated_player, round_id, {"black": 300}))
    highest = await refusal(driver.bet(seated_player, round_id, {"17": 302}))

    assert (double.reason, double.facts["place"]) == ("BET_NOT_OFFERED", "double-dozen-1-2")
    assert (total.reason, total.facts["amount_cents"], total.facts["maximum_cents"]) == ("ABOVE_TOTAL", "1100", "1000")
    assert highest.reason in {"ABOVE_TOTAL", "ABOVE_MAXIMUM"}
    assert await driver.balance(seated_player) == (99_200, 800)


@pytest.mark.guarantee("G12")
async def test_g12_limits_within_which_a_bet_could_win_more_than_the_wallet_pays_are_refused(
    driver: RouletteDriver, regulation: str
) -> None:
    """Otherwise a bet within the published maximum would be refused by the wallet."""
    table_id, rules = driver.unique_name("table"), rules_of(regulation, play=INDIVIDUAL)
    specific(minimum_cents=100_000_00)(rules)
    refused = await refusal(enter_rules(driver, request_for(table_id, rules)))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "configuration.rules"})
    specific(minimum_cents=100)(rules)
    await enter_rules(driver, request_for(table_id, rules))
    # A later version is held to it, too.
    specific(minimum_cents=100_000_00)(rules)
    assert (await refusal(enter_rules(driver, request_for(table_id, rules)))).reason == "INVALID"


@pytest.mark.guarantee("G12")
async def test_g12_the_id_of_another_games_table_is_refused_by_name(driver: RouletteDriver) -> None:
    """Without this both games would believe that they have the table, and one of them would never get its lease."""
    taken, rules = driver.unique_name("table"), rules_of("807", play=INDIVIDUAL)
    poker = driver.wallet.bearer("game", "poker")
    registered = wallet_pb2.RegisterTableRequest(
        table_id=taken, game="poker", regulation="806/2015", mode=rules.mode, play=wallet_types.PLAY_POKER
    )
    await driver.wallet.wallet.RegisterTable(registered, metadata=poker)
    refused = await refusal(enter_rules(driver, request_for(taken, rules)))
    assert (refused.reason, refused.facts) == ("TABLE_TAKEN", {"table_id": taken, "game": "poker"})
    assert await driver.open_refusal(taken) == "TABLE_UNKNOWN"
    # And the other way round: what roulette has configured is roulette's, before anybody has played there.
    own = driver.unique_name("table")
    await enter_rules(driver, request_for(own, rules))
    registered.table_id = own
    assert (await refusal(driver.wallet.wallet.RegisterTable(registered, metadata=poker))).reason == "WRONG_GAME"

"""Specific rules: what the operator may set and what not, and from when on a new version holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.processes.roulette import configuration
from tests.processes.wallet import DEMO
from tests.service.roulette.platform import (
    INDIVIDUAL,
    LONG_WINDOW_MS,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    amounts_by_place,
    refusal,
)


def rules_of(regulation: str, **more: object) -> types_pb2.TableConfiguration:
    return configuration(wheel=WHEEL_BY_REGULATION[regulation], **more)  # type: ignore[arg-type]


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
    fresh, standing = (
        driver.unique_name("table"),
        await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL),
    )
    changed = rules_of(regulation, play=INDIVIDUAL, minimum_cents=200)

    refused = [
        await refusal(enter_rules(driver, request_for(table_id, changed, approval=approval)))
        for table_id in (fresh, standing)
    ]

    for each in refused:
        assert each.reason == "RULE_VIOLATED"
        assert (each.facts["field"], each.facts["rule"]) == ("approval_reference", f"{regulation}/2015:P.3")
    assert await driver.open_refusal(fresh) == "TABLE_UNKNOWN"
    seated_player = await driver.seat_new_player(standing)
    assert (
        await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"red": 100})
    ).stake.amount_cents == 100


Change = Callable[[types_pb2.TableConfiguration], object]


def specific(**rules: object) -> Change:
    def change(made: types_pb2.TableConfiguration) -> None:
        read = roulette_pb2.SpecificRules()
        made.rules.Unpack(read)
        read.MergeFrom(roulette_pb2.SpecificRules(**rules))  # type: ignore[arg-type]
        made.rules.Pack(read)

    return change


def general(**fields: object) -> Change:
    def change(made: types_pb2.TableConfiguration) -> None:
        for name, value in fields.items():
            setattr(made, name, value)

    return change


def impatient(**policy: object) -> Change:
    return lambda made: made.inactivity.MergeFrom(session_pb2.InactivityPolicy(invite=True, **policy))  # type: ignore[arg-type]


def pleno(times: int) -> roulette_pb2.KindMaximum:
    return roulette_pb2.KindMaximum(kind=roulette_pb2.KIND_STRAIGHT, times_minimum=times)


@pytest.mark.rule("804/2015:P.2", "807/2015:P.2")
@pytest.mark.parametrize(
    ("change", "field", "bound", "rules"),
    [
        (general(betting_window_ms=2_999), "betting_window_ms", "3000", ("903-B/2015:6.1.4",) * 2),
        (specific(maxima=[pleno(31)]), "maxima", "30", ("804/2015:11.a.i", "807/2015:12.a.i")),
        (specific(total_maximum_cents=99), "total_maximum_cents", "100", ("804/2015:12", "807/2015:13")),
        (impatient(missed_rounds=4), "inactivity.missed_rounds", "5", ("804/2015:28.b", "807/2015:30.b")),
        (impatient(idle_seconds=179), "inactivity.idle_seconds", "180", ("804/2015:28.a", "807/2015:30.a")),
        (impatient(end_after_seconds=59), "inactivity.end_after_seconds", "60", ("804/2015:29", "807/2015:31")),
    ],
)
async def test_beyond_its_powers_the_operator_sets_nothing(
    driver: RouletteDriver, regulation: str, change: Change, field: str, bound: str, rules: tuple[str, str]
) -> None:
    table_id, made = driver.unique_name("table"), rules_of(regulation)
    change(made)

    refused = await refusal(enter_rules(driver, request_for(table_id, made)))

    assert refused.reason == "RULE_VIOLATED"
    assert refused.facts == {"field": field, "bound": bound, "rule": rules[regulation == "807"]}
    assert await driver.open_refusal(table_id) == "TABLE_UNKNOWN"


@pytest.mark.rule("804/2015:6.a", "807/2015:6.a", "807/2015:8")
async def test_each_regulation_has_its_own_wheel_and_bets(driver: RouletteDriver) -> None:
    french = rules_of("804")
    specific(wheel=roulette_pb2.WHEEL_FRENCH)(french)
    calling = rules_of("804")
    specific(call_bets=True)(calling)

    wheel = await refusal(enter_rules(driver, request_for(driver.unique_name("table"), french)))
    call_bets = await refusal(enter_rules(driver, request_for(driver.unique_name("table"), calling)))

    assert (wheel.reason, wheel.facts["field"], wheel.facts["rule"]) == ("RULE_VIOLATED", "wheel", "804/2015:6.a")
    assert (call_bets.reason, call_bets.facts["field"]) == ("RULE_VIOLATED", "call_bets")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (general(mode=DEMO), "mode"),
        (general(play=INDIVIDUAL), "play"),
        (general(regulation="804/2015"), "regulation"),
        (general(game="poker"), "game"),
    ],
)
async def test_what_a_table_is_never_changes(driver: RouletteDriver, change: Change, field: str) -> None:
    table_id, made = await driver.new_table(window_ms=LONG_WINDOW_MS), rules_of("807", window_ms=LONG_WINDOW_MS)
    change(made)

    refused = await refusal(enter_rules(driver, request_for(table_id, made)))

    assert (refused.reason, refused.facts) == ("INVALID", {"field": field})


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_a_new_version_holds_from_the_next_round_on(driver: RouletteDriver) -> None:
    await asyncio.gather(*(_changed_during_a_round(driver, regulation) for regulation in WHEEL_BY_REGULATION))


async def _changed_during_a_round(driver: RouletteDriver, regulation: str) -> None:
    # A round that goes on for as long as it is needed.
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], window_ms=LONG_WINDOW_MS)
    seated_player = await driver.seat_new_player(table_id)
    watch = await driver.watch(table_id)
    first = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, first, {"red": 100})

    shorter = LONG_WINDOW_MS // 2
    version = await driver.roulette.configure(table_id, rules_of(regulation, minimum_cents=200, window_ms=shorter))
    during = await driver.bet(seated_player, first, {"red": 100})
    await driver.void(table_id, first)
    opened = (await watch.wait_for("round_opened", after=(await watch.wait_for("round_void", first)).seq)).round_opened
    refused = await refusal(driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"black": 100}))
    window = opened.round.closes_at.ToDatetime(UTC) - opened.round.opened_at.ToDatetime(UTC)

    assert version.version == 2
    assert amounts_by_place(during.on_felt) == {"red": 200}
    assert (refused.reason, refused.facts["minimum_cents"]) == ("BELOW_MINIMUM", "200")
    assert opened.round.configuration_version == 2
    assert timedelta(milliseconds=shorter) <= window < timedelta(milliseconds=LONG_WINDOW_MS)
    (lived,) = await driver.rounds(seated_player)
    assert lived.round.configuration_version == 1
    assert (await driver.get_table(seated_player)).table.configuration_version == 2


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_at_an_individual_table_a_round_with_a_bet_keeps_its_rules(
    driver: RouletteDriver, regulation: str
) -> None:
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    betting, looking = await driver.seat_new_players(table_id, 2)
    first, idle = await driver.wait_for_open_round(betting), await driver.wait_for_open_round(looking)
    await driver.bet(betting, first, {"red": 100})

    await driver.roulette.configure(table_id, rules_of(regulation, play=INDIVIDUAL, minimum_cents=200))
    watch = await driver.watch(looking.table_id)
    opened = await watch.wait_for("round_opened")
    await watch.wait_for("round_opened", after=opened.seq)

    assert amounts_by_place((await driver.bet(betting, first, {"red": 100})).on_felt) == {"red": 200}
    await driver.spin(betting, first)
    assert (await driver.rounds(betting))[0].round.configuration_version == 1
    assert (
        await refusal(driver.bet(betting, await driver.wait_for_open_round(betting), {"red": 100}))
    ).reason == "BELOW_MINIMUM"
    # Where nobody had bet the round opens anew.
    assert (
        await refusal(driver.bet(looking, await driver.wait_for_open_round(looking), {"red": 100}))
    ).reason == "BELOW_MINIMUM"
    assert (await driver.get_table(looking)).table.round.round_id == idle


async def test_rules_may_be_entered_for_later(driver: RouletteDriver, regulation: str) -> None:
    # A machine that is too busy to play a round before then is given more time.
    for seconds in (1.5, 10, 60):
        if await _entered_for_later(driver, regulation, timedelta(seconds=seconds)):
            return
    raise AssertionError("no round is played in a minute")


async def _entered_for_later(driver: RouletteDriver, regulation: str, reserve: timedelta) -> bool:
    """Whether a round could be played, and the next one opened, before the new rules held."""
    table_id = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
    seated_player = await driver.seat_new_player(table_id)
    request = request_for(table_id, rules_of(regulation, play=INDIVIDUAL, minimum_cents=200))
    later = datetime.now(UTC) + reserve
    request.effective_at.FromDatetime(later)

    try:
        await enter_rules(driver, request)
        spun = await driver.play(seated_player, {"red": 100})
    except grpc.aio.AioRpcError:
        if datetime.now(UTC) < later:
            raise
        return False
    if datetime.now(UTC) >= later:
        return False
    watch = await driver.watch(seated_player.table_id)
    before = opened = await watch.wait_for("round_opened")
    while opened.round_opened.round.configuration_version == 1:
        before, opened = opened, await watch.wait_for("round_opened", after=opened.seq)
    past = request_for(table_id, rules_of(regulation, play=INDIVIDUAL))
    past.effective_at.FromDatetime(datetime.now(UTC) - timedelta(seconds=1))
    refused = await refusal(enter_rules(driver, past))

    assert opened.round_opened.round.configuration_version == 2
    assert before.at.ToDatetime(UTC) < later <= opened.at.ToDatetime(UTC)
    # Nobody had bet in it yet.
    assert opened.round_opened.round.round_id == spun.next_round_id
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "effective_at"})
    return True


@pytest.mark.rule("903-B/2015:6.3.6.6")
@pytest.mark.guarantee("G3")
async def test_every_version_is_kept_with_who_entered_it_and_by_which_approval(
    driver: RouletteDriver, regulation: str
) -> None:
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
    listed = await driver.roulette.tables.ListConfigurations(
        table_pb2.ListConfigurationsRequest(table_id=table_id), metadata=driver.roulette.operator
    )

    assert entered[0] == entered[1] == entered[2]
    assert (refused.reason, refused.facts) == ("REQUEST_REUSED", {"request_id": second.request_id})
    assert [version.version for version in listed.versions] == [2, 1]
    assert [version.approval_reference for version in listed.versions] == ["SRIJ/2", "SRIJ/test"]
    assert {version.entered_by for version in listed.versions} == {"back-office"}
    assert listed.versions[0] == entered[0]
    assert listed.versions[0].configuration == second.configuration


@pytest.mark.rule("804/2015:12", "807/2015:13")
async def test_the_operator_may_leave_doubles_out_and_cap_a_round(driver: RouletteDriver, regulation: str) -> None:
    made = rules_of(regulation, play=INDIVIDUAL)
    specific(without_doubles=True, total_maximum_cents=1_000, maxima=[pleno(3)])(made)
    seated_player = await driver.seat_new_player(await driver.configure_table(driver.unique_name("table"), made))
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"red": 800})

    double = await refusal(driver.bet(seated_player, round_id, {"double-dozen-1-2": 100}))
    total = await refusal(driver.bet(seated_player, round_id, {"black": 300}))
    highest = await refusal(driver.bet(seated_player, round_id, {"17": 302}))

    assert (double.reason, double.facts["place"]) == ("BET_NOT_OFFERED", "double-dozen-1-2")
    assert (total.reason, total.facts["amount_cents"], total.facts["maximum_cents"]) == ("ABOVE_TOTAL", "1100", "1000")
    assert highest.reason in {"ABOVE_TOTAL", "ABOVE_MAXIMUM"}
    assert await driver.balance(seated_player) == (99_200, 800)

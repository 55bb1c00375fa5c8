"""Tests of specific rules: what an operator may set for a table, and how anything beyond it is refused."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.refusals import TableRefused
from services.roulette.game import RouletteGame
from tests.engine.roulette.tables import WHEELS, configuration, place, refusal, rule_marks, table


def refusal_of(setting: types_pb2.TableConfiguration) -> TableRefused:
    with pytest.raises(TableRefused) as refused:
        RouletteGame().rules(setting)
    return refused.value


@pytest.mark.rule("804/2015:P.2")
@pytest.mark.rule("807/2015:P.2")
@pytest.mark.parametrize(
    ("setting", "field", "bound", "rule"),
    [
        pytest.param(
            configuration("FRENCH", regulation="804/2015"),
            "wheel",
            "WHEEL_AMERICAN_37, WHEEL_AMERICAN_38",
            "804/2015:6.a",
            marks=rule_marks("804/2015:6.a"),
        ),
        pytest.param(
            configuration("UNSPECIFIED", regulation="804/2015"),
            "wheel",
            "WHEEL_AMERICAN_37, WHEEL_AMERICAN_38",
            "804/2015:6.a",
        ),
        pytest.param(
            configuration("AMERICAN_37", regulation="807/2015"),
            "wheel",
            "WHEEL_FRENCH",
            "807/2015:6.a",
            marks=rule_marks("807/2015:6.a"),
        ),
        pytest.param(configuration("AMERICAN_38", regulation="807/2015"), "wheel", "WHEEL_FRENCH", "807/2015:6.a"),
        pytest.param(
            configuration("AMERICAN_37", minimum_cents=0),
            "minimum_cents",
            "1",
            "804/2015:10",
            marks=rule_marks("804/2015:10"),
        ),
        pytest.param(
            configuration("FRENCH", minimum_cents=-100),
            "minimum_cents",
            "1",
            "807/2015:11",
            marks=rule_marks("807/2015:11"),
        ),
        pytest.param(
            configuration("AMERICAN_38", call_bets=True),
            "call_bets",
            "false",
            "804/2015:7",
            marks=rule_marks("804/2015:7"),
        ),
        pytest.param(
            configuration("AMERICAN_37", total_maximum_cents=99),
            "total_maximum_cents",
            "100",
            "804/2015:12",
            marks=rule_marks("804/2015:12"),
        ),
        pytest.param(
            configuration("FRENCH", total_maximum_cents=-1),
            "total_maximum_cents",
            "100",
            "807/2015:13",
            marks=rule_marks("807/2015:13"),
        ),
    ],
)
def test_settings_beyond_the_regulation_are_refused(
    setting: types_pb2.TableConfiguration, field: str, bound: str, rule: str
) -> None:
    refused = refusal_of(setting)

    assert refused.reason == "RULE_VIOLATED"
    assert refused.facts == {"field": f"configuration.rules.{field}", "bound": bound, "rule": rule}


@pytest.mark.rule("804/2015:P.2")
@pytest.mark.rule("807/2015:P.2")
@pytest.mark.parametrize(
    ("kind", "ceiling", "american", "french"),
    [
        pytest.param(
            kind, ceiling, american, french, marks=rule_marks(american, french, "804/2015:11", "807/2015:12"), id=kind
        )
        for kind, ceiling, american, french in (
            ("STRAIGHT", 30, "804/2015:11.a.i", "807/2015:12.a.i"),
            ("SPLIT", 60, "804/2015:11.a.ii", "807/2015:12.a.ii"),
            ("STREET", 90, "804/2015:11.a.iii", "807/2015:12.a.iii"),
            ("CORNER", 120, "804/2015:11.a.iv", "807/2015:12.a.iv"),
            ("SIX_LINE", 180, "804/2015:11.a.v", "807/2015:12.a.v"),
            ("DOZEN", 360, "804/2015:11.a.vi", "807/2015:12.a.vi"),
            ("COLUMN", 360, "804/2015:11.a.vii", "807/2015:12.a.vii"),
            ("DOUBLE_DOZEN", 720, "804/2015:11.a.viii", "807/2015:12.a.viii"),
            ("DOUBLE_COLUMN", 720, "804/2015:11.a.ix", "807/2015:12.a.ix"),
            ("EVEN", 540, "804/2015:11.b", "807/2015:12.b"),
            ("ODD", 540, "804/2015:11.b", "807/2015:12.b"),
            ("LOW", 540, "804/2015:11.b", "807/2015:12.b"),
            ("HIGH", 540, "804/2015:11.b", "807/2015:12.b"),
            ("RED", 540, "804/2015:11.b", "807/2015:12.b"),
            ("BLACK", 540, "804/2015:11.b", "807/2015:12.b"),
        )
    ],
)
def test_a_maximum_may_be_lower_than_the_ceiling_and_never_higher(
    kind: str, ceiling: int, american: str, french: str
) -> None:
    for wheel in WHEELS:
        rule = french if wheel == "FRENCH" else american
        for times, bound in ((ceiling + 1, ceiling), (2**31 - 1, ceiling), (0, 1), (-1, 1)):
            refused = refusal_of(configuration(wheel, maxima={kind: times}))
            assert refused.reason == "RULE_VIOLATED"
            path = "configuration.rules.maxima[0].times_minimum"
            assert refused.facts == {"field": path, "bound": str(bound), "rule": rule}
        for times in (1, ceiling - 1, ceiling):
            rules = table(wheel, maxima={kind: times})
            number = roulette_pb2.Kind.Value(f"KIND_{kind}")
            lowered = [each for each in rules.layout().places if each.kind == number]
            assert {each.maximum_cents for each in lowered} == {times * 100}
            name = lowered[0].place
            assert place(rules, {name: times * 100}) == {name: times * 100}
            assert refusal(rules, {name: times * 100 + 2}).facts["rule"] == rule


@pytest.mark.rule("804/2015:9")
@pytest.mark.rule("807/2015:10")
@pytest.mark.parametrize(("wheel", "rule"), [("AMERICAN_37", "804/2015:9"), ("FRENCH", "807/2015:10")])
def test_limits_that_leave_no_amount_for_a_place_are_refused(wheel: str, rule: str) -> None:
    refused = refusal_of(configuration(wheel, minimum_cents=101, maxima={"DOUBLE_COLUMN": 1}))

    assert refused.facts == {"field": "configuration.rules.maxima", "bound": "2", "rule": rule}
    refused = refusal_of(configuration(wheel, minimum_cents=101, total_maximum_cents=101))
    assert refused.facts == {"field": "configuration.rules.total_maximum_cents", "bound": "102", "rule": rule}
    assert table(wheel, minimum_cents=101, maxima={"DOUBLE_COLUMN": 1}, without_doubles=True).minimum_cents == 101
    assert place(table(wheel, minimum_cents=102, maxima={"DOUBLE_COLUMN": 1}), {"double-column-1-2": 102})
    for each in table(wheel, minimum_cents=101, maxima={"DOUBLE_COLUMN": 2}).layout().places:
        assert each.minimum_cents <= each.maximum_cents


def altered(field: str, value: str) -> types_pb2.TableConfiguration:
    setting = configuration()
    setattr(setting, field, value)
    return setting


def with_rules(rules: roulette_pb2.SpecificRules | types_pb2.LocalizedText) -> types_pb2.TableConfiguration:
    setting = configuration()
    setting.rules.Pack(rules)
    return setting


def with_maxima(*kinds: str) -> types_pb2.TableConfiguration:
    maxima = [
        roulette_pb2.KindMaximum(kind=roulette_pb2.Kind.Value(f"KIND_{kind}"), times_minimum=10) for kind in kinds
    ]
    return with_rules(roulette_pb2.SpecificRules(wheel=roulette_pb2.WHEEL_FRENCH, minimum_cents=100, maxima=maxima))


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        pytest.param(altered("game", "blackjack"), "game", id="another-game"),
        pytest.param(altered("regulation", "805/2015"), "regulation", id="another-regulation"),
        pytest.param(altered("regulation", ""), "regulation", id="no-regulation"),
        pytest.param(types_pb2.TableConfiguration(game="roulette", regulation="804/2015"), "rules", id="no-rules"),
        pytest.param(with_rules(types_pb2.LocalizedText(pt="", en="")), "rules", id="other-rules"),
        pytest.param(with_maxima("RED", "RED"), "rules.maxima[1].kind", id="a-kind-twice"),
        pytest.param(with_maxima("UNSPECIFIED"), "rules.maxima[0].kind", id="no-kind"),
        pytest.param(configuration(minimum_cents=100_000_001), "rules.minimum_cents", id="beyond-int64"),
    ],
)
def test_settings_that_no_rule_covers_are_invalid(setting: types_pb2.TableConfiguration, field: str) -> None:
    refused = refusal_of(setting)

    assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.{field}"})


def test_an_unknown_wheel_is_refused_by_its_number() -> None:
    unknown = roulette_pb2.SpecificRules(minimum_cents=100)
    unknown.MergeFromString(b"\x08\x63")

    refused = refusal_of(with_rules(unknown))
    assert (refused.reason, refused.facts["field"]) == ("RULE_VIOLATED", "configuration.rules.wheel")
    assert "99" in refused.sentence


@pytest.mark.rule("804/2015:10")
@pytest.mark.rule("804/2015:12")
@pytest.mark.rule("807/2015:8")
def test_everything_the_regulation_leaves_open_can_be_set() -> None:
    rules = table(
        "FRENCH",
        minimum_cents=50,
        maxima={"STRAIGHT": 20, "RED": 100},
        without_doubles=True,
        total_maximum_cents=50,
        call_bets=True,
    )
    layout = rules.layout()

    maxima = {each.place: each.maximum_cents for each in layout.places}
    assert (maxima["17"], maxima["red"], maxima["black"], maxima["17-20"]) == (1000, 5000, 27_000, 3000)
    assert {each.minimum_cents for each in layout.places} == {50}
    assert len(layout.places) == 157
    assert (layout.total_maximum_cents, len(layout.call_bets)) == (50, 124)


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("wheel", WHEELS)
def test_g11_at_the_highest_minimum_the_fullest_felt_fits_in_an_int64(wheel: str) -> None:
    rules = table(wheel, minimum_cents=100_000_000)
    felt = place(rules, {each.place: each.maximum_cents for each in rules.layout().places})

    assert rules.read_bets(rules.bets_message(felt).SerializeToString()) == felt
    assert max(rules.payout_cents(outcome, felt) for outcome in rules.outcomes) < 2**63


def test_rules_of_another_game_and_bytes_that_are_no_rules_are_refused() -> None:
    other, unreadable = configuration(), configuration()
    other.rules.Pack(types_pb2.TableConfiguration())
    unreadable.rules.value = b"\xff"
    for setting in (other, unreadable):
        refused = refusal_of(setting)
        assert (refused.reason, refused.facts) == ("INVALID", {"field": "configuration.rules"})

"""Tests of specific rules: what an operator may set for a table, and how anything beyond it is refused."""

from __future__ import annotations

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.engine import Chance, Commission
from services.baccarat.game import BaccaratGame
from services.kit.table.configuration.versions import verify_by_game
from services.kit.table.refusals import TableRefused
from tests.engine.baccarat.tables import configuration, macau_rules, refusal_of, specific_rules

FIVE_PERCENT, HALF = baccarat_pb2.COMMISSION_FIVE_PERCENT, baccarat_pb2.COMMISSION_HALF_ON_SCORE


def refused_setting(setting: types_pb2.TableConfiguration) -> TableRefused:
    return refusal_of(lambda: BaccaratGame().rules(setting))


def maxima(**times: int) -> list[baccarat_pb2.ChanceMaximum]:
    return [
        baccarat_pb2.ChanceMaximum(chance=name.replace("_", "-"), times_minimum=each) for name, each in times.items()
    ]


def violated(field: str, bound: object, rule: str) -> dict[str, str]:
    return {"field": f"configuration.{field}", "bound": str(bound), "rule": f"812/2015:{rule}"}


@pytest.mark.rule("812/2015:P.2")
@pytest.mark.parametrize(
    ("rules", "field", "bound", "rule"),
    [
        pytest.param(specific_rules(packs=7), "packs", "6, 8", "6.b", marks=pytest.mark.rule("812/2015:6.b")),
        pytest.param(specific_rules(packs=0), "packs", "6, 8", "6.b"),
        pytest.param(specific_rules(places=10), "places", 9, "6.a", marks=pytest.mark.rule("812/2015:6.a")),
        pytest.param(specific_rules(places=0), "places", 1, "6.a"),
        pytest.param(specific_rules(minimum_cents=0), "minimum_cents", 1, "14", marks=pytest.mark.rule("812/2015:14")),
        pytest.param(
            specific_rules(commission=0),
            "commission",
            "COMMISSION_FIVE_PERCENT, COMMISSION_HALF_ON_SCORE",
            "26",
            marks=pytest.mark.rule("812/2015:26"),
        ),
        pytest.param(
            specific_rules(commission=3), "commission", "COMMISSION_FIVE_PERCENT, COMMISSION_HALF_ON_SCORE", "26"
        ),
        # Never both forms (C4).
        pytest.param(
            specific_rules(half_scores=[6]), "half_scores", "none", "26", marks=pytest.mark.rule("812/2015:26.a")
        ),
        pytest.param(
            specific_rules(commission=HALF), "half_scores", "5, 6", "26.b", marks=pytest.mark.rule("812/2015:26.b")
        ),
        pytest.param(specific_rules(commission=HALF, half_scores=[6, 7]), "half_scores", "5, 6", "26.b"),
        pytest.param(specific_rules(commission=HALF, half_scores=[6, 6]), "half_scores", "5, 6", "26.b"),
        pytest.param(
            specific_rules(prize_cap_cents=1_000_000),
            "prize_cap_cents",
            0,
            "41",
            marks=pytest.mark.rule("812/2015:41"),
        ),
        pytest.param(
            macau_rules(maxima=maxima(ponto=70)),
            "maxima",
            "none",
            "40",
            marks=pytest.mark.rule("812/2015:39", "812/2015:40"),
        ),
        # A cap with which nobody could bet the minimum on a pair, or on a tie where there are no pairs.
        pytest.param(
            macau_rules(prize_cap_cents=1_249),
            "prize_cap_cents",
            1_250,
            "43.c",
            marks=pytest.mark.rule("812/2015:43.c"),
        ),
        pytest.param(
            macau_rules(prize_cap_cents=999, without_pairs=True),
            "prize_cap_cents",
            1_000,
            "43.b",
            marks=pytest.mark.rule("812/2015:43.b"),
        ),
        pytest.param(
            macau_rules(prize_cap_cents=13, minimum_cents=1),
            "prize_cap_cents",
            20,
            "43.a",
            marks=pytest.mark.rule("812/2015:43.a"),
        ),
        # 19 cents is no multiple of 20, and 20 is above the maximum.
        pytest.param(specific_rules(minimum_cents=19, maxima=maxima(banca=1)), "minimum_cents", 20, "9.b"),
        # The six cards of a round lie behind the cut card (C17).
        pytest.param(specific_rules(packs=6, cut_card=307), "cut_card", 306, "20"),
        pytest.param(specific_rules(packs=8, cut_card=411), "cut_card", 410, "20"),
        pytest.param(specific_rules(cut_card=-1), "cut_card", 1, "20"),
    ],
)
def test_q11_settings_beyond_the_regulation_are_refused(
    rules: baccarat_pb2.SpecificRules, field: str, bound: object, rule: str
) -> None:
    refused = refused_setting(configuration(rules))
    assert refused.reason == "RULE_VIOLATED"
    assert refused.facts == violated(f"rules.{field}", bound, rule)
    assert f"812/2015:{rule}" in refused.sentence


@pytest.mark.rule("812/2015:15", "812/2015:P.2")
@pytest.mark.parametrize(
    ("chance", "ceiling", "rule"),
    [
        pytest.param("ponto", 70, "15.a", marks=pytest.mark.rule("812/2015:15.a")),
        pytest.param("banca", 70, "15.a"),
        pytest.param("tie", 15, "15.b", marks=pytest.mark.rule("812/2015:15.b")),
        pytest.param("ponto-pair", 8, "15.c", marks=pytest.mark.rule("812/2015:15.c")),
        pytest.param("banca-pair", 8, "15.c"),
    ],
)
def test_a_maximum_may_be_lower_than_the_ceiling_and_never_higher(chance: str, ceiling: int, rule: str) -> None:
    for times, bound in ((ceiling + 1, ceiling), (2**31 - 1, ceiling), (0, 1), (-1, 1)):
        refused = refused_setting(configuration(specific_rules(maxima=maxima(**{chance: times}))))
        assert refused.facts == violated("rules.maxima[0].times_minimum", bound, rule)
    for times in (1, ceiling):
        rules = BaccaratGame().rules(configuration(specific_rules(maxima=maxima(**{chance: times}))))
        assert rules.maximum_cents(Chance(chance)) == 100 * times


@pytest.mark.rule("812/2015:6.a")
def test_a_table_has_no_more_players_than_places() -> None:
    refused = refused_setting(configuration(specific_rules(places=7), seats=8))
    assert (refused.reason, refused.facts) == ("RULE_VIOLATED", violated("seats", 7, "6.a"))
    assert refused_setting(configuration(specific_rules(places=10), seats=10)).reason == "RULE_VIOLATED"
    BaccaratGame().rules(configuration(specific_rules(places=7), seats=7))
    BaccaratGame().rules(configuration(specific_rules(places=1), seats=0, play=wallet_types.PLAY_INDIVIDUAL))


@pytest.mark.rule("812/2015:4", "812/2015:6.b", "812/2015:10", "812/2015:26.a", "812/2015:26.b", "812/2015:P.2")
def test_the_operators_choices_are_those_of_the_table() -> None:
    first = BaccaratGame().rules(configuration(specific_rules(packs=6, without_pairs=True))).specific_rules
    assert (first.packs, first.pairs, first.commission) == (6, False, Commission.FIVE_PERCENT)
    assert (first.macau, first.half_scores) == (False, frozenset())
    half = BaccaratGame().rules(configuration(specific_rules(commission=HALF, half_scores=[5, 6]))).specific_rules
    assert (half.commission, half.half_scores) == (Commission.HALF, frozenset({5, 6}))
    macau = BaccaratGame().rules(configuration(macau_rules())).specific_rules
    assert (macau.macau, macau.prize_cap_cents, macau.player_maximum_cents) == (True, 1_000_000, 5_000_000)


@pytest.mark.rule("812/2015:41")
@pytest.mark.parametrize(("packs", "cut_card"), [(6, 1), (6, 306), (8, 410)])
def test_the_operator_may_let_a_shoe_go_on_until_its_cut_card_has_come(packs: int, cut_card: int) -> None:
    assert BaccaratGame().rules(configuration(specific_rules(packs=packs, cut_card=cut_card))).cut_card == cut_card
    # Each round has a shuffle of its own unless the operator says otherwise (C25).
    assert BaccaratGame().rules(configuration(specific_rules(packs=packs))).cut_card is None


def test_a_macau_table_may_do_without_a_cap() -> None:
    assert BaccaratGame().rules(configuration(macau_rules(prize_cap_cents=0))).specific_rules.prize_cap_cents == 0


@pytest.mark.guarantee("G11")
def test_g11_macau_says_what_the_platform_takes_of_one_player() -> None:
    for rules in (
        macau_rules(player_maximum_cents=0),
        macau_rules(player_maximum_cents=99),
        macau_rules(player_maximum_cents=-1),
        macau_rules(player_maximum_cents=2 * 10**12 + 1),
        specific_rules(player_maximum_cents=5_000),
    ):
        refused = refused_setting(configuration(rules))
        assert (refused.reason, refused.facts["field"]) == ("INVALID", "configuration.rules.player_maximum_cents")
    largest = configuration(macau_rules(player_maximum_cents=2 * 10**12))
    assert verify_by_game(BaccaratGame(), largest).largest_stake_cents == 2 * 10**12


@pytest.mark.guarantee("G11")
def test_g11_amounts_stay_within_what_can_be_multiplied() -> None:
    for field, value in (("minimum_cents", 100_000_001), ("prize_cap_cents", 100_000_000_001), ("prize_cap_cents", -1)):
        refused = refused_setting(configuration(macau_rules(**{field: value})))
        assert (refused.reason, refused.facts["field"]) == ("INVALID", f"configuration.rules.{field}")


@pytest.mark.guarantee("G12")
def test_g12_other_games_and_regulations_are_refused() -> None:
    foreign = configuration()
    foreign.game = "roulette"
    unreadable = configuration()
    unreadable.rules.value = b"\xff"
    empty = types_pb2.TableConfiguration(game="baccarat", regulation="812/2015")
    for setting, field in (
        (foreign, "game"),
        (configuration(regulation="807/2015"), "regulation"),
        (unreadable, "rules"),
        (empty, "rules"),
        (configuration(specific_rules(maxima=maxima(player=1))), "rules.maxima[0].chance"),
        (configuration(specific_rules(maxima=[*maxima(tie=1), *maxima(tie=2)])), "rules.maxima[1].chance"),
    ):
        refused = refused_setting(setting)
        assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.{field}"})

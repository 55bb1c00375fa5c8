"""Tests of specific rules: what an operator may set for a table, and how anything beyond it is refused (L9)."""

from __future__ import annotations

import dataclasses

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack import specific_rules
from services.blackjack.game import BlackjackGame
from tests.engine.blackjack.tables import DEFAULT, configuration, game_rules, refusal_of


@pytest.mark.rule("805/2015:4.a", "805/2015:4.b", "805/2015:7", "805/2015:10", "805/2015:11", "805/2015:16.c")
@pytest.mark.rule("805/2015:P.2")
@pytest.mark.parametrize(
    ("rules", "field", "bound", "rule"),
    [
        ({"packs": 5}, "packs", "4, 6, 8", "4.b"),
        ({"packs": 0}, "packs", "4, 6, 8", "4.b"),
        ({"places": 0}, "places", "1", "4.a"),
        ({"places": 8}, "places", "7", "4.a"),
        ({"places_per_player": 8}, "places_per_player", "7", "7"),
        ({"places_per_player": -1}, "places_per_player", "1", "7"),
        ({"minimum_cents": 0}, "minimum_cents", "2", "10"),
        ({"maximum_cents": 498}, "maximum_cents", "500", "10"),
        ({"maximum_cents": 0}, "maximum_cents", "500", "10"),
        # 101 times the minimum.
        ({"maximum_cents": 50_500}, "maximum_cents", "50000", "11"),
        ({"step_cents": 5}, "step_cents", "2", "25.a"),
        ({"step_cents": -2}, "step_cents", "2", "25.a"),
        ({"minimum_cents": 501}, "minimum_cents", "500", "25.a"),
        ({"step_cents": 200}, "minimum_cents", "400", "25.a"),
        ({"step_cents": 100, "maximum_cents": 750}, "maximum_cents", "700", "25.a"),
        ({"splits_limit": -1}, "splits_limit", "1", "16.c"),
        # A whole pack lies behind the cut card.
        ({"packs": 4, "cut_card": 157}, "cut_card", "156", "4.b"),
        ({"packs": 6, "cut_card": 261}, "cut_card", "260", "4.b"),
        ({"packs": 8, "cut_card": 365}, "cut_card", "364", "4.b"),
        ({"cut_card": -1}, "cut_card", "1", "4.b"),
    ],
)
def test_l9_what_the_regulation_forbids_is_refused_with_its_rule(
    rules: dict[str, int], field: str, bound: str, rule: str
) -> None:
    refused = refusal_of(lambda: game_rules(**rules))
    assert refused.reason == "RULE_VIOLATED"
    facts = {"field": f"configuration.rules.{field}", "bound": bound, "rule": f"805/2015:{rule}"}
    assert refused.facts == facts
    assert f"805/2015:{rule}" in refused.sentence


@pytest.mark.rule("805/2015:4.a")
def test_a_table_seats_as_many_players_as_it_has_places() -> None:
    game = BlackjackGame()
    refused = refusal_of(lambda: game.rules(configuration(seats=6, places=5)))
    assert (refused.reason, refused.facts["field"], refused.facts["bound"]) == (
        "RULE_VIOLATED",
        "configuration.seats",
        "5",
    )
    assert game.rules(configuration(seats=5, places=5)).table.specific_rules.places == 5
    # Where one player plays alone, no seats are configured.
    alone = game.rules(configuration(play=wallet_types.PLAY_INDIVIDUAL, seats=0, places=1))
    assert alone.table.specific_rules.places == 1


@pytest.mark.rule("805/2015:5", "805/2015:7", "805/2015:16")
def test_what_is_left_out_has_the_default_of_the_regulation() -> None:
    made = configuration()
    made.rules.Pack(blackjack_pb2.SpecificRules(packs=6, places=7, minimum_cents=500, maximum_cents=50_000))
    rules = specific_rules.read(made)

    # No split is forbidden without an approved rule (16.c).
    assert rules == dataclasses.replace(DEFAULT, splits_limit=None)
    assert specific_rules.message(rules).places_per_player == 1
    assert specific_rules.message(rules).step_cents == 2


@pytest.mark.rule("805/2015:16.a", "805/2015:16.b", "805/2015:16.c", "805/2015:16.d", "805/2015:16.e")
def test_every_option_is_read_and_shown_in_the_layout() -> None:
    chosen = blackjack_pb2.SpecificRules(
        packs=8,
        places=5,
        places_per_player=2,
        minimum_cents=1000,
        maximum_cents=100_000,
        step_cents=100,
        double_any_score=True,
        split_pairs_only=True,
        splits_limit=1,
        without_insurance=True,
        without_special_prizes=True,
        cut_card=364,
    )
    made = configuration(seats=5)
    made.rules.Pack(chosen)
    rules = BlackjackGame().rules(made)

    assert rules.layout().rules == chosen
    read = rules.table.specific_rules
    assert (read.double_any_score, read.split_pairs_only, read.insurance, read.special_prizes) == (
        True,
        True,
        False,
        False,
    )
    assert rules.cut_card == read.cut_card == 364
    # Each round has a shuffle of its own unless the operator says otherwise (B23).
    assert game_rules().cut_card is None


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (configuration(regulation="804/2015"), "configuration.regulation"),
        (configuration(minimum_cents=100_000_002, maximum_cents=100_000_002), "configuration.rules.minimum_cents"),
        (configuration(splits_limit=101), "configuration.rules.splits_limit"),
        (types_pb2.TableConfiguration(game="blackjack", regulation="805/2015"), "configuration.rules"),
    ],
)
def test_what_is_no_configuration_of_blackjack_is_invalid(made: types_pb2.TableConfiguration, field: str) -> None:
    refused = refusal_of(lambda: BlackjackGame().rules(made))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", field)


def test_rules_that_cannot_be_read_are_invalid() -> None:
    made = configuration()
    made.rules.value = b"\xff"
    assert refusal_of(lambda: BlackjackGame().rules(made)).facts["field"] == "configuration.rules"

"""Tests of the operator's choices: the defaults of section 4, and every bound with the rule that it follows."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from services.kit.table.refusals import TableRefused
from services.poker.specific_rules import CommissionMode, EntryMode, HeadsUpBlinds, Limit
from services.poker.tournament.levels import Level, Moment, default_levels, moment
from services.poker.tournament.payouts import PayoutRow
from services.poker.tournament.price import Price
from services.poker.tournament.running import director
from services.poker.tournament.specific_rules import (
    Approval,
    CancelPolicy,
    InitialButton,
    PayWhen,
    Start,
    TicketPrize,
    TournamentRules,
    default_rules,
    rules_of_hands,
    verify,
)
from services.poker.variant import Variant

PRICE = Price(1000, 100)
LEVELS = (Level(10, 20, 60, 30), Level(20, 40, 60), Level(40, 80, 60))
HOLDEM = Variant.HOLDEM


def made(**chosen: object) -> TournamentRules:
    return default_rules(HOLDEM, PRICE, **chosen)


def refusal(rules: TournamentRules) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        verify(rules)
    return caught.value


@pytest.mark.rule("810/2015:34", "810/2015:36", "810/2015:45", "810/2015:49", "810/2015:54")
def test_the_defaults_are_those_of_the_rulebook() -> None:
    rules = verify(made())

    assert (rules.cancel_until_seconds, rules.late_reg_until_level) == (0, 6)
    assert (rules.rebuys_max, rules.reentries_max, rules.addons_max) == (0, 0, 0)
    assert rules.is_freezeout
    assert (rules.rebuy_decision_seconds, rules.min_players, rules.price.bounty_cents) == (30, 2, 0)
    assert (rules.decision_time_seconds, rules.time_bank_seconds) == (15, 30)
    assert rules.cancel_policy is CancelPolicy.LITERAL, "as written, until something else is approved"
    assert (rules.initial_button, rules.pay_when) == (InitialButton.RANDOM, PayWhen.ON_ELIMINATION)
    assert (rules.hand_for_hand_from, rules.balance_trigger, rules.timed_minutes) == (None, 1, None)
    assert rules.languages == ("pt-PT",)
    assert rules.limit is Limit.NO_LIMIT
    assert default_rules(Variant.OMAHA, PRICE).limit is Limit.POT_LIMIT


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("limit", Limit)
@pytest.mark.parametrize(
    "chosen",
    [
        {"start": Start.ON_FULL, "seats": 6},
        {"rebuys_max": 2, "addons_max": 1, "addon_after_level": 6, "addon_price": PRICE, "addon_chips": 2000},
        {"reentries_max": 3},
        {"satellite": TicketPrize("Sunday", 10_900)},
        {"guarantee_cents": 1_000_000},
        {"timed_minutes": 60},
        {"hand_for_hand_from": 100},
        {"languages": ("pt-PT", "en-GB")},
    ],
)
def test_every_kind_of_tournament_is_possible(variant: Variant, limit: Limit, chosen: dict[str, object]) -> None:
    rules = default_rules(variant, PRICE, limit=limit, **chosen)

    assert verify(rules) is rules


@pytest.mark.rule("810/2015:34")
def test_a_bounty_and_a_freeroll_are_possible() -> None:
    assert verify(default_rules(HOLDEM, Price(600, 100, 300))).price.total_cents == 1000
    freeroll = verify(default_rules(HOLDEM, Price(0), guarantee_cents=5000))
    assert freeroll.is_freeroll
    assert not made().is_freeroll


VIOLATED = [
    ({"min_players": 1}, "min_players", "35"),
    ({"cancel_until_seconds": -1}, "cancel_until_seconds", "24"),
    ({"languages": ("en-GB",)}, "languages", "56"),
    ({"levels": (Level(30, 20), Level(30, 30))}, "levels", "46"),
    ({"levels": (Level(20, 40), Level(10, 20))}, "levels", "46"),
    ({"levels": (Level(10, 40), Level(20, 30))}, "levels", "46"),
    ({"levels": (Level(10, 20, ante=5),)}, "levels", "46"),
    ({"levels": LEVELS, "late_reg_until_level": 1, "addons_max": 1, "addon_price": PRICE, "addon_chips": 1,
      "addon_after_level": 2}, "addon_after_level", "23"),
    ({"rebuys_max": 1, "rebuy_price": Price(1000, 0, 1)}, "rebuy_price", "34"),
    ({"payouts": ()}, "payouts", "34"),
    ({"payouts": (PayoutRow(10_000, ()),)}, "payouts", "34"),
    ({"payouts": (PayoutRow(10_000, (9999,)),)}, "payouts", "34"),
    ({"payouts": (PayoutRow(10_000, (4000, 6000)),)}, "payouts", "34"),
    ({"payouts": (PayoutRow(10_000, (4000, 3000, 3000)),)}, "payouts", "33"),
    ({"satellite": TicketPrize("", 100)}, "satellite", "32"),
    ({"satellite": TicketPrize("Sunday", 100, (9000,))}, "satellite", "34"),
    ({"satellite_stops_early": True}, "satellite_stops_early", "52"),
    ({"satellite": TicketPrize("Sunday", 100), "satellite_stops_early": True}, "satellite_stops_early", "52"),
    ({"cancel_policy": CancelPolicy.NET_OF_AWARDED}, "cancel_policy", "36.c"),
    ({"heads_up_blinds": HeadsUpBlinds.BUTTON_SMALL_BLIND}, "heads_up_blinds", "55"),
    ({"hand_for_hand_from": 80}, "hand_for_hand_from", "49"),
    ({"balance_trigger": 2}, "balance_trigger", "47"),
]  # fmt: skip


@pytest.mark.rule(
    "810/2015:24", "810/2015:32", "810/2015:34", "810/2015:35", "810/2015:36", "810/2015:46", "810/2015:47",
    "810/2015:49", "810/2015:52", "810/2015:56",
)  # fmt: skip
@pytest.mark.parametrize(("chosen", "field", "paragraph"), VIOLATED)
def test_what_a_rule_forbids_is_refused_with_the_rule(chosen: dict[str, object], field: str, paragraph: str) -> None:
    refused = refusal(made(**chosen))

    assert refused.reason == "RULE_VIOLATED"
    assert refused.facts["field"] == f"configuration.rules.{field}"
    assert refused.facts["rule"] == f"810/2015:{paragraph}"
    assert f"(810/2015:{paragraph})" in refused.sentence


OPEN = [
    ({"max_players": 1}, "max_players", "inf-17"),
    ({"starting_stack": 19}, "starting_stack", "41"),
    ({"levels": ()}, "levels", "45"),
    ({"levels": (Level(10, 20, 0),)}, "levels", "45"),
    ({"levels": LEVELS, "late_reg_until_level": 3}, "late_reg_until_level", "23"),
    ({"levels": LEVELS, "late_reg_until_level": 1, "reentries_max": 1}, "reentry_until_level", "23"),
    ({"reentries_max": -1}, "reentries_max", "23"),
    ({"rebuys_max": 1, "rebuy_decision_seconds": 9}, "rebuy_decision_seconds", "31"),
    ({"rebuy_decision_seconds": 61}, "rebuy_decision_seconds", "31"),
    ({"rebuys_max": 1, "rebuy_chips": 0}, "rebuy_chips", "23"),
    ({"price": Price(-1)}, "price", "inf-03"),
    ({"guarantee_cents": -1}, "guarantee_cents", "34"),
    ({"satellite": TicketPrize("Sunday", 0)}, "satellite", "32"),
    ({"timed_minutes": 0}, "timed_minutes", "52"),
    ({"decision_time_seconds": 4}, "decision_time_seconds", "42"),
    ({"decision_time_seconds": 121}, "decision_time_seconds", "42"),
    ({"time_bank_seconds": 301}, "time_bank_seconds", "42"),
]


@pytest.mark.rule("810/2015:23", "810/2015:31", "810/2015:41", "810/2015:42", "810/2015:45")
@pytest.mark.parametrize(("chosen", "field", "paragraph"), OPEN)
def test_what_this_platform_does_not_offer_is_refused_with_the_rule_that_leaves_it_open(
    chosen: dict[str, object], field: str, paragraph: str
) -> None:
    refused = refusal(dataclasses.replace(made(), **chosen))  # type: ignore[arg-type]

    assert refused.reason == "INVALID"
    assert refused.facts["field"] == f"configuration.rules.{field}"
    assert f"810/2015:{paragraph}" in refused.sentence


def test_rows_of_the_payout_table_go_from_small_fields_to_large_ones() -> None:
    for second in (1, 2):
        refused = refusal(made(payouts=(PayoutRow(2, (10_000,)), PayoutRow(second, (10_000,)))))
        assert (refused.reason, refused.facts) == ("INVALID", {"field": "configuration.rules.payouts"})


@pytest.mark.rule("810/2015:34")
def test_a_freeroll_without_prizes_is_refused() -> None:
    assert refusal(default_rules(HOLDEM, Price(0))).facts["rule"] == "810/2015:34"


@pytest.mark.rule("810/2015:36", "810/2015:52", "810/2015:55")
def test_what_the_regulator_has_approved_is_possible() -> None:
    rules = made(
        cancel_policy=CancelPolicy.NET_OF_AWARDED,
        heads_up_blinds=HeadsUpBlinds.BUTTON_SMALL_BLIND,
        satellite=TicketPrize("Sunday", 100),
        satellite_stops_early=True,
        approvals=frozenset(Approval),
    )

    assert verify(rules) is rules


@pytest.mark.rule("810/2015:55")
def test_the_rules_of_the_hands_keep_their_own_bounds() -> None:
    refused = refusal(made(seats=11))

    assert (refused.reason, refused.facts["rule"]) == ("RULE_VIOLATED", "806/2015:5")
    assert refusal(made(bet_units=(1, 1, 3, 3))).facts["rule"] == "806/2015:38"


@pytest.mark.rule("810/2015:41", "810/2015:46", "810/2015:55")
def test_a_hand_is_played_with_the_blinds_of_its_level_and_no_commission() -> None:
    hands = rules_of_hands(made(seats=6), Level(75, 150))

    assert (hands.small_blind_cents, hands.big_blind_cents, hands.seats) == (75, 150, 6)
    assert hands.commission_mode is CommissionMode.CAVE, "nothing is taken of pots"
    assert hands.entry_mode is EntryMode.IMMEDIATE
    assert hands.heads_up_blinds is HeadsUpBlinds.LITERAL
    assert hands.auto_sitout_after == 1
    assert hands.rest_per_hour == 0


def test_a_scheduled_tournament_has_a_time_and_a_sit_and_go_has_none() -> None:
    with pytest.raises(ValueError, match="has a time"):
        director.create("t", made())
    with pytest.raises(ValueError, match="has none"):
        director.create("t", made(start=Start.ON_FULL), 1)


# -- levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("810/2015:45")
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, Moment(1, is_break=False, ends_at_seconds=60)),
        (59, Moment(1, is_break=False, ends_at_seconds=60)),
        (60, Moment(1, is_break=True, ends_at_seconds=90)),
        (89, Moment(1, is_break=True, ends_at_seconds=90)),
        (90, Moment(2, is_break=False, ends_at_seconds=150)),
        (150, Moment(3, is_break=False, ends_at_seconds=None)),
        (10_000, Moment(3, is_break=False, ends_at_seconds=None)),
    ],
)
def test_the_level_and_the_break_of_a_moment(seconds: int, expected: Moment) -> None:
    assert moment(LEVELS, seconds) == expected


@pytest.mark.rule("810/2015:46")
def test_recommended_blinds_rise_by_a_third_to_a_half() -> None:
    levels = default_levels()

    assert len(levels) == 24
    assert {level.seconds for level in levels} == {600}
    for before, after in pairwise(levels):
        assert 4 * before.big_blind <= 3 * after.big_blind
        assert 2 * after.big_blind <= 3 * before.big_blind
    assert [number for number, level in enumerate(levels, start=1) if level.break_seconds] == [6, 12, 18, 24]

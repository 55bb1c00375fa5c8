"""Tests of names that are not bets: refused with the rule and with a reason that a player understands."""

from __future__ import annotations

import pytest

from tests.engine.roulette.tables import WHEELS, refusal, rule_marks, table

AMERICAN = ("AMERICAN_37", "AMERICAN_38")
ONE_ZERO = ("AMERICAN_37", "FRENCH")
TWO_ZEROS = ("AMERICAN_38",)

SPLIT = "a cavalo is two numbers with a common edge"
STREET = "a rua is one row of three numbers, or three that meet in a point of the zero's edge"
CORNER = "a quadro is four numbers that meet in a point"
SIX_LINE = "a linha is two rows of three numbers, one below the other"
APART = "a chip lies on two boxes where they meet, and the first and the third do not"


@pytest.mark.rule("804/2015:9")
@pytest.mark.rule("807/2015:10")
@pytest.mark.parametrize(
    ("wheels", "name", "why"),
    [
        pytest.param(WHEELS, "3-4", SPLIT, id="A5-wrap-around"),
        pytest.param(WHEELS, "1-2-3-4", CORNER, id="A5-row-and-a-number"),
        pytest.param(ONE_ZERO, "0-1-3", f"{STREET}; with 0 there is 0-1-2, 0-2-3", id="A5-trio-without-a-point"),
        pytest.param(TWO_ZEROS, "0-1-3", f"{STREET}; with 0 there is 0-00-2, 0-1-2", id="A5-trio-without-a-point-38"),
        pytest.param(WHEELS, "0-1-2-3-4-5", f"{SIX_LINE}; with 0 there is none on this board", id="A5-linha-with-zero"),
        pytest.param(TWO_ZEROS, "0-1-2-3", f"{CORNER}; with 0 there is none on this board", id="A5-zero-quadro-38"),
        pytest.param(TWO_ZEROS, "0-3", f"{SPLIT}; with 0 there is 0-00, 0-1, 0-2", id="A5-0-3"),
        pytest.param(TWO_ZEROS, "00-1", f"{SPLIT}; with 00 there is 0-00, 00-2, 00-3", id="A5-00-1"),
        pytest.param(TWO_ZEROS, "0-2-3", f"{STREET}; with 0 there is 0-00-2, 0-1-2", id="A5-0-2-3"),
        pytest.param(TWO_ZEROS, "00-1-2", f"{STREET}; with 00 there is 0-00-2, 00-2-3", id="00-1-2"),
        pytest.param(WHEELS, "36-1", SPLIT, id="from-the-last-to-the-first"),
        pytest.param(WHEELS, "1-5", SPLIT, id="diagonal"),
        pytest.param(WHEELS, "2-3-4", STREET, id="three-over-two-rows"),
        pytest.param(WHEELS, "1-4-7", STREET, id="three-in-a-column"),
        pytest.param(WHEELS, "3-4-6-7", CORNER, id="quadro-around-the-edge"),
        pytest.param(WHEELS, "2-3-4-5-6-7", SIX_LINE, id="linha-from-the-second"),
        pytest.param(WHEELS, "1-2-3-7-8-9", SIX_LINE, id="rows-apart"),
        pytest.param(WHEELS, "17-17", "it names a number twice", id="twice"),
        pytest.param(WHEELS, "20-17", "these numbers are the place `17-20`", id="falling"),
        pytest.param(TWO_ZEROS, "00-0-2", "these numbers are the place `0-00-2`", id="00-before-0"),
        pytest.param(TWO_ZEROS, "2-00", "these numbers are the place `00-2`", id="00-last"),
        pytest.param(WHEELS, "double-dozen-1-3", APART, id="T6-dozens", marks=rule_marks("804/2015:7.a.viii")),
        pytest.param(WHEELS, "double-column-1-3", APART, id="T6-columns", marks=rule_marks("804/2015:7.a.ix")),
    ],
)
def test_a_combination_that_the_board_does_not_have_is_refused(wheels: tuple[str, ...], name: str, why: str) -> None:
    for wheel in wheels:
        rule = "807/2015:10" if wheel == "FRENCH" else "804/2015:9"
        refused = refusal(table(wheel), {name: 100})

        assert (refused.reason, refused.facts) == ("BET_ILLEGAL", {"place": name, "rule": rule})
        assert refused.sentence.startswith(f"`{name}` is no bet on this table: {why}")
        assert refused.sentence.endswith(f"({rule}).")


@pytest.mark.rule("804/2015:7")
@pytest.mark.rule("807/2015:7")
@pytest.mark.parametrize(
    ("wheels", "name", "paragraph", "why"),
    [
        pytest.param(
            TWO_ZEROS, "0-00-1-2-3", ":7.a", "the regulation knows no bet on 5 single numbers", id="A5-T5-basket"
        ),
        pytest.param(WHEELS, "1-2-3-4-5-6-7-8-9", ":7.a", "the regulation knows no bet on 9 single numbers", id="nine"),
        pytest.param(ONE_ZERO, "00", ":6.a", "this wheel has no 00", id="00-where-there-is-none"),
        pytest.param(ONE_ZERO, "0-00-1-2-3", ":6.a", "this wheel has no 00", id="A5-basket-where-there-is-no-00"),
        pytest.param(WHEELS, "37", ":7", "the board has no such number", id="37"),
        pytest.param(WHEELS, "017", ":7", "the board has no such number", id="leading-zero"),
        pytest.param(WHEELS, "17-", ":7", "the board has no place of that name", id="nothing-after-the-dash"),
        pytest.param(WHEELS, "", ":7", "the board has no place of that name", id="empty"),
        pytest.param(WHEELS, "dozen-4", ":7", "the board has no place of that name", id="fourth-dozen"),
        pytest.param(WHEELS, "RED", ":7", "the board has no place of that name", id="capitals"),
        pytest.param(WHEELS, "green", ":7", "the board has no place of that name", id="green"),
        pytest.param(WHEELS, "\u0661\u0667", ":7", "the board has no such number", id="other-digits"),
    ],
)
def test_a_name_that_no_rule_knows_is_refused(wheels: tuple[str, ...], name: str, paragraph: str, why: str) -> None:
    for wheel in wheels:
        refused = refusal(table(wheel), {name: 100})

        assert refused.reason == "BET_ILLEGAL"
        assert refused.facts == {
            "place": name,
            "rule": ("807/2015" if wheel == "FRENCH" else "804/2015") + paragraph,
        }
        assert why in refused.sentence


@pytest.mark.rule("804/2015:7")
@pytest.mark.parametrize("wheel", AMERICAN)
@pytest.mark.parametrize(
    "call_bet", ["voisins", "tiers", "orphelins", "neighbours-17-2", "neighbours-0-6", "final-7", "final-0"]
)
def test_a5_t17_the_american_wheel_has_no_call_bets(wheel: str, call_bet: str) -> None:
    refused = refusal(table(wheel), {call_bet: 100})

    assert (refused.reason, refused.facts) == ("BET_ILLEGAL", {"place": call_bet, "rule": "804/2015:7"})
    assert "807/2015:8" in refused.sentence


@pytest.mark.rule("807/2015:8")
@pytest.mark.parametrize("call_bets", [True, False])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("neighbours-17-3", "2, 4 or 6 neighbours"),
        ("neighbours-17-8", "2, 4 or 6 neighbours"),
        ("neighbours-37-2", "2, 4 or 6 neighbours"),
        ("neighbours-00-2", "2, 4 or 6 neighbours"),
        ("neighbours-17", "2, 4 or 6 neighbours"),
        ("final-10", "one digit"),
        ("final", "one digit"),
        ("voisins-2", "nothing more"),
    ],
)
def test_an_unknown_call_bet_is_refused(*, call_bets: bool, name: str, why: str) -> None:
    refused = refusal(table(call_bets=call_bets), {name: 100})

    assert (refused.reason, refused.facts) == ("BET_ILLEGAL", {"place": name, "rule": "807/2015:8"})
    assert why in refused.sentence


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("times", [39, 40, 41, 100_000])
def test_g11_a_long_name_is_shortened_in_the_refusal(times: int) -> None:
    refused = refusal(table(), {"17-" * times: 100})

    assert refused.reason == "BET_ILLEGAL"
    assert refused.facts["place"] == ("17-" * 14)[:40]
    assert len(refused.sentence) < 300

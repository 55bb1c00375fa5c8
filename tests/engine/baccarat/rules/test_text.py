"""Tests of the rules that players read: complete, true of their table, and the same in both languages."""

from itertools import combinations

import pytest

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_pb2
from services.baccarat.rules.text import render, template
from services.kit.table.configuration.rules_template import ENGLISH, PORTUGUESE
from services.kit.table.refusals import TableRefused
from tests.engine.baccarat.tables import macau_rules, specific_rules
from tests.engine.rules_text import assert_no_placeholder, assert_same_conditions_and_values, assert_same_content

INDIVIDUAL, MULTI = wallet_pb2.PLAY_INDIVIDUAL, wallet_pb2.PLAY_MULTI_PLAYER
HALF = baccarat_pb2.COMMISSION_HALF_ON_SCORE

# 812/2015:15 and 25: the maximum as a multiple of the minimum, and the prize of one unit.
REGULATION = {
    ("Ponto", "Ponto"): (70, "1 ×"),
    ("Empate", "Tie"): (15, "8 ×"),
    ("Par do ponto", "Ponto pair"): (8, "11 ×"),
    ("Par da banca", "Banca pair"): (8, "11 ×"),
}
SECTIONS = {
    "pt": [
        "O jogo",
        "As cartas",
        "Apostas, limites e prémios",
        "Limites de toda a mesa",
        "Como se joga",
        "A terceira carta",
        "O que ganha e o que perde",
        "A comissão",
        "Retorno teórico",
        "Jogadas nulas e avarias",
        "A última jogada e o histórico",
        "A sua sessão",
        "Demonstração",
        "Reclamações",
        "Estas regras",
    ],
    "en": [
        "The game",
        "The cards",
        "Bets, limits and prizes",
        "Limits of the whole table",
        "How a round goes",
        "The third card",
        "What wins and what loses",
        "The commission",
        "Theoretical return",
        "Void rounds and failures",
        "The last round and the history",
        "Your session",
        "Demonstration",
        "Complaints",
        "These rules",
    ],
}


def table_configuration(
    play: wallet_pb2.Play.ValueType = MULTI, mode: wallet_pb2.Mode.ValueType = wallet_pb2.MODE_REAL, **settings: object
) -> types_pb2.TableConfiguration:
    configuration = types_pb2.TableConfiguration(
        game="baccarat",
        regulation="812/2015",
        mode=mode,
        play=play,
        name=types_pb2.LocalizedText(pt="Sala Azul", en="Blue Room"),
        betting_window_ms=25_000,
        result_shown_ms=3_500,
        seats=5 if play == MULTI else 0,
    )
    for field, value in settings.items():
        setattr(configuration, field, value)
    return configuration


def rules_page(
    language: str = "pt",
    configuration: types_pb2.TableConfiguration | None = None,
    rules: baccarat_pb2.SpecificRules | None = None,
) -> str:
    return render(configuration or table_configuration(), rules or specific_rules(), language)


def invited_by(play: wallet_pb2.Play.ValueType, **policy: int) -> types_pb2.TableConfiguration:
    configuration = table_configuration(play)
    configuration.inactivity.CopyFrom(session_pb2.InactivityPolicy(invite=True, **policy))
    return configuration


TABLES = [
    (table_configuration(MULTI), specific_rules()),
    (table_configuration(INDIVIDUAL, cancel_forbidden=True), specific_rules(packs=6, minimum_cents=20_00)),
    (table_configuration(MULTI), specific_rules(without_pairs=True, commission=HALF, half_scores=[6])),
    (
        table_configuration(INDIVIDUAL, wallet_pb2.MODE_DEMO, result_shown_ms=0),
        specific_rules(minimum_cents=50, commission=HALF, half_scores=[6, 5]),
    ),
    (table_configuration(MULTI), macau_rules()),
    (table_configuration(MULTI, wallet_pb2.MODE_DEMO), macau_rules(without_pairs=True)),
    (table_configuration(MULTI), macau_rules(prize_cap_cents=0)),
    (table_configuration(MULTI), specific_rules(cut_card=402)),
]


def row(page: str, name: str, cells: int) -> list[str]:
    """Returns the cells after a bet's name, from the table with so many of them."""
    lines = [line for line in page.splitlines() if line.startswith((f"| {name} |", f"| {name} ("))]
    found = [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines]
    (wanted,) = [each for each in found if len(each) == cells]
    return wanted


def words(page: str) -> str:
    """Returns the page on one line, so that a sentence is found wherever it was broken."""
    return " ".join(page.split())


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize(("configuration", "rules"), TABLES)
def test_both_languages_have_the_same_content(
    configuration: types_pb2.TableConfiguration, rules: baccarat_pb2.SpecificRules
) -> None:
    pages = {language: rules_page(language, configuration, rules) for language in SECTIONS}

    assert_same_content(pages, SECTIONS)


def test_both_texts_use_the_same_conditions_and_values() -> None:
    assert_same_conditions_and_values(template)


@pytest.mark.parametrize(("configuration", "rules"), TABLES)
@pytest.mark.parametrize("language", ["pt", "en"])
def test_no_placeholder_is_left(
    language: str, configuration: types_pb2.TableConfiguration, rules: baccarat_pb2.SpecificRules
) -> None:
    page = rules_page(language, configuration, rules)

    assert_no_placeholder(page, language)


@pytest.mark.rule("812/2015:P.1", "812/2015:P.4", "812/2015:32")
def test_every_limit_and_every_prize_is_stated() -> None:
    for minimum_cents in (100, 20_00):
        rules = specific_rules(minimum_cents=minimum_cents)
        pages = [rules_page(language, rules=rules) for language in ("pt", "en")]
        for names, (times, prize) in REGULATION.items():
            for page, name, language in zip(pages, names, (PORTUGUESE, ENGLISH), strict=True):
                _, minimum, maximum, multiple = row(page, name, 4)
                assert minimum == language.euros(minimum_cents)
                assert maximum == language.euros(minimum_cents * times)
                assert multiple == prize
        assert row(pages[0], "Banca", 4)[1:] == [
            PORTUGUESE.euros(minimum_cents),
            PORTUGUESE.euros(70 * minimum_cents),
            "1 ×, menos a comissão",
        ]


@pytest.mark.rule("812/2015:32")
def test_a_lower_maximum_and_the_step_of_banca_are_stated() -> None:
    lower = [baccarat_pb2.ChanceMaximum(chance="tie", times_minimum=5)]
    page = rules_page(rules=specific_rules(minimum_cents=50, maxima=lower))
    assert row(page, "Empate", 4)[2] == "2,50 €"
    assert row(page, "Banca", 4)[1] == "0,60 €"
    assert "múltiplo de 0,20 €" in page


@pytest.mark.rule("812/2015:13")
def test_the_difference_of_ponto_and_banca_is_stated() -> None:
    assert "differ by at least the minimum bet, €1.00" in words(rules_page("en"))


@pytest.mark.rule("903-B/2015:6.1.6")
def test_the_largest_prize_per_unit_staked_is_stated() -> None:
    assert "11 vezes a aposta, ou seja, 11,00 € por cada 1,00 € apostado" in words(rules_page("pt"))
    without = rules_page("en", rules=specific_rules(without_pairs=True))
    assert "8 times the stake, which is €8.00 for each €1.00 staked" in words(without)


@pytest.mark.rule("812/2015:32", "903-B/2015:6.1.6")
def test_the_average_return_of_every_bet_is_stated() -> None:
    """100 % less the edges of the rulebook's section 7."""
    eight, six = rules_page("en"), rules_page("en", rules=specific_rules(packs=6))
    returns = [[row(page, name, 1)[0] for name in ("Ponto", "Banca", "Tie", "Ponto pair")] for page in (eight, six)]
    assert returns == [["98.76%", "98.94%", "85.64%", "89.64%"], ["98.76%", "98.94%", "85.56%", "88.75%"]]
    for scores, returned in (([6], "98.54%"), ([5], "99.07%"), ([5, 6], "96.37%")):
        rules = specific_rules(commission=HALF, half_scores=scores)
        assert row(rules_page("en", rules=rules), "Banca", 1) == [returned]


@pytest.mark.rule("812/2015:26.a", "812/2015:26.b", "812/2015:32")
def test_the_commission_is_explained_with_an_example() -> None:
    five = words(rules_page("en"))
    assert "the commission €5.00; you receive a prize of €95.00 and your stake, €195.00 in all" in five
    six = words(rules_page("en", rules=specific_rules(commission=HALF, half_scores=[6])))
    assert "wins with a score of 6, be it" in six
    assert "the commission €50.00; you receive a prize of €50.00 and your stake, €150.00 in all" in six
    both = words(rules_page("en", rules=specific_rules(commission=HALF, half_scores=[6, 5])))
    assert "one of the scores 5, 6, be it" in both


@pytest.mark.rule("812/2015:40", "812/2015:41", "812/2015:43.a", "812/2015:43.b", "812/2015:43.c")
def test_macau_states_the_limits_of_the_table_and_of_the_platform() -> None:
    page = words(rules_page("en", rules=macau_rules()))
    assert "all your bets of a round together may not exceed €50,000.00" in page
    assert "may not exceed those on banca by more than €10,000.00" in page
    assert "the tie may not exceed €1,000.00" in page
    assert "both pairs together may not exceed €800.00" in page
    assert row(rules_page("en", rules=macau_rules()), "Ponto", 4)[2] == "—"
    assert "Limits of the whole table" not in rules_page("en", rules=macau_rules(prize_cap_cents=0))
    assert "both pairs together" not in rules_page("en", rules=macau_rules(without_pairs=True))
    assert "Limits of the whole table" not in rules_page("en")


def test_different_tables_have_different_texts() -> None:
    for one, other in combinations(TABLES, 2):
        assert rules_page("pt", *one) != rules_page("pt", *other)


@pytest.mark.rule("812/2015:10")
def test_pairs_are_mentioned_only_if_offered() -> None:
    assert "pair" in rules_page("en")
    assert "pair" not in rules_page("en", rules=specific_rules(without_pairs=True)).replace("on a pair that", "")


@pytest.mark.rule("812/2015:32")
def test_when_the_cards_are_shuffled_is_stated() -> None:
    fresh, going_on = (words(rules_page("en", rules=specific_rules(cut_card=each))) for each in (0, 402))
    assert "All of them are shuffled before every round" in fresh
    assert "the cut card lies behind the first 402. The shoe goes on from round to round." in going_on
    assert "They are computed for the first round of a shoe." in going_on
    assert "cut card" not in fresh
    assert "before every round" not in going_on


@pytest.mark.rule("812/2015:27", "812/2015:28")
def test_who_ends_the_betting_is_stated() -> None:
    multi, individual = rules_page("pt"), rules_page("pt", table_configuration(INDIVIDUAL))
    assert "«Façam as vossas apostas»" in multi
    assert "25 segundos" in multi
    assert "«Jogo feito, nada mais, cartas em distribuição»" in multi
    assert "Dê início à distribuição quando quiser" in individual


@pytest.mark.rule("812/2015:29", "812/2015:30")
def test_failures_are_explained() -> None:
    page = words(rules_page("en"))
    assert "keeps the score of ponto or banca from being determined" in page
    assert "the round is not void: the bet stands" in page


@pytest.mark.rule("812/2015:35.a", "812/2015:35.b", "812/2015:36")
def test_inactivity_is_stated_with_the_tables_own_numbers() -> None:
    assert "more than 3 minutes pass without a bet" in rules_page("en", table_configuration(INDIVIDUAL))
    assert "more than 5 consecutive rounds" in rules_page("en")
    assert "more than 9 consecutive rounds" in rules_page("en", invited_by(MULTI, missed_rounds=9))
    never = table_configuration()
    never.inactivity.CopyFrom(session_pb2.InactivityPolicy(invite=False))
    assert "no session is ended for want of bets" in rules_page("en", never)


@pytest.mark.rule("812/2015:37", "812/2015:38")
def test_a_demonstration_says_that_credits_have_no_value() -> None:
    page = words(rules_page("en", table_configuration(MULTI, wallet_pb2.MODE_DEMO)))
    assert "credits that have no value at all" in page
    assert "never exchanged for or converted into money, vouchers, goods or services" in page


def test_rules_beyond_the_regulation_have_no_text() -> None:
    with pytest.raises(TableRefused):
        rules_page(rules=specific_rules(packs=7))

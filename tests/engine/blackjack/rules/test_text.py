"""Tests of the rules that players read: complete, true of their table, and the same in both languages."""

from __future__ import annotations

from itertools import combinations

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack.game import BlackjackGame
from services.blackjack.rules.text import template
from tests.engine.blackjack.tables import configuration
from tests.engine.rules_text import assert_no_placeholder, assert_same_conditions_and_values, assert_same_content

INDIVIDUAL, MULTI = wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER
SECTIONS = {
    "pt": [
        "O jogo",
        "O valor das cartas",
        "Apostas e limites",
        "Como se joga",
        "As suas decisões",
        "O que ganha e o que perde",
        "Retorno teórico",
        "Se não decidir",
        "Jogadas nulas e avarias",
        "A última jogada e o histórico",
        "A sua sessão",
        "Demonstração",
        "Reclamações",
        "Estas regras",
    ],
    "en": [
        "The game",
        "What cards count",
        "Bets and limits",
        "How a round goes",
        "Your decisions",
        "What wins and what loses",
        "Theoretical return",
        "If you do not decide",
        "Void rounds and failures",
        "The last round and the history",
        "Your session",
        "Demonstration",
        "Complaints",
        "These rules",
    ],
}


def table(
    play: wallet_types.Play.ValueType = MULTI,
    mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
    *,
    result_shown_ms: int = 3_500,
    cancel_forbidden: bool = False,
    **rules: int | bool,
) -> types_pb2.TableConfiguration:
    made = configuration(play=play, seats=7 if play == MULTI else 0, **rules)  # type: ignore[arg-type]
    made.mode = mode
    made.name.CopyFrom(types_pb2.LocalizedText(pt="Sala Azul", en="Blue Room"))
    made.betting_window_ms = 25_000
    made.decision_ms = 17_000
    made.open_hand_hours = 720
    made.result_shown_ms = result_shown_ms
    made.cancel_forbidden = cancel_forbidden
    return made


def page_of(language: str = "pt", made: types_pb2.TableConfiguration | None = None) -> str:
    return BlackjackGame().rules_text(made or table(), language)


def never_inviting() -> types_pb2.TableConfiguration:
    made = table(INDIVIDUAL)
    made.inactivity.CopyFrom(session_pb2.InactivityPolicy(invite=False))
    return made


TABLES = [
    table(),
    table(INDIVIDUAL, packs=8, without_insurance=True, cancel_forbidden=True),
    table(places_per_player=3, splits_limit=0, double_any_score=True, minimum_cents=2000, maximum_cents=200_000),
    table(INDIVIDUAL, wallet_types.MODE_DEMO, result_shown_ms=0, split_pairs_only=True, splits_limit=1),
    table(MULTI, wallet_types.MODE_DEMO, without_special_prizes=True, step_cents=100),
    never_inviting(),
    table(MULTI, cut_card=234),
]


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize("made", TABLES)
def test_both_languages_have_the_same_content(made: types_pb2.TableConfiguration) -> None:
    pages = {language: page_of(language, made) for language in SECTIONS}

    assert_same_content(pages, SECTIONS)


def test_both_texts_use_the_same_conditions_and_values() -> None:
    assert_same_conditions_and_values(template)


@pytest.mark.parametrize("made", TABLES)
@pytest.mark.parametrize("language", ["pt", "en"])
def test_no_placeholder_is_left(language: str, made: types_pb2.TableConfiguration) -> None:
    page = page_of(language, made)

    assert_no_placeholder(page, language)


def test_different_tables_have_different_texts() -> None:
    for one, other in combinations(TABLES, 2):
        assert page_of("pt", one) != page_of("pt", other)


@pytest.mark.rule("805/2015:32", "805/2015:P.4", "805/2015:12", "805/2015:13", "903-B/2015:6.1.6")
@pytest.mark.parametrize(
    "sentence",
    [
        "| 5,00 € | 500,00 € | 0,02 € |",
        "O máximo nunca excede 100 vezes o mínimo.",
        "Joga-se com 6 baralhos de 52 cartas, 312 cartas ao todo.",
        "Cada jogador aposta num só lugar.",
        "Tem 25 segundos para apostar, o mesmo tempo para todos",
        "Tem 17 segundos para cada decisão",
        "recusa-se o seguro e o recebimento imediato, pede-se carta até 11\ne depois fica-se",
        "Pode desdobrar até 3 vezes em cada lugar e jogada, ou seja, ter até 4 mãos.",
        "3 por 2: uma vez e meia a aposta",
        "Um blackjack de 5,00 € rende 7,50 € e devolve também a aposta: 12,50 € ao todo.",
        "O maior prémio por cada 1,00 € que fica numa mão é de 4,00 €.",
        "mais 3 vezes a aposta",
        "cerca de 99,8 % da aposta inicial",
        "apresente uma reclamação",
        "No fim de cada sessão recebe um resumo",
        "Um blackjack que já foi pago não se tira.",
    ],
)
def test_the_rules_and_the_tables_limits_are_stated(sentence: str) -> None:
    assert sentence in page_of()


@pytest.mark.rule("805/2015:7", "805/2015:16.a", "805/2015:16.b", "805/2015:16.c", "805/2015:16.d", "805/2015:16.e")
@pytest.mark.parametrize(
    ("option", "with_it", "without_it"),
    [
        ({"places_per_player": 3}, "pode apostar em até 3 lugares", "aposta num só lugar"),
        ({"double_any_score": True}, "com duas cartas e qualquer pontuação", "duas cartas que fazem 9, 10 ou 11"),
        ({"split_pairs_only": True}, "um par verdadeiro", "com duas cartas do mesmo valor"),
        ({"splits_limit": 0}, "Pode desdobrar de novo sempre que", "Pode desdobrar até"),
        ({"without_insurance": True}, "Receber já", "Seguro"),
        ({"without_special_prizes": True}, "cerca de 99,7 %", "três setes"),
        ({"cut_card": 234}, "a carta de corte fica atrás das primeiras\n234", "Antes de cada jogada baralham-se todas"),
        # What it returns is computed for a shuffle before each round.
        ({"cut_card": 234}, "O sapato continua de jogada em jogada", "Retorno teórico"),
    ],
)
def test_each_option_of_the_operator_changes_the_text(option: dict[str, int], with_it: str, without_it: str) -> None:
    page = page_of("pt", table(**option))  # type: ignore[arg-type]
    assert with_it in page
    assert without_it not in page
    assert without_it in page_of()


@pytest.mark.rule("805/2015:13", "805/2015:29", "903-B/2015:6.3.2")
def test_an_individual_table_keeps_the_hand_open_up_to_its_deadline() -> None:
    page = page_of("pt", table(INDIVIDUAL))
    assert "Mande dar as cartas quando quiser." in page
    assert "Não há tempo marcado para decidir." in page
    assert "Se não voltar em 720 h, decide-se por si" in page
    assert "17 segundos" not in page


@pytest.mark.rule("805/2015:37", "805/2015:38")
def test_a_demonstration_table_states_that_credits_never_become_money() -> None:
    demo, real = (page_of("pt", table(mode=mode)) for mode in (wallet_types.MODE_DEMO, wallet_types.MODE_REAL))
    assert "nunca se trocam nem se convertem em dinheiro, vales, bens ou serviços" in demo
    assert "emonstra" not in real


def test_a_return_is_stated_only_where_it_was_computed() -> None:
    assert "Retorno teórico" not in page_of("pt", table(splits_limit=1))
    assert "99,9 %" in page_of("pt", table(double_any_score=True))
    assert "Retorno teórico" not in page_of("pt", table(double_any_score=True, without_special_prizes=True))

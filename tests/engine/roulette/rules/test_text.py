"""Tests of the rules that players read: complete, true of their table, and the same in both languages."""

from itertools import combinations

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_pb2
from services.kit.table.configuration.rules_template import ENGLISH, PORTUGUESE
from services.kit.table.refusals import TableRefused
from services.roulette.game import RouletteGame
from services.roulette.rules.text import template
from tests.engine.rules_text import assert_no_placeholder, assert_same_conditions_and_values, assert_same_content

AMERICAN_37, AMERICAN_38, FRENCH = (
    roulette_pb2.WHEEL_AMERICAN_37,
    roulette_pb2.WHEEL_AMERICAN_38,
    roulette_pb2.WHEEL_FRENCH,
)
INDIVIDUAL, MULTI = wallet_pb2.PLAY_INDIVIDUAL, wallet_pb2.PLAY_MULTI_PLAYER

# 804/2015:11 and 13, 807/2015:12 and 14: the maximum as a multiple of the minimum, and the prize of one unit.
REGULATION = {
    ("Pleno", "Straight up"): (30, "35"),
    ("Cavalo", "Split"): (60, "17"),
    ("Rua", "Street"): (90, "11"),
    ("Quadro", "Corner"): (120, "8"),
    ("Linha", "Six-line"): (180, "5"),
    ("Dúzia", "Dozen"): (360, "2"),
    ("Coluna", "Column"): (360, "2"),
    ("Cavalo de dúzia", "Double dozen"): (720, "½"),
    ("Cavalo de coluna", "Double column"): (720, "½"),
    ("Par", "Even"): (540, "1"),
    ("Ímpar", "Odd"): (540, "1"),
    ("Menor", "Low"): (540, "1"),
    ("Maior", "High"): (540, "1"),
    ("Encarnado", "Red"): (540, "1"),
    ("Preto", "Black"): (540, "1"),
}
DOUBLES = {("Cavalo de dúzia", "Double dozen"), ("Cavalo de coluna", "Double column")}
SECTIONS = {
    "pt": [
        "O jogo",
        "O cilindro",
        "Apostas, limites e prémios",
        "Apostas anunciadas",
        "Como se joga",
        "O que ganha e o que perde",
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
        "The wheel",
        "Bets, limits and prizes",
        "Call bets",
        "How a round goes",
        "What wins and what loses",
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
        game="roulette",
        mode=mode,
        play=play,
        name=types_pb2.LocalizedText(pt="Sala Azul", en="Blue Room"),
        betting_window_ms=25_000,
        result_shown_ms=3_500,
        seats=40,
    )
    for field, value in settings.items():
        setattr(configuration, field, value)
    return configuration


def rules_page(
    language: str = "pt",
    configuration: types_pb2.TableConfiguration | None = None,
    rules: roulette_pb2.SpecificRules | None = None,
) -> str:
    rules = rules or specific_rules()
    complete = types_pb2.TableConfiguration()
    complete.CopyFrom(configuration or table_configuration())
    complete.regulation = "807/2015" if rules.wheel == FRENCH else "804/2015"
    complete.rules.Pack(rules)
    return RouletteGame().rules_text(complete, language)


def specific_rules(
    wheel: roulette_pb2.Wheel.ValueType = FRENCH,
    *,
    minimum_cents: int = 100,
    without_doubles: bool = False,
    total_maximum_cents: int = 0,
    call_bets: bool = False,
    maxima: dict[roulette_pb2.Kind.ValueType, int] | None = None,
) -> roulette_pb2.SpecificRules:
    return roulette_pb2.SpecificRules(
        wheel=wheel,
        minimum_cents=minimum_cents,
        without_doubles=without_doubles,
        total_maximum_cents=total_maximum_cents,
        call_bets=call_bets,
        maxima=[roulette_pb2.KindMaximum(kind=kind, times_minimum=times) for kind, times in (maxima or {}).items()],
    )


NOBODY_INVITED = session_pb2.InactivityPolicy(invite=False)
TABLES = [
    (table_configuration(INDIVIDUAL), specific_rules(AMERICAN_37)),
    (table_configuration(MULTI), specific_rules(AMERICAN_38, minimum_cents=20_00)),
    (
        table_configuration(MULTI, cancel_forbidden=True),
        specific_rules(AMERICAN_38, without_doubles=True, total_maximum_cents=12_345_67),
    ),
    (
        table_configuration(INDIVIDUAL, wallet_pb2.MODE_DEMO, result_shown_ms=0),
        specific_rules(AMERICAN_38, without_doubles=True),
    ),
    (
        table_configuration(MULTI, wallet_pb2.MODE_DEMO),
        specific_rules(FRENCH, call_bets=True, total_maximum_cents=1_000_00),
    ),
    (table_configuration(INDIVIDUAL, cancel_forbidden=True), specific_rules(FRENCH, minimum_cents=51, call_bets=True)),
]


def invited_by(play: wallet_pb2.Play.ValueType, **policy: int) -> types_pb2.TableConfiguration:
    configuration = table_configuration(play)
    configuration.inactivity.CopyFrom(session_pb2.InactivityPolicy(invite=True, **policy))
    return configuration


def row(page: str, name: str) -> list[str]:
    """Returns the cells after a bet's name."""
    lines = [line for line in page.splitlines() if line.startswith((f"| {name} |", f"| {name} ("))]
    assert len(lines) == 1, (name, lines)
    return [cell.strip() for cell in lines[0].strip("|").split("|")][1:]


# -- both languages -------------------------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize(("configuration", "rules"), TABLES)
def test_both_languages_have_the_same_content(
    configuration: types_pb2.TableConfiguration, rules: roulette_pb2.SpecificRules
) -> None:
    pages = {language: rules_page(language, configuration, rules) for language in SECTIONS}

    assert_same_content(pages, SECTIONS)


def test_both_texts_use_the_same_conditions_and_values() -> None:
    assert_same_conditions_and_values(template)


@pytest.mark.parametrize(("configuration", "rules"), TABLES)
@pytest.mark.parametrize("language", ["pt", "en"])
def test_no_placeholder_is_left(
    language: str, configuration: types_pb2.TableConfiguration, rules: roulette_pb2.SpecificRules
) -> None:
    page = rules_page(language, configuration, rules)

    assert_no_placeholder(page, language)


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("pt", "# Sala Azul: regras do jogo"),
        ("en", "# Blue Room: rules of the game"),
        ("en-GB", "# Blue Room: rules of the game"),
        ("pt-PT", "# Sala Azul: regras do jogo"),
        ("fr", "# Sala Azul: regras do jogo"),
        ("", "# Sala Azul: regras do jogo"),
    ],
)
def test_a_language_without_a_text_gets_portuguese(language: str, title: str) -> None:
    assert rules_page(language).splitlines()[0] == title


def test_a_table_without_an_english_name_shows_its_portuguese_one() -> None:
    configuration = table_configuration()
    configuration.name.en = ""

    assert rules_page("en", configuration).startswith("# Sala Azul: rules of the game\n")


# -- limits and prizes ----------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:25", "807/2015:27", "804/2015:P.4", "807/2015:P.4", "903-B/2015:6.1.6")
@pytest.mark.parametrize("wheel", [AMERICAN_37, AMERICAN_38, FRENCH])
def test_every_limit_and_every_prize_is_stated(wheel: roulette_pb2.Wheel.ValueType) -> None:
    for minimum_cents in (100, 20_00):
        pages = [
            rules_page(language, table_configuration(), specific_rules(wheel, minimum_cents=minimum_cents))
            for language in ("pt", "en")
        ]
        for names, (times, prize) in REGULATION.items():
            for page, name, language in zip(pages, names, (PORTUGUESE, ENGLISH), strict=True):
                _, minimum, maximum, multiple = row(page, name)
                assert minimum == language.euros(minimum_cents)
                assert maximum == language.euros(minimum_cents * times)
                assert multiple == f"{prize} ×"


@pytest.mark.rule("804/2015:25", "807/2015:27")
def test_a_lower_maximum_of_the_table_is_stated() -> None:
    rules = specific_rules(maxima={roulette_pb2.KIND_STRAIGHT: 7, roulette_pb2.KIND_RED: 100})

    page = rules_page("pt", table_configuration(), rules)

    assert row(page, "Pleno")[2] == "7,00 €"
    assert row(page, "Encarnado")[2] == "100,00 €"
    assert row(page, "Preto")[2] == "540,00 €"


def test_an_odd_minimum_is_rounded_up_on_doubles() -> None:
    page = rules_page("pt", table_configuration(), specific_rules(minimum_cents=51))

    assert row(page, "Pleno")[1] == "0,51 €"
    assert row(page, "Cavalo de dúzia")[1] == "0,52 €"


@pytest.mark.rule("903-B/2015:6.1.6")
def test_the_largest_prize_per_unit_staked_is_stated() -> None:
    assert "35 vezes a aposta, ou seja, 35,00 € por cada 1,00 € apostado" in rules_page("pt")
    assert "35 times the stake, which is €35.00 for each €1.00 staked" in rules_page("en")


@pytest.mark.rule("804/2015:25", "807/2015:27")
@pytest.mark.parametrize(
    ("wheel", "order", "returned", "zeros"),
    [
        (AMERICAN_37, "0, 28, 9, 26, 30, 11, 7, 20, 32, 17, 5, 22, 34, 15, 3, 24, 36, 13, 1, 27, 10,", "97,30 %", "0"),
        (
            AMERICAN_38,
            "0, 28, 9, 26, 30, 11, 7, 20, 32, 17, 5, 22, 34, 15, 3, 24, 36, 13, 1, 00, 27,",
            "94,74 %",
            "0, 00",
        ),
        (FRENCH, "0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10, 5, 24, 16,", "97,30 %", "0"),
    ],
)
def test_the_wheel_and_its_theoretical_return_are_stated(
    wheel: roulette_pb2.Wheel.ValueType, order: str, returned: str, zeros: str
) -> None:
    page, english = (rules_page(language, table_configuration(), specific_rules(wheel)) for language in ("pt", "en"))

    assert order in page
    assert f"em média {returned} do que" in page
    assert f"returns {returned.replace(',', '.').replace(' ', '')} of what" in english
    assert f"* Verdes: {zeros}\n" in page
    assert "* Encarnados (vermelhos): 1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36\n" in page
    assert ("o 0 e o 00" in page) == (wheel == AMERICAN_38)


@pytest.mark.parametrize(
    ("wheel", "places"),
    [
        (FRENCH, "0-1, 0-2, 0-3, 0-1-2, 0-2-3, 0-1-2-3."),
        (AMERICAN_38, "0-00, 0-1, 0-2, 00-2, 00-3, 0-00-2, 0-1-2, 00-2-3."),
    ],
)
def test_the_places_around_zero_are_listed(wheel: roulette_pb2.Wheel.ValueType, places: str) -> None:
    assert any(line == places for line in rules_page("pt", table_configuration(), specific_rules(wheel)).splitlines())


# -- what depends on the table --------------------------------------------------------------------------------------


def test_different_tables_have_different_texts() -> None:
    for one, other in combinations(TABLES, 2):
        assert rules_page("pt", *one) != rules_page("pt", *other)


def test_doubles_are_mentioned_only_if_offered() -> None:
    with_doubles, without = (
        rules_page("pt", table_configuration(), specific_rules(without_doubles=excluded)) for excluded in (False, True)
    )

    assert "Cavalo de dúzia" in with_doubles
    assert "número par de cêntimos" in with_doubles
    assert "avalo de dúzia" not in without
    assert "avalo de coluna" not in without
    assert "número par de cêntimos" not in without


def test_call_bets_are_described_only_if_offered() -> None:
    offered, not_offered = (
        rules_page("pt", table_configuration(), specific_rules(call_bets=on)) for on in (True, False)
    )

    assert row(offered, "Vizinhos do zero")[1:] == [
        "9",
        "2 × 0-2-3, 1 × 4-7, 1 × 12-15, 1 × 18-21, 1 × 19-22, 2 × 25-26-28-29, 1 × 32-35",
    ]
    assert row(offered, "Vizinhos do zero")[0].count(",") == 17 - 1
    assert row(offered, "Série 5-8")[:2] == ["5, 8, 10, 11, 13, 16, 23, 24, 27, 30, 33, 36", "6"]
    assert row(offered, "Órfãos") == [
        "1, 6, 9, 14, 17, 20, 31, 34",
        "5",
        "1 × 1, 1 × 6-9, 1 × 14-17, 1 × 17-20, 1 × 31-34",
    ]
    assert row(offered, "Um número e os seus vizinhos")[1] == "3, 5, 7"
    assert (row(offered, "Finais de 0 a 6")[1], row(offered, "Finais de 7 a 9")[1]) == ("4", "3")
    assert "anunciada" not in not_offered
    assert "Vizinhos" not in not_offered


def test_a_demonstration_table_states_that_credits_never_become_money() -> None:
    demo, real = (
        rules_page("pt", table_configuration(mode=mode)) for mode in (wallet_pb2.MODE_DEMO, wallet_pb2.MODE_REAL)
    )

    assert "nunca se trocam nem se convertem em dinheiro, vales, bens ou serviços" in demo
    assert "créditos que não têm qualquer valor" in demo
    assert "emonstra" not in real


def test_the_cap_on_all_bets_is_stated() -> None:
    assert "não podem passar de 1234,00 €" in rules_page(
        "pt", table_configuration(), specific_rules(total_maximum_cents=1234_00)
    )
    assert "não podem passar" not in rules_page("pt")


def test_the_text_states_whether_bets_can_be_cancelled() -> None:
    assert "pode retirar as suas" in rules_page("pt")
    forbidden = rules_page("pt", table_configuration(cancel_forbidden=True))
    assert "pode retirar as suas" not in forbidden
    assert "já não se pode retirar" in forbidden


@pytest.mark.rule("804/2015:25", "807/2015:27")
def test_the_course_of_a_round_is_described_for_one_player_and_for_several() -> None:
    several, alone = rules_page("pt", table_configuration(MULTI)), rules_page("pt", table_configuration(INDIVIDUAL))

    assert "Tem 25 segundos para apostar, o mesmo tempo para todos" in several
    assert "até 40 pessoas" in several
    assert "Lance a bola" not in several
    assert "Lance a bola quando quiser" in alone
    assert "25 segundos" not in alone
    for page in (several, alone):
        assert "A jogada seguinte abre 3,5 segundos depois de sorteado o número." in page
        assert "pelo menos 3,5 segundos desde o pagamento" in page
    assert "A jogada seguinte abre logo" in rules_page("pt", table_configuration(result_shown_ms=0))


@pytest.mark.rule("804/2015:25", "807/2015:27")
@pytest.mark.parametrize(
    "sentence",
    [
        "Uma jogada é nula só quando uma avaria impede que se determine um número válido.",
        "todas as apostas dessa jogada são devolvidas a todos os jogadores",
        "a jogada não é nula: a aposta vale, paga-se se ganhar e perde-se se perder",
        "Se o nosso sistema parar, as apostas confirmadas contam.",
        "Pode ver sempre a última jogada em que participou",
        "Quem decide quando a sessão começa, quanto dura e quando acaba é o jogador.",
        "No fim de cada sessão recebe um resumo com o total que apostou e o que ganhou ou perdeu.",
        "apresente uma reclamação",
        "foram aprovadas pela entidade reguladora, o SRIJ, antes de entrarem em vigor",
        "estão publicadas em permanência e de graça",
        "o texto português prevalece",
    ],
)
def test_every_text_contains(sentence: str) -> None:
    for configuration, rules in TABLES:
        assert sentence in " ".join(rules_page("pt", configuration, rules).split())


@pytest.mark.rule("804/2015:25", "807/2015:27")
@pytest.mark.parametrize(
    ("wheel", "sentence"),
    [
        (AMERICAN_37, "**Quando sai o 0**, só ganham as apostas que contêm o 0."),
        (AMERICAN_38, "**Quando sai o 0 ou o 00**, só ganham as apostas que contêm o zero que saiu."),
        (FRENCH, "**Quando sai o 0**, só ganham as apostas que contêm o 0."),
    ],
)
def test_the_text_states_what_wins_on_zero(wheel: roulette_pb2.Wheel.ValueType, sentence: str) -> None:
    page = " ".join(rules_page("pt", table_configuration(), specific_rules(wheel)).split())

    assert f"{sentence} Todas as outras perdem por inteiro" in page


# -- inactivity -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:25", "807/2015:27")
@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        (
            table_configuration(INDIVIDUAL),
            ["mais de 3 minutos sem apostar", "20 segundos depois avisamos", "no prazo de 1 minuto"],
        ),
        (
            invited_by(INDIVIDUAL, idle_seconds=301, warn_after_seconds=1, end_after_seconds=90),
            ["mais de 301 segundos sem apostar", "1 segundo depois avisamos", "no prazo de 90 segundos"],
        ),
        (table_configuration(MULTI), ["em mais de 5 jogadas seguidas", "antes da jogada seguinte"]),
        (invited_by(MULTI, missed_rounds=9), ["em mais de 9 jogadas seguidas", "antes da jogada seguinte"]),
    ],
)
def test_invitation_and_warning_follow_the_policy_of_the_table(
    configuration: types_pb2.TableConfiguration, expected: list[str]
) -> None:
    page = rules_page("pt", configuration)

    for words in expected:
        assert words in page
    assert "não se termina nenhuma sessão" not in page


@pytest.mark.parametrize("play", [INDIVIDUAL, MULTI])
def test_a_table_that_invites_nobody_states_it(play: wallet_pb2.Play.ValueType) -> None:
    configuration = table_configuration(play)
    configuration.inactivity.CopyFrom(NOBODY_INVITED)

    page = rules_page("pt", configuration)

    assert "não se termina nenhuma sessão por falta de apostas" in page
    assert "convidamo-lo" not in page


# -- refusals -------------------------------------------------------------------------------------------------------


def test_rules_outside_the_regulation_have_no_text() -> None:
    with pytest.raises(TableRefused, match="807/2015:8"):
        rules_page("pt", table_configuration(), specific_rules(AMERICAN_37, call_bets=True))

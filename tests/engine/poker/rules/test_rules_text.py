"""Tests of the rules that players read: complete, true of their table, and the same in both languages."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.caves.period import Period
from services.poker import specific_rules_message
from services.poker.game import PokerGame
from services.poker.rules.text import template
from services.poker.specific_rules import (
    Approval,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    SpecificRules,
)
from services.poker.variant import Variant
from tests.engine.poker.tables import HOLDEM, OMAHA, both, rules
from tests.engine.rules_text import (
    assert_no_placeholder,
    assert_same_conditions_and_values,
    assert_same_content,
    section_names,
)

SECTIONS = {
    "pt": [
        "O jogo",
        "A mesa e os lugares",
        "A cave",
        "O botão e as apostas obrigatórias",
        "Como se joga uma jogada",
        "Limites das apostas",
        "*All in* e potes laterais",
        "As combinações",
        "Mostrar as cartas e entregar o pote",
        "A comissão",
        "O tempo para decidir",
        "Ausências e pausas",
        "O que não se pode fazer",
        "Jogadas nulas e avarias",
        "A última jogada e o histórico",
        "A sua sessão",
        "Demonstração",
        "Reclamações",
        "Estas regras",
        "Glossário",
    ],
    "en": [
        "The game",
        "The table and its seats",
        "The cave",
        "The button and the compulsory bets",
        "How a hand is played",
        "Limits of bets",
        "All in and side pots",
        "The combinations",
        "Showdown and payment",
        "The commission",
        "The time to decide",
        "Sitting out and rests",
        "What is not allowed",
        "Void hands and failures",
        "The last hand and the history",
        "Your session",
        "Demonstration",
        "Complaints",
        "These rules",
        "Glossary",
    ],
}
# Words that a player meets at the table and may not know.
FOREIGN_WORDS = [
    "flop", "turn", "river", "blind", "all in", "rake", "cave", "button", "check", "call", "raise", "fold", "showdown",
    "pot", "side pot", "heads-up", "rathole",
]  # fmt: skip
Options = dict[str, Any]
# What a table has to have for an option to be one.
FIXED: Options = {"limit": Limit.FIXED_RAISES}
CAPPED: Options = {"commission_cap_cents": 300, "approvals": frozenset({Approval.COMMISSION_CAP})}
IN_CAVES: Options = {"commission_mode": CommissionMode.CAVE}
BUTTON_BLIND: Options = {
    "heads_up_blinds": HeadsUpBlinds.BUTTON_SMALL_BLIND,
    "approvals": frozenset({Approval.BUTTON_SMALL_BLIND}),
}
RANGE: Options = {"cave_min_cents": 4_000, "cave_max_cents": 20_000}
PERIOD = Period(datetime(2026, 11, 20, 20, tzinfo=UTC), datetime(2026, 11, 20, 21, 30, tzinfo=UTC), completes_lap=True)
# What an operator chooses, what the text says then and does not say without it, and what the table is otherwise.
OPTIONS: list[tuple[Options, str, Options]] = [
    ({"seats": 9}, "A mesa tem 9 lugares", {}),
    ({"min_players": 3}, "Com menos de 3 jogadores em jogo a mesa fica suspensa", {}),
    ({"refuses_shared_devices": True}, "não podem estar nesta mesa: a segunda é recusada", {}),
    ({"big_blind_cents": 200}, "a grande aposta (big blind), 2,00 €, que é a aposta mínima", {}),
    ({"small_blind_cents": 25}, "põe a pequena aposta (small blind), 0,25 €", {}),
    ({"cave_min_cents": 4_000}, "uma cave inicial de 40,00 € a 100,00 €, à sua escolha", {"cave_max_cents": 10_000}),
    ({"cave_max_cents": 20_000}, "uma cave inicial de 100,00 € a 200,00 €", {"cave_min_cents": 10_000}),
    ({"top_up_to_min_cents": 6_000}, "um montante de 60,00 € a 200,00 €", RANGE),
    ({"top_up_to_max_cents": 15_000}, "um montante de 40,00 € a 150,00 €", RANGE),
    ({"limit": Limit.POT_LIMIT}, "o máximo é o valor do pote", {}),
    ({"limit": Limit.HALF_POT}, "limite de metade do pote", {}),
    ({"limit": Limit.FIXED_RAISES}, "o número máximo de subidas é 3", {}),
    ({"max_raises_per_turn": 4}, "o número máximo de subidas é 4", FIXED),
    ({"bet_units": (1, 2, 3, 4)}, "por ordem das rondas, 1,00 €; 2,00 €; 3,00 €; 4,00 €", FIXED),
    ({"commission_bps": 450}, "A casa cobra 4,50 % do pote", {}),
    ({"commission_bps": 450}, "De um pote de 100,00 € cobra 4,50 €, e recebe-se 95,50 €", {}),
    (
        {"commission_bps": 150, "approvals": frozenset({Approval.COMMISSION_UNDER_2_PERCENT})},
        "o arredondamento pode deixar menos de 1 % de um pote pequeno",
        {},
    ),
    (CAPPED, "um máximo de 3,00 € por cobrança", {}),
    ({"commission_cap_per_hand": True}, "um máximo de 3,00 € por jogada", CAPPED),
    (IN_CAVES, "A casa cobra 10,00 % de cada cave inicial e de cada reposição", {}),
    (IN_CAVES, "por uma cave de 100,00 € saem do saldo mais 10,00 €", {}),
    ({"commission_on_top": False}, "de 100,00 € ficam com a casa 10,00 €, e 90,00 € na cave", IN_CAVES),
    ({"no_flop_no_drop": NoFlopNoDrop.WALK_ONLY}, "quando todos desistem para a grande aposta", {}),
    ({"no_flop_no_drop": NoFlopNoDrop.LITERAL}, "Uma jogada que acabe antes do flop paga", {}),
    ({"decision_time_s": 15}, "Tem 15 segundos para cada decisão", {}),
    ({"time_bank_s": 45}, "tem uma reserva de tempo de 45 segundos", {}),
    ({"time_bank_s": 0}, "não tem reserva de tempo", {}),
    ({"time_bank_refill_s": 5}, "a reserva aumenta 5 segundos", {}),
    ({"time_bank_refill_s": 0}, "O que se gastar da reserva não se recupera", {}),
    ({"time_bank_refill_hands": 7}, "Por cada 7 jogadas em que entre", {}),
    ({"time_bank_refill_hands": 1}, "Depois de cada jogada em que entre", {}),
    ({"time_bank_cap_s": 90}, "até ao máximo de 90 segundos", {}),
    ({"disconnect_extra_s": 25}, "tem ainda mais 25 segundos, uma vez em cada jogada", {}),
    ({"disconnect_extra_s": 0}, "não tem por isso mais tempo", {}),
    ({"auto_sitout_after": 3}, "Depois de 3 jogadas seguidas em que só o relógio decidiu", {}),
    ({"auto_sitout_after": 1}, "Depois de uma jogada em que só o relógio decidiu", {}),
    (BUTTON_BLIND, "quem tem o botão põe a pequena aposta", {}),
    ({"showdown": Showdown.MUCK_LOSERS}, "as de quem perdeu ficam por mostrar", {}),
    ({"entry_mode": EntryMode.IMMEDIATE}, "entra na jogada seguinte, e põe a aposta obrigatória", {}),
    ({"entry_mode": EntryMode.WAIT_OR_VOLUNTARY_POST}, "com uma aposta voluntária de 1,00 €", {}),
    ({"rest_period_s": 300}, "uma pausa de 5 minutos", {}),
    ({"rest_period_s": 0}, "Esta mesa não tem pausas", {}),
    ({"rest_per_hour": 2}, "até 2 vezes em cada hora", {}),
    ({"rest_per_hour": 0}, "Esta mesa não tem pausas", {}),
    ({"inactive_hands": 3}, "ou por só o relógio decidir, passar de 3", {}),
    ({"inactive_requires_absence": False}, "ainda que decida por si, passar de 5", {}),
    ({"rebuy_grace_s": 90}, "Tem para isso 90 segundos", {}),
    ({"rathole_window_min": 30}, "menos de 30 minutos depois de sair, tem de trazer pelo menos", {}),
    ({"rathole_window_min": 0}, "basta trazer outra vez uma cave inicial", {}),
    ({"recovery_limit_s": 240}, "para decidir, passar de 4 minutos, a jogada é nula", {}),
    ({"gateway_pause_s": 45}, "o relógio para até 45 segundos", {}),
    ({"period": PERIOD}, "aberta numa sessão de 2026-11-20 20:00 UTC a 2026-11-20 21:30 UTC", {}),
    ({"period": PERIOD}, "Só quem se inscrever antes de ela começar se pode sentar", {}),
    ({"period": PERIOD}, "logo que o botão tenha dado a volta até onde começou", {}),
    (
        {"period": dataclasses.replace(PERIOD, completes_lap=False)},
        "a jogada em curso é a última",
        {"period": PERIOD},
    ),
    ({"allowed_aids": ("tabela", "cronómetro")}, "só pode usar estas ajudas: tabela; cronómetro", {}),
]  # fmt: skip
# The variant is a regulation of its own.
TOLD_OTHERWISE = {"variant"}


def table(
    made: SpecificRules, mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL
) -> types_pb2.TableConfiguration:
    """Returns the configuration of a table with these rules."""
    configuration = types_pb2.TableConfiguration(
        game="poker",
        regulation=made.variant.regulation,
        mode=mode,
        play=wallet_types.PLAY_POKER,
        seats=made.seats,
        decision_ms=1_000 * made.decision_time_s,
        name=types_pb2.LocalizedText(pt="Sala Azul", en="Blue Room"),
    )
    configuration.rules.Pack(specific_rules_message.message_of(made))
    return configuration


def text_of(made: types_pb2.TableConfiguration, language: str = "pt") -> str:
    return PokerGame().rules_text(made, language)


def sentences(made: types_pb2.TableConfiguration) -> str:
    """Returns the Portuguese text in one line and without emphasis, so that any sentence of it can be looked for."""
    return re.sub(r"\s+", " ", text_of(made).replace("*", ""))


TABLES = [
    table(rules()),
    table(rules(), wallet_types.MODE_DEMO),
    table(rules(OMAHA)),
    *(table(rules(HOLDEM, **{"big_blind_cents": 100, **other, **option})) for option, _, other in OPTIONS),
    table(rules(OMAHA, 200, **FIXED), wallet_types.MODE_DEMO),
]


@both("66")
@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize("made", TABLES)
def test_both_languages_have_the_same_content(made: types_pb2.TableConfiguration) -> None:
    pages = {language: text_of(made, language) for language in SECTIONS}

    assert_same_content(pages, SECTIONS)
    expected = set(SECTIONS["pt"]) - (set() if made.mode == wallet_types.MODE_DEMO else {"Demonstração"})
    assert set(section_names(pages["pt"])) == expected


def test_both_texts_use_the_same_conditions_and_values() -> None:
    assert_same_conditions_and_values(template)


@both("66")
@pytest.mark.parametrize("made", TABLES)
@pytest.mark.parametrize("language", ["pt", "en"])
def test_no_placeholder_is_left(language: str, made: types_pb2.TableConfiguration) -> None:
    page = text_of(made, language)

    assert_no_placeholder(page, language)
    assert made.regulation in page


@both("66")
@pytest.mark.parametrize(("option", "sentence", "other"), OPTIONS)
def test_each_option_of_the_operator_changes_the_text(option: Options, sentence: str, other: Options) -> None:
    basis = {"big_blind_cents": 100, **other}
    chosen = table(rules(HOLDEM, **{**basis, **option}))
    without = table(rules(HOLDEM, **basis))

    assert sentence in sentences(chosen)
    assert sentence not in sentences(without)
    assert text_of(chosen, "en") != text_of(without, "en")


def test_every_option_is_in_the_text() -> None:
    options = {field.name for field in dataclasses.fields(SpecificRules)}
    stated = {name for option, _, _ in OPTIONS for name in option}
    assert options - stated == TOLD_OTHERWISE


def test_different_tables_have_different_texts() -> None:
    texts = {made.SerializeToString(): text_of(made) for made in TABLES}
    for one, other in combinations(texts.values(), 2):
        # No rests in the hour and rests of no time are the same to a player.
        assert one != other or "Esta mesa não tem pausas" in one


@pytest.mark.parametrize(
    ("variant", "sentence", "of_the_other"),
    [
        (HOLDEM, "Usa quaisquer cinco das sete cartas", "recebe 4 cartas fechadas"),
        (OMAHA, "exatamente duas das suas quatro cartas e exatamente três das comuns", "recebe 2 cartas fechadas"),
    ],
)
def test_each_variant_says_how_many_cards_are_dealt_and_used(
    variant: Variant, sentence: str, of_the_other: str
) -> None:
    said = sentences(table(rules(variant)))
    assert sentence in said
    assert of_the_other not in said


@both("66")
@pytest.mark.parametrize(
    "sentence",
    [
        # 7 to 15
        "cada jogador ocupa um só",
        "O lugar que vagar é-lhe guardado durante 30 segundos",
        "Com menos de 1,00 € na cave não recebe cartas até a repor.",
        "não pode tirar fichas da cave",
        "Pode sair em qualquer altura com a cave que tiver.",
        "só entra em jogo na seguinte",
        # 46, 48
        "É sorteado quando a mesa começa e sempre que recomeça",
        "Também é assim com dois jogadores: quem não tem o botão põe a pequena aposta",
        "Não há outras apostas obrigatórias.",
        # 22 to 24, 34 to 42
        "Fora a pequena aposta, nenhuma aposta é inferior a 1,00 €.",
        "Uma subida acrescenta pelo menos o mesmo que a última aposta ou subida completa da ronda",
        "Um all in que não chegue a uma subida completa não deixa subir de novo quem já tinha falado",
        "um pote lateral por cada montante diferente",
        "O que ninguém igualou é devolvido logo: não faz parte do pote nem paga comissão.",
        # 32.d, 62: what the letter of the rules leaves open
        "a carta mais alta; depois a segunda, e assim até à quinta",
        "Os cêntimos que sobram vão um a um para os vencedores, a partir da esquerda do botão.",
        "Ninguém pode renunciar ao pote que ganhou, nem combinar a sua divisão.",
        # 17 to 19
        "Se alguém ainda em jogo estiver all in, a comissão cobra-se de cada pagamento à parte",
        "Não há outros encargos.",
        # 45, 65 to 73
        "Se todo o tempo acabar sem decidir, passa, se for possível; se não, desiste.",
        "Pode ver sempre a última jogada em que participou",
        "No fim de cada sessão recebe um resumo com o total que apostou, o que ganhou ou perdeu e a comissão.",
        "avisamo-lo, antes da jogada seguinte, de que a sessão termina se não apostar nela",
        "é devolvido a cada um tudo o que nela apostou, também a quem já tinha desistido, sem comissão",
        "Se a ligação ou o aparelho que usa falhar, a jogada não é nula",
        "apresente uma reclamação no menu da mesa ou na sua conta",
        "aprovadas pela entidade reguladora, o SRIJ, antes de entrarem em vigor",
    ],
)
def test_what_every_table_has_in_common_is_stated(sentence: str) -> None:
    assert sentence in sentences(table(rules()))


@pytest.mark.rule("903-B/2015:6.6.2")
@pytest.mark.parametrize("variant", [HOLDEM, OMAHA])
@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("Combinar jogadas ou estratégias com outros.", marks=both("11.c")),
        "Mostrar, dar a conhecer ou receber as cartas fechadas de alguém",
        pytest.param("Perder de propósito para passar fichas a outro.", marks=both("11.e")),
        pytest.param("Usar um programa que decida por si, ou que esteja na lista dos proibidos.", marks=both("11.f")),
        pytest.param("Perturbar o jogo de qualquer outra maneira.", marks=both("11.g")),
        pytest.param("não pode usar nenhum programa de ajuda", marks=both("11.f")),
        "A casa cobra 5,00 % do pote",
        "Não há outros encargos.",
    ],
)
def test_collusion_and_automation_are_forbidden_and_every_fee_is_stated(variant: Variant, sentence: str) -> None:
    assert sentence in sentences(table(rules(variant)))


@both("74", "75")
def test_a_demonstration_table_states_that_credits_never_become_money() -> None:
    demo, real = (sentences(table(rules(), mode)) for mode in (wallet_types.MODE_DEMO, wallet_types.MODE_REAL))
    assert "nunca se trocam nem se convertem em dinheiro, vales, bens ou serviços" in demo
    assert "emonstra" not in real


@both("66")
@pytest.mark.parametrize("language", ["pt", "en"])
def test_foreign_words_are_explained(language: str) -> None:
    page = text_of(table(rules()), language)
    glossary = page[page.index(f"## {SECTIONS[language][-1]}") :].lower()
    explained = {re.sub(r"[*]", "", row) for row in re.findall(r"^[|] ([^|]+?) [|]", glossary, re.MULTILINE)}
    for word in FOREIGN_WORDS:
        assert any(word == each or word in re.split(r" [(]|[)]", each) for each in explained), word

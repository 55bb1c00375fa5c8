"""The rules of a tournament that players read say what this tournament is, in Portuguese first."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.poker.game import PokerGame
from services.poker.specific_rules import Limit
from services.poker.tournament.levels import Level
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import (
    Approval,
    CancelPolicy,
    FreerollTicket,
    PayWhen,
    Start,
    TicketPrize,
    TournamentRules,
)
from services.poker.tournament.specific_rules_message import message_of
from tests.engine.poker.tournament.builders import rules

STARTS_AT = datetime(2026, 12, 1, 21, 0, tzinfo=UTC)
LEVELS = (Level(50, 100, 600, 300), Level(100, 200, 600))
# Each option beside the sentence that only it brings.
OPTIONS = [
    (
        {"price": Price(0, 0), "guarantee_cents": 10_000},
        "A inscrição é gratuita (freeroll)",
    ),
    ({"start": Start.ON_FULL}, "O torneio começa quando todos os lugares estiverem ocupados"),
    ({"late_reg_until_level": 1}, "Aceitam-se inscrições tardias até ao fim do nível 1."),
    (
        {"late_reg_until_level": 1, "reentries_max": 2, "reentry_until_level": 1},
        "(re-entry) até 2 vezes, até ao fim do nível 1.",
    ),
    (
        {
            "rebuys_max": 3,
            "rebuy_until_level": 1,
            "rebuy_chips": 1_500,
            "rebuy_price": Price(1000, 100),
            "rebuy_decision_seconds": 20,
        },
        "até 3 vezes, até ao fim do nível 1: 1500 fichas por 11,00 €. Quem perde todas as fichas tem 20 segundos",
    ),
    (
        {"addons_max": 1, "addon_after_level": 1, "addon_chips": 2_000, "addon_price": Price(500, 50)},
        "No intervalo depois do nível 1 pode comprar um add-on de 2000 fichas por 5,50 €.",
    ),
    ({"timed_minutes": 45}, "Passados 45 minutos, joga-se mais uma volta completa em cada mesa"),
    ({"guarantee_cents": 50_000}, "Os prémios somam pelo menos 500,00 €."),
    ({"pay_when": PayWhen.AT_END}, "Os prémios são creditados todos no fim."),
    ({"limit": Limit.POT_LIMIT}, "Joga-se com limite de pote"),
    ({"limit": Limit.HALF_POT}, "Joga-se com limite de metade do pote."),
    ({"limit": Limit.NO_LIMIT}, "Joga-se sem limite"),
    (
        {"cancel_policy": CancelPolicy.NET_OF_AWARDED, "approvals": frozenset({CancelPolicy.NET_OF_AWARDED})},
        "Ao que se divide descontam-se os prémios já ganhos",
    ),
    (
        {"satellite": TicketPrize("domingo", 10_900, (7_000, 3_000))},
        "O que sobrar é pago em dinheiro aos lugares seguintes (70",
    ),
    (
        {
            "satellite": TicketPrize("domingo", 10_900),
            "satellite_stops_early": True,
            "approvals": frozenset({Approval.SATELLITE_EARLY_STOP}),
        },
        "O torneio acaba quando não houver mais jogadores do que entradas a ganhar, conforme aprovado",
    ),
    (
        {"freeroll_ticket": FreerollTicket.CASH},
        "O mesmo vale para uma entrada ganha num torneio gratuito.",
    ),
    (
        {"replacement_tournament": "segunda"},
        "não se recebe dinheiro, mas outra de igual valor, no torneio segunda.",
    ),
]


def tournament(
    made: TournamentRules, mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL
) -> types_pb2.TableConfiguration:
    """Returns the configuration of a tournament with these rules."""
    configuration = types_pb2.TableConfiguration(
        game="poker",
        regulation="810/2015",
        mode=mode,
        play=wallet_types.PLAY_TOURNAMENT,
        seats=made.seats,
        name=types_pb2.LocalizedText(pt="Torneio de Domingo", en="Sunday Tournament"),
    )
    configuration.rules.Pack(message_of(made, STARTS_AT if made.start is Start.SCHEDULED else None))
    return configuration


def text_of(made: types_pb2.TableConfiguration, language: str = "pt") -> str:
    return PokerGame().rules_text(made, language)


def sentences(page: str) -> str:
    """Returns a text in one line and without emphasis, so that any sentence of it can be looked for."""
    return re.sub(r"\s+", " ", page.replace("*", "")).replace("\u00a0", " ")


def made_with(option: dict[str, object]) -> TournamentRules:
    chosen = {"levels": LEVELS, **option}
    price = chosen.pop("price", Price(1000, 100))
    assert isinstance(price, Price)
    return rules(price, **chosen)


@pytest.mark.rule("810/2015:34", "810/2015:56")
@pytest.mark.parametrize(("option", "sentence"), OPTIONS)
def test_each_option_of_the_operator_is_stated_and_only_where_it_is_chosen(
    option: dict[str, object], sentence: str
) -> None:
    assert sentence in sentences(text_of(tournament(made_with(option))))
    plain: dict[str, object] = {"limit": Limit.FIXED_RAISES} if "limit" in option else {}
    assert sentence not in sentences(text_of(tournament(made_with(plain))))


@pytest.mark.rule("810/2015:22", "810/2015:34", "810/2015:46")
def test_the_price_by_its_parts_the_levels_and_the_prizes_are_stated() -> None:
    page = sentences(text_of(tournament(made_with({"price": Price(600, 100, 300)}))))
    assert "custa 10,00 €: 6,00 € para prémios, 3,00 € de prémio de eliminação e 1,00 € de comissão" in page
    assert "sobem com os níveis: 50/100 (10 minutos + 5 minutos), 100/200 (10 minutos)" in page
    assert "Não se admitem acordos entre jogadores sobre os prémios." in page


@pytest.mark.rule("810/2015:56", "810/2015:59", "810/2015:60")
def test_the_rules_are_in_portuguese_which_prevails_and_in_english_for_who_chooses_it() -> None:
    configuration = tournament(made_with({}))
    assert text_of(configuration, "") == text_of(configuration, "pt")
    assert "o texto português prevalece, e quem escolhe outra língua não pode alegar que o desconhecia" in sentences(
        text_of(configuration)
    )
    assert "the Portuguese text prevails" in sentences(text_of(configuration, "en"))


@pytest.mark.rule("810/2015:55")
@pytest.mark.parametrize("language", ["pt", "en"])
def test_disputes_are_settled_by_the_regulation_the_game_and_the_specific_rules(language: str) -> None:
    page = sentences(text_of(tournament(made_with({})), language))
    words = {
        "pt": "reclamações pelo regulamento 810/2015, pelas regras do jogo (806/2015) e pelas regras específicas",
        "en": "complaints by regulation 810/2015, by the rules of the game (806/2015) and by the specific rules",
    }
    assert words[language] in page


@pytest.mark.rule("810/2015:57", "810/2015:58")
@pytest.mark.parametrize("language", ["pt", "en"])
@pytest.mark.parametrize("option", [option for option, _ in OPTIONS])
def test_every_foreign_word_is_in_the_glossary(option: dict[str, object], language: str) -> None:
    """The Portuguese text sets foreign words in italics; Latin is none of the words of poker."""
    made = tournament(made_with(option))
    used = re.sub(r"^[*] ", "", text_of(made, "pt").split("## Glossário")[0], flags=re.MULTILINE)
    foreign = {word.lower() for word in re.findall(r"(?<![*])[*]([^*\n]+)[*](?![*])", used)} - {"ex aequo"}
    assert "blinds" in foreign
    glossary = sentences(text_of(made, language).rsplit("\n## ", 1)[1]).lower()
    assert [word for word in sorted(foreign) if f"{word}: " not in glossary] == []


@pytest.mark.parametrize("language", ["pt", "en"])
@pytest.mark.parametrize("mode", [wallet_types.MODE_REAL, wallet_types.MODE_DEMO])
@pytest.mark.parametrize("option", [option for option, _ in OPTIONS])
def test_both_languages_say_as_much(
    option: dict[str, object], mode: wallet_types.Mode.ValueType, language: str
) -> None:
    made = tournament(made_with(option), mode)
    page, other = text_of(made, language), text_of(made, "en" if language == "pt" else "pt")
    shape = [line[:2] for line in page.splitlines() if line[:1] in {"#", "*"}]
    assert [line[:2] for line in other.splitlines() if line[:1] in {"#", "*"}][: len(shape) - 1] == shape[:-1]
    assert "$" not in page
    assert "<!--" not in page


@pytest.mark.rule("810/2015:28", "810/2015:29", "810/2015:30", "810/2015:37")
@pytest.mark.parametrize("language", ["pt", "en"])
def test_what_a_won_entry_is_worth_is_stated(language: str) -> None:
    page = sentences(text_of(tournament(made_with({})), language))
    for words in {
        "pt": (
            "não se devolve em dinheiro, não se vende e não passa para outra pessoa",
            "ganha outra recebe o valor da segunda em dinheiro, salvo se foi ganha num torneio gratuito",
            "caduca com o torneio",
            "Não se aceitam entradas ganhas em torneios gratuitos",
            "A quem entrou com uma entrada ganha, ou ainda a tem por usar, devolve-se o valor dela em dinheiro",
        ),
        "en": (
            "not paid back in money, not sold and not passed on",
            "wins another one is paid its value in money, unless it was won in a free tournament",
            "lapses with the tournament",
            "Entries that were won in free tournaments are not accepted",
            "entered by a won entry, or has not used it yet, is paid its value in money",
        ),
    }[language]:
        assert words in page

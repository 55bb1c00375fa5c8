"""Evaluations per second of the own evaluator, of pokerkit and of the fastest evaluators of PyPI.

Everybody gets random hands in the form of cards that it computes with, made beforehand, in the way that its page shows.
A showdown is many hands on one board, which only the own evaluator can use.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from pokerkit import Card as PokerkitCard
from pokerkit import OmahaHoldemHand, StandardHighHand

from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK
from services.poker.evaluation.holdem import holdem_rank, holdem_ranks
from services.poker.evaluation.omaha import omaha_rank, omaha_ranks
from tests.bench.poker.packages import package
from tests.bench.poker.turns import rates

HANDS, HANDS_OF_POKERKIT = 20_000, 200
COMMON = 5
OWN, POKERKIT, PHEVALUATOR, PKRBOT = "feltro", "pokerkit", "phevaluator", "pkrbot"
SHOWDOWN = "feltro, showdown"
# Not public, and asked with numbers that nobody checks.
NATIVE = "phevaluator, its C function by itself"
# What evaluations would cost the platform: its cards are other ones.
CONVERTED, PKRBOT_CONVERTED = "phevaluator, from the platform's cards", "pkrbot, from the platform's cards"

Hand: TypeAlias = Sequence[Card]
Program: TypeAlias = Callable[[], int]


def ratios(seconds: float) -> dict[str, float]:
    """Measures both variants."""
    found: dict[str, float] = {}
    for variant, programs in (("holdem", holdem_programs()), ("omaha", omaha_programs())):
        print(f"evaluator, {variant}")
        measured = rates(programs, seconds, "evaluations")
        fastest = max(measured[name] for name in (PHEVALUATOR, PKRBOT) if name in measured)
        fastest_converted = max(measured[name] for name in (CONVERTED, PKRBOT_CONVERTED) if name in measured)
        found |= {
            f"{variant}-evaluations-to-pokerkit": measured[OWN] / measured[POKERKIT],
            f"{variant}-evaluations-to-fastest": measured[OWN] / fastest,
            f"{variant}-showdown-evaluations-to-fastest": measured[SHOWDOWN] / fastest,
            f"{variant}-evaluations-to-fastest-from-platform-cards": measured[OWN] / fastest_converted,
            f"{variant}-evaluations-to-c-function": measured[OWN] / measured[NATIVE],
        }
    return found


def holdem_programs() -> dict[str, Program]:
    """Hold'em; showdowns of six players."""
    phevaluator, pkrbot = package("phevaluator.evaluator"), package("pkrbot")
    native = package("phevaluator._pheval").evaluate_7cards
    hands = random_hands(2)
    numbers = [[NUMBERS[card] for card in (*own, *board)] for own, board in hands]
    cards = {card: pkrbot.Card(card.name) for card in PACK}
    of_pkrbot = [[cards[card] for card in (*own, *board)] for own, board in hands]
    showdowns = random_showdowns(players=6, own=2)
    number, of_card = NUMBERS.__getitem__, cards.__getitem__
    return {
        OWN: each(lambda hand: holdem_rank(*hand), hands),
        SHOWDOWN: each(lambda showdown: holdem_ranks(*showdown), showdowns, evaluations=6),
        POKERKIT: each(lambda hand: StandardHighHand.from_game(*hand), of_pokerkit(hands)),
        PHEVALUATOR: each(lambda hand: phevaluator.evaluate_cards(*hand), numbers),
        CONVERTED: each(lambda hand: phevaluator.evaluate_cards(*map(number, hand[0]), *map(number, hand[1])), hands),
        NATIVE: each(lambda hand: native(*hand), numbers),
        PKRBOT: each(pkrbot.evaluate, of_pkrbot),
        PKRBOT_CONVERTED: each(
            lambda hand: pkrbot.evaluate([*map(of_card, hand[0]), *map(of_card, hand[1])]),
            hands,
        ),
    }


def omaha_programs() -> dict[str, Program]:
    """Omaha; showdowns of nine players."""
    phevaluator = package("phevaluator.evaluator_omaha")
    native = package("phevaluator._pheval").evaluate_plo4_cards
    hands = random_hands(4)
    numbers = [[NUMBERS[card] for card in (*board, *own)] for own, board in hands]
    showdowns = random_showdowns(players=9, own=4)
    number = NUMBERS.__getitem__
    return {
        OWN: each(lambda hand: omaha_rank(*hand), hands),
        SHOWDOWN: each(lambda showdown: omaha_ranks(*showdown), showdowns, evaluations=9),
        POKERKIT: each(lambda hand: OmahaHoldemHand.from_game(*hand), of_pokerkit(hands)),
        PHEVALUATOR: each(lambda hand: phevaluator.evaluate_omaha_cards(*hand), numbers),
        CONVERTED: each(
            lambda hand: phevaluator.evaluate_omaha_cards(*map(number, hand[1]), *map(number, hand[0])), hands
        ),
        NATIVE: each(lambda hand: native(*hand), numbers),
    }


# phevaluator's: four for each rank from the twos on, the suits in the order of their letters.
NUMBERS = {card: 4 * ((card.rank - 2) % 13) + "cdhs".index(card.name[1]) for card in PACK}


def each(evaluate: Callable[[Any], object], hands: Sequence[Any], *, evaluations: int = 1) -> Program:
    """Returns a program that evaluates all hands one by one."""

    def program() -> int:
        for hand in hands:
            evaluate(hand)
        return evaluations * len(hands)

    return program


def random_hands(own: int) -> list[tuple[Hand, Hand]]:
    """Returns own and common cards of many hands."""
    generator = random.Random(own)
    samples = [generator.sample(PACK, own + COMMON) for _ in range(HANDS)]
    return [(sample[:own], sample[own:]) for sample in samples]


def random_showdowns(*, players: int, own: int) -> list[tuple[list[Hand], Hand]]:
    """Returns the own cards of all players, and the common ones."""
    generator = random.Random(players)
    samples = [generator.sample(PACK, COMMON + own * players) for _ in range(HANDS // players)]
    return [
        ([sample[place : place + own] for place in range(COMMON, len(sample), own)], sample[:COMMON])
        for sample in samples
    ]


def of_pokerkit(hands: Iterable[tuple[Hand, Hand]]) -> list[tuple[list[PokerkitCard], list[PokerkitCard]]]:
    """Returns some of the hands in pokerkit's cards: it takes long over each."""
    cards = {card: next(PokerkitCard.parse(card.name)) for card in PACK}
    some = list(hands)[:HANDS_OF_POKERKIT]
    return [([cards[card] for card in own], [cards[card] for card in board]) for own, board in some]

"""Hands per second of the own engine and of pokerkit, shuffled deck to last stack: the same cards, the same actions.

The own engine judges every action before it plays it, as a table does, and takes its commission; pokerkit checks each
as it plays it, and takes none. What pokerkit needs of a game, and its cards, are made beforehand.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pokerkit import Automation, BettingStructure, Deck, Mode, OmahaHoldemHand, Opening, StandardHighHand, State, Street
from pokerkit import Card as PokerkitCard

from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK
from services.poker.engine import Table
from services.poker.hand.betting import Legal
from services.poker.hand.state import CALL, CHECK, FOLD, Hand, Kind, Move
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import default_rules
from services.poker.variant import Variant
from tests.bench.poker.turns import rates
from tests.engine.poker.oracle import expected_stacks

HANDS = 400
SMALL_BLIND, BIG_BLIND, STACK = 50, 100, 10_000
# How often a player bets who could check, and folds, and raises, to a bet.
BETS, FOLDS, RAISES = 0.3, 0.6, 0.1

_CARDS = {card: next(PokerkitCard.parse(card.name)) for card in PACK}
_AUTOMATIONS = tuple(each for each in Automation if each is not Automation.HOLE_DEALING)


class PlayedHand(NamedTuple):
    """What a hand is played again from, and how it ends before commission."""

    deck: Sequence[Card]
    moves: Sequence[Move]
    stacks: tuple[int, ...]
    is_shown: bool


class Game(NamedTuple):
    """The same game for both engines."""

    name: str
    table: Table
    positions: Positions
    state: Callable[[], State]


def ratios(seconds: float) -> dict[str, float]:
    """Measures six-handed no-limit Hold'em and nine-handed pot-limit Omaha."""
    return {
        f"{game.name}-hands-to-pokerkit": _ratio(game, seconds)
        for game in (_game(Variant.HOLDEM, players=6), _game(Variant.OMAHA, players=9))
    }


def _game(variant: Variant, *, players: int) -> Game:
    is_holdem = variant is Variant.HOLDEM
    streets = tuple(
        Street(
            card_burning_status=False,
            hole_dealing_statuses=(False,) * variant.hole_cards if number == 0 else (),
            board_dealing_count=common,
            draw_status=False,
            opening=Opening.POSITION,
            min_completion_betting_or_raising_amount=BIG_BLIND,
            max_completion_betting_or_raising_count=None,
        )
        for number, common in enumerate((0, 3, 1, 1))
    )

    def state() -> State:
        return State(
            automations=_AUTOMATIONS,
            deck=Deck.STANDARD,
            hand_types=(StandardHighHand if is_holdem else OmahaHoldemHand,),
            streets=streets,
            betting_structure=BettingStructure.NO_LIMIT if is_holdem else BettingStructure.POT_LIMIT,
            ante_trimming_status=True,
            raw_antes=0,
            raw_blinds_or_straddles=(SMALL_BLIND, BIG_BLIND),
            bring_in=0,
            raw_starting_stacks=STACK,
            player_count=players,
            mode=Mode.CASH_GAME,
        )

    return Game(
        f"{variant.value}-{players}-handed",
        Table(default_rules(variant, BIG_BLIND, seats=players)),
        Positions(tuple(range(1, players + 1)), (STACK,) * players, ()),
        state,
    )


def _ratio(game: Game, seconds: float) -> float:
    hands = _random_hands(game)
    actions = sum(len(hand.moves) for hand in hands) / len(hands)
    showdowns = sum(hand.is_shown for hand in hands) / len(hands)
    print(f"engine, {game.name}: {actions:.1f} actions in a hand, {showdowns:.0%} end with a showdown")
    decks = [[_CARDS[card] for card in hand.deck] for hand in hands]

    def own() -> int:
        for hand in hands:
            _play(game, hand)
        return len(hands)

    def pokerkit() -> int:
        for hand, deck in zip(hands, decks, strict=True):
            _play_in_pokerkit(game, hand, deck)
        return len(hands)

    measured = rates({"feltro": own, "pokerkit": pokerkit}, seconds, "hands")
    return measured["feltro"] / measured["pokerkit"]


def _random_hands(game: Game) -> list[PlayedHand]:
    """Plays hands with random decisions; those that both engines end alike (section 7.3 of the rulebook)."""
    table, generator = game.table, random.Random(game.name)
    hands: list[PlayedHand] = []
    while len(hands) < HANDS:
        deck = generator.sample(PACK, len(PACK))
        hand = table.deal(game.positions, deck)
        while may := table.legal(hand):
            hand = table.after(hand, _decision(generator, may))
        played = PlayedHand(deck, hand.moves, expected_stacks(hand), bool(table.view(hand).shown))
        if tuple(_play_in_pokerkit(game, played, [_CARDS[card] for card in deck]).stacks) == played.stacks:
            hands.append(played)
    return hands


def _decision(generator: random.Random, may: Legal) -> Move:
    chance = generator.random()
    raises = chance < BETS if not may.to_call_cents else FOLDS < chance < FOLDS + RAISES
    if may.can_raise and raises:
        # Small ones most of the time.
        part = generator.random() ** 3
        return Move(Kind.RAISE, may.min_to_cents + int(part * (may.max_to_cents - may.min_to_cents)))
    if not may.to_call_cents:
        return CHECK
    return FOLD if chance < FOLDS else CALL


def _play(game: Game, played: PlayedHand) -> Hand:
    table = game.table
    hand = table.deal(game.positions, played.deck)
    seats = game.positions.seats
    for move in played.moves:
        table.judge(hand, seats[hand.actor], move)
        hand = table.after(hand, move)
    return hand


def _play_in_pokerkit(game: Game, played: PlayedHand, deck: Sequence[PokerkitCard]) -> State:
    state = game.state()
    # The order that it has shuffled itself is replaced.
    state.deck_cards = deque(deck)
    while state.can_deal_hole():
        state.deal_hole()
    for move in played.moves:
        if move.kind is Kind.FOLD:
            state.fold()
        elif move.kind is Kind.RAISE:
            state.complete_bet_or_raise_to(move.to_cents)
        else:
            state.check_or_call()
    return state

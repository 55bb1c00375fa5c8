"""What a hand of poker pays, written from 806/2015 and 811/2015 alone: none of the engine's code is used.

A hand is read as the journal has it: what the seats brought, the entropy, the decisions. Cards are names, such as `Th`.
Everything is done in the plainest way, all combinations of five cards are tried, and speed does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from feltro.poker.v1 import poker_pb2
from services.kit.cards.shoe import PACK
from services.kit.randomness.tape import Tape

BOARD_AFTER = (0, 3, 4, 5)
ACTIONS = {1: "fold", 2: "check", 3: "call", 4: "raise"}


@dataclass(frozen=True)
class Conditions:
    """What the specific rules of a table say about a hand."""

    personal_cards: int
    small_blind: int
    big_blind: int
    # "none", "pot", "half" or "fixed" (24).
    limit: str = "none"
    raises: int = 3
    units: tuple[int, ...] = (1, 1, 2, 2)
    # Of pots, in hundredths of a percent (17.a); none where it is taken from caves (17.b).
    commission: int = 500
    cap: int | None = None
    cap_per_hand: bool = False
    # "any_preflop_end", "walk_only" or "literal".
    no_flop: str = "any_preflop_end"
    button_has_small_blind: bool = False


class Choice(NamedTuple):
    """Who decides, what a call costs, and the least and the most that a raise may make of the bet (0: no raise)."""

    seat: int
    to_call: int
    least: int
    most: int


class Paid(NamedTuple):
    """How a hand ended: what each seat has, the commission, and who shows cards."""

    caves: dict[int, int]
    commission: int
    showing: frozenset[int]


@dataclass
class Player:
    """A player in a hand."""

    seat: int
    chips: int
    cards: tuple[str, ...] = ()
    # In this betting round, and in the whole hand.
    bet: int = 0
    put_in: int = 0
    folded: bool = False
    spoken: bool = False

    def put(self, cents: int) -> None:
        """Bets so much, or everything."""
        cents = min(cents, self.chips)
        self.chips -= cents
        self.bet += cents
        self.put_in += cents


@dataclass
class Hand:
    """A hand on its way; the players sit from the left of the button to the button."""

    under: Conditions
    players: list[Player]
    board: tuple[str, ...]
    level: int = 0
    # The last level that a full raise has reached, and its size.
    full_level: int = 0
    full_raise: int = 0
    raises: int = 0
    # In any round, and in the round that goes on.
    called_or_raised: bool = False
    raised_now: bool = False
    posted: bool = False

    @property
    def live(self) -> list[Player]:
        return [player for player in self.players if not player.folded]

    @property
    def pot(self) -> int:
        return sum(player.put_in for player in self.players)


def dealt(under: Conditions, brought: Iterable[bytes], entropy: bytes) -> Hand:
    """Draws the button if it is not known, shuffles, and gives one card to each and then the next (46, 49, 50)."""
    seats = {message.seat: message for message in map(poker_pb2.SeatInHand.FromString, brought)}
    tape, numbers = Tape(entropy), sorted(seats)
    button = next(iter(seats.values())).button or numbers[tape.below(len(numbers))]
    order = [seat for seat in numbers if seat > button] + [seat for seat in numbers if seat <= button]
    deck = [card.name for card in tape.shuffled(PACK)]
    players = [Player(seat, seats[seat].cave_cents) for seat in order]
    hand = Hand(under, players, ())
    # The first card of each lap goes to the small blind.
    starts = 1 if len(players) == 2 and under.button_has_small_blind else 0
    for _ in range(under.personal_cards):
        for at in range(len(players)):
            player = players[(starts + at) % len(players)]
            player.cards = (*player.cards, deck.pop(0))
    hand.board = tuple(deck[:5])
    small, big = players[starts], players[1 - starts]
    small.put(under.small_blind)
    big.put(under.big_blind)
    for player in players:
        if seats[player.seat].posts:
            player.put(under.big_blind)
        hand.posted |= seats[player.seat].posts
    return hand


def play(hand: Hand) -> Generator[Choice, tuple[str, int], Paid]:
    """Asks for one decision after the other; returns what was paid."""
    under, players = hand.under, hand.players
    for street in range(4):
        if street == 0:
            first = 1 if len(players) == 2 and under.button_has_small_blind else 2 % len(players)
            hand.level = hand.full_level = under.big_blind
        else:
            first = 0
            hand.level = hand.full_level = 0
            for player in players:
                player.bet = 0
        hand.full_raise = under.big_blind * (under.units[street] if under.limit == "fixed" else 1)
        hand.raises, hand.raised_now = 0, False
        for player in players:
            player.spoken = False
        yield from _round(hand, first)
        _give_back(hand)
        if len(hand.live) == 1:
            return _won_without_comparing(hand, street)
        if street == 3 or sum(player.chips > 0 for player in hand.live) < 2:
            return _compared(hand)
    raise AssertionError("the river is the last round")


def _round(hand: Hand, first: int) -> Generator[Choice, tuple[str, int], None]:
    """One betting round (51 to 58): clockwise, until everybody has spoken and has matched or is all in."""
    count, at = len(hand.players), first
    while len(hand.live) > 1:
        waiting = [
            (at + step) % count for step in range(count) if _has_to_speak(hand, hand.players[(at + step) % count])
        ]
        if not waiting:
            return
        player = hand.players[waiting[0]]
        what, to = yield _choice(hand, player)
        _do(hand, player, what, to)
        at = (waiting[0] + 1) % count


def _has_to_speak(hand: Hand, player: Player) -> bool:
    if player.folded or not player.chips or (player.spoken and player.bet >= hand.level):
        return False
    # A player who is alone with chips, and owes nobody anything, has nothing to decide.
    rivals = [other for other in hand.live if other is not player]
    return any(other.chips or other.bet > player.bet for other in rivals)


def _choice(hand: Hand, player: Player) -> Choice:
    under = hand.under
    most_possible = player.bet + player.chips
    to_call = min(hand.level, most_possible) - player.bet
    none = Choice(player.seat, to_call, 0, 0)
    if most_possible <= hand.level:
        return none
    # who has spoken raises again only over a full raise.
    if player.spoken and hand.level - player.bet < hand.full_raise:
        return none
    # Nobody could answer.
    if not any(rival.chips and rival.bet + rival.chips > hand.level for rival in hand.live if rival is not player):
        return none
    if under.limit == "fixed":
        if hand.raises >= under.raises:
            return none
        to = min(hand.full_level + hand.full_raise, most_possible)
        return Choice(player.seat, to_call, to, to)
    # A-03; A-08: the pot after the call; A-07: half of it.
    least = hand.level + hand.full_raise
    after_call = hand.pot + to_call
    most = {"none": most_possible, "pot": hand.level + after_call, "half": hand.level + after_call // 2}[under.limit]
    return Choice(player.seat, to_call, min(least, most_possible), min(max(least, most), most_possible))


def _do(hand: Hand, player: Player, what: str, to: int) -> None:
    player.spoken = True
    if what == "fold":
        player.folded = True
    elif what == "call":
        player.put(hand.level - player.bet)
        hand.called_or_raised = True
    elif what == "raise":
        player.put(to - player.bet)
        hand.called_or_raised = hand.raised_now = True
        size = player.bet - hand.level
        if hand.under.limit == "fixed":
            if player.bet >= hand.full_level + hand.full_raise:
                # The bet that opens a round is not among the raises.
                hand.raises += hand.level > 0
                hand.full_level = player.bet
        elif size >= hand.full_raise:
            hand.full_raise = size
        hand.level = player.bet


def _give_back(hand: Hand) -> None:
    """Gives back what nobody has matched (40)."""
    bets = sorted((player.bet for player in hand.players), reverse=True)
    for player in hand.players:
        if player.bet > bets[1]:
            excess = player.bet - bets[1]
            player.bet -= excess
            player.put_in -= excess
            player.chips += excess


def _won_without_comparing(hand: Hand, street: int) -> Paid:
    (winner,) = hand.live
    pot = hand.pot
    exempt = {
        0: {
            "any_preflop_end": True,
            "walk_only": not hand.called_or_raised and not hand.posted,
            "literal": False,
        }[hand.under.no_flop],
        1: not hand.raised_now,
    }.get(street, False)
    commission = 0 if exempt else _commission(hand.under, pot, 0)
    winner.chips += pot - commission
    return Paid({player.seat: player.chips for player in hand.players}, commission, frozenset())


def _compared(hand: Hand) -> Paid:
    """Compares the combinations pot by pot (60 to 63)."""
    all_in = any(player.chips == 0 for player in hand.live)
    strengths = {player.seat: strength(hand.under, player.cards, hand.board) for player in hand.live}
    left = {player.seat: player.put_in for player in hand.players}
    charged = 0
    for number, cents, eligible in _pots(hand, left):
        best = max(strengths[seat] for seat in eligible)
        winners = [player for player in hand.players if player.seat in eligible and strengths[player.seat] == best]
        if not all_in:
            assert number == 0, "with nobody all in there is one pot"
            charged = _commission(hand.under, cents, 0)
            cents -= charged  # noqa: PLW2901 - the commission comes first (17.a)
        share, odd = cents // len(winners), cents % len(winners)
        for place, player in enumerate(winners):
            gross = share + (1 if place < odd else 0)
            taken = _commission(hand.under, gross, charged) if all_in else 0
            charged += taken
            player.chips += gross - taken
    return Paid({player.seat: player.chips for player in hand.players}, charged, frozenset(strengths))


def _pots(hand: Hand, left: dict[int, int]) -> Generator[tuple[int, int, set[int]], None, None]:
    """Yields the pots, the main one first: takes from everybody what the shortest of those in the hand has put in."""
    number = 0
    while eligible := {player.seat for player in hand.live if left[player.seat]}:
        layer = min(left[seat] for seat in eligible)
        is_last = all(left[seat] == layer for seat in eligible)
        # What folded players have put in above all others lies in the last pot.
        cents = sum(left.values()) if is_last else sum(min(cents, layer) for cents in left.values())
        for seat, cents_left in left.items():
            left[seat] = 0 if is_last else max(0, cents_left - layer)
        yield number, cents, eligible
        number += 1


def _commission(under: Conditions, cents: int, charged: int) -> int:
    """Rounded down; a cap, where there is one, never takes it below 1 % (A-11)."""
    taken = cents * under.commission // 10_000
    if under.cap is None:
        return taken
    cap = under.cap - charged if under.cap_per_hand else under.cap
    return min(taken, max(cap, (cents + 99) // 100))


def strength(under: Conditions, cards: Sequence[str], board: Sequence[str]) -> tuple[int, ...]:
    """The best combination: any five of the seven cards, or two of the four and three of the five (26)."""
    if under.personal_cards == 2:
        return max(map(_five, combinations((*cards, *board), 5)))
    return max(_five((*own, *common)) for own in combinations(cards, 2) for common in combinations(board, 3))


def _five(cards: Sequence[str]) -> tuple[int, ...]:
    """A combination by its rank from a) to j) (29), and what decides among equal ones (31, 32)."""
    ranks = sorted(("23456789TJQKA".index(card[0]) + 2 for card in cards), reverse=True)
    same = sorted(Counter(ranks).items(), key=lambda each: (each[1], each[0]), reverse=True)
    shape, order = [count for _, count in same], [rank for rank, _ in same]
    is_flush = len({card[1] for card in cards}) == 1
    # The ace is high, or below the two.
    top = 5 if ranks == [14, 5, 4, 3, 2] else ranks[0]
    is_straight = len(set(ranks)) == 5 and (top == 5 or ranks[0] - ranks[4] == 4)
    if is_straight and is_flush:
        return (8, top)
    if shape[0] == 4:
        return (7, *order)
    if shape == [3, 2]:
        return (6, *order)
    if is_flush:
        return (5, *ranks)
    if is_straight:
        return (4, top)
    return (3 if shape[0] == 3 else {3: 2, 4: 1, 5: 0}[len(shape)], *order)


def move_of(message: bytes) -> tuple[str, int]:
    """Reads a decision of the journal."""
    move = poker_pb2.Move.FromString(message)
    return ACTIONS[move.action], move.to_cents


def paid(under: Conditions, brought: Iterable[bytes], entropy: bytes, moves: Iterable[tuple[int, bytes]]) -> Paid:
    """Plays a hand of the journal again, from its first card to its last cent; `moves` are seats and decisions."""
    playing = play(dealt(under, brought, entropy))
    try:
        choice = next(playing)
        for seat, message in moves:
            what, to = move_of(message)
            verify(choice, seat, what, to)
            choice = playing.send((what, to))
    except StopIteration as end:
        result: Paid = end.value
        return result
    raise AssertionError(f"{choice} is still to be decided")


def verify(choice: Choice, seat: int, what: str, to: int) -> None:
    """Asserts that a decision was possible (34 to 39)."""
    assert seat == choice.seat, f"seat {seat} has decided, and it was the turn of {choice}"
    match what:
        case "check":
            assert choice.to_call == 0, choice
        case "call":
            assert choice.to_call > 0, choice
        case "raise":
            assert 0 < choice.least <= to <= choice.most, (to, choice)

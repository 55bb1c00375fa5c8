"""How a hand goes on: posting and dealing (48-50), what each may do in turn (34-39), and how rounds end (40, 51-58)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub
from typing import NamedTuple

from services.kit.cards.card import Card
from services.poker.hand.settlement import settle
from services.poker.hand.state import (
    BOARD_CARDS,
    CHECK,
    FOLD,
    NOBODY,
    Deal,
    Hand,
    Kind,
    Move,
    Street,
    next_position,
    positions,
)
from services.poker.specific_rules import HeadsUpBlinds, Limit, SpecificRules

# The members by themselves: reading one from its class costs more than what is decided with it.
_FOLD, _CHECK, _CALL = Kind.FOLD, Kind.CHECK, Kind.CALL
_POT_LIMIT, _HALF_POT, _FIXED_RAISES = Limit.POT_LIMIT, Limit.HALF_POT, Limit.FIXED_RAISES
_PREFLOP, _RIVER = int(Street.PREFLOP), int(Street.RIVER)


class Legal(NamedTuple):
    """What the player in turn may do besides folding: check or call, and raise within bounds."""

    position: int
    # Nothing means that a check is free; never more than the player has.
    to_call_cents: int
    # What the player's bet may become; both 0 if no raise is possible.
    min_to_cents: int
    max_to_cents: int

    @property
    def can_raise(self) -> bool:
        return self.max_to_cents > 0


# -- posting and dealing ----------------------------------------------------------------------------------------------


def deal(
    rules: SpecificRules,
    seats: Sequence[int],
    stacks: Sequence[int],
    deck: Sequence[Card],
    *,
    posters: Sequence[int] = (),
) -> Hand:
    """Posts the blinds and deals from a deck whose whole order is given (2.j); seats and stacks are by position."""
    players = len(seats)
    heads_up_button = players == 2 and rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND
    small_blind_at, big_blind_at = (1, 0) if heads_up_button else (0, 1)
    # One card to each and then the next, from the small blind on (49, 50); no card is burnt.
    count = players * rules.variant.hole_cards
    dealt = tuple(deck[: count + BOARD_CARDS[_RIVER]])
    holes = [dealt[turn:count:players] for turn in range(players)]
    if small_blind_at:
        holes = [*holes[-small_blind_at:], *holes[:-small_blind_at]]
    stacks = tuple(stacks)
    bets = [0] * players
    big_blind_cents = rules.big_blind_cents
    bets[small_blind_at] = min(rules.small_blind_cents, stacks[small_blind_at])
    for position in (big_blind_at, *posters):
        bets[position] = min(big_blind_cents, stacks[position])
    can_act = 0
    for position, stack in enumerate(stacks):
        if stack > bets[position]:
            can_act |= 1 << position
    begun = Deal(rules, tuple(seats), stacks, tuple(holes), dealt[count:], small_blind_at, big_blind_at, tuple(posters))
    unit_cents = big_blind_cents
    if rules.limit is _FIXED_RAISES:
        unit_cents *= rules.bet_units[_PREFLOP]
    everybody = (1 << players) - 1
    hand = Hand(
        begun, _PREFLOP, stacks, tuple(bets), sum(bets), big_blind_cents, big_blind_cents, unit_cents, 0, everybody,
        can_act, can_act, 0, big_blind_at, NOBODY, (), None,
    )  # fmt: skip
    if can_act and not _is_decided(can_act, can_act, everybody, bets):
        return hand._replace(actor=next_position(can_act, big_blind_at))
    return _end_round(hand)


# -- what is legal ----------------------------------------------------------------------------------------------------


def legal(hand: Hand) -> Legal | None:
    """Returns what the player in turn may do; None when the hand is over."""
    actor = hand.actor
    if actor < 0:
        return None
    bet, most, level = hand.bets[actor], hand.held[actor], hand.level_cents
    if most <= level:
        # Too little to raise with: the player may stay in for everything (39).
        return Legal(actor, most - bet, 0, 0)
    to_call = level - bet
    if not _may_raise(hand, to_call):
        return Legal(actor, to_call, 0, 0)
    return Legal(actor, to_call, *_raise_bounds(hand, to_call, most))


def _may_raise(hand: Hand, to_call: int) -> bool:
    """Whether the player in turn, who has enough for it, may raise."""
    others = hand.can_act & ~(1 << hand.actor)
    # Who has acted may raise again only if what they face adds up to a full raise.
    if hand.acted >> hand.actor & 1 and to_call < hand.increment_cents:
        return False
    rules = hand.deal.rules
    if rules.limit is _FIXED_RAISES and hand.raises >= rules.max_raises_per_turn:
        return False
    level = hand.level_cents
    for position, held in enumerate(hand.held):  # noqa: SIM110 - it is asked before every action, and a generator is slow
        if held > level and others >> position & 1:
            return True
    # Nobody could answer a raise: all of it would come back (40).
    return False


def _raise_bounds(hand: Hand, to_call: int, most: int) -> tuple[int, int]:
    """Returns what the bet of the player in turn may become by a raise; all in for less is possible (A-04)."""
    limit, level = hand.deal.rules.limit, hand.level_cents
    if limit is _FIXED_RAISES:
        # An incomplete raise is completed to the next full level.
        to = min(hand.full_level_cents + hand.increment_cents, most)
        return to, to
    # By at least the last full bet or raise, which is never less than the minimum bet.
    min_to = level + hand.increment_cents
    if limit is _POT_LIMIT:
        # The player calls, and raises by the pot as it stands then.
        max_to = level + hand.pot_cents + to_call
    elif limit is _HALF_POT:
        max_to = level + (hand.pot_cents + to_call) // 2
    else:
        max_to = most
    # Where the maximum would be below the minimum raise, the minimum prevails.
    return min(min_to, most), min(max(min_to, max_to), most)


def default(hand: Hand) -> Move:
    """Returns what is done for a player whose time is over (45): check where that is free, otherwise fold."""
    actor = hand.actor
    return CHECK if hand.bets[actor] >= hand.level_cents else FOLD


# -- what an action does ----------------------------------------------------------------------------------------------


def after(hand: Hand, move: Move) -> Hand:
    """Returns the hand after a legal action of the player in turn, up to the next decision or to its end."""
    (
        begun, street, held, bets, pot, level, full_level, increment, raises, in_hand, can_act, pending, acted, actor,
        raiser, moves, _,
    ) = hand  # fmt: skip
    kind = move.kind
    bit = 1 << actor
    acted |= bit
    pending &= ~bit
    if kind is _FOLD:
        in_hand &= ~bit
        can_act &= ~bit
    elif kind is not _CHECK:
        bet, most = bets[actor], held[actor]
        to = min(level, most) if kind is _CALL else move.to_cents
        pot += to - bet
        bets = (*bets[:actor], to, *bets[actor + 1 :])
        if to == most:
            can_act &= ~bit
        if to > level:
            rules = begun.rules
            if rules.limit is _FIXED_RAISES:
                if to >= full_level + increment:
                    full_level = to
                    # The opening bet is no raise on top of it.
                    raises += level > 0
            elif to - level >= increment:
                # The size of the last full raise stays as it is after an incomplete one.
                increment = to - level
            level = to
            raiser = actor
            pending = can_act & ~bit
    moves = (*moves, move)
    if in_hand & (in_hand - 1) and pending and not _is_decided(pending, can_act, in_hand, bets):
        higher = pending >> (actor + 1)
        actor = actor + (higher & -higher).bit_length() if higher else (pending & -pending).bit_length() - 1
        return Hand(
            begun, street, held, bets, pot, level, full_level, increment, raises, in_hand, can_act, pending, acted,
            actor, raiser, moves, None,
        )  # fmt: skip
    return _end_round(
        Hand(
            begun, street, held, bets, pot, level, full_level, increment, raises, in_hand, can_act, 0, acted, actor,
            raiser, moves, None,
        )
    )  # fmt: skip


def _is_decided(pending: int, can_act: int, in_hand: int, bets: Sequence[int]) -> bool:
    """Whether the one player that the round waits for has nothing to decide: all others are all in, and matched."""
    if can_act & (can_act - 1) or pending != can_act:
        return False
    last = can_act.bit_length() - 1
    return all(bets[position] <= bets[last] for position in positions(in_hand))


def _end_round(hand: Hand) -> Hand:
    """Gives back what nobody matched (40), and goes on to the next round, to the showdown, or to the end."""
    begun, street, held, bets = hand.deal, hand.street, hand.held, hand.bets
    pot, in_hand, can_act = hand.pot_cents, hand.in_hand, hand.can_act
    *_, second, top = sorted(bets)
    if top > second:
        at = bets.index(top)
        bets = (*bets[:at], second, *bets[at + 1 :])
        pot -= top - second
    held = tuple(map(sub, held, bets))
    no_bets = (0,) * len(held)
    is_contested = in_hand & (in_hand - 1)
    if is_contested and street < _RIVER and can_act & (can_act - 1):
        rules = begun.rules
        street += 1
        increment = rules.big_blind_cents
        if rules.limit is _FIXED_RAISES:
            increment *= rules.bet_units[street]
        # The first to act is the first to the left of the button who still can (54, 56, 58).
        actor = (can_act & -can_act).bit_length() - 1
        return Hand(
            begun, street, held, no_bets, pot, 0, 0, increment, 0, in_hand, can_act, can_act, 0, actor, NOBODY,
            hand.moves, None,
        )  # fmt: skip
    result = settle(begun, street, held, pot, in_hand, hand.raiser, hand.moves)
    if is_contested:
        # No decision is left: the common cards that are missing are dealt at once.
        street = _RIVER
    return Hand(
        begun, street, held, no_bets, pot, 0, 0, 0, 0, in_hand, can_act, 0, 0, NOBODY, NOBODY, hand.moves, result
    )  # fmt: skip

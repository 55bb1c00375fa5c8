"""The rules of blackjack, in the order of a round: bets (9-11), dealing (14), decisions (15-24), bank (17), pay (25).

Pure: no I/O, no clock, no randomness of its own: a round is dealt from a shoe whose whole order is given. Comments cite
the rules of 805/2015. The hole card is in the state from the beginning and is shown only where the rules show it (B4).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

from services.blackjack import refusals
from services.blackjack.scores import BLACKJACK, bank_draws, is_blackjack, is_soft, is_special, low_total, score, value
from services.kit.cards.card import Card, Rank
from services.kit.table.refusals import above_maximum, below_minimum, invalid, not_on_felt

# The bets of one player: cents by place. Never changed once made.
Bets = Mapping[int, int]

# The ceiling of the maximum, as a multiple of the minimum (11).
MAXIMUM_TIMES_MINIMUM = 100
_LIMITS_RULE = "805/2015:9"
# A hand may be doubled on these scores (15.b).
DOUBLE_SCORES = frozenset({9, 10, 11})
# Up to this score a hand must draw to stay in the game (15.a), and above it may stand (15.c).
MUST_DRAW_UP_TO = 11
# What all cards of a pack count with aces as 1, and more than any hand can reach.
PACK_VALUE, HAND_VALUE_LIMIT = 340, 31
# A special prize, as a multiple of the money on the hand (25.i).
SPECIAL_PRIZE = 3


@dataclass(frozen=True, slots=True)
class SpecificRules:
    """The operator's choices for a table (*regras específicas*), within the regulation."""

    # Four, six or eight (4.b).
    packs: int
    # One to seven (4.a).
    places: int
    # On how many of them one player may bet (7).
    places_per_player: int
    minimum_cents: int
    maximum_cents: int
    # Even, so that three halves, half a bet back and half for insurance are whole cents (B19).
    step_cents: int
    # 16.a
    double_any_score: bool = False
    # 16.b
    split_pairs_only: bool = False
    # How often the hands of one place may be split in a round (16.c); None for without limit.
    splits_limit: int | None = None
    # 16.d
    insurance: bool = True
    # 16.e
    special_prizes: bool = True
    # After how many cards of the shoe the cut card comes; None for a shuffle before each round (B23).
    cut_card: int | None = None


# -- what players decide (15, 20.b, 21) -------------------------------------------------------------------------------


class Decision(StrEnum):
    """What a player can decide on a hand, or on an offer of insurance or even money."""

    DRAW = "draw"  # pedir carta (15.a, 15.d)
    STAND = "stand"  # ficar (15.c)
    DOUBLE = "double"  # dobrar (15.b)
    SPLIT = "split"  # desdobrar (21)
    GIVE_UP = "give-up"  # desistir (15.e)
    INSURE = "insure"  # seguro (15.f)
    EVEN_MONEY = "even-money"  # (20.b)
    DECLINE = "decline"

    @property
    def word(self) -> str:
        """How messages and the facts of refusals write it."""
        return f"DECISION_{self.name}"


@dataclass(frozen=True, slots=True)
class Option:
    """A decision that is possible now, and what it costs."""

    decision: Decision
    # The amount to stake; of an insurance the most, half of the bet.
    cost_cents: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A decision for a place."""

    place: int
    decision: Decision
    # The stake of an insurance; what others cost follows from the hand.
    insurance_cents: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """The money that a decision has to stake before it takes effect."""

    stake: str
    cents: int


@dataclass(frozen=True, slots=True)
class Turn:
    """Who may decide now: the places with an open offer, all at once, or the place of one hand."""

    places: tuple[int, ...]
    # The hand to be played; None for offers of insurance and even money.
    hand: int | None


# -- hands, and the state of a round ----------------------------------------------------------------------------------


class HandState(Enum):
    """What has become of a hand."""

    IN_PLAY = "in play"
    STOOD = "stood"
    BUST = "bust"
    GIVEN_UP = "given up"
    # A blackjack that was paid before the bank played (20.a, 20.b).
    PAID = "paid"


@dataclass(frozen=True, slots=True)
class Hand:
    """The cards of one bet: of a place, or of one of the bets into which it was split (2.e)."""

    place: int
    # 1 for the hand that was dealt, and the next number for each that a split opens.
    number: int
    cards: tuple[Card, ...]
    # The stakes on it by name, in cents: the bet, and what a double has added.
    stakes: Mapping[str, int]
    state: HandState = HandState.IN_PLAY
    is_split: bool = False
    # Whether it is one half of a pair of aces, which receives one card only (21).
    is_split_ace: bool = False
    # Aces of the first two cards that count 1 until the round ends (8.a.ii).
    locked_aces: int = 0

    @property
    def staked_cents(self) -> int:
        return sum(self.stakes.values())

    @property
    def score(self) -> int:
        return score(self.cards, locked_aces=self.locked_aces)

    @property
    def is_soft(self) -> bool:
        """Whether an ace counts 11."""
        return is_soft(self.cards, locked_aces=self.locked_aces)

    @property
    def is_doubled(self) -> bool:
        return len(self.stakes) > 1

    @property
    def is_blackjack(self) -> bool:
        """Whether it is a blackjack, which a hand is never after a split (19)."""
        return not self.is_split and is_blackjack(self.cards)


class Offer(Enum):
    """What a place is offered before any other decision when the bank shows an ace (B28), and its answer."""

    NONE = "none"
    OPEN = "open"
    DECLINED = "declined"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Place:
    """A place that takes part in the round."""

    number: int
    bet_cents: int
    # Insurance, or even money for a blackjack.
    offer: Offer = Offer.NONE
    insurance_cents: int = 0
    hands: int = 1


@dataclass(frozen=True, slots=True)
class Round:
    """A round after its cards were dealt. Never changed once made."""

    shoe: tuple[Card, ...]
    # How many cards have left the shoe.
    dealt: int
    places: tuple[Place, ...]
    # In the order of play: by place, and a split hand behind the one it was split from.
    hands: tuple[Hand, ...]
    # The bank's cards: the up card, the hole card (*virada para baixo*), and what it has drawn.
    bank: tuple[Card, ...]
    hole_shown: bool = False
    over: bool = False

    @property
    def up_card(self) -> Card:
        return self.bank[0]

    @property
    def shown_bank(self) -> tuple[Card, ...]:
        """The cards of the bank that everybody may see."""
        return self.bank if self.hole_shown else self.bank[:1]

    @property
    def stakes(self) -> Mapping[str, int]:
        """All money that players have staked, in cents by the names of the stakes."""
        stakes = {name: cents for hand in self.hands for name, cents in hand.stakes.items()}
        insured = (place for place in self.places if place.insurance_cents)
        return stakes | {insurance_name(place.number): place.insurance_cents for place in insured}

    def place(self, number: int) -> Place | None:
        return next((place for place in self.places if place.number == number), None)

    def hand(self, place: int, number: int) -> Hand:
        return next(hand for hand in self.hands if (hand.place, hand.number) == (place, number))


# How the names of stakes end that a decision makes.
INSURANCE, DOUBLE = ".insurance", ".double"


def bet_name(place: int) -> str:
    """Returns the name of the stake that was bet on a place."""
    return f"{place}"


def insurance_name(place: int) -> str:
    return f"{place}{INSURANCE}"


def split_name(place: int, hand: int) -> str:
    """Returns the name of the stake on a hand that a split opens."""
    return f"{place}.{hand}"


def double_name(hand: Hand) -> str:
    return f"{hand.place}.{hand.number}{DOUBLE}"


class Table:
    """The game under one table's rules."""

    def __init__(self, rules: SpecificRules) -> None:
        self.specific_rules = rules
        self.minimum_cents = rules.minimum_cents
        # No more than the shoe has cards for, those of the bank included (G11): no round comes near it.
        self._hands_limit = rules.packs * PACK_VALUE // HAND_VALUE_LIMIT - 1

    # -- bets (7, 9-11) -----------------------------------------------------------------------------------------------

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """Returns one player's bets with others added, all of them or none; the limits are for each place (9, B20)."""
        felt = dict(on_felt) if on_felt else {}
        for place, cents in added.items():
            if not 1 <= place <= self.specific_rules.places:
                raise refusals.place_unknown(f"{place}", self.specific_rules.places)
            self._verify_bet(place, cents)
            felt[place] = total = felt.get(place, 0) + cents
            if total > self.specific_rules.maximum_cents:
                raise above_maximum(place, total, self.specific_rules.maximum_cents, _LIMITS_RULE)
        if len(felt) > self.specific_rules.places_per_player:
            raise refusals.too_many_places(len(felt), self.specific_rules.places_per_player)
        return felt

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        """Returns the bets that stay; what stays on a place is a bet by itself."""
        felt = dict(on_felt)
        for place, cents in taken.items():
            if cents <= 0:
                raise invalid("bets", f"have no amount above 0 on place {place}")
            left = felt.get(place, 0) - cents
            if left < 0:
                raise not_on_felt(place, cents)
            if left == 0:
                del felt[place]
                continue
            self._verify_bet(place, left)
            felt[place] = left
        return felt or None

    def _verify_bet(self, place: int, cents: int) -> None:
        if cents < self.minimum_cents:
            raise below_minimum(place, cents, self.minimum_cents, _LIMITS_RULE)
        if cents % self.specific_rules.step_cents:
            raise refusals.off_step(place, cents, self.specific_rules.step_cents)

    # -- dealing (14, 20.a) -------------------------------------------------------------------------------------------

    def deal(self, bets: Bets, shoe: Sequence[Card]) -> Round:
        """Deals two cards to every place with a bet, in order, and to the bank (14)."""
        numbers = sorted(bets)
        # One card each and one to the bank, face up (14.a); then a second, the bank's face down (14.b).
        count = len(numbers) + 1
        first, second = shoe[:count], shoe[count : 2 * count]
        hands = tuple(
            Hand(place, 1, (first[at], second[at]), {bet_name(place): bets[place]}) for at, place in enumerate(numbers)
        )
        bank = (first[-1], second[-1])
        places = tuple(
            Place(place, bets[place], self._offer(hand, bank[0])) for place, hand in zip(numbers, hands, strict=True)
        )
        return self._go_on(
            Round(tuple(shoe), 2 * count, places, tuple(_at_first(hand, bank[0]) for hand in hands), bank)
        )

    def _offer(self, hand: Hand, up_card: Card) -> Offer:
        """Returns whether a place is offered even money (20.b) or insurance (15.f): both only against an ace."""
        if up_card.rank is not Rank.ACE:
            return Offer.NONE
        # Even money stays where insurance is switched off, for 16.d names 15.f alone (B8).
        if hand.is_blackjack:
            return Offer.OPEN
        # A bet may be too small for any insurance in the table's steps: then there is nothing to decide.
        insurable = self.specific_rules.insurance and self._insurance_limit_cents(hand.staked_cents) > 0
        return Offer.OPEN if insurable else Offer.NONE

    # -- decisions (15, 20.b, 21-24) ----------------------------------------------------------------------------------

    def turn(self, round_: Round) -> Turn | None:
        """Returns who may decide now; None when the round is decided."""
        open_offers = tuple(place.number for place in round_.places if place.offer is Offer.OPEN)
        if open_offers:
            return Turn(open_offers, None)
        hand = _hand_to_play(round_)
        return None if hand is None else Turn((hand.place,), hand.number)

    def options(self, round_: Round, place: int) -> tuple[Option, ...]:
        """Returns every decision that a place may take now (24), with what it costs; empty if it is not its turn."""
        turn = self.turn(round_)
        if turn is None or place not in turn.places:
            return ()
        if turn.hand is None:
            return self._offer_options(round_, place)
        return self._hand_options(round_, round_.hand(place, turn.hand))

    def _offer_options(self, round_: Round, place: int) -> tuple[Option, ...]:
        if round_.hand(place, 1).is_blackjack:
            return (Option(Decision.EVEN_MONEY), Option(Decision.DECLINE))
        limit = self._insurance_limit_cents(round_.hand(place, 1).staked_cents)
        return (Option(Decision.INSURE, limit), Option(Decision.DECLINE))

    def _hand_options(self, round_: Round, hand: Hand) -> tuple[Option, ...]:
        bet_cents = hand.staked_cents
        options: list[Option] = []
        if hand.is_split_ace:
            # It has its one card; where that is another ace, it may be split again (21, 22, B11).
            return (Option(Decision.STAND), Option(Decision.SPLIT, bet_cents))
        options.append(Option(Decision.DRAW))
        if hand.score > MUST_DRAW_UP_TO:
            options.append(Option(Decision.STAND))
        if self._may_double(hand):
            options.append(Option(Decision.DOUBLE, bet_cents))
        if self._may_split(round_, hand):
            options.append(Option(Decision.SPLIT, bet_cents))
        if self._may_give_up(round_, hand):
            options.append(Option(Decision.GIVE_UP))
        return tuple(options)

    def _may_double(self, hand: Hand) -> bool:
        """Whether a hand of two cards has 9, 10 or 11 (15.b, 23, B13), an ace as 1 where it must (8.a.ii, B1)."""
        if len(hand.cards) != 2:
            return False
        if self.specific_rules.double_any_score:
            return True
        return hand.score in DOUBLE_SCORES or low_total(hand.cards) in DOUBLE_SCORES

    def _may_split(self, round_: Round, hand: Hand) -> bool:
        """Whether two cards count the same (21, B10), or are of one rank (16.b), and splits are left (16.c, 22)."""
        if len(hand.cards) != 2 or not self._splits_left(round_, hand.place):
            return False
        first, second = hand.cards
        if self.specific_rules.split_pairs_only:
            return first.rank is second.rank
        return value(first) == value(second)

    def _splits_left(self, round_: Round, place: int) -> bool:
        if len(round_.hands) >= self._hands_limit:
            return False
        limit = self.specific_rules.splits_limit
        found = round_.place(place)
        return limit is None or (found is not None and found.hands - 1 < limit)

    @staticmethod
    def _may_give_up(round_: Round, hand: Hand) -> bool:
        """Whether it is the first decision on the dealt hand, and the bank shows no ace (15.e, B5, B6)."""
        return len(hand.cards) == 2 and not hand.is_split and round_.up_card.rank is not Rank.ACE

    def default(self, round_: Round, place: int) -> Move:
        """Returns what is decided for a place whose clock runs out (B17): the published default."""
        decisions = {option.decision for option in self.options(round_, place)}
        if Decision.DECLINE in decisions:
            return Move(place, Decision.DECLINE)
        return Move(place, Decision.STAND if Decision.STAND in decisions else Decision.DRAW)

    def judge(self, round_: Round, move: Move) -> Wanted | None:
        """Returns what a decision has to stake first; refuses it if it is not possible now."""
        turn = self.turn(round_)
        if turn is None or move.place not in turn.places:
            raise refusals.not_your_turn(move.place, () if turn is None else turn.places)
        options = {option.decision: option for option in self.options(round_, move.place)}
        option = options.get(move.decision)
        hand = round_.hand(move.place, turn.hand or 1)
        if option is None:
            legal = (each.word for each in options)
            raise refusals.decision_illegal(move.decision.word, legal, *self._why_illegal(round_, turn, hand, move))
        if move.decision is Decision.INSURE:
            self._verify_insurance(move.insurance_cents, option.cost_cents)
            return Wanted(insurance_name(move.place), move.insurance_cents)
        if move.insurance_cents:
            raise invalid("move.insurance_cents", "belongs to an insurance alone")
        if move.decision is Decision.DOUBLE:
            return Wanted(double_name(hand), option.cost_cents)
        if move.decision is Decision.SPLIT:
            return Wanted(split_name(move.place, self._next_number(round_, move.place)), option.cost_cents)
        return None

    def _insurance_limit_cents(self, bet_cents: int) -> int:
        """Returns the largest insurance: half of the bet (15.f), in the table's steps (B21)."""
        return bet_cents // 2 // self.specific_rules.step_cents * self.specific_rules.step_cents

    def _verify_insurance(self, cents: int, limit_cents: int) -> None:
        if not 0 < cents <= limit_cents or cents % self.specific_rules.step_cents:
            raise refusals.insurance_refused(cents, limit_cents, self.specific_rules.step_cents)

    @staticmethod
    def _next_number(round_: Round, place: int) -> int:
        return sum(hand.place == place for hand in round_.hands) + 1

    def _why_illegal(self, round_: Round, turn: Turn, hand: Hand, move: Move) -> tuple[str, str]:
        """Returns the rule that forbids a decision, and why."""
        if turn.hand is None:
            return "805/2015:15.f", "first everybody decides on insurance and even money"
        if move.decision is Decision.SPLIT and not self._splits_left(round_, hand.place):
            return "805/2015:16.c", "the place has been split as often as this table allows"
        return _WHY_ILLEGAL[move.decision]

    # -- what a decision does -----------------------------------------------------------------------------------------

    def after(self, round_: Round, move: Move) -> Round:
        """Returns the round after a decision that was judged; goes on to the next one, or to the end."""
        if move.decision in {Decision.INSURE, Decision.EVEN_MONEY, Decision.DECLINE}:
            return self._go_on(_answer_offer(round_, move))
        turn = self.turn(round_)
        if turn is None or turn.hand is None:
            raise AssertionError(f"{move} was judged, and no hand is to be played")
        hand = round_.hand(move.place, turn.hand)
        match move.decision:
            case Decision.DRAW:
                round_ = _with_hand(*_draw(round_, hand))
            case Decision.STAND:
                round_ = _with_hand(round_, dataclasses.replace(hand, state=HandState.STOOD))
            case Decision.GIVE_UP:
                round_ = _with_hand(round_, dataclasses.replace(hand, state=HandState.GIVEN_UP))
            case Decision.DOUBLE:
                round_ = _with_hand(*self._double(round_, hand))
            case _:
                round_ = self._split(round_, hand)
        return self._go_on(round_)

    def _double(self, round_: Round, hand: Hand) -> tuple[Round, Hand]:
        """Doubles the bet and deals exactly one more card (15.b)."""
        # An ace of the first two that had to count 1 for the double stays 1 (8.a.ii); not where any score will do (B2).
        locks = not self.specific_rules.double_any_score and hand.score not in DOUBLE_SCORES
        locked_aces = sum(card.rank is Rank.ACE for card in hand.cards) if locks else 0
        stakes = {**hand.stakes, double_name(hand): hand.staked_cents}
        round_, drawn = _draw(round_, dataclasses.replace(hand, stakes=stakes, locked_aces=locked_aces))
        state = HandState.BUST if drawn.score > BLACKJACK else HandState.STOOD
        return round_, dataclasses.replace(drawn, state=state)

    def _split(self, round_: Round, hand: Hand) -> Round:
        """Separates two cards into bets of their own (21); each gets its second card when it is played."""
        number = self._next_number(round_, hand.place)
        first, second = hand.cards
        aces = first.rank is Rank.ACE
        kept = dataclasses.replace(hand, cards=(first,), is_split=True, is_split_ace=aces)
        opened = dataclasses.replace(
            kept, number=number, cards=(second,), stakes={split_name(hand.place, number): hand.staked_cents}
        )
        at = round_.hands.index(hand)
        hands = (*round_.hands[:at], kept, opened, *round_.hands[at + 1 :])
        places = tuple(
            dataclasses.replace(place, hands=place.hands + 1) if place.number == hand.place else place
            for place in round_.places
        )
        return dataclasses.replace(round_, hands=hands, places=places)

    def _go_on(self, round_: Round) -> Round:
        """Does all that needs no decision, up to the next one or to the end of the round."""
        if any(place.offer is Offer.OPEN for place in round_.places):
            return round_
        while (hand := _first_in_play(round_)) is not None:
            if len(hand.cards) == 1:
                round_ = _with_hand(*_draw(round_, hand))
            elif (state := self._state_without_decision(round_, hand)) is not None:
                round_ = _with_hand(round_, dataclasses.replace(hand, state=state))
            else:
                return round_
        return _play_bank(round_)

    def _state_without_decision(self, round_: Round, hand: Hand) -> HandState | None:
        """Returns what becomes of a hand that leaves nothing to decide; None if its player decides."""
        if hand.score > BLACKJACK:
            return HandState.BUST
        # At 21 no further card is allowed (15.d), and split aces have only one (21) unless they are split again (B11).
        if hand.score == BLACKJACK or (hand.is_split_ace and not self._may_split(round_, hand)):
            return HandState.STOOD
        return None

    # -- pay (20, 25, 26) ---------------------------------------------------------------------------------------------

    def due(self, round_: Round) -> Mapping[str, int]:
        """Returns what is paid before the round ends, by stake: decided for good, whatever the bank has.

        A blackjack against 2 to 9 (20.a), even money (20.b), and half of the bet back on giving up (15.e, B5).
        """
        paid: dict[str, int] = {}
        for hand in round_.hands:
            if hand.state is HandState.GIVEN_UP:
                paid |= {stake: cents // 2 for stake, cents in hand.stakes.items()}
            elif hand.state is HandState.PAID:
                place = round_.place(hand.place)
                even_money = place is not None and place.offer is Offer.TAKEN
                paid |= {
                    stake: 2 * cents if even_money else _blackjack_pays(cents) for stake, cents in hand.stakes.items()
                }
        return paid

    def payouts(self, round_: Round) -> Mapping[str, int]:
        """Returns what every stake of a decided round pays in all, by name, what was paid before it ended included."""
        if not round_.over:
            raise AssertionError("a round that is not over pays nothing but what is due")
        paid = dict(self.due(round_))
        for hand in round_.hands:
            if hand.state not in {HandState.GIVEN_UP, HandState.PAID}:
                for stake, cents in hand.stakes.items():
                    paid[stake] = self._hand_pays(hand, round_.bank, cents)
        for place in round_.places:
            if place.insurance_cents:
                # The stake and twice as much (25.f, B22), or nothing (25.g).
                wins = is_blackjack(round_.bank)
                paid[insurance_name(place.number)] = 3 * place.insurance_cents if wins else 0
        return paid

    def largest_payout_cents(self, stake: str, cents: int) -> int:
        """Returns the most that a stake can pay, by its name."""
        if stake.endswith(INSURANCE):
            return 3 * cents
        rules = self.specific_rules
        is_double = stake.endswith(DOUBLE)
        # No two cards of a special hand have a score on which every table lets a hand be doubled (B16).
        special = rules.special_prizes and (rules.double_any_score or not is_double)
        compared = 2 * cents + (SPECIAL_PRIZE * cents if special else 0)
        # A hand is a blackjack as it was dealt, and never after a split (19).
        return compared if "." in stake else max(compared, _blackjack_pays(cents))

    @property
    def largest_stake_cents(self) -> int:
        """The most that one player can have in a round: all places with all hands, each doubled, and insured."""
        rules = self.specific_rules
        hands = self._hands_limit
        if rules.splits_limit is not None:
            hands = min(hands, rules.places_per_player * (rules.splits_limit + 1))
        insurance = rules.places_per_player * self._insurance_limit_cents(rules.maximum_cents) if rules.insurance else 0
        return 2 * hands * rules.maximum_cents + insurance

    def _hand_pays(self, hand: Hand, bank: tuple[Card, ...], cents: int) -> int:
        """Returns what one stake on a hand pays: the comparison with the bank, and the special prize on top (25.i)."""
        special = self.specific_rules.special_prizes and is_special(hand.cards)
        return _comparison_pays(hand, bank, cents) + (SPECIAL_PRIZE * cents if special else 0)


# Why a decision is not possible on the hand whose turn it is.
_OFFERS_ONLY = ("805/2015:15.f", "insurance and even money are decided before the hands are played")
_WHY_ILLEGAL: Mapping[Decision, tuple[str, str]] = {
    Decision.STAND: ("805/2015:15.a", f"up to {MUST_DRAW_UP_TO} a hand has to draw to stay in the game"),
    Decision.DOUBLE: ("805/2015:15.b", "a hand is doubled on 9, 10 or 11 with two cards"),
    Decision.SPLIT: ("805/2015:21", "the hand is no pair of two cards"),
    Decision.GIVE_UP: ("805/2015:15.e", "a round is given up as the first decision, and not against an ace"),
    Decision.DRAW: ("805/2015:21", "split aces receive one card only"),
    Decision.INSURE: _OFFERS_ONLY,
    Decision.EVEN_MONEY: _OFFERS_ONLY,
    Decision.DECLINE: _OFFERS_ONLY,
}


def _comparison_pays(hand: Hand, bank: tuple[Card, ...], cents: int) -> int:
    """Returns what a stake on a hand pays by its comparison with the bank, the stake included (25.a-e, 25.h, 26)."""
    if hand.state is HandState.BUST:
        return 0
    bank_has_blackjack = is_blackjack(bank)
    if hand.is_blackjack:
        return cents if bank_has_blackjack else _blackjack_pays(cents)
    # A blackjack beats every other 21 (18, B14).
    if bank_has_blackjack:
        return 0
    bank_score = score(bank)
    if bank_score > BLACKJACK or hand.score > bank_score:
        return 2 * cents
    return cents if hand.score == bank_score else 0


def _blackjack_pays(cents: int) -> int:
    """Returns a bet with its prize of 3 to 2 (25.a); bets are even, so that it is whole (B19)."""
    return cents + cents * 3 // 2


def _at_first(hand: Hand, up_card: Card) -> Hand:
    """Returns a dealt hand: a blackjack decides nothing, and is paid at once against 2 to 9 (15, 20.a, B9)."""
    if not hand.is_blackjack:
        return hand
    waits = up_card.rank is Rank.ACE or value(up_card) == value(Card(Rank.TEN, up_card.suit))
    return dataclasses.replace(hand, state=HandState.STOOD if waits else HandState.PAID)


def _answer_offer(round_: Round, move: Move) -> Round:
    taken = move.decision is not Decision.DECLINE
    places = tuple(
        dataclasses.replace(place, offer=Offer.TAKEN if taken else Offer.DECLINED, insurance_cents=move.insurance_cents)
        if place.number == move.place
        else place
        for place in round_.places
    )
    round_ = dataclasses.replace(round_, places=places)
    if move.decision is Decision.EVEN_MONEY:
        return _with_hand(round_, dataclasses.replace(round_.hand(move.place, 1), state=HandState.PAID))
    return round_


def _play_bank(round_: Round) -> Round:
    """Ends the round: shows the hole card and draws for the bank, as far as that decides anything (17, 20.c)."""
    compared = any(hand.state is HandState.STOOD for hand in round_.hands)
    insured = any(place.insurance_cents for place in round_.places)
    if not compared:
        # Nobody is left: an insurance is still decided by the hole card, and nothing is drawn (20.c, B7).
        return dataclasses.replace(round_, hole_shown=insured, over=True)
    bank, dealt = round_.bank, round_.dealt
    while bank_draws(bank):
        bank, dealt = (*bank, round_.shoe[dealt]), dealt + 1
    return dataclasses.replace(round_, bank=bank, dealt=dealt, hole_shown=True, over=True)


def _draw(round_: Round, hand: Hand) -> tuple[Round, Hand]:
    """Deals one card to a hand, which is bust above 21 (25.b)."""
    drawn = dataclasses.replace(hand, cards=(*hand.cards, round_.shoe[round_.dealt]))
    return dataclasses.replace(round_, dealt=round_.dealt + 1), drawn


def _with_hand(round_: Round, changed: Hand) -> Round:
    hands = tuple(
        changed if (hand.place, hand.number) == (changed.place, changed.number) else hand for hand in round_.hands
    )
    return dataclasses.replace(round_, hands=hands)


def _first_in_play(round_: Round) -> Hand | None:
    return next((hand for hand in round_.hands if hand.state is HandState.IN_PLAY), None)


def _hand_to_play(round_: Round) -> Hand | None:
    return None if round_.over else _first_in_play(round_)

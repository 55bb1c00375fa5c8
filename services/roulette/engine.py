"""The rules of roulette, in the order of the regulation: which bets (7), how much (10-12), what they earn (13-19).

Pure: no I/O, no clock, no randomness but the tape it is given. Comments cite the rules of 804/2015; 807/2015 has the
same ones under the numbers in `articles.py`, and adds call bets (807/2015:8 and 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.kit.randomness.tape import Tape
from services.kit.table.refusals import TableRefused, above_maximum, below_minimum, invalid, not_on_felt
from services.roulette import board, call_bets, refusals
from services.roulette.board import Kind
from services.roulette.unknown_places import unknown_place
from services.roulette.wheel import Colour, Wheel, colour_of

# The bets of one player: cents by place. Never changed once made.
Bets = Mapping[str, int]

# Prizes are counted in halves of the stake, so that one half is exact (13.a.viii).
HALF = 1
STAKE = 2 * HALF


@dataclass(frozen=True, slots=True)
class Terms:
    """The limits and the prize that the regulation sets for a kind of bet."""

    # The paragraph of rules 11 and 13 (807/2015: 12 and 14); simple chances share one.
    paragraph: str
    # The highest maximum, as a multiple of the minimum.
    ceiling: int
    # What a win earns, in halves of the stake; the player gets the stake itself back as well (T8).
    prize: int


TERMS: Mapping[Kind, Terms] = {
    # multiple chances (7.a)                 11.a            13.a
    Kind.STRAIGHT: Terms("a.i", ceiling=30, prize=35 * STAKE),
    Kind.SPLIT: Terms("a.ii", ceiling=60, prize=17 * STAKE),
    Kind.STREET: Terms("a.iii", ceiling=90, prize=11 * STAKE),
    Kind.CORNER: Terms("a.iv", ceiling=120, prize=8 * STAKE),
    Kind.SIX_LINE: Terms("a.v", ceiling=180, prize=5 * STAKE),
    Kind.DOZEN: Terms("a.vi", ceiling=360, prize=2 * STAKE),
    Kind.COLUMN: Terms("a.vii", ceiling=360, prize=2 * STAKE),
    Kind.DOUBLE_DOZEN: Terms("a.viii", ceiling=720, prize=HALF),
    Kind.DOUBLE_COLUMN: Terms("a.ix", ceiling=720, prize=HALF),
    # simple chances (7.b)                   11.b            13.b
    Kind.EVEN: Terms("b", ceiling=540, prize=STAKE),
    Kind.ODD: Terms("b", ceiling=540, prize=STAKE),
    Kind.LOW: Terms("b", ceiling=540, prize=STAKE),
    Kind.HIGH: Terms("b", ceiling=540, prize=STAKE),
    Kind.RED: Terms("b", ceiling=540, prize=STAKE),
    Kind.BLACK: Terms("b", ceiling=540, prize=STAKE),
}
# The kinds that a table need not offer (12).
DOUBLES = frozenset({Kind.DOUBLE_DOZEN, Kind.DOUBLE_COLUMN})


@dataclass(frozen=True, slots=True)
class SpecificRules:
    """The operator's choices for a table (*regras específicas*), within the regulation."""

    wheel: Wheel
    # One minimum for the whole table, so that its multiples are the same on every place (10, T10).
    minimum_cents: int
    # The maximum of a kind as a multiple of the minimum, if it is lower than the ceiling (11).
    times_minimum: Mapping[Kind, int]
    without_doubles: bool = False
    # The cap on all places together (12); 0 for no cap.
    total_maximum_cents: int = 0
    # 807/2015:8
    call_bets: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pocket in which the ball came to rest."""

    number: str
    colour: Colour
    # Counted clockwise from 0.
    pocket: int


@dataclass(frozen=True, slots=True)
class OfferedPlace:
    """A place of the board under a table's rules."""

    place: board.Place
    numbers: frozenset[str]
    minimum_cents: int
    maximum_cents: int
    # Half of an odd number of cents cannot be paid and is not rounded (T7).
    even_cents_only: bool
    prize_halves: int


class Table:
    """The game under one table's rules. Bets are those of one player: limits are per player (T9, T25)."""

    def __init__(self, rules: SpecificRules) -> None:
        self.specific_rules = rules
        self.wheel = rules.wheel
        self.minimum_cents = rules.minimum_cents
        self.total_maximum_cents = rules.total_maximum_cents
        self.board = board.places(rules.wheel)
        excluded = DOUBLES if rules.without_doubles else frozenset()
        self.offered_places = {
            place.name: _offer(place, rules) for place in self.board.values() if place.kind not in excluded
        }
        self.call_bets: Mapping[str, call_bets.CallBet] = (
            {} if rules.wheel.articles.call_bets is None else call_bets.call_bets(rules.wheel)
        )
        self.outcomes = tuple(
            Outcome(number, colour_of(number), pocket) for pocket, number in enumerate(rules.wheel.order)
        )

    # -- bets (7-12) ------------------------------------------------------------------------------------------------

    def components(self, place: str, amount_cents: int) -> tuple[tuple[str, int], ...]:
        """Returns the chips of a bet: a call bet's components (807/2015:8), or the bet itself."""
        if place in self.offered_places:
            return ((place, amount_cents),)
        call_bet = self.call_bets.get(place)
        if call_bet is None or not self.specific_rules.call_bets:
            raise self._not_offered(place)
        return tuple((component, units * amount_cents) for component, units in call_bet.components)

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """Returns the bets with others added, all of them or none.

        Each added bet reaches the minimum and can be paid by itself, since the others may be cancelled or refused. The
        maximum and the cap count everything on the felt, call bets included (T9, T11).
        """
        felt = dict(on_felt) if on_felt else {}
        for place, cents in added.items():
            offer = self.offered_places.get(place)
            if offer is None:
                raise self._not_offered(place)
            if cents < offer.minimum_cents or (offer.even_cents_only and cents % 2):
                raise self._amount_refused(offer, cents)
            felt[place] = total = felt.get(place, 0) + cents
            if total > offer.maximum_cents:
                rule = self.wheel.articles.cite(self.wheel.articles.maximum, TERMS[offer.place.kind].paragraph)
                raise above_maximum(place, total, offer.maximum_cents, rule)
        if self.total_maximum_cents and (staked := sum(felt.values())) > self.total_maximum_cents:
            rule = self.wheel.articles.cite(self.wheel.articles.options)
            raise refusals.above_total(staked, self.total_maximum_cents, rule)
        return felt

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        """Returns the bets that stay; what stays on a place must be a bet by itself."""
        felt = dict(on_felt)
        for place, cents in taken.items():
            if cents <= 0:
                raise invalid("bets", f"have no amount above 0 on `{place}`")
            left = felt.get(place, 0) - cents
            if left < 0:
                raise not_on_felt(place, cents)
            if left == 0:
                del felt[place]
                continue
            offer = self.offered_places[place]
            if left < offer.minimum_cents or (offer.even_cents_only and left % 2):
                raise self._amount_refused(offer, left)
            felt[place] = left
        return felt or None

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        """Returns all bets as one, without judging them: they were accepted, perhaps under other rules."""
        felt: dict[str, int] = {}
        for each in bets:
            for place, cents in each.items():
                felt[place] = felt.get(place, 0) + cents
        return felt or None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        """Returns what of the bets is wanted, and the rest."""
        held, rest = dict[str, int](), dict[str, int]()
        for place, cents in bets.items():
            common = min(cents, wanted.get(place, 0))
            if common:
                held[place] = common
            if cents > common:
                rest[place] = cents - common
        return held or None, rest or None

    def total_cents(self, bets: Bets) -> int:
        """Returns the sum of the bets."""
        return sum(bets.values())

    @property
    def largest_stake_cents(self) -> int:
        """The most that one player may have on the felt: every place's maximum, or the cap."""
        everywhere = sum(offer.maximum_cents for offer in self.offered_places.values())
        return min(everywhere, self.total_maximum_cents or everywhere)

    def _not_offered(self, place: str) -> TableRefused:
        articles = self.wheel.articles
        if place in self.board:
            why = "the table leaves double dozens and double columns out"
            return refusals.bet_not_offered(place, articles.cite(articles.options), why)
        if place in self.call_bets and articles.call_bets is not None:
            why = "the table's specific rules have no call bets"
            return refusals.bet_not_offered(place, articles.cite(articles.call_bets), why)
        return unknown_place(place, self.wheel, self.board)

    def _amount_refused(self, offer: OfferedPlace, cents: int) -> TableRefused:
        """Returns why this amount cannot be a bet on this place."""
        articles, place = self.wheel.articles, offer.place
        if cents < self.minimum_cents:
            return below_minimum(place.name, cents, offer.minimum_cents, articles.cite(articles.minimum))
        return refusals.odd_cents(place.name, cents, articles.cite(articles.prizes, TERMS[place.kind].paragraph))

    # -- the ball (6.a, 6.c) ----------------------------------------------------------------------------------------

    def draw(self, tape: Tape) -> Outcome:
        """Draws a pocket, each as likely as any other."""
        return self.outcomes[tape.below(len(self.outcomes))]

    # -- prizes (13, 18, 19) ----------------------------------------------------------------------------------------

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """Returns what all bets pay: a bet wins if it contains the number, and loses otherwise (18).

        On 0 and 00 simple chances lose in full, as none contains them (19): nothing is returned or held over (T1).
        """
        halves, number, offers = 0, outcome.number, self.offered_places
        for place, cents in bets.items():
            offer = offers[place]
            if number in offer.numbers:
                halves += cents * (STAKE + offer.prize_halves)
        return halves // STAKE

    def largest_payout_cents(self, bets: Bets) -> int:
        """Returns the most that bets can pay together: what they pay on the number that pays them most."""
        halves: dict[str, int] = {}
        for place, cents in bets.items():
            offer = self.offered_places[place]
            payout = cents * (STAKE + offer.prize_halves)
            for number in offer.numbers:
                halves[number] = halves.get(number, 0) + payout
        return max(halves.values(), default=0) // STAKE

    @property
    def largest_payout_limit_cents(self) -> int:
        """The most that one player's bets can pay: every place at its maximum, or the cap where it pays most."""
        everywhere = {place: offer.maximum_cents for place, offer in self.offered_places.items()}
        largest = self.largest_payout_cents(everywhere)
        if not self.total_maximum_cents:
            return largest
        highest = max(offer.prize_halves for offer in self.offered_places.values())
        return min(largest, self.total_maximum_cents * (STAKE + highest) // STAKE)


def _offer(place: board.Place, rules: SpecificRules) -> OfferedPlace:
    terms = TERMS[place.kind]
    even_cents_only = terms.prize % STAKE != 0
    maximum_cents = rules.minimum_cents * rules.times_minimum.get(place.kind, terms.ceiling)
    return OfferedPlace(
        place=place,
        numbers=place.numbers,
        # What is published can be reached: an odd limit of an even amount is rounded towards the amounts allowed.
        minimum_cents=rules.minimum_cents + (rules.minimum_cents % 2 if even_cents_only else 0),
        maximum_cents=maximum_cents - (maximum_cents % 2 if even_cents_only else 0),
        even_cents_only=even_cents_only,
        prize_halves=terms.prize,
    )

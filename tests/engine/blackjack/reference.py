"""Plays blackjack a second time, from the rulebook's table of decisions (section 3); shares no code with the engine.

Cards are their names, a round is a list that changes, and what a hand pays is a fraction of its money. The engine
decides by conditions on a hand; here a hand is found in a row of the table, and the row says what is possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

# The rulebook's table: draw, stand, double, split, give up. `S` asks for two cards of the same value and a split left,
# `A` for an up card that is no ace, `D` for a table where any score is doubled.
ROWS = {
    "two cards, 8 or less": ("yes", "no", "D", "S", "A"),
    "two cards, 9 to 11": ("yes", "no", "yes", "S", "A"),
    "two cards, 12 to 20 hard": ("yes", "yes", "D", "S", "A"),
    "ace and 8 or 9": ("yes", "yes", "yes", "no", "A"),
    "ace and 2 to 7": ("yes", "yes", "D", "no", "A"),
    "two aces": ("yes", "yes", "D", "S", "A"),
    "split ace with its card": ("no", "again", "no", "again", "no"),
    "more cards, 11 or less": ("yes", "no", "no", "no", "no"),
    "more cards, 12 to 20": ("yes", "yes", "no", "no", "no"),
    "21 or more": ("no", "no", "no", "no", "no"),
}
COLUMNS = ("draw", "stand", "double", "split", "give-up")
FIGURES = {"T", "J", "Q", "K"}
DEALT_BY = {letter: number for number, letter in enumerate("A23456789", start=1)}


def counts(card: str) -> int:
    """Returns what a card counts, an ace as 1 (8)."""
    return 10 if card[0] in FIGURES else DEALT_BY[card[0]]


def totals(cards: Sequence[str], frozen: int = 0) -> set[int]:
    """Returns every total that a hand can be counted as, the first aces frozen to 1 (8.a)."""
    ways: list[tuple[int, ...]] = []
    for card in cards:
        if card[0] == "A" and frozen:
            frozen -= 1
            ways.append((1,))
        else:
            ways.append((1, 11) if card[0] == "A" else (counts(card),))
    return {sum(way) for way in itertools.product(*ways)}


def best(cards: Sequence[str], frozen: int = 0) -> int:
    """Returns the highest total that is not above 21, or else the lowest."""
    found = totals(cards, frozen)
    return max((total for total in found if total <= 21), default=min(found))


def is_natural(cards: Sequence[str]) -> bool:
    """Whether two cards are an ace and a figure or ten (B15)."""
    return len(cards) == 2 and {card[0] for card in cards} & FIGURES != set() and "A" in {card[0] for card in cards}


def is_prized(cards: Sequence[str]) -> bool:
    """Whether these are three cards of 25.i."""
    if len(cards) != 3:
        return False
    letters = "".join(sorted(card[0] for card in cards))
    return letters == "777" or (letters == "678" and len({card[1] for card in cards}) == 1)


@dataclass(frozen=True, slots=True)
class Options:
    """What rule 16 leaves to the operator, and the chip step."""

    step: int = 2
    any_score: bool = False
    pairs_only: bool = False
    # Splits of one place in a round; None without limit.
    splits: int | None = None
    insurance: bool = True
    prizes: bool = True


@dataclass(slots=True)
class Hand:
    """One hand of one place, with the stakes that lie on it."""

    place: int
    cards: list[str]
    stakes: dict[str, int]
    from_split: bool = False
    from_aces: bool = False
    frozen: int = 0
    # What was said: nothing yet, or `stood`, `doubled`, `bust`, `gave up`, `paid` (20.a), `even money` (20.b).
    end: str = ""

    @property
    def money(self) -> int:
        return sum(self.stakes.values())

    @property
    def best(self) -> int:
        return best(self.cards, self.frozen)


@dataclass(slots=True)
class Reference:
    """A round in progress: stakes by id, as they are made."""

    options: Options
    shoe: list[str]
    hands: list[Hand] = field(default_factory=list)
    bank: list[str] = field(default_factory=list)
    # Places that are still asked: `insure` or `even-money`.
    asked: dict[int, str] = field(default_factory=dict)
    splits: dict[int, int] = field(default_factory=dict)
    insured: dict[str, int] = field(default_factory=dict)
    hole_shown: bool = False

    @classmethod
    def deal(cls, options: Options, bets: Mapping[int, Mapping[str, int]], shoe: Sequence[str]) -> Reference:
        """Deals to places with their stakes (14)."""
        made = cls(options, list(shoe))
        for place in sorted(bets):
            made.hands.append(Hand(place, [], dict(bets[place])))
        for _ in range(2):
            for hand in made.hands:
                hand.cards.append(made.shoe.pop(0))
            made.bank.append(made.shoe.pop(0))
        for hand in made.hands:
            made.splits[hand.place] = 0
            made._look_at(hand)
        made._go_on()
        return made

    @property
    def up_is_ace(self) -> bool:
        return self.bank[0][0] == "A"

    def _look_at(self, hand: Hand) -> None:
        """Pays blackjacks that cannot lose (20.a), and notes what an ace lets a place be asked (15.f, 20.b)."""
        if is_natural(hand.cards):
            if self.up_is_ace:
                self.asked[hand.place] = "even-money"
            elif self.bank[0][0] not in FIGURES:
                hand.end = "paid"
        elif self.up_is_ace and self.options.insurance and self._half(hand):
            self.asked[hand.place] = "insure"

    def _half(self, hand: Hand) -> int:
        """Returns the largest insurance: at most half of the bet, in chips (15.f, B21)."""
        chips = 0
        while 2 * (chips + 1) * self.options.step <= hand.money:
            chips += 1
        return chips * self.options.step

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _natural(self, hand: Hand) -> bool:
        return is_natural(hand.cards) and not hand.from_split

    def playing(self) -> Hand | None:
        """The hand whose turn it is, in seat order (section 3, step 4)."""
        if self.asked:
            return None
        return next((hand for hand in self.hands if not hand.end and not self._natural(hand)), None)

    def _row(self, hand: Hand) -> str:
        if hand.best >= 21:
            return "21 or more"
        if hand.from_aces:
            return "split ace with its card"
        if len(hand.cards) > 2:
            return "more cards, 11 or less" if hand.best <= 11 else "more cards, 12 to 20"
        letters = {card[0] for card in hand.cards}
        if "A" in letters:
            return "two aces" if letters == {"A"} else "ace and 8 or 9" if letters & {"8", "9"} else "ace and 2 to 7"
        hard = ("two cards, 12 to 20 hard", "two cards, 9 to 11", "two cards, 8 or less")
        return hard[(hand.best <= 11) + (hand.best <= 8)]

    def _may_split(self, hand: Hand) -> bool:
        first, second = hand.cards
        alike = first[0] == second[0] or (counts(first) == counts(second) and not self.options.pairs_only)
        return alike and (self.options.splits is None or self.splits[hand.place] < self.options.splits)

    def _allowed(self, hand: Hand) -> set[str]:
        found = set()
        for decision, cell in zip(COLUMNS, ROWS[self._row(hand)], strict=True):
            holds = {
                "yes": True,
                "no": False,
                "D": self.options.any_score,
                "S": cell == "S" and self._may_split(hand),
                # Never after a split (B6).
                "A": not self.up_is_ace and not hand.from_split,
                # Another ace may be split again while splits are left (B11).
                "again": cell == "again" and self._may_split(hand),
            }[cell]
            if holds:
                found.add(decision)
        return found

    def legal(self) -> dict[int, dict[str, int]]:
        """Returns what each place may decide now, with what it costs; of an insurance the most."""
        if self.asked:
            hands = {hand.place: hand for hand in self.hands}
            return {
                place: {"decline": 0, what: self._half(hands[place]) if what == "insure" else 0}
                for place, what in self.asked.items()
            }
        hand = self.playing()
        if hand is None:
            return {}
        costs = {"double": hand.money, "split": hand.money}
        return {hand.place: {decision: costs.get(decision, 0) for decision in self._allowed(hand)}}

    def default(self, place: int) -> str:
        """Returns what an absent player decides: no to every offer, else draw up to 11 and stand (B17)."""
        if self.asked:
            return "decline"
        hand = self.playing()
        assert hand is not None
        assert hand.place == place
        return "draw" if hand.best <= 11 else "stand"

    def decide(self, place: int, decision: str, stake_id: str = "", cents: int = 0) -> None:
        """Carries out a decision that is legal."""
        if self.asked:
            del self.asked[place]
            if decision == "insure":
                self.insured[stake_id] = cents
            elif decision == "even-money":
                next(hand for hand in self.hands if hand.place == place).end = "even money"
            self._go_on()
            return
        hand = self.playing()
        assert hand is not None
        if decision == "draw":
            hand.cards.append(self.shoe.pop(0))
        elif decision == "stand":
            hand.end = "stood"
        elif decision == "give-up":
            hand.end = "gave up"
        elif decision == "double":
            if not self.options.any_score and hand.best > 11:
                # An ace had to count 1 for the double, and stays so (8.a.ii).
                hand.frozen = sum(card[0] == "A" for card in hand.cards)
            hand.stakes[stake_id] = hand.money
            hand.cards.append(self.shoe.pop(0))
            hand.end = "bust" if hand.best > 21 else "doubled"
        else:
            self.splits[place] += 1
            hand.from_split = True
            hand.from_aces = hand.cards[0][0] == "A"
            second = Hand(place, [hand.cards.pop()], {stake_id: hand.money}, from_split=True, from_aces=hand.from_aces)
            self.hands.insert(self.hands.index(hand) + 1, second)
        self._go_on()

    def _go_on(self) -> None:
        """Goes on to the next decision, or lets the bank play (17, 20.c)."""
        while (hand := self.playing()) is not None:
            if len(hand.cards) == 1:
                hand.cards.append(self.shoe.pop(0))
            elif hand.best > 21:
                hand.end = "bust"
            elif not self._allowed(hand):
                hand.end = "stood"
            else:
                return
        if not self.asked:
            self._play_bank()

    @property
    def is_over(self) -> bool:
        return not self.asked and self.playing() is None

    def _left(self) -> list[Hand]:
        """The hands that are compared with the bank."""
        return [hand for hand in self.hands if hand.end not in {"bust", "gave up", "paid", "even money"}]

    def _play_bank(self) -> None:
        self.hole_shown = bool(self._left() or self.insured)
        if self._left():
            # From 17 on, with an ace as 11 where that gives 17 to 21, the bank takes no more (8.a.i, 17).
            while not {17, 18, 19, 20, 21} & totals(self.bank) and min(totals(self.bank)) < 17:
                self.bank.append(self.shoe.pop(0))

    # -- pay ----------------------------------------------------------------------------------------------------------

    @staticmethod
    def _early(hand: Hand) -> Fraction | None:
        """Returns what of its money a hand is paid before the bank plays."""
        early = {"paid": Fraction(5, 2), "even money": Fraction(2), "gave up": Fraction(1, 2)}
        return early.get(hand.end)

    def _compared(self, hand: Hand) -> Fraction:
        """Returns the comparison with the bank (25.a to 25.e, 25.h)."""
        if hand.end == "bust":
            return Fraction(0)
        mine, banks = (2, 21) if self._natural(hand) else (1, hand.best), (1, best(self.bank))
        if is_natural(self.bank):
            banks = (2, 21)
        if mine == banks:
            return Fraction(1)
        if banks[1] > 21 or mine > banks:
            return Fraction(5, 2) if mine[0] == 2 else Fraction(2)
        return Fraction(0)

    def _parts(self) -> Iterator[tuple[Hand, Fraction]]:
        for hand in self.hands:
            early = self._early(hand)
            special = 3 if self.options.prizes and is_prized(hand.cards) and hand.end != "gave up" else 0
            yield hand, self._compared(hand) + special if early is None else early

    def due(self) -> dict[str, Fraction]:
        """Returns what was paid before the round ends, by stake (20.a, 20.b, 15.e)."""
        return {
            stake_id: cents * early
            for hand in self.hands
            if (early := self._early(hand)) is not None
            for stake_id, cents in hand.stakes.items()
        }

    def credits(self) -> dict[str, Fraction]:
        """Returns what every stake of a round that is over was paid in all."""
        paid = {stake_id: cents * part for hand, part in self._parts() for stake_id, cents in hand.stakes.items()}
        insured = 3 if is_natural(self.bank[:2]) else 0
        return paid | {stake_id: Fraction(insured * cents) for stake_id, cents in self.insured.items()}

"""The rules of baccarat, in the order of the regulation: values (7-8), bets (9-15), dealing (16-20), prizes (22-26).

Pure: no I/O, no clock, no randomness but the tape it is given. Comments cite the rules of 812/2015. *Ponto* is the side
that English tables call the player; here a player is always a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

from services.baccarat import refusals
from services.kit.cards.card import Card, Rank
from services.kit.cards.shoe import shoe_from, shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import Totals
from services.kit.table.refusals import above_maximum, below_minimum, invalid, not_on_felt


class Chance(StrEnum):
    """What a player can bet on."""

    PONTO = "ponto"  # 9.a
    BANCA = "banca"  # 9.b
    TIE = "tie"  # 9.c, empate
    PONTO_PAIR = "ponto-pair"  # 10, par do ponto
    BANCA_PAIR = "banca-pair"  # 10, par da banca


# The bets of one player: cents by chance. Never changed once made.
Bets = Mapping[Chance, int]

PAIRS = frozenset({Chance.PONTO_PAIR, Chance.BANCA_PAIR})


@dataclass(frozen=True, slots=True)
class Terms:
    """The highest maximum and the prize that the regulation sets for a chance."""

    # The paragraph of rules 15 and 25.
    paragraph: str
    # As a multiple of the minimum (15).
    ceiling: int
    # As a multiple of the bet (25); the player gets the bet itself back as well (24).
    prize: int


TERMS: Mapping[Chance, Terms] = {
    Chance.PONTO: Terms("a", ceiling=70, prize=1),
    Chance.BANCA: Terms("a", ceiling=70, prize=1),
    Chance.TIE: Terms("b", ceiling=15, prize=8),
    Chance.PONTO_PAIR: Terms("c", ceiling=8, prize=11),
    Chance.BANCA_PAIR: Terms("c", ceiling=8, prize=11),
}


class Commission(Enum):
    """What the operator deducts from the prize of a bet on banca (26); one of the two, and never none (C5)."""

    FIVE_PERCENT = "26.a"
    HALF = "26.b"


# Banca stakes in these steps have a commission of whole cents (C6).
BANCA_STEP_CENTS: Mapping[Commission, int] = {Commission.FIVE_PERCENT: 20, Commission.HALF: 2}


@dataclass(frozen=True, slots=True)
class SpecificRules:
    """The operator's choices for a table (*regras específicas*), within the regulation."""

    # Six or eight (6.b).
    packs: int
    # One minimum for all chances, so that its multiples are the same for each (14, C8).
    minimum_cents: int
    # The maximum of a chance as a multiple of the minimum, if it is lower than the ceiling (15).
    times_minimum: Mapping[Chance, int]
    # Whether bets on pairs are offered (10).
    pairs: bool
    commission: Commission
    # The scores of banca whose prizes are halved (26.b, C3).
    half_scores: frozenset[int] = frozenset()
    # Macau (39): no maximum for a player (40); the whole table is limited by the prize cap (41), 0 for no cap.
    macau: bool = False
    prize_cap_cents: int = 0
    # What one player may bet in a round of Macau on all chances together, a limit of the platform; 0 for none.
    player_maximum_cents: int = 0
    # After how many cards of the shoe the cut card comes; None for a shuffle before each round (C25).
    cut_card: int | None = None


# -- cards (7, 8) -----------------------------------------------------------------------------------------------------


def value(card: Card) -> int:
    """Returns what a card counts: an ace 1 (7.a), ten and figures 0 (7.b), others their number (7.c)."""
    return 0 if card.rank >= Rank.TEN else int(card.rank)


def score(cards: Iterable[Card]) -> int:
    """Returns the score (*pontuação*): of a sum beyond 10 or 20 only the excess counts (8), and 10 itself is 0 (C1)."""
    return sum(map(value, cards)) % 10


def is_pair(cards: Sequence[Card]) -> bool:
    """Whether the first two cards have the same rank (2.e): suits do not matter (11), nor what they count (12)."""
    return cards[0].rank == cards[1].rank


# -- dealing (16-20) --------------------------------------------------------------------------------------------------

# A side that has one of these with two cards ends the dealing for both (19).
NATURALS = frozenset({8, 9})
# Ponto draws up to this score, and stands on 6 and 7 (20.T.P).
PONTO_DRAWS_UP_TO = 5
# By banca's score with two cards: what ponto's third card may count for banca to draw (20.T.B0 to 20.T.B7).
_ANY = frozenset(range(10))
BANCA_DRAWS_ON: Mapping[int, frozenset[int]] = {
    0: _ANY,
    1: _ANY,
    2: _ANY,
    3: _ANY - {8},
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset(),
}
# Where ponto stood, banca draws up to this score (last column of the table, C14).
BANCA_DRAWS_ALONE_UP_TO = 5
# The most cards that a round takes; they are fixed before the first is dealt (C17).
CARDS_LIMIT = 6


class Winner(Enum):
    """Which side a round is decided for (22, 23)."""

    PONTO = "ponto"
    BANCA = "banca"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The cards of both sides: two each, and the additional ones behind them."""

    ponto: tuple[Card, ...]
    banca: tuple[Card, ...]

    @property
    def ponto_score(self) -> int:
        return score(self.ponto)

    @property
    def banca_score(self) -> int:
        return score(self.banca)

    @property
    def winner(self) -> Winner:
        """The side with the higher score (22), or a tie (23)."""
        ponto, banca = self.ponto_score, self.banca_score
        if ponto == banca:
            return Winner.TIE
        return Winner.PONTO if ponto > banca else Winner.BANCA


def deal(cards: Sequence[Card]) -> Outcome:
    """Deals a round from the first cards of a shoe, of which it takes four to six."""
    # One at a time, alternately, ponto first (16, 17).
    ponto, banca = (cards[0], cards[2]), (cards[1], cards[3])
    if score(ponto) in NATURALS or score(banca) in NATURALS:
        return Outcome(ponto, banca)
    # Ponto decides first, and each side receives at most one more (20).
    if score(ponto) > PONTO_DRAWS_UP_TO:
        if score(banca) > BANCA_DRAWS_ALONE_UP_TO:
            return Outcome(ponto, banca)
        return Outcome(ponto, (*banca, cards[4]))
    third = cards[4]
    if value(third) in BANCA_DRAWS_ON[score(banca)]:
        return Outcome((*ponto, third), (*banca, cards[5]))
    return Outcome((*ponto, third), banca)


class Table:
    """The game under one table's rules. Bets are those of one player, on one place (C9)."""

    def __init__(self, rules: SpecificRules) -> None:
        self.specific_rules = rules
        self.minimum_cents = rules.minimum_cents
        self.offered_chances = tuple(chance for chance in Chance if rules.pairs or chance not in PAIRS)
        # Every bet asks for them.
        self._steps_cents = {chance: self._step_cents(chance) for chance in Chance}
        self._smallest_bets_cents = {chance: self._smallest_bet_cents(chance) for chance in Chance}
        self._maxima_cents = {chance: self._maximum_cents(chance) for chance in Chance}

    # -- bets (9-15) --------------------------------------------------------------------------------------------------

    def smallest_bet_cents(self, chance: Chance) -> int:
        """Returns the smallest amount that can be bet on a chance: the minimum (14), up to the next step."""
        return self._smallest_bets_cents[chance]

    def _smallest_bet_cents(self, chance: Chance) -> int:
        step = self.step_cents(chance)
        return -(-self.minimum_cents // step) * step

    def maximum_cents(self, chance: Chance) -> int | None:
        """Returns the most that a player may bet on a chance (15), in whole steps; None in Macau (39, 40)."""
        return self._maxima_cents[chance]

    def _maximum_cents(self, chance: Chance) -> int | None:
        if self.specific_rules.macau:
            return None
        maximum = self.minimum_cents * self.specific_rules.times_minimum.get(chance, TERMS[chance].ceiling)
        return maximum - maximum % self.step_cents(chance)

    def step_cents(self, chance: Chance) -> int:
        """Returns what bets on a chance are multiples of, so that nothing is ever rounded (C6)."""
        return self._steps_cents[chance]

    def _step_cents(self, chance: Chance) -> int:
        return BANCA_STEP_CENTS[self.specific_rules.commission] if chance is Chance.BANCA else 1

    @property
    def largest_stake_cents(self) -> int:
        """The most that one player may have on the felt."""
        if self.specific_rules.macau:
            return self.specific_rules.player_maximum_cents
        return sum(self.maximum_cents(chance) or 0 for chance in self.offered_chances)

    def add(self, on_felt: Bets | None, added: Bets) -> Bets:
        """Returns the bets with others added, all of them or none.

        Each added bet is a bet by itself, since the others may be cancelled or refused; the maximum and the difference
        of rule 13 count everything on the felt.
        """
        felt = dict(on_felt) if on_felt else {}
        for chance, cents in added.items():
            self._verify_bet(chance, cents)
            felt[chance] = total = felt.get(chance, 0) + cents
            maximum = self.maximum_cents(chance)
            if maximum is not None and total > maximum:
                raise above_maximum(chance, total, maximum, f"812/2015:15.{TERMS[chance].paragraph}")
        self._verify_player_maximum(felt)
        self._verify_difference(felt)
        return felt

    def take(self, on_felt: Bets, taken: Bets) -> Bets | None:
        """Returns the bets that remain; what remains on a chance is a bet by itself, and keeps the difference (C7)."""
        felt = dict(on_felt)
        for chance, cents in taken.items():
            if cents <= 0:
                raise invalid("bets", "have to be above 0 each")
            left = felt.get(chance, 0) - cents
            if left < 0:
                raise not_on_felt(chance, cents)
            if left == 0:
                del felt[chance]
                continue
            self._verify_bet(chance, left)
            felt[chance] = left
        self._verify_difference(felt)
        return felt or None

    def together(self, bets: Iterable[Bets]) -> Bets | None:
        """Returns bets that were accepted, as one; never refuses."""
        felt: dict[Chance, int] = {}
        for each in bets:
            for chance, cents in each.items():
                felt[chance] = felt.get(chance, 0) + cents
        return felt or None

    def divide(self, bets: Bets, wanted: Bets) -> tuple[Bets | None, Bets | None]:
        """Returns what of the bets is wanted, and the rest."""
        held, rest = dict[Chance, int](), dict[Chance, int]()
        for chance, cents in bets.items():
            common = min(cents, wanted.get(chance, 0))
            if common:
                held[chance] = common
            if cents > common:
                rest[chance] = cents - common
        return held or None, rest or None

    def total_cents(self, bets: Bets) -> int:
        """Returns the sum of the bets."""
        return sum(bets.values())

    def _verify_bet(self, chance: Chance, cents: int) -> None:
        if chance not in self.offered_chances:
            raise refusals.pairs_not_offered(chance)
        minimum = self.smallest_bet_cents(chance)
        if cents < minimum:
            raise below_minimum(chance, cents, minimum, "812/2015:14")
        step = self.step_cents(chance)
        if cents % step:
            rule = f"812/2015:{self.specific_rules.commission.value}"
            raise refusals.off_step(chance, cents, step, rule)

    def _verify_player_maximum(self, felt: Bets) -> None:
        maximum = self.specific_rules.player_maximum_cents
        if maximum and (total := self.total_cents(felt)) > maximum:
            raise refusals.above_total(total, maximum)

    def _verify_difference(self, felt: Bets) -> None:
        """Refuses bets on both sides that differ by less than the minimum (13); equal ones differ by nothing (C7)."""
        ponto, banca = felt.get(Chance.PONTO, 0), felt.get(Chance.BANCA, 0)
        if ponto and banca and abs(ponto - banca) < self.minimum_cents:
            raise refusals.too_close(ponto, banca, self.minimum_cents)

    # -- Macau's limits over the whole table (41-43) ------------------------------------------------------------------

    def totals(self, bets: Bets) -> Totals:
        """Returns what bets add to the sums that the prize cap limits; nothing where there is none.

        Ponto and banca of one stake are accepted or refused together, so only what one exceeds the other by counts.
        """
        if not self.specific_rules.prize_cap_cents:
            return {}
        difference = bets.get(Chance.PONTO, 0) - bets.get(Chance.BANCA, 0)
        return {
            "ponto_ahead": max(difference, 0),
            "banca_ahead": max(-difference, 0),
            "tie": bets.get(Chance.TIE, 0),
            "pairs": sum(bets.get(chance, 0) for chance in PAIRS),
        }

    def fits(self, counted: Totals, coming: Totals, going: Totals, change: Totals) -> None:
        """Refuses a change that could break a limit of rule 43, whatever becomes of the bets under way (C20).

        Only the sums that a change adds to can break theirs. Prizes themselves are never cut (C21).
        """
        cap = self.specific_rules.prize_cap_cents
        if not cap:
            return
        for ahead, behind in (("ponto_ahead", "banca_ahead"), ("banca_ahead", "ponto_ahead")):
            grows_by = change.get(ahead, 0) - change.get(behind, 0)
            # The most that this side can come to exceed the other by.
            most = counted.get(ahead, 0) - counted.get(behind, 0) + coming.get(ahead, 0) + going.get(behind, 0)
            if grows_by > 0 and most + grows_by > cap:
                raise refusals.above_table_limit("one side, less those on the other,", cap, "812/2015:43.a")
        # Of both pairs together (C23).
        for name, percent, chances, paragraph in (("tie", 10, "the tie", "b"), ("pairs", 8, "the pairs", "c")):
            most = counted.get(name, 0) + coming.get(name, 0) + change.get(name, 0)
            if change.get(name, 0) > 0 and 100 * most > percent * cap:
                raise refusals.above_table_limit(chances, percent * cap // 100, f"812/2015:43.{paragraph}")

    # -- the cards (6.b, 16) ------------------------------------------------------------------------------------------

    def draw(self, tape: Tape, cards_taken: int = 0) -> Outcome:
        """Deals from the shoe as earlier rounds have left it; without a cut card, it is shuffled for each (C25)."""
        rules = self.specific_rules
        return deal(
            shuffled_shoe(rules.packs, tape) if rules.cut_card is None else shoe_from(cards_taken, rules.packs, tape)
        )

    # -- prizes (22-26) -----------------------------------------------------------------------------------------------

    def payout_cents(self, outcome: Outcome, bets: Bets) -> int:
        """Returns what all bets pay, the bet itself included where it wins (24) or neither wins nor loses (23)."""
        return sum(self.bet_payout_cents(outcome, chance, cents) for chance, cents in bets.items())

    def bet_payout_cents(self, outcome: Outcome, chance: Chance, cents: int) -> int:
        """Returns what one bet pays."""
        if self.wins(outcome, chance):
            return cents + cents * TERMS[chance].prize - self.commission_cents(outcome, chance, cents)
        if outcome.winner is Winner.TIE and chance in {Chance.PONTO, Chance.BANCA}:
            return cents
        return 0

    def largest_payout_cents(self, bets: Bets) -> int:
        """Returns the most that bets can pay together: both pairs fall in rounds of every kind."""
        ponto, banca, tie = bets.get(Chance.PONTO, 0), bets.get(Chance.BANCA, 0), bets.get(Chance.TIE, 0)
        on_pairs = bets.get(Chance.PONTO_PAIR, 0) + bets.get(Chance.BANCA_PAIR, 0)
        pairs = on_pairs * (1 + TERMS[Chance.PONTO_PAIR].prize)
        on_ponto = ponto * (1 + TERMS[Chance.PONTO].prize)
        on_banca = banca * (1 + TERMS[Chance.BANCA].prize) - self._smallest_commission_cents(banca)
        on_tie = tie * (1 + TERMS[Chance.TIE].prize) + ponto + banca
        return pairs + max(on_ponto, on_banca, on_tie)

    @property
    def largest_payout_limit_cents(self) -> int:
        """The most that one player's bets can pay within the table's limits."""
        if not self.specific_rules.macau:
            maxima = {chance: self.maximum_cents(chance) or 0 for chance in self.offered_chances}
            return self.largest_payout_cents(maxima)
        # The best-paid bets first, as far as the cap leaves room for them (43).
        cap, left = self.specific_rules.prize_cap_cents, self.specific_rules.player_maximum_cents
        pairs = min(left, 8 * cap // 100 if cap else left) if self.specific_rules.pairs else 0
        tie = min(left - pairs, cap // 10 if cap else left)
        return max(
            self.largest_payout_cents({Chance.PONTO_PAIR: pairs, Chance.TIE: tie, Chance.PONTO: left - pairs - tie}),
            self.largest_payout_cents({Chance.PONTO_PAIR: pairs, Chance.PONTO: left - pairs}),
        )

    def _smallest_commission_cents(self, banca_cents: int) -> int:
        """Returns what is deducted at least from the prize of a winning bet on banca."""
        return banca_cents * 5 // 100 if self.specific_rules.commission is Commission.FIVE_PERCENT else 0

    @staticmethod
    def wins(outcome: Outcome, chance: Chance) -> bool:
        """Whether a bet on this chance wins (11, 22, 23)."""
        match chance:
            case Chance.PONTO_PAIR:
                return is_pair(outcome.ponto)
            case Chance.BANCA_PAIR:
                return is_pair(outcome.banca)
            case _:
                return outcome.winner.value == chance.value

    def commission_cents(self, outcome: Outcome, chance: Chance, cents: int) -> int:
        """Returns what is deducted from the prize of a winning bet (26): of bets on banca alone (C2)."""
        if chance is not Chance.BANCA:
            return 0
        prize = cents * TERMS[chance].prize
        if self.specific_rules.commission is Commission.FIVE_PERCENT:
            # No bet is off the step; if one were, the player would lose no part of a cent (C6).
            return prize * 5 // 100
        return prize // 2 if outcome.banca_score in self.specific_rules.half_scores else 0


def chance_named(name: str) -> Chance:
    """Returns the chance of a name; refused if there is none."""
    try:
        return Chance(name)
    except ValueError:
        known = ", ".join(f"`{chance}`" for chance in Chance)
        raise refusals.bet_illegal(name, f"bets are named {known}") from None

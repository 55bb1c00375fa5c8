"""Plays baccarat a second time, from the words of the regulation; shares only the names of the chances with the engine.

The engine keeps a set of third cards for each score of banca; here each row of rule 20 is written as the regulation
says it. The engine counts in cents; here a prize is a fraction of its bet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

# On which third cards of ponto banca draws, by its own score; `-` where ponto stood (20.T.B0 to 20.T.B7).
BANCA_DRAWS = {
    0: "A23456789TJQK-",
    1: "A23456789TJQK-",
    2: "A23456789TJQK-",
    3: "A2345679TJQK-",
    4: "234567-",
    5: "4567-",
    6: "67",
    7: "",
}
FIGURES = "TJQK"
# The prize of each chance, in bets (25), and the most that may be bet on it, in minimum bets (15).
PRIZES = {"ponto": 1, "banca": 1, "tie": 8, "ponto-pair": 11, "banca-pair": 11}
CEILINGS = {"ponto": 70, "banca": 70, "tie": 15, "ponto-pair": 8, "banca-pair": 8}


def score(cards: Sequence[str]) -> int:
    """Returns the score: figures and tens nothing, an ace 1, and of a sum beyond 10 or 20 the excess (7, 8)."""
    total = 0
    for card in cards:
        total += 0 if card[0] in FIGURES else "A23456789".index(card[0]) + 1
        if total >= 10:
            total -= 10
    return total


@dataclass(frozen=True, slots=True)
class Dealt:
    """Both sides of a round, by the names of their cards."""

    ponto: tuple[str, ...]
    banca: tuple[str, ...]

    @property
    def winner(self) -> str:
        ahead = score(self.ponto) - score(self.banca)
        return "tie" if not ahead else "ponto" if ahead > 0 else "banca"


def deal(shoe: Sequence[str]) -> Dealt:
    """Deals from the top of a shoe (16 to 20)."""
    left = list(shoe)
    ponto: list[str] = []
    banca: list[str] = []
    for side in (ponto, banca, ponto, banca):
        side.append(left.pop(0))
    if max(score(ponto), score(banca)) >= 8:
        return Dealt(tuple(ponto), tuple(banca))
    banca_score, third = score(banca), "-"
    if score(ponto) < 6:
        third = left.pop(0)
        ponto.append(third)
    if third[0] in BANCA_DRAWS[banca_score]:
        banca.append(left.pop(0))
    return Dealt(tuple(ponto), tuple(banca))


def credit(dealt: Dealt, chance: str, cents: int, halved: Sequence[int] | None) -> Fraction:
    """Returns what a bet is paid (22 to 26); `halved` are the scores of 26.b, None for the 5 % of 26.a."""
    if chance.endswith("-pair"):
        side = dealt.ponto if chance == "ponto-pair" else dealt.banca
        wins = side[0][0] == side[1][0]
    else:
        wins = dealt.winner == chance
    if wins:
        prize = Fraction(PRIZES[chance] * cents)
        return cents + prize - (commission(dealt, prize, halved) if chance == "banca" else 0)
    # Ponto and banca neither win nor lose in a tie (23).
    return Fraction(cents) if dealt.winner == "tie" and chance in {"ponto", "banca"} else Fraction(0)


def commission(dealt: Dealt, prize: Fraction, halved: Sequence[int] | None) -> Fraction:
    if halved is None:
        return prize / 20
    return prize / 2 if score(dealt.banca) in halved else Fraction(0)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one player may have on the felt."""

    minimum: int
    banca_step: int
    pairs: bool = True
    # Macau has no ceilings (39, 40).
    ceilings: bool = True

    def most(self, chance: str) -> int:
        """Returns the most on one chance, in whole steps."""
        return floor(Fraction(CEILINGS[chance] * self.minimum, self._step(chance))) * self._step(chance)

    def _step(self, chance: str) -> int:
        return self.banca_step if chance == "banca" else 1

    def is_bet(self, chance: str, cents: int) -> bool:
        """Whether this is a bet by itself (9, 10, 14, and whole cents of commission)."""
        return (self.pairs or "pair" not in chance) and cents >= self.minimum and cents % self._step(chance) == 0

    def may_lie(self, felt: Mapping[str, int]) -> bool:
        """Whether bets may lie there together (13, 15)."""
        if self.ceilings and any(cents > self.most(chance) for chance, cents in felt.items()):
            return False
        both = "ponto" in felt and "banca" in felt
        return not both or abs(felt["ponto"] - felt["banca"]) >= self.minimum

    def after_adding(self, felt: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int] | None:
        """Returns the felt with bets added; None if they are refused."""
        then = {chance: felt.get(chance, 0) + added.get(chance, 0) for chance in {**felt, **added}}
        legal = all(self.is_bet(chance, cents) for chance, cents in added.items()) and self.may_lie(then)
        return then if legal else None

    def after_taking(self, felt: Mapping[str, int], taken: Mapping[str, int]) -> dict[str, int] | None:
        """Returns what stays when bets are taken back; None if that is refused."""
        left = {chance: felt.get(chance, 0) - taken.get(chance, 0) for chance in {**felt, **taken}}
        if any(cents <= 0 for cents in taken.values()) or any(cents < 0 for cents in left.values()):
            return None
        then = {chance: cents for chance, cents in left.items() if cents}
        changed = all(self.is_bet(chance, cents) for chance, cents in then.items() if chance in taken)
        return then if changed and self.may_lie(then) else None

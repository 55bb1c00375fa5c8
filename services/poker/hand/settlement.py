"""How a hand ends: pots in layers (41, 42), who shows (59), who wins (60-63), odd cents (62), commission (16-19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import sub

from services.poker import commission
from services.poker.hand.state import Deal, Kind, Move, Payment, Pot, Result, Street, positions
from services.poker.specific_rules import NoFlopNoDrop, Showdown, SpecificRules

_PREFLOP, _FLOP, _RIVER = int(Street.PREFLOP), int(Street.FLOP), int(Street.RIVER)
_VOLUNTARY = frozenset({Kind.CALL, Kind.RAISE})


def settle(
    deal: Deal, street: int, held: tuple[int, ...], pot_cents: int, in_hand: int, raiser: int, moves: Sequence[Move]
) -> Result:
    """Ends a hand in the round whose betting is over; `held` is what each has left, `raiser` who raised last in it."""
    if not in_hand & (in_hand - 1):
        return _uncontested(deal, street, held, pot_cents, in_hand, raiser, moves)
    live = tuple(positions(in_hand))
    pots = layers(tuple(map(sub, deal.stacks, held)), live)
    ranks = dict(
        zip(live, deal.rules.variant.rank([deal.holes[position] for position in live], deal.board), strict=True)
    )
    payments = tuple(_payments(deal.rules, pots, ranks, any_all_in=0 in [held[position] for position in live]))
    order = _showing_order(live, raiser if street == _RIVER else live[0])
    # Where no decision was left before the last cards, everybody in the hand has shown by then.
    if deal.rules.showdown is Showdown.MUCK_LOSERS and street == _RIVER:
        order = _unbeaten(order, pots, ranks)
    return Result(pots, payments, _paid(held, payments), order)


def _uncontested(
    deal: Deal, street: int, held: tuple[int, ...], pot_cents: int, in_hand: int, raiser: int, moves: Sequence[Move]
) -> Result:
    """Ends a hand that everybody else has left: the last player gets the pot and shows nothing (36)."""
    winner = in_hand.bit_length() - 1
    is_free = _is_free_of_commission(deal, street, raiser, moves)
    charged = 0 if is_free else commission.of_payment(deal.rules, pot_cents)
    payments = (Payment(0, winner, pot_cents, charged),)
    return Result((Pot(pot_cents, (winner,)),), payments, _paid(held, payments), ())


def _is_free_of_commission(deal: Deal, street: int, raiser: int, moves: Sequence[Move]) -> bool:
    """Whether 18 exempts a hand that ended by folding in this round (A-10)."""
    if street == _FLOP:
        # Nobody bet in the round of the flop: exempt by every reading.
        return raiser < 0
    if street > _FLOP:
        return False
    match deal.rules.no_flop_no_drop:
        case NoFlopNoDrop.ANY_PREFLOP_END:
            return True
        case NoFlopNoDrop.WALK_ONLY:
            return not deal.posters and all(move.kind not in _VOLUNTARY for move in moves)
        case _:
            return False


def layers(contributions: Sequence[int], live: Sequence[int]) -> tuple[Pot, ...]:
    """Returns the pots: a layer for each amount that players in the hand have put in (A-14).

    What folded players have put in stays in the layers that it reached, and above the highest one in that.
    """
    levels = sorted({contributions[position] for position in live})
    if len(levels) == 1:
        return (Pot(sum(contributions), tuple(live)),)
    levels[-1] = max(contributions)
    pots: list[Pot] = []
    below = 0
    for level in levels:
        if level > below:
            cents = sum([min(cents, level) - below for cents in contributions if cents > below])
            pots.append(Pot(cents, tuple([position for position in live if contributions[position] > below])))
            below = level
    return tuple(pots)


def _payments(
    rules: SpecificRules, pots: Sequence[Pot], ranks: Mapping[int, int], *, any_all_in: bool
) -> list[Payment]:
    """Returns what each winner of each pot gets, by position: the first to the left of the button comes first."""
    payments: list[Payment] = []
    charged = 0
    for number, (cents, eligible) in enumerate(pots):
        winners = _winners(eligible, ranks)
        if any_all_in:
            # From each payment by itself (19).
            for position, gross_cents in zip(winners, split(cents, len(winners)), strict=True):
                taken = commission.of_payment(rules, gross_cents, charged)
                charged += taken
                payments.append(Payment(number, position, gross_cents, taken))
            continue
        # Once, before the pot is divided (17.a); each payment names its part, so that all of them are the pot.
        taken = commission.of_payment(rules, cents)
        nets, parts = split(cents - taken, len(winners)), split(taken, len(winners))
        for position, net_cents, part in zip(winners, nets, reversed(parts), strict=True):
            payments.append(Payment(number, position, net_cents + part, part))
    return payments


def _winners(eligible: Sequence[int], ranks: Mapping[int, int]) -> Sequence[int]:
    """Returns who has the best combination of those who can win a pot (27, 33)."""
    if len(eligible) == 1:
        return eligible
    best = max([ranks[position] for position in eligible])
    return [position for position in eligible if ranks[position] == best]


def split(cents: int, parts: int) -> list[int]:
    """Divides an amount into equal parts, the cents that are left over one each to the first (62, A-12)."""
    if parts == 1:
        return [cents]
    part, odd = divmod(cents, parts)
    return [part + 1] * odd + [part] * (parts - odd)


def _showing_order(live: tuple[int, ...], first: int) -> tuple[int, ...]:
    """Returns the players in the hand clockwise from the last raiser of the river, or from the button's left (59)."""
    at = live.index(first) if first in live else 0
    return (*live[at:], *live[:at])


def _unbeaten(order: Sequence[int], pots: Sequence[Pot], ranks: Mapping[int, int]) -> tuple[int, ...]:
    """Returns who has to show where losers need not: the players whom nobody before them beats in some pot (28, 59)."""
    shown: list[int] = []
    for position in order:
        for pot in pots:
            if position not in pot.positions:
                continue
            if all(ranks[other] <= ranks[position] for other in shown if other in pot.positions):
                shown.append(position)
                break
    return tuple(shown)


def _paid(held: tuple[int, ...], payments: Sequence[Payment]) -> tuple[int, ...]:
    stacks = list(held)
    for _, position, gross_cents, commission_cents in payments:
        stacks[position] += gross_cents - commission_cents
    return tuple(stacks)

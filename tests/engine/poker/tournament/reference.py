"""What the regulation says of places, prizes and cancellations, written from its words for tests, without the engine.

Works on the bare log of a tournament, by the slow and obvious way: every entry is compared with every other one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class LoggedEntry:
    """What an entry has paid, in its parts, and with what: `cash`, `ticket` or `freeroll`."""

    number: int
    prize: int
    fee: int
    bounty: int
    means: str = "cash"
    # The prize parts and the fees of rebuys and add-ons.
    more_prize: int = 0
    more_fee: int = 0


@dataclass
class LostHand:
    """The hand in which an entry has lost all: when it ended, or its step, the stack at its beginning, the takers."""

    moment: int
    stack: int
    takers: tuple[int, ...]


@dataclass
class Log:
    """All that happened and that counts for places and money."""

    entries: dict[int, LoggedEntry] = field(default_factory=dict)
    lost: dict[int, LostHand] = field(default_factory=dict)
    # The chips of those who are left, as they were before a hand under way.
    chips: dict[int, int] = field(default_factory=dict)
    has_started: bool = False


@dataclass
class Offer:
    """What the specific rules offer."""

    payouts: list[tuple[int, tuple[int, ...]]]
    guarantee: int = 0
    ticket: int = 0
    leftover: tuple[int, ...] = (10_000,)
    stops_early: bool = False
    is_timed: bool = False
    net_of_awarded: bool = False
    freeroll_ticket_is_cash: bool = False


Paid = dict[tuple[int, str], int]


def places(log: Log, *, stopped_early: bool = False) -> dict[int, tuple[int, int]]:
    """Returns the first and the last place that each entry holds: one more than entries that are better than it."""

    def is_better(one: int, other: int) -> bool:
        if one not in log.lost or other not in log.lost:
            if one not in log.lost and other not in log.lost:
                # Both are left: more chips are better when the time is up (33).
                return not stopped_early and log.chips[one] > log.chips[other]
            return one not in log.lost
        if log.lost[one].moment != log.lost[other].moment:
            return log.lost[one].moment > log.lost[other].moment
        # Eliminated in the same hand: the larger stack at its start (50).
        return log.lost[one].stack > log.lost[other].stack

    held = {}
    for one in log.entries:
        better = sum(is_better(other, one) for other in log.entries)
        tied = sum(not is_better(other, one) and not is_better(one, other) for other in log.entries)
        held[one] = (better + 1, better + tied)
    return held


def prizes(offer: Offer, log: Log) -> list[tuple[int, int]]:
    """Returns money and ticket value of each paid place."""
    pool = max(offer.guarantee, sum(entry.prize + entry.more_prize for entry in log.entries.values()))
    field_size = len(log.entries)
    if not offer.ticket:
        row = next((row for up_to, row in offer.payouts if field_size <= up_to), offer.payouts[-1][1])
        return [(cents, 0) for cents in parts(pool, row)]
    tickets, left = divmod(pool, offer.ticket)
    if tickets > field_size:
        left += (tickets - field_size) * offer.ticket
        tickets = field_size
    won = [(0, offer.ticket) for _ in range(tickets)]
    if not left or not field_size:
        return won
    others = min(len(offer.leftover), field_size - tickets)
    if not others:
        return [(left // tickets + (at < left % tickets), offer.ticket) for at in range(tickets)]
    bps = list(offer.leftover)
    while len(bps) > others:
        bps[0] += bps.pop()
    return won + [(cents, 0) for cents in parts(left, tuple(bps))]


def parts(pool: int, bps: tuple[int, ...]) -> list[int]:
    """Returns the exact parts rounded down, and the rest cent by cent from the first on."""
    cents = [int(Fraction(pool) * part / 10_000) for part in bps]
    at = 0
    while sum(cents) < pool:
        cents[at] += 1
        at += 1
    return cents


def prize_money(offer: Offer, log: Log, held: dict[int, tuple[int, int]], *, only_lost: bool = False) -> Paid:
    """Returns the prizes by entry, money and tickets apart; those who tie divide theirs (51)."""
    table = prizes(offer, log)
    paid: Paid = {}
    for first, last in set(held.values()):
        tied = sorted(entry for entry, place in held.items() if place == (first, last))
        if only_lost and tied[0] not in log.lost:
            continue
        theirs = [table[place - 1] if place <= len(table) else (0, 0) for place in range(first, last + 1)]
        if all(ticket for _, ticket in theirs):
            for entry in tied:
                paid[entry, "ticket"] = theirs[0][1]
            money = sum(cents for cents, _ in theirs)
        else:
            money = sum(cents + ticket for cents, ticket in theirs)
        for at, entry in enumerate(tied):
            paid[entry, "cash"] = money // len(tied) + (at < money % len(tied))
    return {what: cents for what, cents in paid.items() if cents}


def bounties(log: Log) -> Paid:
    """Returns the bounties by those who took an entry's last chips, the first of them with the odd cents."""
    paid: Paid = defaultdict(int)
    for entry, lost in log.lost.items():
        bounty = log.entries[entry].bounty
        for at, taker in enumerate(lost.takers):
            paid[taker, "cash"] += bounty // len(lost.takers) + (at < bounty % len(lost.takers))
    return paid


def finished(offer: Offer, log: Log) -> Paid:
    """Returns all that is paid when a tournament is played to its end."""
    left = [entry for entry in log.entries if entry not in log.lost]
    stopped_early = offer.stops_early and len(left) > 1 and not offer.is_timed
    paid: Paid = defaultdict(int)
    add(paid, prize_money(offer, log, places(log, stopped_early=stopped_early)))
    add(paid, bounties(log))
    for entry in left:
        paid[entry, "cash"] += log.entries[entry].bounty
    return {what: cents for what, cents in paid.items() if cents}


def letter(offer: Offer, log: Log) -> str:
    """Returns which letter of 36 a cancellation follows."""
    if not log.has_started:
        return "36.a"
    left = len(log.entries) - len(log.lost)
    return "36.b" if left > len(prizes(offer, log)) else "36.c"


def cancelled(offer: Offer, log: Log) -> Paid:
    """Returns all that was paid and is paid when a tournament is cancelled."""
    paid: Paid = defaultdict(int)
    earned: Paid = {}
    if log.has_started:
        earned = prize_money(offer, log, places(log), only_lost=True)
        add(paid, earned)
        add(paid, bounties(log))
    left = [entry for number, entry in log.entries.items() if number not in log.lost]
    for entry in left:
        form = "cash"
        if entry.means == "freeroll" and not offer.freeroll_ticket_is_cash:
            form = "ticket"
        paid[entry.number, form] += entry.prize + entry.fee + entry.bounty
    if log.has_started:
        pool = sum(log.entries[number].prize for number in log.lost)
        pool += sum(entry.more_prize for entry in log.entries.values())
        if offer.net_of_awarded:
            pool = max(0, pool - sum(earned.values()))
        chips = {entry.number: log.chips[entry.number] for entry in left}
        exact = {number: Fraction(pool * held, sum(chips.values())) for number, held in chips.items()}
        cents = {number: int(share) for number, share in exact.items()}
        while sum(cents.values()) < pool:
            neediest = max(sorted(exact), key=lambda number: exact[number] - cents[number])
            cents[neediest] += 1
        for number, share in cents.items():
            paid[number, "cash"] += share
    return {what: cents for what, cents in paid.items() if cents}


def add(paid: Paid, more: Paid) -> None:
    for what, cents in more.items():
        paid[what] += cents

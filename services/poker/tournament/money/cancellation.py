"""What a cancelled tournament gives back (36 to 38), whatever its moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.poker.tournament.money.awards import Award, Form, Why
from services.poker.tournament.money.entries import Entry, EntryState, PaidBy
from services.poker.tournament.refusals import rule
from services.poker.tournament.specific_rules import CancelPolicy, FreerollTicket, TournamentRules


def paragraph_of(*, has_started: bool, players_left: int, paid_places: int) -> str:
    """Returns which letter of 36 a cancellation follows.

    A tournament that is called off before a card is dealt has not started, whatever the hour (T-A-24). The paid places
    are reached when no more players are left than there are of them (T-A-25).
    """
    if not has_started:
        return "36.a"
    return "36.c" if players_left <= paid_places else "36.b"


def cancellation_awards(
    rules: TournamentRules, paragraph: str, entries: Iterable[Entry], chips: Mapping[int, int], earned_cents: int
) -> tuple[Award, ...]:
    """Returns what is paid back.

    `chips` are those of the entries still in, as they were at the start of a hand under way, which is void (T-A-06).
    `earned_cents` are the prizes earned before: they stand, and are not in what this returns (T-A-04).
    """
    entries = tuple(entries)
    active = [entry for entry in entries if entry.is_in]
    # The players still in get the whole entry back, its fee and its bounty among it (36.a, 36.b, T-A-07).
    awards = [award for entry in active for award in _entry_back(rules, paragraph, entry)]
    if paragraph == "36.a":
        return tuple(awards)
    pool_cents = _pool_cents(entries)
    if rules.cancel_policy is CancelPolicy.NET_OF_AWARDED:
        pool_cents = max(0, pool_cents - earned_cents)
    shares = shares_by_chips(pool_cents, {entry.number: chips[entry.number] for entry in active})
    for entry in active:
        cents = shares[entry.number]
        if cents:
            # Prize money, in cash also for those who entered by ticket (T-A-03).
            awards.append(Award(entry.number, entry.player, cents, Why.SHARE_BY_CHIPS, rule(paragraph)))
    return tuple(awards)


def _pool_cents(entries: Iterable[Entry]) -> int:
    """Returns what is divided by chips: the prize parts of eliminated entries, and of everybody's rebuys and add-ons.

    Fees and bounties are not in it; the eliminated get nothing back (36.b, 38, T-A-05).
    """
    cents = 0
    for entry in entries:
        if entry.state is EntryState.OUT:
            cents += entry.price.prize_cents
        cents += sum(more.price.prize_cents for more in entry.more_chips)
    return cents


def shares_by_chips(pool_cents: int, chips: Mapping[int, int]) -> Mapping[int, int]:
    """Divides a pool in proportion to chips: rounded down, then one cent each to the largest remainders.

    Of equal remainders, the entry that was registered first comes first.
    """
    total = sum(chips.values())
    if not total:
        return dict.fromkeys(chips, 0)
    shares = {entry: pool_cents * held // total for entry, held in chips.items()}
    left = pool_cents - sum(shares.values())
    by_remainder = sorted(chips, key=lambda entry: (-(pool_cents * chips[entry] % total), entry))
    for entry in by_remainder[:left]:
        shares[entry] += 1
    return shares


def _entry_back(rules: TournamentRules, paragraph: str, entry: Entry) -> tuple[Award, ...]:
    cents = entry.price.total_cents
    if not cents:
        # Nothing was paid (T-A-26).
        return ()
    if entry.paid_by is PaidBy.CASH:
        return (Award(entry.number, entry.player, cents, Why.ENTRY_BACK, rule(paragraph)),)
    if entry.paid_by is PaidBy.FREEROLL_TICKET and rules.freeroll_ticket is FreerollTicket.NEW_TICKET:
        # Never money (30): a ticket of the same value for another tournament, which is named (32, T-A-03).
        return (
            Award(
                entry.number, entry.player, cents, Why.ENTRY_BACK, rule("37"), Form.TICKET, rules.replacement_tournament
            ),
        )
    return (Award(entry.number, entry.player, cents, Why.ENTRY_BACK, rule("37")),)

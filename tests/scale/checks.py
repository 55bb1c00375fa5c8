"""What has to hold when a tournament is over: its hands, its places and prizes, and where the money is."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from feltro.poker.v1 import tournament_pb2
from feltro.wallet.v1 import tournament_pb2 as money_pb2
from services.kit.table.chips.seam import table_id_of
from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker import tournament_hands
from services.poker.directing.course import Step
from services.poker.directing.fact_messages import read_fact
from services.poker.tournament.running.facts import HandEnded, HandVoided
from services.poker.tournament.running.orders import StartHand
from tests.drill.checks.findings import Check
from tests.engine.poker.tournament import reference
from tests.engine.poker.tournament.results import verify
from tests.engine.poker.tournament.simulated import Simulation
from tests.processes import ledger_audit
from tests.processes.wallet import WalletClient
from tests.scale.journal import DealtHand

CONCURRENT_READS = 32


def check_places(simulate: Callable[[], Simulation]) -> tuple[Check, Simulation | None]:
    """Holds places, prizes and bounties against the reference; `simulate` replays the facts, each verified."""
    check = Check("places, prizes and bounties are those of the reference", "G10", unit="facts")
    try:
        played = simulate()
        check.looked_at = len(played.events)
        check.note = verify(played)
    except AssertionError as differs:
        check.violate(f"not as the reference says: {str(differs)[:2_000]}")
        return check, None
    return check, played


def check_hands(
    tournament_id: str, steps: Sequence[Step], facts: Sequence[JournalledFact], dealt: Sequence[DealtHand]
) -> Check:
    """Holds the hands that tables have dealt against those that facts have ordered and taken: none lost, none twice."""
    check = Check("every hand was dealt once, and counts once", "G3, G4, G6", unit="hands")
    ordered = {
        order.hand.number: (table_id_of(tournament_id, order.table), order.hand)
        for step in steps
        for order in step.orders
        if isinstance(order, StartHand)
    }
    ended: Counter[int] = Counter()
    by_fact = {}
    for journalled in facts:
        fact, _ = read_fact(journalled.fact)
        if isinstance(fact, HandEnded | HandVoided):
            ended[fact.number] += 1
            by_fact[fact.number] = fact
    times: Counter[int] = Counter(hand.number for hand in dealt)
    for number in ordered:
        if times[number] != 1 or ended[number] != 1:
            check.violate(f"hand {number} was dealt {times[number]} times, and ended {ended[number]} times")
    for number in (times.keys() | ended.keys()) - ordered.keys():
        check.violate(f"hand {number} was never ordered")
    for hand in dealt:
        check.looked_at += 1
        if hand.number in ordered and hand.number in by_fact:
            table_id, order = ordered[hand.number]
            stacks = dict(zip(order.positions.seats, order.positions.stacks, strict=True))
            if (hand.table_id, hand.chips, hand.level) != (table_id, stacks, order.level):
                check.violate(f"{hand.round_id} was not dealt as hand {hand.number} was ordered")
            _compare_end(check, hand, by_fact[hand.number])
    void = sum(isinstance(fact, HandVoided) for fact in by_fact.values())
    check.note = f"{void} void"
    return check


def _compare_end(check: Check, hand: DealtHand, fact: HandEnded | HandVoided) -> None:
    if not hand.has_ended:
        check.violate(f"{hand.round_id} has no end in the journal of its table")
    elif hand.outcome is None or isinstance(fact, HandVoided):
        if hand.outcome is not None or isinstance(fact, HandEnded):
            check.violate(f"{hand.round_id} is void for its table or for its tournament alone")
    elif tournament_hands.hand_ended(fact.table, hand.number, hand.outcome) != fact:
        check.violate(f"{hand.round_id} ended otherwise at its table than for the tournament")
    elif sum(fact.chips.values()) != sum(hand.chips.values()):
        check.violate(f"{hand.round_id} makes chips, or loses some")


def expected_cents(played: Simulation) -> Mapping[str, int]:
    """Returns what each player has gained or lost by the reference: a price that was given back moves nothing."""
    moved: defaultdict[str, int] = defaultdict(int)
    for number, logged in played.log.entries.items():
        player = played.state.entries[number].player
        moved[player] -= logged.prize + logged.fee + logged.bounty + logged.more_prize + logged.more_fee
    for (number, _), cents in reference.finished(played.offer(), played.log).items():
        moved[played.state.entries[number].player] += cents
    return moved


async def check_balances(
    wallet: WalletClient, accounts: Mapping[str, str], began_with: int, played: Simulation
) -> Check:
    """Holds every player's balance against the reference."""
    check = Check("every player has what the reference gives", "G1, G3", unit="players")
    moved, slots = expected_cents(played), asyncio.Semaphore(CONCURRENT_READS)

    async def read(player: str, account_id: str) -> None:
        async with slots:
            balance = await wallet.balance(account_id)
        check.looked_at += 1
        wanted = began_with + moved.get(player, 0)
        if (balance.free_cents, balance.locked_cents) != (wanted, 0):
            check.violate(f"{player} has {balance.free_cents} and {balance.locked_cents} locked, and not {wanted}")

    await asyncio.gather(*(read(player, account_id) for player, account_id in accounts.items()))
    return check


def check_pool(money: money_pb2.GetTournamentMoneyResponse) -> Check:
    """Asserts that a tournament is closed with nothing left in its pool."""
    check = Check("the pool is empty and the tournament closed", "G1", looked_at=1, unit="pool")
    if money.pool_cents:
        check.violate(f"{money.pool_cents} cents are left in the pool")
    if not money.HasField("closed_at"):
        check.violate("the tournament is not closed in the wallet")
    return check


def check_ranking(shown: Sequence[tournament_pb2.TournamentPlayer], played: Simulation) -> Check:
    """Holds the ranking that everybody reads against the reference."""
    check = Check("the ranking that players read is that of the reference", unit="entries")
    places = reference.places(played.log)
    for each in shown:
        if each.standing == tournament_pb2.ENTRY_STANDING_WITHDRAWN:
            continue
        check.looked_at += 1
        wanted = places.get(each.entry_no)
        if not each.rank_final or (each.rank, each.rank_to) != wanted:
            check.violate(f"entry {each.entry_no} is shown at {each.rank} to {each.rank_to}, and not at {wanted}")
    if check.looked_at != len(places):
        check.violate(f"{check.looked_at} entries are shown, and {len(places)} were played")
    return check


async def check_ledger(wallet_url: str) -> Check:
    """Audits the ledger."""
    check = Check("the audit of the ledger finds nothing", "G1 to G4", looked_at=1, unit="audit")
    for violation in await ledger_audit.violations_at(wallet_url):
        check.violate(violation)
    return check


async def money_of(wallet: WalletClient, tournament_id: str) -> money_pb2.GetTournamentMoneyResponse:
    """Reads what the ledger has of a tournament."""
    request = money_pb2.GetTournamentMoneyRequest(tournament_id=tournament_id)
    return await wallet.tournaments.GetTournamentMoney(request, metadata=wallet.bearer("operator", "op"))

"""A tournament explained from its journal: it agrees with the ledger, and whatever differs there is found (G10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import pytest

from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.poker.directing.explaining import Explanation
from services.poker.game import PokerGame
from services.poker.tournament.levels import Level
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import FreerollTicket, default_rules
from services.poker.variant import Variant
from tests.simulation.tournaments.environment import TOURNAMENT_ID, World
from tests.simulation.tournaments.test_tickets import ENTRY_CENTS, FREEROLL, SATELLITE, award

# Three entries of 10 € for prizes; the operator adds 70 € to them.
RULES = default_rules(
    Variant.HOLDEM, Price(1000, 100), seats=3, levels=(Level(50, 100, 60), Level(800, 1600, 600)),
    late_reg_until_level=0, guarantee_cents=10_000, freeroll_ticket=FreerollTicket.CASH,
)  # fmt: skip
OVERLAY_CENTS = 7_000


async def play(world: World) -> None:
    """One enters with money, two by ticket; a third ticket is given back, and a fourth is never used."""
    for table_id in (SATELLITE, FREEROLL):
        world.wallet.open_tournament(table_id)
    await world.until(1)
    won = {each: award(world, SATELLITE, each, TOURNAMENT_ID, ENTRY_CENTS) for each in ("ticket", "returns", "idle")}
    won["free"] = award(world, FREEROLL, "free", TOURNAMENT_ID, ENTRY_CENTS)
    world.deposit("money")
    for player_id in ("money", "ticket", "free", "returns"):
        await world.buy(Purchase.ENTRY, player_id, "enter", won.get(player_id, ""))
    await world.unregister("returns", "leave")


@dataclass(slots=True)
class Ledger:
    """What the ledger has of the tournament."""

    money: wallet_tournament.GetTournamentMoneyResponse
    pay_ins: list[wallet_tournament.TournamentPayIn] = field(default_factory=list)
    awards: list[wallet_tournament.TournamentAward] = field(default_factory=list)
    tickets: list[ticket_pb2.Ticket] = field(default_factory=list)

    def pay_in_with(self, *, ticket: bool) -> wallet_tournament.TournamentPayIn:
        return next(each for each in self.pay_ins if bool(each.ticket_id) is ticket)

    def prize(self) -> wallet_tournament.TournamentAward:
        prize = wallet_tournament.AWARD_REASON_PRIZE
        return next(each for each in self.awards if each.award.reason == prize)

    def ticket_in(self, state: ticket_pb2.TicketState.ValueType) -> ticket_pb2.Ticket:
        return next(each for each in self.tickets if each.state == state)


@cache
def played() -> World:
    return World(5, RULES).run(play)


def ledger_of(world: World) -> Ledger:
    """Reads the ledger; what a test changes in it changes nothing there."""
    money = wallet_tournament.GetTournamentMoneyResponse(
        pool_cents=world.wallet.pool_cents(TOURNAMENT_ID),
        # But for the four tickets, which the operator funded in other tournaments.
        overlay_cents=world.wallet.overlay_cents - 4 * ENTRY_CENTS,
        shortfall_cents=world.wallet.shortfall_cents,
    )
    money.closed_at.GetCurrentTime()
    pay_ins = wallet_tournament.ListTournamentPayInsRequest(tournament_id=TOURNAMENT_ID)
    awards = wallet_tournament.ListTournamentAwardsRequest(tournament_id=TOURNAMENT_ID)
    tickets = ticket_pb2.ListTicketsRequest(tournament_id=TOURNAMENT_ID)
    pages = world.wallet.pages
    return Ledger(
        money,
        [one for page in pages(pay_ins, wallet_tournament.ListTournamentPayInsResponse) for one in page.pay_ins],
        [one for page in pages(awards, wallet_tournament.ListTournamentAwardsResponse) for one in page.awards],
        [one for page in pages(tickets, ticket_pb2.ListTicketsResponse) for one in page.tickets],
    )


def explained(ledger: Ledger) -> Explanation:
    world = played()
    return PokerGame().explain_tournament(
        TOURNAMENT_ID, world.configuration, world.stored.facts,
        ledger.money, ledger.pay_ins, ledger.awards, ledger.tickets,
    )  # fmt: skip


@pytest.mark.guarantee("G1", "G10")
@pytest.mark.rule("810/2015:34")
def test_g10_journal_and_ledger_agree_and_every_cent_is_explained() -> None:
    ledger = ledger_of(played())
    explanation = explained(ledger)

    assert explanation.differences == []
    added = [line for line in explanation.lines if "adds" in line]
    assert added == [f"  the operator adds {OVERLAY_CENTS} cents to the guaranteed prizes"]
    assert "pool: 0 cents" in explanation.lines
    assert sum("pays" in line and "prize" in line for line in explanation.lines) >= 1
    states = sorted(ticket_pb2.TicketState.Name(each.state) for each in ledger.tickets)
    expired, used = "TICKET_STATE_EXPIRED", "TICKET_STATE_USED"
    assert states == [expired, expired, used, used], "the one that was given back lapses as the one never used"


def _no_prize(ledger: Ledger) -> None:
    ledger.awards.remove(ledger.prize())


def _larger_prize(ledger: Ledger) -> None:
    ledger.prize().award.amount_cents += 1


def _unknown_award(ledger: Ledger) -> None:
    ledger.awards.append(wallet_tournament.TournamentAward(request_id="by-hand", award=ledger.prize().award))


def _larger_fee(ledger: Ledger) -> None:
    ledger.pay_in_with(ticket=False).fee_cents += 1


def _other_account(ledger: Ledger) -> None:
    ledger.pay_in_with(ticket=False).account_id = "somebody"


def _lost_pay_in(ledger: Ledger) -> None:
    ledger.pay_ins.remove(ledger.pay_in_with(ticket=False))


def _unknown_pay_in(ledger: Ledger) -> None:
    ledger.pay_ins.append(wallet_tournament.TournamentPayIn(request_id="by-hand", prize_cents=1000, fee_cents=100))


def _money_for_a_ticket(ledger: Ledger) -> None:
    ledger.pay_in_with(ticket=True).ticket_id = ""


def _cents_left_in_the_pool(ledger: Ledger) -> None:
    ledger.money.pool_cents = 1


def _less_of_the_operator(ledger: Ledger) -> None:
    ledger.money.overlay_cents -= 1


def _a_shortfall(ledger: Ledger) -> None:
    ledger.money.shortfall_cents = 5


def _ticket_not_used(ledger: Ledger) -> None:
    ledger.ticket_in(ticket_pb2.TICKET_STATE_USED).state = ticket_pb2.TICKET_STATE_EXPIRED


def _lapsed_ticket_used(ledger: Ledger) -> None:
    ledger.ticket_in(ticket_pb2.TICKET_STATE_EXPIRED).state = ticket_pb2.TICKET_STATE_USED


def _lost_ticket(ledger: Ledger) -> None:
    ledger.tickets.remove(ledger.ticket_in(ticket_pb2.TICKET_STATE_USED))


@pytest.mark.guarantee("G1", "G10")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_no_prize, "and the ledger []"),
        (_larger_prize, "the journal pays"),
        (_unknown_award, "by-hand: the ledger has paid"),
        (_larger_fee, "the journal has (1000, 100, 0) paid in, and the ledger (1000, 101, 0)"),
        (_other_account, "the journal has (1000, 100, 0) paid in, and the ledger (1000, 100, 0)"),
        (_lost_pay_in, "the journal has (1000, 100, 0) paid in, and the ledger None"),
        (_unknown_pay_in, "by-hand: the ledger has it paid in, and no fact says so"),
        (_money_for_a_ticket, "the ledger with money"),
        (_cents_left_in_the_pool, "the pool is 0 cents by the journal, and 1 by the ledger"),
        (_less_of_the_operator, "the overlay is 7000 cents by the journal, and 6999 by the ledger"),
        (_a_shortfall, "the shortfall is 0 cents by the journal, and 5 by the ledger"),
        (_ticket_not_used, "by the journal it is TICKET_STATE_USED, and by the ledger TICKET_STATE_EXPIRED"),
        (_lapsed_ticket_used, "and by the ledger TICKET_STATE_USED"),
        (_lost_ticket, "the journal has it used, and the ledger has no such ticket"),
    ],
)
def test_g10_what_the_ledger_has_otherwise_is_found(change: Callable[[Ledger], None], found: str) -> None:
    ledger = ledger_of(played())
    change(ledger)
    explanation = explained(ledger)

    (difference,) = explanation.differences
    assert found in difference
    assert f"  DIFFERS: {difference}" in explanation.lines


def test_tickets_to_a_tournament_that_is_not_closed_are_as_the_journal_has_left_them() -> None:
    ledger = ledger_of(played())
    ledger.money.ClearField("closed_at")
    explanation = explained(ledger)

    wanted = {difference.partition(" by the journal ")[2] for difference in explanation.differences}
    assert wanted == {
        "it is TICKET_STATE_ISSUED, and by the ledger TICKET_STATE_EXPIRED",
        "it is TICKET_STATE_RETURNED, and by the ledger TICKET_STATE_EXPIRED",
    }

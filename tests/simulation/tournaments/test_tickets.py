"""A director dies before and after every kind of step that has to do with tickets: who has what stays the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache

import pytest

from feltro.poker.v1 import tournament_pb2
from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.poker.directing.explaining_tickets import explain_tickets
from services.poker.tournament.levels import Level
from services.poker.tournament.money.awards import Why
from services.poker.tournament.money.entries import EntryState, Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import Approval, TicketPrize, default_rules
from services.poker.variant import Variant
from services.wallet.model.state import Mode, TicketState
from tests.simulation.tournaments.environment import TOURNAMENT_ID, Fault, World

SEED = 11
PARTS = 4
# The tournament is both: a satellite to "monday", and entered by tickets that were won in "saturday" and a freeroll.
SATELLITE, FREEROLL, TARGET = "saturday", "friday", "monday"
ENTRY_CENTS, TICKET_CENTS = 1_100, 2_000
RULES = default_rules(
    Variant.HOLDEM,
    Price(1000, 100),
    seats=3,
    levels=(Level(50, 100, 60), Level(200, 400, 60), Level(800, 1600, 600)),
    late_reg_until_level=1,
    satellite=TicketPrize(TARGET, TICKET_CENTS),
    satellite_stops_early=True,
    approvals=frozenset({Approval.SATELLITE_EARLY_STOP}),
    replacement_tournament=TARGET,
)
Script = Callable[[World], Awaitable[None]]


def award(world: World, satellite: str, player_id: str, target: str, cents: int) -> str:
    """Has a player win a ticket in another tournament, and returns its id; of a freeroll, the operator funds it."""
    account = world.wallet.open_account(player_id, Mode.REAL)
    prize = wallet_tournament.TicketPrize(tournament_id=target, from_freeroll=satellite == FREEROLL)
    request = wallet_tournament.PayOutRequest(
        request_id=f"{satellite}:{target}:{player_id}",
        tournament=wallet_types.TableRef(table_id=satellite, epoch=1),
        awards=[
            wallet_tournament.Award(
                account_id=account.account_id,
                reason=wallet_tournament.AWARD_REASON_PRIZE,
                amount_cents=cents,
                ticket=prize,
            )
        ],
        overlay_cents=cents,
    )
    answer = world.wallet.handle("PayOut", request.SerializeToString())
    return wallet_tournament.PayOutResponse.FromString(answer).tickets[0].ticket_id


async def enters(world: World) -> None:
    """Some enter by ticket, one of them takes it back and enters again; some have a ticket and do not use it."""
    for table_id in (SATELLITE, FREEROLL, TARGET):
        world.wallet.open_tournament(table_id)
    await world.until(1)
    won = {each: award(world, SATELLITE, each, TOURNAMENT_ID, ENTRY_CENTS) for each in ("p1", "p2", "idle", "late")}
    free = {each: award(world, FREEROLL, each, TOURNAMENT_ID, ENTRY_CENTS) for each in ("p3", "free-idle")}
    # Who has won an entry there before is paid in money for another one (29).
    for player_id in ("p1", "p3", "p5"):
        award(world, SATELLITE, player_id, TARGET, TICKET_CENTS)
    for number in range(1, 8):
        player_id = f"p{number}"
        world.deposit(player_id)
        await world.until(1 + number)
        ticket_id = won.get(player_id, "") or free.get(player_id, "")
        await world.buy(Purchase.ENTRY, player_id, "enter", ticket_id)
    await world.until(20)
    await world.unregister("p2", "leave")
    await world.until(22)
    await world.buy(Purchase.ENTRY, "p2", "again", won["p2"])
    # A ticket is used once, and by its own player.
    for player_id in ("p1", "late"):
        refused = await world.buy(Purchase.ENTRY, player_id, "used", won["p2"])
        assert getattr(refused, "reason", "") in {"ALREADY_REGISTERED", "TICKET_NOT_TRANSFERABLE"}
    await world.until(70)
    world.deposit("late")
    await world.buy(Purchase.ENTRY, "late", "enter", won["late"])


async def is_cancelled_before(world: World) -> None:
    await enters_until(world, 40)


async def is_cancelled_in_play(world: World) -> None:
    await enters_until(world, 90.3)


async def enters_until(world: World, seconds: float) -> None:
    playing = asyncio.get_running_loop().create_task(_ignoring(enters(world)))
    await world.until(seconds)
    await world.ask(lambda director: director.cancel("the hall is on fire"))
    await playing


async def _ignoring(work: Awaitable[None]) -> None:
    await work


SCRIPTS: dict[str, Script] = {
    "plays out": enters,
    "is cancelled before": is_cancelled_before,
    "is cancelled in play": is_cancelled_in_play,
}


def tickets(world: World) -> list[tuple[str, str, int, str]]:
    """Returns who has which ticket to what, and how it stands."""
    book = world.wallet.book
    return sorted(
        (
            book.accounts[each.account_no].account_id,
            book.tables[each.table_no].table_id,
            each.value_cents,
            each.state.name,
        )
        for each in book.tickets.values()
    )


def result_of(world: World) -> dict[str, object]:
    """Returns what must not depend on who directed when."""
    course = world.course()
    return {
        "tickets": tickets(world),
        "places": course.state.places,
        "phase": course.state.phase,
        "paid": course.books.paid,
        "balances": {entry.player: world.wallet.balance_cents(entry.player) for entry in course.state.entries.values()},
        "pool": world.wallet.pool_cents(TOURNAMENT_ID),
        "open": world.wallet.tickets_cents(TOURNAMENT_ID),
        "closed": world.wallet.tables[TOURNAMENT_ID].closed,
        "overlay": world.wallet.overlay_cents,
    }


def verify_explained(world: World) -> None:
    """The journal explains how every ticket to the tournament ended (G10)."""
    request = ticket_pb2.ListTicketsRequest(tournament_id=TOURNAMENT_ID)
    pages = world.wallet.pages(request, ticket_pb2.ListTicketsResponse)
    listed = [ticket for page in pages for ticket in page.tickets]
    assert len(listed) == 6
    lines, differences = explain_tickets(world.course(), world.steps(), listed, is_closed=True)
    assert len(lines) == len(listed)
    assert differences == []


@cache
def undisturbed(name: str) -> World:
    world = World(SEED, RULES).run(SCRIPTS[name])
    verify_explained(world)
    return world


def faults(name: str) -> list[Fault]:
    """The first and the last moment of each kind in the undisturbed run."""
    return [
        Fault(kind, count) for kind, most in sorted(undisturbed(name).moments.items()) for count in sorted({1, most})
    ]


@pytest.mark.guarantee("G1", "G3", "G5", "G8", "G10")
@pytest.mark.rule("810/2015:28", "810/2015:30", "810/2015:37")
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_scenario_9_whenever_the_director_dies_everybody_has_the_same_tickets(name: str, part: int) -> None:
    expected = result_of(undisturbed(name))
    assert (expected["pool"], expected["open"], expected["closed"]) == (0, 0, True)
    differing = []
    for fault in faults(name)[part::PARTS]:
        world = World(SEED, RULES, fault).run(SCRIPTS[name])
        assert world.takeovers == 1, fault
        verify_explained(world)
        found = result_of(world)
        if found != expected:
            differing.append((fault, [key for key in expected if found[key] != expected[key]]))
    assert not differing


def states(world: World, target: str) -> dict[str, list[TicketState]]:
    """Returns the states of each player's tickets to a tournament."""
    found: dict[str, list[TicketState]] = {}
    players = {world.wallet.open_account(each, Mode.REAL).no: each for each in PLAYERS}
    for each in world.wallet.tickets_to(target):
        found.setdefault(players[each.account_no], []).append(each.state)
    return found


PLAYERS = (*(f"p{number}" for number in range(1, 8)), "idle", "free-idle", "late")
USED, EXPIRED, REIMBURSED, REPLACED = (
    TicketState.USED,
    TicketState.EXPIRED,
    TicketState.REIMBURSED,
    TicketState.REPLACED,
)


@pytest.mark.rule("810/2015:29", "810/2015:30", "810/2015:37")
def test_the_scripts_contain_every_kind_of_step_and_end_of_a_ticket() -> None:
    """Otherwise nothing would be proved about them."""
    played, before, during = (undisturbed(name) for name in SCRIPTS)
    kinds = {kind for each in (played, before, during) for kind in each.moments}
    for wanted in (
        "pay_in by ticket",
        "pay_out of tickets",
        "pay_out TICKET_REFUND_RETURN",
        "pay_out TICKET_REFUND_CASH TICKET_REFUND_REPLACE",
        "settle_tickets",
        "close_tournament",
    ):
        assert {f"before {wanted}", f"after {wanted}"} <= kinds, wanted
    assert states(played, TOURNAMENT_ID) == {
        **{each: [USED] for each in ("p1", "p2", "p3", "late")},
        **{each: [EXPIRED] for each in ("idle", "free-idle")},
    }
    ends = {state for each in states(played, TARGET).values() for state in each[1:]}
    assert ends <= {TicketState.CONVERTED}, "a second won entry is money"
    assert sum(map(len, states(played, TARGET).values())) == 3 + 4
    for world in (before, during):
        ended = states(world, TOURNAMENT_ID)
        entries = world.course().state.entries.values()
        out = {each.player for each in entries if each.ticket and each.state is EntryState.OUT}
        for player_id, end in (("p1", REIMBURSED), ("p2", REIMBURSED), ("p3", REPLACED)):
            # The eliminated get nothing back, whatever they have entered with (38).
            assert ended[player_id] == [USED if player_id in out else end]
        assert (ended["idle"], ended["free-idle"]) == ([REIMBURSED], [REPLACED])
        assert "free-idle" in states(world, TARGET)
    assert during.course().ending is not None
    assert any(each.state is EntryState.OUT for each in during.course().state.entries.values())


def test_players_are_told_of_tickets_and_of_the_money_for_a_second_one() -> None:
    told: dict[str, set[str]] = {}
    for each in undisturbed("plays out").notices:
        notice = tournament_pb2.OwnTournamentNotice()
        each.notice.Unpack(notice)
        event = tournament_pb2.OwnTournamentEvent.Name(notice.event).removeprefix("OWN_TOURNAMENT_EVENT_")
        if notice.ticket_tournament_id:
            assert (notice.ticket_tournament_id, notice.amount_cents) in {
                (TARGET, TICKET_CENTS),
                (TOURNAMENT_ID, ENTRY_CENTS),
            }
            told.setdefault(event, set()).add(each.player_id)
    won = undisturbed("plays out").course().books.paid_tickets
    entries = undisturbed("plays out").course().state.entries
    winners = {entries[entry].player for entry, why in won if why is Why.PRIZE}
    # These have won an entry to the same tournament before.
    had_one = {"p1", "p3", "p5"}
    assert told["TICKET_RETURNED"] == {"p2"}
    assert told["TICKET_ISSUED"] == winners - had_one
    assert told.get("PAID", set()) == winners & had_one
    assert winners & had_one, "one of them wins another"

"""Tickets at the real services: satellites, entries by ticket, and what becomes of tickets at the end."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from feltro.poker.v1 import tournament_pb2, tournament_rules_pb2
from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.databases import connect_asyncpg
from tests.processes.wallet import refusal_facts
from tests.service.poker_tournament.platform import MONEY_CENTS, TournamentDriver, rules, scheduled
from tests.service.poker_tournament.test_tournaments import refused, replay

# The entry of the tournament that tickets are for, as in T-15 and T-19: 109 €.
TARGET_PRICE = tournament_rules_pb2.TournamentPrice(prize_cents=10_000, fee_cents=900)
VALUE = 10_900
ISSUED, USED, RETURNED, CONVERTED, REIMBURSED, REPLACED, EXPIRED = (
    ticket_pb2.TICKET_STATE_ISSUED,
    ticket_pb2.TICKET_STATE_USED,
    ticket_pb2.TICKET_STATE_RETURNED,
    ticket_pb2.TICKET_STATE_CONVERTED,
    ticket_pb2.TICKET_STATE_REIMBURSED,
    ticket_pb2.TICKET_STATE_REPLACED,
    ticket_pb2.TICKET_STATE_EXPIRED,
)


async def target_of(
    driver: TournamentDriver,
    freeroll_ticket: tournament_rules_pb2.FreerollTicket.ValueType = (tournament_rules_pb2.FREEROLL_TICKET_UNSPECIFIED),
) -> str:
    return await driver.create(scheduled(36_000_000, price=TARGET_PRICE, freeroll_ticket=freeroll_ticket))


def satellite(target: str, *, value_cents: int = VALUE, **chosen: object) -> tournament_rules_pb2.TournamentRules:
    """Rules of a satellite for two that pays for two tickets: with the early stop it ends as soon as it begins."""
    usual: dict[str, object] = {
        "price": tournament_rules_pb2.TournamentPrice(prize_cents=value_cents),
        "satellite": tournament_rules_pb2.SatellitePrize(tournament_id=target, value_cents=value_cents),
        "satellite_stops_early": True,
        "approvals": [tournament_rules_pb2.TOURNAMENT_APPROVAL_SATELLITE_EARLY_STOP],
    }
    return rules(**{**usual, **chosen})


def freeroll(target: str, *, value_cents: int = VALUE) -> tournament_rules_pb2.TournamentRules:
    """The same for nothing: the operator funds the tickets."""
    free = tournament_rules_pb2.TournamentPrice()
    return satellite(target, value_cents=value_cents, price=free, guarantee_cents=2 * value_cents)


async def win(driver: TournamentDriver, made: tournament_rules_pb2.TournamentRules, *players: str) -> str:
    """Has players win a ticket each."""
    tournament = await driver.create(made)
    for player in players:
        await driver.register(tournament, player)
    await driver.until_over(tournament)
    return tournament


async def states(driver: TournamentDriver, player: str, target: str) -> list[ticket_pb2.TicketState.ValueType]:
    return [each.state for each in await driver.tickets(player, target)]


@pytest.mark.rule("810/2015:32", "810/2015:52", "810/2015:53")
@pytest.mark.guarantee("G1", "G10")
async def test_t_15_a_satellite_stops_when_as_many_are_left_as_its_pool_pays_tickets_for(
    driver: TournamentDriver,
) -> None:
    target = await target_of(driver)
    # The pool of T-15, of 315 €, from three entries.
    price = tournament_rules_pb2.TournamentPrice(prize_cents=10_500)
    tournament = await driver.create(satellite(target, price=price, seats=3, max_players=3))
    shown = (await driver.tournament(tournament)).tournament.configuration.rules
    assert (shown.satellite.tournament_id, list(shown.satellite.leftover_bps)) == (target, [10_000])
    players = [await driver.new_player() for _ in range(3)]
    for player in players:
        await driver.register(tournament, player)
    over = await driver.until_over(tournament)
    assert (over.prizes.tickets, list(over.prizes.places_cents)) == (2, [0, 0, 9_700])
    *winners, third = await driver.players(tournament)
    assert [(each.rank, each.rank_to, each.prize_cents, each.prize_ticket_cents) for each in winners] == [
        (1, 2, 0, VALUE)
    ] * 2, "whatever their chips"
    assert (third.rank, third.prize_cents, third.prize_ticket_cents) == (3, 9_700, 0)
    assert await driver.balance(third.player_id) == MONEY_CENTS - 10_500 + 9_700
    for each in winners:
        assert await driver.balance(each.player_id) == MONEY_CENTS - 10_500
        (ticket,) = await driver.tickets(each.player_id, target)
        assert (ticket.state, ticket.value_cents, ticket.from_freeroll) == (ISSUED, VALUE, False)
        assert ticket.awarded_by_tournament_id == tournament
    report = await driver.report(tournament)
    assert (report.tickets_awarded, report.tickets_awarded_cents, report.prizes_paid_cents) == (2, 2 * VALUE, 9_700)
    assert (report.pool_cents, (await driver.pool(tournament)).pool_cents) == (0, 0)
    explained = await replay(driver, tournament)
    assert (
        f"gives a ticket of {VALUE} cents for {target} to {winners[0].player_id}: prize for place 1.º–2.º" in explained
    )
    await driver.cancel(target, "the end of the test")


@pytest.mark.rule("810/2015:25", "810/2015:28", "810/2015:29", "810/2015:30")
@pytest.mark.guarantee("G3")
async def test_t_19_a_second_ticket_is_money_but_for_one_from_a_freeroll_and_none_is_passed_on(
    driver: TournamentDriver,
) -> None:
    target = await target_of(driver, tournament_rules_pb2.FREEROLL_TICKET_CASH)
    winner, *others = [await driver.new_player() for _ in range(4)]
    await win(driver, satellite(target), winner, others[0])
    assert await states(driver, winner, target) == [ISSUED]
    balance = await driver.balance(winner)
    second = await win(driver, satellite(target), winner, others[1])
    assert await states(driver, winner, target) == [ISSUED, CONVERTED]
    assert await driver.balance(winner) == balance - VALUE + VALUE, "the second one is credited at once"
    await win(driver, freeroll(target), winner, others[2])
    assert await states(driver, winner, target) == [ISSUED, CONVERTED, ISSUED]
    assert await driver.balance(winner) == balance
    own = (await driver.tournament(target, winner)).own
    assert not own.HasField("entry")
    assert [(each.value_cents, each.from_freeroll) for each in own.tickets] == [(VALUE, False), (VALUE, True)]
    ticket = own.tickets[0].ticket_id
    assert await refused(driver.register(target, others[0], ticket_id=ticket)) == "TICKET_NOT_TRANSFERABLE"
    assert await refused(driver.register(target, winner, ticket_id="none")) == "TICKET_UNKNOWN"

    entered = await driver.register(target, winner, "enter", ticket_id=ticket)
    assert entered.entry.by_ticket
    assert await driver.register(target, winner, "enter", ticket_id=ticket) == entered
    assert await refused(driver.register(target, winner, "enter")) == "REQUEST_REUSED", "money is another command"
    assert await driver.balance(winner) == balance
    money = await driver.pool(target)
    assert (money.pool_cents, money.paid_in[0].ticket_count, money.paid_in[0].fee_cents) == (10_000, 1, 900)
    # Taken back, it is the ticket that comes back.
    left = await driver.unregister(target, winner)
    assert (left.entry.standing, left.entry.by_ticket) == (tournament_pb2.ENTRY_STANDING_WITHDRAWN, True)
    assert await driver.balance(winner) == balance
    assert await states(driver, winner, target) == [RETURNED, CONVERTED, ISSUED]
    await driver.register(target, winner, ticket_id=ticket)
    assert await refused(driver.register(target, others[0], ticket_id=ticket)) == "TICKET_NOT_TRANSFERABLE"
    await driver.cancel(target, "the end of the test")
    await driver.until_closed(target)
    explained = await replay(driver, target)
    assert f"ticket {ticket}" in explained
    assert "CONVERTED" in await replay(driver, second)


@pytest.mark.rule("810/2015:30", "810/2015:32", "810/2015:36.a", "810/2015:37")
@pytest.mark.guarantee("G1")
async def test_t_06_a_cancelled_tournament_pays_won_entries_in_money_and_replaces_those_from_freerolls(
    driver: TournamentDriver,
) -> None:
    later = await driver.create(scheduled(72_000_000))
    # The price of T-06: 10 € and 1 €.
    target = await driver.create(scheduled(36_000_000, replacement_tournament_id=later))
    won, unused, free, free_unused = [await driver.new_player() for _ in range(4)]
    await win(driver, satellite(target, value_cents=1_100), won, unused)
    await win(driver, freeroll(target, value_cents=1_100), free, free_unused)
    for player in (won, free):
        (ticket,) = await driver.tickets(player, target)
        await driver.register(target, player, ticket_id=ticket.ticket_id)
    cancelled = await driver.cancel(target, "a storm")
    assert cancelled.cancelled_rule == "810/2015:36.a"
    await driver.until_closed(target)
    for player in (won, unused):
        assert await driver.balance(player) == MONEY_CENTS - 1_100 + 1_100
        assert await states(driver, player, target) == [REIMBURSED]
    for player in (free, free_unused):
        assert await driver.balance(player) == MONEY_CENTS
        assert await states(driver, player, target) == [REPLACED]
        (new,) = await driver.tickets(player, later)
        assert (new.state, new.value_cents, new.from_freeroll) == (ISSUED, 1_100, True)
    report = await driver.report(target)
    assert (report.refunded_cents, report.tickets_returned_cents) == (2_200, 1_100)
    await replay(driver, target)
    await driver.cancel(later, "the end of the test")
    await driver.until_closed(later)
    # No other tournament is named there: what is not used lapses, and is never money (30).
    for player in (free, free_unused):
        assert await states(driver, player, later) == [EXPIRED]
        assert await driver.balance(player) == MONEY_CENTS


@pytest.mark.rule("810/2015:30", "810/2015:37")
async def test_a_ticket_that_nobody_uses_lapses_with_the_event(driver: TournamentDriver) -> None:
    target = await driver.create(scheduled(3_600, after=await driver.now()))
    entering, idle, *others = [await driver.new_player() for _ in range(3)]
    await win(driver, satellite(target, value_cents=1_100), entering, idle)
    (ticket,) = await driver.tickets(entering, target)
    await driver.register(target, entering, ticket_id=ticket.ticket_id)
    await driver.register(target, others[0])
    await driver.poker.advance_tables(3_700)
    assert (await driver.until_over(target)).phase == tournament_pb2.TOURNAMENT_PHASE_FINISHED
    assert await states(driver, entering, target) == [USED]
    assert await states(driver, idle, target) == [EXPIRED]
    assert await driver.balance(idle) == MONEY_CENTS - 1_100
    assert "has lapsed" in await replay(driver, target)
    # What a satellite awards to it afterwards is money at once, and entering the satellite was possible before.
    late = await driver.new_player()
    made = satellite(target, value_cents=1_100)
    assert await refused(driver.create(made)) == "RULE_VIOLATED"
    assert await driver.balance(late) == MONEY_CENTS


@pytest.mark.rule("810/2015:32", "810/2015:52")
async def test_a_satellite_names_a_later_tournament_of_its_mode_at_its_price(driver: TournamentDriver) -> None:
    target = await target_of(driver)
    cheap = await driver.create(scheduled(36_000_000))
    sit_and_go = await driver.create(rules())
    demo = await driver.create(scheduled(36_000_000, price=TARGET_PRICE), mode=wallet_types.MODE_DEMO)
    freeroll_refused = freeroll(target)
    unapproved = satellite(target, approvals=[])
    later = scheduled(
        40_000_000, satellite=tournament_rules_pb2.SatellitePrize(tournament_id=target, value_cents=VALUE)
    )  # fmt: skip
    for made, field, rule in (
        (satellite("nowhere"), "satellite.tournament_id", "32"),
        (satellite(sit_and_go), "satellite.tournament_id", "32"),
        (satellite(demo), "satellite.tournament_id", "32"),
        (satellite(cheap), "satellite.value_cents", "32"),
        (later, "satellite.tournament_id", "32"),
        (freeroll_refused, "satellite.tournament_id", "37"),
        (unapproved, "satellite_stops_early", "52"),
        (scheduled(1_000, replacement_tournament_id=target), "replacement_tournament_id", "37"),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await driver.create(made)
        reason, facts = refusal_facts(caught.value)
        wanted = ("RULE_VIOLATED", f"configuration.rules.{field}", f"810/2015:{rule}")
        assert (reason, facts["field"], facts["rule"]) == wanted, made
    # A satellite takes no entries once nobody could use its tickets.
    tournament = await driver.create(satellite(target))
    await driver.cancel(target, "the end of the test")
    await driver.until_closed(target)
    player = await driver.new_player()
    assert await refused(driver.register(tournament, player)) == "REGISTRATION_CLOSED"
    for each in (cheap, sit_and_go, demo, tournament):
        await driver.cancel(each, "the end of the test")


@pytest.mark.guarantee("G1", "G3", "G5")
@pytest.mark.rule("810/2015:32")
async def test_the_owner_is_killed_while_a_satellite_pays(driver: TournamentDriver) -> None:
    """The payment waits in the ledger when its owner dies; the next owner asks for the same, and nobody wins twice."""
    target = await target_of(driver)
    tournament = await driver.create(satellite(target))
    players = [await driver.new_player() for _ in range(2)]
    await driver.register(tournament, players[0])
    ledger = await connect_asyncpg(driver.platform.ledger_url)
    try:
        async with ledger.transaction():
            # Tickets are issued when this is over, and nothing else waits for it.
            await ledger.execute("LOCK TABLE tickets IN EXCLUSIVE MODE")
            await driver.register(tournament, players[1])
            over = await driver.until(tournament, lambda seen: seen.HasField("ended_at"))
            assert over.phase == tournament_pb2.TOURNAMENT_PHASE_FINISHED
            driver.platform.poker.kill()
    finally:
        await ledger.close()
    driver.platform.poker.start()
    await driver.platform.poker.ready()
    await driver.until_closed(tournament)
    for player in players:
        async with asyncio.timeout(60):
            while await states(driver, player, target) != [ISSUED]:
                await asyncio.sleep(0.02)
        assert await driver.balance(player) == MONEY_CENTS - VALUE
    money = await driver.pool(tournament)
    assert [(each.count, each.ticket_count, each.amount_cents) for each in money.awarded] == [(2, 2, 2 * VALUE)]
    await replay(driver, tournament)
    await driver.cancel(target, "the end of the test")

"""Tournaments at the real services: what players pay and get, and who may do what when."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import grpc
import pytest

from feltro.poker.v1 import tournament_pb2, tournament_rules_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from tests.processes.wallet import refusal_facts, refusal_reason
from tests.service.poker_tournament.platform import MONEY_CENTS, TournamentDriver, rules, scheduled

ENTRY_CENTS = 1_100
REGISTERING, FINISHED, CANCELLED = (
    tournament_pb2.TOURNAMENT_PHASE_REGISTERING,
    tournament_pb2.TOURNAMENT_PHASE_FINISHED,
    tournament_pb2.TOURNAMENT_PHASE_CANCELLED,
)


async def refused(call: object) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return refusal_reason(caught.value)


@pytest.mark.rule("810/2015:33", "810/2015:41", "810/2015:44", "810/2015:52", "810/2015:54")
@pytest.mark.guarantee("G1", "G3", "G10")
async def test_a_sit_and_go_is_played_and_paid(driver: TournamentDriver) -> None:
    tournament = await driver.create(rules())
    players = [await driver.new_player() for _ in range(2)]
    first = await driver.register(tournament, players[0], "enter")
    assert (await driver.register(tournament, players[0], "enter")) == first, "a repeat gets the first answer"
    assert await refused(driver.register(tournament, players[0], "again")) == "ALREADY_REGISTERED"
    assert await refused(driver.unregister(tournament, players[0], "enter")) == "REQUEST_REUSED"
    await driver.register(tournament, players[1])
    over = await driver.until_over(tournament)
    assert over.phase == FINISHED
    ranked = await driver.players(tournament)
    assert [(each.rank, each.rank_final) for each in ranked] == [(1, True), (2, True)]
    assert [each.player_id for each in ranked] == sorted(players, key=lambda each: each != ranked[0].player_id)
    paid = ranked[0].prize_cents
    assert paid == 2_000
    assert await driver.balance(ranked[0].player_id) == MONEY_CENTS - ENTRY_CENTS + paid
    assert await driver.balance(ranked[1].player_id) == MONEY_CENTS - ENTRY_CENTS
    report = await driver.report(tournament)
    assert (report.prize_cents, report.fee_cents, report.prizes_paid_cents, report.pool_cents) == (2_000, 200, 2_000, 0)
    assert report.approval_reference == "SRIJ/2026/1"
    assert await refused(driver.register(tournament, await driver.new_player())) == "TOURNAMENT_OVER"
    own = await driver.tournament(tournament, players[0])
    assert own.own.entry.own
    over_for_tables = {"tournament_id": tournament, "phase": "TOURNAMENT_PHASE_FINISHED"}
    assert await driver.refused_table(tournament) == over_for_tables
    explained = await replay(driver, tournament)
    assert f"pays 2000 cents to {ranked[0].player_id}: prize for place 1.º (810/2015:33)" in explained


@pytest.mark.rule("810/2015:21", "810/2015:22", "810/2015:24", "810/2015:25")
async def test_t_01_a_price_is_debited_at_once_and_given_back_when_the_registration_is_taken_back(
    driver: TournamentDriver,
) -> None:
    tournament = await driver.create(scheduled(36_000_000))
    player = await driver.new_player(2_500)
    await driver.register(tournament, player)
    assert await driver.balance(player) == 1_400
    own = await driver.tournament(tournament, player)
    assert own.own.can_unregister
    left = await driver.unregister(tournament, player, "leave")
    assert left.entry.standing == tournament_pb2.ENTRY_STANDING_WITHDRAWN
    assert await driver.balance(player) == 2_500
    assert (await driver.unregister(tournament, player, "leave")) == left
    assert await driver.balance(player) == 2_500
    poor = await driver.new_player(1_099)
    assert await refused(driver.register(tournament, poor)) == "INSUFFICIENT_FUNDS"
    assert await driver.balance(poor) == 1_099
    assert (await driver.pool(tournament)).pool_cents == 0
    await driver.cancel(tournament, "the end of the test")


@pytest.mark.rule("810/2015:35", "810/2015:36.a")
async def test_t_02_a_tournament_cancelled_before_its_start_gives_everything_back(driver: TournamentDriver) -> None:
    tournament = await driver.create(scheduled(36_000_000))
    players = [await driver.new_player() for _ in range(5)]
    await asyncio.gather(*(driver.register(tournament, player) for player in players))
    assert (await driver.pool(tournament)).pool_cents == 5_000
    cancelled = await driver.cancel(tournament, "a storm")
    assert (cancelled.phase, cancelled.cancelled_rule) == (CANCELLED, "810/2015:36.a")
    assert [await driver.balance(player) for player in players] == [MONEY_CENTS] * 5
    assert (await driver.pool(tournament)).pool_cents == 0
    await driver.until_closed(tournament)
    assert (await driver.cancel(tournament, "a storm")).phase == CANCELLED, "repeating it changes nothing"


@pytest.mark.rule("810/2015:35", "810/2015:36.a")
async def test_too_few_players_at_the_scheduled_hour_get_everything_back(driver: TournamentDriver) -> None:
    tournament = await driver.create(scheduled(3_600, after=await driver.now()))
    player = await driver.new_player()
    await driver.register(tournament, player)
    await driver.poker.advance_tables(3_700)
    over = await driver.until_over(tournament)
    assert (over.phase, over.cancelled_rule) == (CANCELLED, "810/2015:36.a")
    assert await driver.balance(player) == MONEY_CENTS


@pytest.mark.rule("810/2015:36.b", "810/2015:24")
async def test_cancelled_before_anybody_is_out_every_entry_goes_back(
    driver: TournamentDriver,
) -> None:
    levels = [tournament_rules_pb2.TournamentLevel(small_blind=10, big_blind=20, seconds=600)]
    tournament = await driver.create(rules(seats=3, max_players=3, starting_stack=1_500, levels=levels))
    players = [await driver.new_player() for _ in range(3)]
    for player in players:
        await driver.register(tournament, player)
    running = (await driver.tournament(tournament)).tournament
    assert (running.phase, running.players_left, running.average_chips) == (
        tournament_pb2.TOURNAMENT_PHASE_RUNNING,
        3,
        1_500,
    )
    assert await refused(driver.unregister(tournament, players[0])) == "UNREGISTERING_CLOSED"
    cancelled = await driver.cancel(tournament, "the power is gone")
    assert cancelled.cancelled_rule == "810/2015:36.b"
    # Everybody is still in: the whole entry back, and there is nothing of the eliminated to divide.
    assert [await driver.balance(player) for player in players] == [MONEY_CENTS] * 3
    assert (await driver.pool(tournament)).pool_cents == 0


@pytest.mark.rule("810/2015:23", "810/2015:34", "810/2015:46")
async def test_rules_beyond_the_regulation_are_refused_with_the_rule(driver: TournamentDriver) -> None:
    falling = [
        tournament_rules_pb2.TournamentLevel(small_blind=100, big_blind=200, seconds=60),
        tournament_rules_pb2.TournamentLevel(small_blind=50, big_blind=100, seconds=60),
    ]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await driver.create(rules(levels=falling, starting_stack=1_000))
    reason, facts = refusal_facts(caught.value)
    assert (reason, facts["rule"], facts["field"]) == ("RULE_VIOLATED", "810/2015:46", "configuration.rules.levels")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await driver.create(rules(), approval=" ")
    assert refusal_facts(caught.value)[1]["rule"] == "810/2015:34"
    assert await refused(driver.create(rules(price=tournament_rules_pb2.TournamentPrice(fee_cents=100)))) == "INVALID"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await driver.tournaments.GetTournament(
            tournament_pb2.GetTournamentRequest(tournament_id="nowhere"), metadata=driver.operator
        )
    assert refusal_reason(caught.value) == "TOURNAMENT_UNKNOWN"


@pytest.mark.rule("810/2015:34")
async def test_what_players_register_for_never_changes(driver: TournamentDriver) -> None:
    tournament = await driver.create(scheduled(36_000_000))
    assert await refused(driver.create(scheduled(40_000_000), tournament_id=tournament)) == "INVALID"
    listed = await driver.tournaments.ListTournaments(
        tournament_pb2.ListTournamentsRequest(phase=REGISTERING), metadata=driver.operator
    )
    assert tournament in {each.tournament_id for each in listed.tournaments}
    await driver.cancel(tournament, "the end of the test")


async def test_a_demonstration_needs_no_money(driver: TournamentDriver) -> None:
    tournament = await driver.create(rules(), mode=wallet_types.MODE_DEMO)
    for name in ("guest_a", "guest_b"):
        await driver.register(tournament, f"{name}_{os.getpid()}")
    assert (await driver.until_over(tournament)).phase == FINISHED


@pytest.mark.guarantee("G3", "G4", "G8")
async def test_the_owner_is_killed_between_registration_and_the_end(driver: TournamentDriver) -> None:
    """Registrations, the hand under way and the payment go on at the next process; nothing is paid twice."""
    earlier = await driver.create(scheduled(36_000_000))
    await driver.cancel(earlier, "another one is played")
    await driver.until_closed(earlier)
    levels = [tournament_rules_pb2.TournamentLevel(small_blind=100, big_blind=100, seconds=600)]
    tournament = await driver.create(rules(seats=2, max_players=2, levels=levels, starting_stack=100))
    players = [await driver.new_player() for _ in range(2)]
    await driver.register(tournament, players[0], "enter")
    await driver.platform.kill_and_start_again()
    # A process that has never run it says so, too: nobody looks for its owner.
    phase = "TOURNAMENT_PHASE_CANCELLED"
    assert await driver.refused_table(earlier) == {"tournament_id": earlier, "phase": phase}
    entered = await driver.register(tournament, players[0], "enter")
    assert entered.entry.entry_no == 1
    assert await driver.balance(players[0]) == MONEY_CENTS - ENTRY_CENTS
    await driver.register(tournament, players[1], "enter")
    await driver.platform.kill_and_start_again()
    assert (await driver.until_over(tournament)).phase == FINISHED
    balances = sorted([await driver.balance(player) for player in players])
    assert balances == [MONEY_CENTS - ENTRY_CENTS, MONEY_CENTS - ENTRY_CENTS + 2_000]
    money = await driver.pool(tournament)
    assert money.pool_cents == 0
    assert [(each.count, each.prize_cents, each.fee_cents) for each in money.paid_in] == [(2, 2_000, 200)]
    assert [(each.count, each.amount_cents) for each in money.awarded] == [(1, 2_000)]
    await replay(driver, tournament)


async def replay(driver: TournamentDriver, tournament_id: str) -> str:
    """Returns what `feltro replay` says of a tournament; it fails if journal and ledger differ."""
    poker = driver.platform.poker
    variables = {
        **os.environ,
        **poker.variables(),
        "FELTRO_ENVIRONMENT": "development",
        "FELTRO_POKER_DATABASE_URL": poker.database_url,
    }
    program = (
        "import sys; from services.kit.table.journal.replay.command import command; sys.exit(command(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "--game", "poker", tournament_id]
    done = await asyncio.to_thread(
        subprocess.run, command, env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

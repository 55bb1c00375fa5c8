"""Individual tables of many players under one owner: opened and recovered side by side, and left at once."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.kit.table.owned.openings import OPENINGS_LIMIT
from services.kit.table.owned.owned_tables import RECONCILE_EVERY_S
from services.kit.table.owned.recovery import RECOVERIES_LIMIT
from services.kit.table.wallet.table_wallet import FAULTS_TOLERATED_S
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.wallet import PAGE_SIZE
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, placed_stake
from tests.simulation.scenarios.test_wallet_faults import failing

PLAYERS = 6 * OPENINGS_LIMIT
# What a slow wallet takes to open one table.
OPENING_S = 1.0
SLOW_WALLET = Delivery(answer_delay_s=OPENING_S)
# What is published of a table with a bet on its felt when its owner has died: the end of the round, how the table
# stands, and the next round.
OPENED_ANEW = ["round_voided", "snapshot_published", "round_opened"]


def new_players(scenario: Scenario, count: int) -> list[Player]:
    """Returns players with money, at no table yet, who are patient."""
    players = [Player(scenario.world, f"p{number}", TABLE_ID) for number in range(count)]
    for player in players:
        player.timeout_s = 60.0
        scenario.world.deposit(player.player_id, STARTING_CENTS)
    return players


def last_events(scenario: Scenario, player: Player) -> list[str | None]:
    """Returns the kinds of the last events at the player's own table."""
    kinds: list[str | None] = [event.WhichOneof("event") for event in scenario.events(player.table_id)]
    return kinds[-len(OPENED_ANEW) :]


async def next_owner(scenario: Scenario) -> Replica:
    """Kills the owner, and returns the next one as soon as calls reach it."""
    owner = await scenario.kill_owner()
    await owner.owned_tables.ready.wait()
    return owner


@pytest.mark.guarantee("G9", "G11")
def test_g11_tables_of_many_players_are_opened_side_by_side() -> None:
    async def script(scenario: Scenario) -> None:
        await scenario.open_table()
        players = new_players(scenario, PLAYERS)
        scenario.set_deliveries(OpenTable=SLOW_WALLET)
        began = scenario.world.loop.time()
        assert all(await asyncio.gather(*(player.enter() for player in players)))
        # One after the other they would take as many seconds as there are players.
        assert scenario.world.loop.time() - began < 2 * OPENING_S * PLAYERS / OPENINGS_LIMIT
        # Beside the configured table itself, which is declared at the wallet.
        opened = [line for line in scenario.world.trace if f"asks wallet OpenTable {TABLE_ID}-" in line]
        assert len(opened) == PLAYERS

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4", "G9", "G11")
@pytest.mark.rule("804/2015:20", "804/2015:21")
def test_g9_tables_of_many_players_are_recovered_side_by_side_and_open_by_themselves() -> None:
    """Nobody calls after the takeover: the rounds end, the tables open, and who watches them is told."""

    async def script(scenario: Scenario) -> None:
        await scenario.open_table()
        *players, idle = new_players(scenario, PLAYERS + 1)
        assert all(await asyncio.gather(*(player.enter() for player in (*players, idle))))
        round_ids = await asyncio.gather(*(player.wait_for_open_round() for player in players))
        for player, round_id in zip(players, round_ids, strict=True):
            placed_stake(await player.bet(round_id, {"red": 500}))
        scenario.set_deliveries(OpenTable=SLOW_WALLET)
        owner = await next_owner(scenario)
        began = scenario.world.loop.time()
        # A player whose round has nothing to end does not wait for the others.
        placed_stake(await idle.bet(await idle.wait_for_open_round(), {"black": 300}))
        assert scenario.world.loop.time() - began < 5 * OPENING_S
        await scenario.wait_until(
            lambda: len(owner.owned_tables.tables()) > PLAYERS, 5 * OPENING_S * PLAYERS / RECOVERIES_LIMIT
        )
        await asyncio.sleep(1.0)
        for player, round_id in zip(players, round_ids, strict=True):
            assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]
            assert last_events(scenario, player) == OPENED_ANEW
            opened = scenario.published("round_opened", player.table_id)
            assert [each.round.round_id for each in opened] == [round_id, f"{player.table_id}.2"]

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4", "G9")
def test_g9_a_table_that_cannot_be_recovered_holds_up_no_other() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_ids = [await player.wait_for_open_round() for player in (ana, rui)]
        for player, round_id in zip((ana, rui), round_ids, strict=True):
            placed_stake(await player.bet(round_id, {"red": 500}))
        failing(scenario, "VoidRound", 2 * FAULTS_TOLERATED_S, round_ids[0])
        await next_owner(scenario)
        assert await rui.wait_for_open_round(5.0) != round_ids[1]
        assert await ana.get_snapshot() is None
        await scenario.wait_for_end(round_ids[0])
        await asyncio.sleep(3.0)
        # As soon as its round has ended, it opens by itself too.
        assert last_events(scenario, ana) == OPENED_ANEW

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.parametrize("away", ["VoidRound", "OpenTable", "unfinished_rounds"])
def test_g4_rounds_end_once_when_what_their_recovery_waits_for_is_back(away: str) -> None:
    """The wallet, or the journal: it is away for longer than one attempt waits, and nobody has to do anything."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        owner = await next_owner(scenario)
        scenario.set_deliveries(**{away: Delivery(refused_at_once=True)})
        await asyncio.sleep(3 * FAULTS_TOLERATED_S)
        assert scenario.round_entries(round_id).ended is None
        scenario.restore_network()
        await scenario.wait_for_end(round_id)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert await ana.wait_for_open_round() != round_id
        assert scenario.world.current_owners[TABLE_ID] is owner

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.parametrize("under_way", ["arrives", "lost", "late"])
def test_g4_an_owner_killed_while_it_recovers_leaves_every_round_to_end_once(under_way: str) -> None:
    """At any step of the recovery of several tables, of which some had an outcome."""
    step, died = 0, True
    while died:
        step += 7
        died = _killed_in_recovery(step, under_way)
    assert step > 100


def _killed_in_recovery(step: int, under_way: str) -> bool:
    """Runs a takeover whose owner is killed before one step; false if it took fewer steps."""
    scenario = Scenario(individual=True)
    dead: list[bool] = []

    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table("ana", "rui", "eva", "gil")
        round_ids = [await player.wait_for_open_round() for player in players]
        for player, round_id in zip(players, round_ids, strict=True):
            placed_stake(await player.bet(round_id, {"red": 500}))
        # Two of the rounds are drawn and not paid.
        scenario.set_deliveries(SettleRound=Delivery(request_lost=True))
        for player, round_id in zip(players[:2], round_ids, strict=False):
            player.timeout_s = 0.5
            await player.spin(round_id)
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.world.network.delivery_of = lambda *_: Delivery(if_sender_dies=under_way)
        await asyncio.sleep(0.1)
        owner = scenario.world.start_owner(TABLE_ID)
        owner.process.fault_at_step = step
        await asyncio.sleep(20.0)
        dead.append(owner.process.dead)
        endings = [scenario.round_entries(round_id).ended for round_id in round_ids]
        assert [ended and ended.ending for ended in endings] == [Ending.SETTLED] * 2 + [Ending.VOID] * 2
        assert all(ended and ended.void_reason in {"", OWNER_LOST} for ended in endings)
        for player in players:
            assert await player.wait_for_open_round()

    scenario.run(script)
    return dead[0]


# -- sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G11")
def test_g11_the_sessions_at_all_tables_are_read_at_once() -> None:
    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table(*(f"p{number}" for number in range(12)))
        scenario.world.trace.clear()
        await asyncio.sleep(6 * RECONCILE_EVERY_S)
        asked = [line for line in scenario.world.trace if "asks wallet ListTableSessions" in line]
        assert all(line.endswith(f"ListTableSessions {TABLE_ID}") for line in asked)
        assert len(asked) == 6 * len(players) / PAGE_SIZE

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G9", "G11")
@pytest.mark.parametrize("individual", [False, True])
def test_g11_a_handover_does_not_wait_for_a_wallet_that_is_asked_about_seats(*, individual: bool) -> None:
    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table(*(f"p{number}" for number in range(5)))
        scenario.world.catalogue.set_switch(TABLE_ID, "no rounds")
        if not individual:
            await asyncio.sleep(10.0)
        scenario.set_deliveries(ListTableSessions=Delivery(refused_at_once=True))
        await scenario.wait_until(scenario.has_asked("ListTableSessions"))
        owner = scenario.world.current_owners[TABLE_ID]
        owner.hand_over.set()
        await scenario.wait_until(lambda: owner.ended, 0.5)
        scenario.restore_network()
        scenario.world.catalogue.set_switch(TABLE_ID, None)
        assert await players[0].wait_for_open_round()

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4", "G9", "G11")
@pytest.mark.parametrize("individual", [False, True])
def test_g11_a_handover_does_not_wait_for_a_wallet_that_is_to_end_a_round(*, individual: bool) -> None:
    """The round stays as it is, and the next owner ends it."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.set_deliveries(VoidRound=Delivery(refused_at_once=True))
        scenario.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(5.0)
        owner = scenario.world.current_owners[TABLE_ID]
        assert not owner.process.dead
        owner.hand_over.set()
        await scenario.wait_until(lambda: owner.ended, 0.5)
        scenario.restore_network()
        assert await ana.wait_for_open_round() != round_id
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]

    Scenario(individual=individual).run(script)

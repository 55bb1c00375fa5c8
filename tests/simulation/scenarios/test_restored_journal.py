"""A game's journal that was restored from a backup: the ledger knows rounds and owners that the journal has lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import RoundState, StakeState
from tests.simulation.environment.journal import JournalBackup
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.scenario import TABLE_ID, Scenario, placed_stake

EMPTY = JournalBackup({}, {})
MakeBackup = Callable[[Scenario, Player], Awaitable[JournalBackup]]


async def play_round(scenario: Scenario, player: Player) -> str:
    """Plays a round with a bet to its end, and returns its id."""
    round_id = await player.wait_for_open_round()
    placed_stake(await player.bet(round_id, {"red": 500}))
    await finish_round(scenario, player, round_id)
    return round_id


async def finish_round(scenario: Scenario, player: Player, round_id: str) -> None:
    if scenario.configuration.play == 1:
        await player.spin(round_id)
    await scenario.wait_for_end(round_id)


async def _nothing(scenario: Scenario, player: Player) -> JournalBackup:
    """The journal is lost altogether."""
    return EMPTY


async def _between_rounds(scenario: Scenario, player: Player) -> JournalBackup:
    await play_round(scenario, player)
    return scenario.world.journal.backup()


async def _while_bets_are_taken(scenario: Scenario, player: Player) -> JournalBackup:
    round_id = await player.wait_for_open_round()
    placed_stake(await player.bet(round_id, {"red": 500}))
    placed_stake(await player.bet(round_id, {"18": 120}))
    placed_stake(await player.bet(round_id, {"17": 100}))
    assert await player.cancel_bets(round_id, {"17": 100})
    backup = scenario.world.journal.backup()
    await finish_round(scenario, player, round_id)
    return backup


async def _before_the_first_bet(scenario: Scenario, player: Player) -> JournalBackup:
    await player.wait_for_open_round()
    return scenario.world.journal.backup()


async def _between_draw_and_payment(scenario: Scenario, player: Player) -> JournalBackup:
    round_id = await player.wait_for_open_round()
    placed_stake(await player.bet(round_id, {"red": 500}))
    scenario.set_deliveries(SettleRound=Delivery(request_delay_s=1.0))
    finishing = asyncio.create_task(finish_round(scenario, player, round_id))
    await scenario.wait_until(lambda: scenario.round_entries(round_id).drawn is not None)
    backup = scenario.world.journal.backup()
    await finishing
    scenario.restore_network()
    return backup


async def _before_a_void(scenario: Scenario, player: Player) -> JournalBackup:
    """The round of the backup was void in the end, for its owner died."""
    round_id = await player.wait_for_open_round()
    placed_stake(await player.bet(round_id, {"red": 500}))
    backup = scenario.world.journal.backup()
    await scenario.kill_owner()
    await scenario.wait_for_end(round_id)
    return backup


BACKUPS: dict[str, MakeBackup] = {
    made.__name__.strip("_"): made
    for made in (
        _nothing,
        _between_rounds,
        _while_bets_are_taken,
        _before_the_first_bet,
        _between_draw_and_payment,
        _before_a_void,
    )
}


@pytest.mark.guarantee("G3", "G4", "G8", "G9", "G10")
@pytest.mark.parametrize("individual", [False, True])
@pytest.mark.parametrize("owners_since", [0, 4])
@pytest.mark.parametrize("made", BACKUPS)
def test_g4_a_table_plays_on_after_its_journal_was_restored(made: str, owners_since: int, *, individual: bool) -> None:
    """No round that the ledger has is played again, and none is paid or returned twice."""

    async def script(scenario: Scenario) -> None:
        world = scenario.world
        (ana,) = await scenario.open_table("ana")
        await play_round(scenario, ana)
        backup = await BACKUPS[made](scenario, ana)
        for _ in range(owners_since):
            await scenario.kill_owner()
            await play_round(scenario, ana)
        for _ in range(3):
            await play_round(scenario, ana)
        # And once more, from the same backup.
        for _ in range(2):
            before = set(world.wallet.rounds)
            free_cents, settled = scenario.free_cents("ana"), _settled(scenario)
            world.current_owners[TABLE_ID].process.kill()
            world.restore_journal(backup)
            await asyncio.sleep(5.0)
            # Stakes on the felt of the dead owner went back; what was paid stands.
            assert {round_id: state for round_id, state in _settled(scenario).items() if round_id in settled} == settled
            assert scenario.free_cents("ana") >= free_cents
            for _ in range(2):
                assert await play_round(scenario, ana) not in before
            assert world.journal.rounds.keys() >= backup.rounds.keys()
            assert all(entries.ended for entries in list(world.journal.rounds.values())[:-1])

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.parametrize("individual", [False, True])
def test_g4_an_open_round_that_the_journal_has_lost_is_void_and_its_stakes_go_back(*, individual: bool) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        before = await play_round(scenario, ana)
        backup = scenario.world.journal.backup()
        free_cents = scenario.free_cents("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.world.restore_journal(backup)
        assert await ana.wait_for_open_round() not in {before, round_id}
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert scenario.world.wallet.rounds[round_id].void_reason == OWNER_LOST
        assert scenario.free_cents("ana") == free_cents

    Scenario(individual=individual).run(script)


def _settled(scenario: Scenario) -> dict[str, int]:
    """Returns what each settled stake of the ledger was paid."""
    return {
        stake_id: stored.stake.payout_cents
        for stake_id, stored in scenario.world.wallet.stakes.items()
        if stored.stake.state is StakeState.SETTLED
    }


@pytest.mark.guarantee("G10")
def test_g10_a_round_whose_draw_is_lost_is_journalled_as_the_ledger_has_it() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        backup = await _while_bets_are_taken(scenario, ana)
        (round_id,) = backup.rounds
        before = scenario.round_entries(round_id)
        assert before.drawn is not None
        assert before.ended is not None
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.world.restore_journal(backup)
        await asyncio.sleep(5.0)
        after = scenario.round_entries(round_id)
        assert after.drawn is not None
        assert after.ended is not None
        assert after.drawn.is_lost
        assert (after.drawn.outcome, after.ended.ending) == (before.drawn.outcome, Ending.SETTLED)
        assert after.ended.payouts == before.ended.payouts
        assert after.ended.player_results == before.ended.player_results
        assert [(stake.stake_id, stake.bets) for stake in after.drawn.stakes] == [
            (stake.stake_id, stake.bets) for stake in before.drawn.stakes
        ]
        assert len(after.drawn.cancelled_stakes) == len(before.drawn.cancelled_stakes) == 1
        assert scenario.world.wallet.rounds[round_id].round.state is RoundState.SETTLED
        # Its watchers have seen its end before.
        assert len([event for event in scenario.published("round_settled") if event.round_id == round_id]) == 1

    Scenario().run(script)


@pytest.mark.guarantee("G4", "G8")
@pytest.mark.parametrize("under_way", ["arrives", "lost", "late"])
@pytest.mark.parametrize("made", ["while_bets_are_taken", "between_draw_and_payment", "nothing"])
def test_g4_an_owner_killed_while_it_takes_over_a_restored_journal(made: str, under_way: str) -> None:
    """At any step until the next round is under way."""
    step, died = 0, True
    while died:
        step += 3
        died = _killed_after_restoring(made, step, under_way)
    assert step > 20


def _killed_after_restoring(made: str, step: int, under_way: str) -> bool:
    dead: list[bool] = []

    async def script(scenario: Scenario) -> None:
        world = scenario.world
        (ana,) = await scenario.open_table("ana")
        backup = await BACKUPS[made](scenario, ana)
        await scenario.kill_owner()
        await play_round(scenario, ana)
        world.current_owners[TABLE_ID].process.kill()
        world.restore_journal(backup)
        world.network.delivery_of = lambda *_: Delivery(if_sender_dies=under_way)
        await asyncio.sleep(0.5)
        owner = world.start_owner(TABLE_ID)
        owner.process.fault_at_step = step
        before = set(world.wallet.rounds)
        await asyncio.sleep(4.0)
        dead.append(owner.process.dead)
        owner.process.fault_at_step = None
        assert await play_round(scenario, ana) not in before

    Scenario().run(script)
    return dead[0]

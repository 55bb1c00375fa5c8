"""A director dies before and after every kind of step: eliminations, ranks, payments and the pool stay the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache

import pytest

from services.poker.tournament.levels import Level
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.running.orders import Eliminate, Ranked
from services.poker.tournament.specific_rules import default_rules
from services.poker.variant import Variant
from tests.simulation.tournaments.environment import TOURNAMENT_ID, Fault, World

SEED = 7
# The faults of a script are divided among so many tests.
PARTS = 6
RULES = default_rules(
    Variant.HOLDEM,
    Price(1000, 100, 200),
    seats=3,
    levels=(Level(50, 100, 60, 30), Level(100, 200, 60), Level(200, 400, 600)),
    late_reg_until_level=1,
    reentries_max=1,
    reentry_until_level=1,
    rebuys_max=1,
    rebuy_until_level=1,
    rebuy_decision_seconds=10,
    addons_max=1,
    addon_after_level=1,
    addon_price=Price(500, 50),
    addon_chips=500,
    guarantee_cents=15_000,
)
Script = Callable[[World], Awaitable[None]]


async def plays_out(world: World) -> None:
    """Eight register, one takes it back, one comes late; some rebuy, re-enter and add on; then nobody asks anything."""
    for number in range(1, 9):
        world.deposit(f"p{number}")
        await world.until(number)
        await world.buy(Purchase.ENTRY, f"p{number}", "enter")
    await world.until(20)
    await world.unregister("p8", "leave")
    await world.until(70)
    world.deposit("late")
    await world.buy(Purchase.ENTRY, "late", "enter")
    for second in range(75, 170):
        await world.until(second + 0.7)
        state = world.course().state
        for number in sorted(state.awaited):
            player_id = state.entries[number].player
            if number % 4:
                await world.buy(Purchase.REBUY, player_id, f"rebuy-{second}")
            else:
                await world.decline(player_id)
        if state.is_break and second % 10 == 0:
            for entry in state.playing[:3]:
                await world.buy(Purchase.ADDON, entry.player, f"addon-{entry.number}")
        for entry in state.entries.values():
            if entry.player == "p2" and state.entry_in("p2") is None:
                await world.buy(Purchase.ENTRY, "p2", "again")


async def is_cancelled(world: World) -> None:
    """As before, and the operator cancels in the middle of the game."""
    playing = asyncio.get_running_loop().create_task(_ignoring(plays_out(world)))
    await world.until(150.3)
    await world.ask(lambda director: director.cancel("the hall is on fire"))
    await playing


async def _ignoring(work: Awaitable[None]) -> None:
    await work


SCRIPTS: dict[str, Script] = {"plays out": plays_out, "is cancelled": is_cancelled}


def result_of(world: World) -> dict[str, object]:
    """Returns what must not depend on who directed when."""
    steps = world.steps()
    course = world.course()
    awards = sorted(
        (
            world.wallet.book.accounts[each.awarded.account_no].account_id,
            each.awarded.reason.name,
            each.awarded.amount_cents,
        )
        for each in world.wallet.awards
    )
    return {
        "eliminated": [order.entry for step in steps for order in step.orders if isinstance(order, Eliminate)],
        "places": [order.place for step in steps for order in step.orders if isinstance(order, Ranked)],
        "phase": course.state.phase,
        "awards": awards,
        "balances": {entry.player: world.wallet.balance_cents(entry.player) for entry in course.state.entries.values()},
        "pool": world.wallet.pool_cents(TOURNAMENT_ID),
        "closed": world.wallet.tables[TOURNAMENT_ID].closed,
        "overlay": world.wallet.overlay_cents,
        "shortfall": world.wallet.shortfall_cents,
        "hands": sorted(world.hands),
    }


@cache
def undisturbed(name: str) -> World:
    return World(SEED, RULES).run(SCRIPTS[name])


def faults(name: str) -> list[Fault]:
    """The first and the last moment of each kind in the undisturbed run."""
    return [
        Fault(kind, count) for kind, most in sorted(undisturbed(name).moments.items()) for count in sorted({1, most})
    ]


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G8", "G10")
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_scenario_9_whenever_the_director_dies_the_tournament_is_the_same(name: str, part: int) -> None:
    expected = result_of(undisturbed(name))
    assert expected["pool"] == 0
    assert expected["closed"]
    differing = []
    for fault in faults(name)[part::PARTS]:
        world = World(SEED, RULES, fault).run(SCRIPTS[name])
        assert world.takeovers == 1, fault
        found = result_of(world)
        if found != expected:
            differing.append((fault, [key for key in expected if found[key] != expected[key]]))
    assert not differing


def test_the_script_contains_every_kind_of_step() -> None:
    """Otherwise nothing would be proved about it: registration, start, level, balancing, hand-for-hand, and so on."""
    kinds = set(undisturbed("plays out").moments)
    for wanted in (
        "after the fact paid",
        "after the fact unregistered",
        "after the fact rebought",
        "after the fact rebuy_declined",
        "after the fact added_on",
        "after the fact hand_ended",
        "after the fact time_passed",
        "before a player is moved",
        "before a player is eliminated",
        "before a table is held for break",
        "before a table is held for hand_for_hand",
        "before a table is closed",
        "before pay_in",
        "before pay_out",
        "before close_tournament",
    ):
        assert wanted in kinds, wanted
    assert "after the fact cancel_ordered" in undisturbed("is cancelled").moments

"""What a director tells single players, and what it hears of them while it is taking a tournament over."""

from __future__ import annotations

import asyncio
from collections import Counter

from feltro.poker.v1 import tournament_pb2
from services.poker.tournament.levels import Level
from services.poker.tournament.money.entries import Purchase
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import default_rules
from services.poker.variant import Variant
from tests.simulation.tournaments.environment import World

RULES = default_rules(
    Variant.HOLDEM,
    Price(1000, 100),
    seats=3,
    levels=(Level(50, 100, 60), Level(500, 1000, 600)),
    late_reg_until_level=1,
)
STARTS_SOON = tournament_pb2.OWN_TOURNAMENT_EVENT_STARTS_SOON


async def _register(world: World, *players: str) -> None:
    for player_id in players:
        world.deposit(player_id)
        await world.buy(Purchase.ENTRY, player_id, "enter")


def _told(world: World, event: tournament_pb2.OwnTournamentEvent.ValueType) -> Counter[str]:
    """Returns how often each player was told of something."""
    told: Counter[str] = Counter()
    for changed in world.notices:
        notice = tournament_pb2.OwnTournamentNotice()
        assert changed.notice.Unpack(notice)
        told[changed.player_id] += notice.event == event
    return +told


def test_every_registered_player_is_told_once_that_the_tournament_starts_soon() -> None:
    """The hour is a minute away, so each is told on registering; who comes after the start is not."""
    before_start: list[Counter[str]] = []

    async def script(world: World) -> None:
        await _register(world, "ana", "rui")
        await world.until(30)
        await _register(world, "eva")
        await world.until(59)
        before_start.append(_told(world, STARTS_SOON))
        await world.until(61)
        await _register(world, "late")

    world = World(3, RULES).run(script)
    assert before_start == [Counter(ana=1, rui=1, eva=1)]
    assert _told(world, STARTS_SOON) == before_start[0]


def test_nobody_is_told_of_the_start_sooner_than_five_minutes_before_it() -> None:
    before: list[Counter[str]] = []

    async def script(world: World) -> None:
        await _register(world, "ana", "rui")
        await world.until(299)
        before.append(_told(world, STARTS_SOON))
        await world.until(301)
        before.append(_told(world, STARTS_SOON))

    World(3, RULES, starts_in_s=600).run(script)
    assert before == [Counter(), Counter(ana=1, rui=1)]


def test_a_presence_that_is_noted_during_a_takeover_is_written() -> None:
    """The tables report at once who is away, while the next owner still brings them to what the facts say."""

    async def script(world: World) -> None:
        await _register(world, "ana", "rui", "eva")
        await world.until(65)
        former = world.owners[-1]
        former.process.kill()
        owner = world.start_owner()
        assert not owner.director.ready.is_set()
        owner.director.went_away("ana")
        await world.until(66)
        assert "ana" in world.course().state.away
        owner.director.came_back("ana")
        await asyncio.sleep(0.1)
        assert "ana" not in world.course().state.away

    World(3, RULES).run(script)

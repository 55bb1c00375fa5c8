"""A simulated table with players, for tests that script what happens there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self, TypedDict, TypeVar, Unpack, cast

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.wallet.model.state import StakeState
from tests.simulation import guarantees
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.games import is_answer
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.world import World

TABLE_ID = "mesa"
STARTING_CENTS = 50_000

both_regulations = pytest.mark.parametrize("regulation", ["804/2015", "807/2015"])

_T = TypeVar("_T")


class TableOptions(TypedDict, total=False):
    """What a test may configure of the table."""

    regulation: str
    individual: bool
    demo: bool
    window_ms: int
    minimum_cents: int
    call_bets: bool
    cancel_forbidden: bool
    seats: int
    wheel: roulette_pb2.Wheel.ValueType
    result_shown_ms: int


async def declare_void(world: World, round_id: str, reason: str) -> object:
    """Has an operator declare a round void; returns the answer or the refusal."""
    world.declared_void_reasons.add(reason)
    table_id = round_id.rpartition(".")[0]
    request = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason=reason)
    operator = Caller("back-office", frozenset({"operator"}), 0.0)
    owner = world.current_owners[TABLE_ID]
    try:
        return await world.call(owner, lambda owner: owner.tables.void_open_round(request, operator))
    except Refused as refused:
        return refused


class Scenario:
    """One configured table, and what a test needs to act there and to look at the results."""

    def __init__(self, **options: Unpack[TableOptions]) -> None:
        self.world = World(0)
        self.configuration = configuration(**options)

    def run(self, script: Callable[[Self], Awaitable[_T]]) -> _T:
        """Runs a script to its end, and checks that it has violated no guarantee."""
        result = self.world.run(lambda: script(self))
        violations = guarantees.violations(self.world)
        assert not violations, "\n".join([*self.world.trace[-200:], *violations])
        return result

    async def open_table(self, *names: str, cents: int = STARTING_CENTS) -> list[Player]:
        """Starts the table's owner and seats these players, each with as much money."""
        owner = self.world.open_tables(TABLE_ID, self.configuration)
        await owner.owned_tables.ready.wait()
        players = [Player(self.world, name, TABLE_ID) for name in names]
        for player in players:
            if self.configuration.mode == 1:
                self.world.deposit(player.player_id, cents)
            assert await player.enter()
        return players

    # -- faults ------------------------------------------------------------------------------------------------------

    def seal(self, round_id: str) -> None:
        """Has no process find the key that reads the cards of a round, until `unseal`."""
        entries = self.round_entries(round_id)
        assert entries.drawn is not None
        entries.drawn = replace(entries.drawn, sealed_with="2026-11")
        self.world.unreadable_rounds.add(round_id)

    def unseal(self, round_id: str) -> None:
        entries = self.round_entries(round_id)
        assert entries.drawn is not None
        entries.drawn = replace(entries.drawn, sealed_with="")

    async def void(self, round_id: str, reason: str) -> object:
        """Has an operator declare a round void; returns the answer or the refusal."""
        return await declare_void(self.world, round_id, reason)

    def set_deliveries(self, **by_method: Delivery) -> None:
        """Sets how requests are delivered from now on, by method or server; all others arrive."""
        self.world.network.delivery_of = lambda server, method: by_method.get(method, by_method.get(server, Delivery()))

    def restore_network(self) -> None:
        self.set_deliveries()

    async def wait_until(self, condition: Callable[[], object], within_s: float = 120.0) -> None:
        """Waits until something is so; fails if that takes longer, in virtual time."""
        until_s = self.world.loop.time() + within_s
        while not condition():
            assert self.world.loop.time() < until_s, f"not within {within_s} s"
            await asyncio.sleep(0.05)

    async def wait_for_end(self, round_id: str) -> None:
        """Waits until a round has ended."""
        await self.wait_until(lambda: self.round_entries(round_id).ended is not None)

    async def kill_owner(self) -> Replica:
        """Kills the owner of the table, and returns the next one when it has started."""
        former = self.world.current_owners[TABLE_ID]
        former.process.kill()
        return await self.wait_for_next_owner(former)

    async def wait_for_next_owner(self, former: Replica) -> Replica:
        """Waits until another process owns the table, and returns it."""
        await self.wait_until(lambda: self.world.current_owners[TABLE_ID] is not former)
        return self.world.current_owners[TABLE_ID]

    def has_asked(self, method: str) -> Callable[[], bool]:
        """Returns whether the wallet is asked for something from now on."""
        before = len(self.world.trace)
        return lambda: any(f"asks wallet {method}" in line for line in self.world.trace[before:])

    # -- results -----------------------------------------------------------------------------------------------------

    def round_entries(self, round_id: str) -> RoundEntries:
        return self.world.journal.rounds[round_id]

    def free_cents(self, name: str) -> int:
        (account,) = (a for a in self.world.wallet.accounts.values() if a.player_id == name)
        return account.free_cents

    def stakes(self, round_id: str) -> list[tuple[int, StakeState]]:
        """Returns the amount and the state of each stake in the wallet."""
        return [(s.stake.placed_cents, s.stake.state) for s in self.world.wallet.stakes_of(round_id)]

    def published(self, kind: str, table_id: str = TABLE_ID) -> list[Any]:
        """Returns the published events of one kind."""
        return [getattr(event, kind) for event in self.events(table_id) if event.WhichOneof("event") == kind]

    def published_at(self, kind: str, table_id: str = TABLE_ID) -> datetime:
        """Returns when the first event of a kind happened."""
        return next(event.at.ToDatetime(UTC) for event in self.events(table_id) if event.WhichOneof("event") == kind)

    def events(self, table_id: str = TABLE_ID) -> list[events_pb2.TableEvent]:
        return [published.event for published in self.world.events.published().get(table_id, [])]


def refusal_reason(answer: object) -> str:
    """Returns the reason of a refusal, and an empty string for any other answer."""
    return answer.reason if isinstance(answer, Refused) else ""


def placed_stake(answer: object) -> roulette_pb2.PlacedStake:
    assert is_answer(answer, "PlaceBetsResponse", "RepeatBetsResponse"), answer
    stake: roulette_pb2.PlacedStake = cast("Any", answer).stake
    return stake


def closes_at(snapshot: types_pb2.TableSnapshot | None) -> float:
    """Returns the announced close, in seconds since 1970."""
    assert snapshot is not None
    return snapshot.round.closes_at.ToNanoseconds() / 1e9


def pocket_of(scenario: Scenario, number: str) -> int:
    """Returns the pocket of a number on the table's wheel."""
    rules = scenario.world.catalogue.rules_in_force(TABLE_ID).rules
    layout: roulette_pb2.GetLayoutResponse = rules.layout()  # type: ignore[attr-defined]
    return [pocket.number for pocket in layout.pockets].index(number)

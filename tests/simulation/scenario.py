"""A table with players, for stories that are told in a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypedDict, TypeVar, Unpack

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, types_pb2
from services.kit.refusal import Refused
from services.wallet.model.state import StakeState
from tests.simulation import guarantees
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.world import World

TABLE_ID = "mesa"
STARTING_CENTS = 50_000

_T = TypeVar("_T")


class TableOptions(TypedDict, total=False):
    """What may be laid down for the table."""

    regulation: str
    individual: bool
    demo: bool
    window_ms: int
    cancel_forbidden: bool
    seats: int


class Scenario:
    """One house, and everything that is needed to say what happens there."""

    def __init__(self, **made: Unpack[TableOptions]) -> None:
        self.world = World(0)
        self.configuration = configuration(**made)

    def run(self, script: Callable[[Scenario], Awaitable[_T]]) -> _T:
        """Tells the story to its end; all guarantees have to hold in it."""
        told = self.world.run(lambda: script(self))
        found = guarantees.violations(self.world)
        assert not found, "\n".join([*self.world.trace[-200:], *found])
        return told

    async def open_table(self, *names: str, cents: int = STARTING_CENTS) -> list[Player]:
        """The house with its owner, and players who sit there."""
        owner = self.world.open_tables(TABLE_ID, self.configuration)
        await owner.owned_tables.ready.wait()
        players = [Player(self.world, name, TABLE_ID) for name in names]
        for player in players:
            if self.configuration.mode == 1:
                self.world.deposit(player.player_id, cents)
            assert await player.enter()
        return players

    # -- what goes wrong ---------------------------------------------------------------------------------------------

    def set_deliveries(self, **by_method: Delivery) -> None:
        """What becomes of each request of a method, from now on; of all others nothing bad."""
        self.world.network.delivery_of = lambda where, what: by_method.get(what, by_method.get(where, Delivery()))

    def restore_network(self) -> None:
        self.set_deliveries()

    # -- what came of it ---------------------------------------------------------------------------------------------

    def round_entries(self, round_id: str) -> RoundEntries:
        return self.world.journal.rounds[round_id]

    def free_cents(self, name: str) -> int:
        (account,) = (a for a in self.world.wallet.accounts.values() if a.player_id == name)
        return account.free_cents

    def stakes(self, round_id: str) -> list[tuple[int, StakeState]]:
        """Of each stake in the wallet, how much it was and what became of it."""
        return [(s.stake.placed_cents, s.stake.state) for s in self.world.wallet.stakes_of(round_id)]

    def published(self, kind: str, table_id: str = TABLE_ID) -> list[Any]:
        """The events of a kind that everybody heard."""
        heard = self.world.events.published().get(table_id, [])
        return [getattr(one.event, kind) for one in heard if one.event.WhichOneof("event") == kind]

    def published_at(self, kind: str, table_id: str = TABLE_ID) -> datetime:
        """When the first event of a kind happened."""
        return next(e.at.ToDatetime(UTC) for e in self.events(table_id) if e.WhichOneof("event") == kind)

    def events(self, table_id: str = TABLE_ID) -> list[events_pb2.TableEvent]:
        return [one.event for one in self.world.events.published().get(table_id, [])]


def refusal_reason(answer: object) -> str:
    """The reason of a refusal; the empty word for any other answer."""
    return answer.reason if isinstance(answer, Refused) else ""


def placed_stake(answer: object) -> roulette_pb2.PlacedStake:
    assert isinstance(answer, roulette_pb2.PlaceBetsResponse | roulette_pb2.RepeatBetsResponse), answer
    return answer.stake


def closes_at(snapshot: types_pb2.TableSnapshot | None) -> float:
    """The announced close, in seconds of the epoch."""
    assert snapshot is not None
    return snapshot.round.closes_at.ToNanoseconds() / 1e9

"""A table with players, for stories that are told in a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypedDict, TypeVar, Unpack

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, types_pb2
from services.kit.refusal import Refused
from services.wallet.state import StakeState
from tests.simulation import verdict
from tests.simulation.catalogue import configuration
from tests.simulation.journal import Written
from tests.simulation.network import Fate
from tests.simulation.players import Player
from tests.simulation.world import World

HOUSE = "mesa"
MONEY_CENTS = 50_000

_T = TypeVar("_T")


class Laid(TypedDict, total=False):
    """What may be laid down for the table."""

    regulation: str
    individual: bool
    demo: bool
    window_ms: int
    take_back_forbidden: bool
    seats: int


class Stage:
    """One house, and everything that is needed to say what happens there."""

    def __init__(self, **made: Unpack[Laid]) -> None:
        self.world = World(0)
        self.made = configuration(**made)

    def tell(self, story: Callable[[Stage], Awaitable[_T]]) -> _T:
        """Tells the story to its end; all guarantees have to hold in it."""
        told = self.world.run(lambda: story(self))
        found = verdict.breaches(self.world)
        assert not found, "\n".join([*self.world.trace[-200:], *found])
        return told

    async def open(self, *names: str, cents: int = MONEY_CENTS) -> list[Player]:
        """The house with its owner, and players who sit there."""
        owner = self.world.open_house(HOUSE, self.made)
        await owner.house.ready.wait()
        players = [Player(self.world, name, HOUSE) for name in names]
        for player in players:
            if self.made.mode == 1:
                self.world.give(player.player_id, cents)
            assert await player.enter()
        return players

    # -- what goes wrong ---------------------------------------------------------------------------------------------

    def fate(self, **by_method: Fate) -> None:
        """What becomes of each request of a method, from now on; of all others nothing bad."""
        self.world.network.fate_of = lambda where, what: by_method.get(what, by_method.get(where, Fate()))

    def heal(self) -> None:
        self.fate()

    # -- what came of it ---------------------------------------------------------------------------------------------

    def written(self, round_id: str) -> Written:
        return self.world.journal.rounds[round_id]

    def free_cents(self, name: str) -> int:
        (account,) = (a for a in self.world.ledger.accounts.values() if a.player_id == name)
        return account.free_cents

    def stakes(self, round_id: str) -> list[tuple[int, StakeState]]:
        """Of each stake in the wallet, how much it was and what became of it."""
        return [(s.stake.placed_cents, s.stake.state) for s in self.world.ledger.stakes_of(round_id)]

    def heard(self, kind: str, table_id: str = HOUSE) -> list[Any]:
        """The events of a kind that everybody heard."""
        heard = self.world.stream.heard().get(table_id, [])
        return [getattr(one.event, kind) for one in heard if one.event.WhichOneof("event") == kind]

    def at(self, kind: str, table_id: str = HOUSE) -> datetime:
        """When the first event of a kind happened."""
        return next(e.at.ToDatetime(UTC) for e in self.events(table_id) if e.WhichOneof("event") == kind)

    def events(self, table_id: str = HOUSE) -> list[events_pb2.TableEvent]:
        return [one.event for one in self.world.stream.heard().get(table_id, [])]


def refused(answer: object) -> str:
    """The reason of a refusal; the empty word for any other answer."""
    return answer.reason if isinstance(answer, Refused) else ""


def placed(answer: object) -> roulette_pb2.PlacedStake:
    assert isinstance(answer, roulette_pb2.PlaceBetsResponse | roulette_pb2.RepeatBetsResponse), answer
    return answer.stake


def closes_at(seen: types_pb2.TableSnapshot | None) -> float:
    """The announced close, in seconds of the epoch."""
    assert seen is not None
    return seen.round.closes_at.ToNanoseconds() / 1e9

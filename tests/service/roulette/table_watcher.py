"""Watches a table as a front-end does: its events on the bus, and the view that follows from them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, types_pb2
from services.kit.bus.subjects import table_subject

TIMEOUT_S = 240.0
PAST_OUTCOMES_LIMIT = 20


class TableWatcher:
    """The events of one table, from its first in the stream on."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.events: list[events_pb2.TableEvent] = []
        self.raw_messages: list[bytes] = []
        self._arrived = asyncio.Condition()

    @classmethod
    async def start(cls, bus: Nats, table_id: str, game: str = "roulette") -> TableWatcher:
        watcher = cls(table_id)
        await bus.jetstream(timeout=TIMEOUT_S).subscribe(
            table_subject(game, table_id), cb=watcher._receive, ordered_consumer=True
        )
        return watcher

    async def _receive(self, message: Msg) -> None:
        async with self._arrived:
            self.raw_messages.append(message.data)
            self.events.extend(events_pb2.TableEvents.FromString(message.data).events)
            self._arrived.notify_all()

    def events_of(self, kind: str, round_id: str = "") -> Iterator[events_pb2.TableEvent]:
        """The events of one kind so far; of one round if it is named."""
        for event in list(self.events):
            if event.WhichOneof("event") == kind and round_id in {"", round_id_of(event)}:
                yield event

    async def wait_for(self, kind: str, round_id: str = "", *, after: int = 0) -> events_pb2.TableEvent:
        """The first event of a kind beyond a `seq`, as soon as it is there."""
        async with asyncio.timeout(TIMEOUT_S), self._arrived:
            while True:
                found = next((event for event in self.events_of(kind, round_id) if event.seq > after), None)
                if found is not None:
                    return found
                await self._arrived.wait()

    async def next_round(self, *, after: int = 0) -> str:
        """The next round that opens."""
        return (await self.wait_for("round_opened", after=after)).round_opened.round.round_id

    async def wait_for_seq(self, seq: int) -> None:
        """Returns when all events up to a `seq` have arrived."""
        async with asyncio.timeout(TIMEOUT_S), self._arrived:
            while not self.events or self.events[-1].seq < seq:
                await self._arrived.wait()

    def kinds(self, round_id: str) -> list[str]:
        """The kinds of the events of a round, in order."""
        return [str(event.WhichOneof("event")) for event in self.events if round_id_of(event) == round_id]


def round_id_of(event: events_pb2.TableEvent) -> str:
    """The round that an event is about; empty if it is about none."""
    kind = event.WhichOneof("event")
    if kind == "round_opened":
        return event.round_opened.round.round_id
    return str(getattr(getattr(event, str(kind)), "round_id", ""))


@dataclass
class TableView:
    """A table as a client shows it: a snapshot and the events since."""

    phase: types_pb2.Phase.ValueType
    round_id: str
    seated: int
    bets: dict[int, dict[str, int]] = field(default_factory=dict)
    past_outcomes: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=PAST_OUTCOMES_LIMIT))

    @classmethod
    def from_snapshot(cls, snapshot: types_pb2.TableSnapshot) -> TableView:
        past = [(past.round_id, _number(past.outcome)) for past in snapshot.past_outcomes]
        bets = {bets.seat: _bets(bets.bets) for bets in snapshot.bets}
        return cls(
            snapshot.phase, snapshot.round.round_id, snapshot.seated, bets, deque(past, maxlen=PAST_OUTCOMES_LIMIT)
        )

    def apply(self, events: Iterable[events_pb2.TableEvent]) -> TableView:
        """Applies events in order."""
        for event in events:
            getattr(self, f"_{event.WhichOneof('event')}")(event)
        return self

    def _snapshot_published(self, event: events_pb2.TableEvent) -> None:
        self.__dict__.update(TableView.from_snapshot(event.snapshot_published.snapshot).__dict__)

    def _round_opened(self, event: events_pb2.TableEvent) -> None:
        self.phase, self.round_id = types_pb2.PHASE_BETTING, event.round_opened.round.round_id

    def _bets_placed(self, event: events_pb2.TableEvent) -> None:
        self._add(event.bets_placed.seat, _bets(event.bets_placed.bets), 1)

    def _bets_cancelled(self, event: events_pb2.TableEvent) -> None:
        self._add(event.bets_cancelled.seat, _bets(event.bets_cancelled.bets), -1)

    def _betting_closed(self, event: events_pb2.TableEvent) -> None:
        self.phase = types_pb2.PHASE_CLOSED

    def _outcome_drawn(self, event: events_pb2.TableEvent) -> None:
        self.phase = types_pb2.PHASE_DRAWN
        self.past_outcomes.appendleft((event.outcome_drawn.round_id, _number(event.outcome_drawn.outcome)))

    def _round_settled(self, event: events_pb2.TableEvent) -> None:
        self.phase, self.round_id, self.bets = types_pb2.PHASE_RESULT_SHOWN, "", {}

    def _round_voided(self, event: events_pb2.TableEvent) -> None:
        self.phase, self.round_id, self.bets = types_pb2.PHASE_RESULT_SHOWN, "", {}

    def _table_switched(self, event: events_pb2.TableEvent) -> None:
        self.phase = types_pb2.PHASE_IDLE if event.table_switched.enabled else types_pb2.PHASE_DISABLED

    def _seat_taken(self, event: events_pb2.TableEvent) -> None:
        self.seated += 1

    def _seat_left(self, event: events_pb2.TableEvent) -> None:
        self.seated -= 1

    def _add(self, seat: int, bets: dict[str, int], sign: int) -> None:
        on_felt = self.bets.setdefault(seat, {})
        for place, cents in bets.items():
            on_felt[place] = on_felt.get(place, 0) + sign * cents
        self.bets[seat] = {place: cents for place, cents in on_felt.items() if cents}
        if not self.bets[seat]:
            del self.bets[seat]


def _bets(packed: types_pb2.google_dot_protobuf_dot_any__pb2.Any) -> dict[str, int]:  # type: ignore[name-defined]
    bets = roulette_pb2.Bets()
    assert packed.Unpack(bets)
    return {bet.place: bet.amount_cents for bet in bets.bets}


def _number(packed: object) -> str:
    outcome = roulette_pb2.Outcome()
    assert packed.Unpack(outcome)  # type: ignore[attr-defined]
    return outcome.number

"""The feed of one table: its latest events, and the watchers that receive the next one.

A watcher keeps the number of the last event that it has received. It receives the next one, or a `SnapshotPublished`,
which replaces the whole state whatever its number. A watcher that would miss an event is late, and the hub catches up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from prometheus_client import Counter

from gateway.access.principals import Principal
from gateway.live.encoding import EncodedEvent, Framing

# Events of each table that are kept for clients that resume (G11).
KEPT_EVENTS_LIMIT = 500
KEPT_BYTES_LIMIT = 512 * 1024
# A watcher with more unsent bytes gets no more events until its client has read.
EVENT_BACKLOG_BYTES_LIMIT = 256 * 1024

_DELIVERIES = Counter("feltro_edge_deliveries", "Writes of events to watchers")


class Transport(Protocol):
    """The part of an asyncio transport that is used here."""

    def write(self, data: bytes) -> None: ...

    def get_write_buffer_size(self) -> int: ...

    def is_closing(self) -> bool: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class ClientConnection(Protocol):
    """A WebSocket or a stream of server-sent events."""

    framing: Framing
    transport: Transport
    watchers: dict[str, Watcher]
    """By table."""

    @property
    def is_open(self) -> bool:
        """Whether anything may still be sent."""
        ...

    @property
    def principal(self) -> Principal:
        """The principal of the token that was shown last."""
        ...

    def send(self, *payloads: bytes) -> None:
        """Writes encoded payloads, or closes the connection if its client reads too slowly."""
        ...

    def end_subscription(self, watcher: Watcher, message: str) -> None:
        """Tells the client that a table is not shown to it any more."""
        ...

    def close(self, code: int) -> None:
        """Closes the connection with a code of `close_codes`."""
        ...


class Watcher:
    """One connection's subscription to one table, and its position in the feed."""

    __slots__ = ("connection", "feed", "framing", "gap_count", "last_seq", "late_since", "session_id", "transport")

    def __init__(self, connection: ClientConnection, feed: Feed, last_seq: int) -> None:
        self.connection = connection
        self.transport = connection.transport
        self.framing = connection.framing
        self.feed = feed
        self.last_seq = last_seq
        """The last event received; out of date while the watcher is current, for then it is the feed's own."""
        self.gap_count = feed.gap_count
        self.late_since = 0.0
        self.session_id = ""
        """The player's session at this table, as far as facts on this connection have said it."""

    @property
    def can_catch_up(self) -> bool:
        """Whether the events that it has missed are kept."""
        return self.gap_count == self.feed.gap_count and self.feed.covers(self.last_seq)


class Feed:
    """The events of one table, and its watchers."""

    def __init__(self, table_id: str, on_late: Callable[[Watcher], None]) -> None:
        """`on_late` is called with each watcher that misses events; it receives none until it is added again."""
        self.table_id = table_id
        self.last_seq: int | None = None
        """The last event received."""
        self.gap_count = 0
        """How often events may have been missed, or the numbering started anew."""
        self.pending_watchers = 0
        """How many subscriptions are being opened."""
        self.ever_shown = False
        """Whether the table was ever shown to a client: until then it may not exist."""
        self.idle_since: float | None = None
        self._on_late = on_late
        self._kept: deque[EncodedEvent] = deque()
        self._kept_bytes = 0
        # Watchers that have received every event, and those whose snapshot is ahead of what the feed has received.
        self._current: dict[Framing, dict[Watcher, None]] = {framing: {} for framing in Framing}
        self._ahead: dict[Watcher, None] = {}

    @property
    def has_watchers(self) -> bool:
        return self.pending_watchers > 0 or bool(self._ahead) or any(self._current.values())

    def covers(self, seq: int) -> bool:
        """Whether every event after `seq` is kept."""
        return seq == self.last_seq or (bool(self._kept) and self._kept[0].seq - 1 <= seq <= self._kept[-1].seq)

    def events_after(self, seq: int) -> list[EncodedEvent]:
        """Returns the events after a `seq` that is covered."""
        return [event for event in self._kept if event.seq > seq]

    def prepend(self, earlier: Sequence[EncodedEvent]) -> None:
        """Adds events that were published before this feed began to receive."""
        sequence: list[EncodedEvent] = []
        for event in earlier:
            if sequence and event.seq != sequence[-1].seq + 1:
                # A new owner's snapshot, numbered anew: nothing before it can be resumed.
                sequence = []
            sequence.append(event)
        if not self._kept:
            if self.last_seq is None and sequence:
                for event in sequence:
                    self._keep(event)
                self.last_seq = sequence[-1].seq
            return
        first = self._kept[0].seq
        sequence = [event for event in sequence if event.seq < first]
        if sequence and sequence[-1].seq == first - 1:
            for event in reversed(sequence):
                self._kept.appendleft(event)
                self._kept_bytes += len(event.websocket_frame)
            self._trim()

    def add_watcher(self, watcher: Watcher) -> None:
        """Sends the events after the watcher's position, and from now on every new one."""
        seq = self.last_seq
        if watcher.gap_count != self.gap_count:
            self._on_late(watcher)
        elif seq is None or watcher.last_seq > seq:
            self._ahead[watcher] = None
        elif not watcher.can_catch_up:
            self._on_late(watcher)
        else:
            missed = self.events_after(watcher.last_seq)
            # Added first: sending may close a connection that reads too slowly, which removes the watcher again.
            self._current[watcher.framing][watcher] = None
            if missed:
                # Watchers that resume together share one copy of these bytes (G11).
                watcher.connection.send(*(event.bytes_for(watcher.framing) for event in missed))

    def remove_watcher(self, watcher: Watcher) -> None:
        self._current[watcher.framing].pop(watcher, None)
        self._ahead.pop(watcher, None)

    def publish(self, events: Iterable[EncodedEvent]) -> None:
        """Sends new events to all watchers."""
        batch: list[EncodedEvent] = []
        for event in events:
            if self.last_seq is not None and not event.is_snapshot:
                if event.seq <= self.last_seq:
                    continue
                if event.seq != self.last_seq + 1:
                    self._deliver(batch)
                    batch = []
                    self.mark_gap()
            elif self.last_seq is not None and event.seq != self.last_seq + 1:
                # A snapshot that is numbered anew: no earlier position means anything any more.
                self._deliver(batch)
                batch = []
                self.gap_count += 1
                self._drop_kept()
            self.last_seq = event.seq
            self._keep(event)
            batch.append(event)
        self._deliver(batch)

    def mark_gap(self) -> None:
        """Marks that events were missed: all watchers become late."""
        self.gap_count += 1
        watchers = list(self._ahead)
        for current in self._current.values():
            for watcher in current:
                watcher.last_seq = self.last_seq or 0
            watchers += current
        self._ahead.clear()
        for current in self._current.values():
            current.clear()
        self._drop_kept()
        self.last_seq = None
        for watcher in watchers:
            self._mark_late(watcher)

    def _deliver(self, events: list[EncodedEvent]) -> None:
        if not events:
            return
        before = events[0].seq - 1
        for framing, current in self._current.items():
            if current:
                self._deliver_to_current(current, b"".join(event.bytes_for(framing) for event in events), before)
        for watcher in list(self._ahead):
            self._deliver_ahead(watcher, events)

    def _deliver_to_current(self, current: dict[Watcher, None], payload: bytes, before: int) -> None:
        slow: list[Watcher] = []
        for watcher in current:
            transport = watcher.transport
            if transport.get_write_buffer_size() > EVENT_BACKLOG_BYTES_LIMIT:
                slow.append(watcher)
            elif not transport.is_closing():
                # Writing to a closed transport of uvloop fails, which would stop the delivery to the others.
                transport.write(payload)
        _DELIVERIES.inc(len(current) - len(slow))
        for watcher in slow:
            del current[watcher]
            watcher.last_seq = before
            self._mark_late(watcher)

    def _deliver_ahead(self, watcher: Watcher, events: list[EncodedEvent]) -> None:
        new: list[EncodedEvent] = []
        for event in events:
            if event.is_snapshot or event.seq == watcher.last_seq + 1:
                watcher.last_seq = event.seq
                new.append(event)
            elif event.seq > watcher.last_seq:
                del self._ahead[watcher]
                self._mark_late(watcher)
                return
        if watcher.last_seq == self.last_seq:
            del self._ahead[watcher]
            self._current[watcher.framing][watcher] = None
        if new:
            watcher.connection.send(*(event.bytes_for(watcher.framing) for event in new))

    def _mark_late(self, watcher: Watcher) -> None:
        watcher.gap_count = self.gap_count
        self._on_late(watcher)

    def _keep(self, event: EncodedEvent) -> None:
        self._kept.append(event)
        self._kept_bytes += len(event.websocket_frame)
        self._trim()

    def _trim(self) -> None:
        while len(self._kept) > KEPT_EVENTS_LIMIT or (self._kept_bytes > KEPT_BYTES_LIMIT and len(self._kept) > 1):
            self._kept_bytes -= len(self._kept.popleft().websocket_frame)

    def _drop_kept(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0

"""One table as it is watched: the latest events, and everybody who is to hear the next one.

A watcher keeps the number of the last event that it has received. It receives the next one, or a `SnapshotPublished`,
which replaces the whole state whatever its number. A watcher that would miss an event is late: the hub resends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from prometheus_client import Counter

from gateway.access.principals import Principal
from gateway.live.encoding import EncodedEvent, Framing

# What is kept for those who come back, for each table (G11).
KEPT_EVENTS_LIMIT = 500
KEPT_BYTES_LIMIT = 512 * 1024
# So much may wait to leave for a reader before he is told no more events, until he has read.
EVENT_BACKLOG_BYTES_LIMIT = 256 * 1024

_DELIVERIES = Counter("feltro_edge_deliveries", "Messages of tables written to those who watch them")


class Transport(Protocol):
    """What of an asyncio transport is used here."""

    def write(self, data: bytes) -> None: ...

    def get_write_buffer_size(self) -> int: ...

    def is_closing(self) -> bool: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class ClientConnection(Protocol):
    """A connection, as those see it who have something to tell."""

    framing: Framing
    transport: Transport

    @property
    def principal(self) -> Principal:
        """Who is behind it now."""
        ...

    def send(self, *payloads: bytes) -> None:
        """Writes all that is to be told, each payload as it is, or ends what has too much waiting already."""
        ...

    def end_subscription(self, watcher: Watcher, why: str) -> None:
        """The table is not told to him any more."""
        ...

    def close(self, code: int) -> None:
        """Ends the connection for a reason of `close_codes`."""
        ...


class Watcher:
    """Somebody who watches one table over one connection."""

    __slots__ = ("connection", "feed", "framing", "gap_count", "last_seq", "late_since", "session_id", "transport")

    def __init__(self, connection: ClientConnection, feed: Feed, last_seq: int) -> None:
        self.connection = connection
        self.transport = connection.transport
        self.framing = connection.framing
        self.feed = feed
        self.last_seq = last_seq
        """The last event that he knows; while he is among those who have heard all, the feed knows it for him."""
        self.gap_count = feed.gap_count
        self.late_since = 0.0
        self.session_id = ""
        """His own session at this table, as far as this connection has heard of it."""

    @property
    def can_catch_up(self) -> bool:
        """Whether what he has missed since he is late is kept."""
        return self.gap_count == self.feed.gap_count and self.feed.covers(self.last_seq)


class Feed:
    """What is told at one table."""

    def __init__(self, table_id: str, on_late: Callable[[Watcher], None]) -> None:
        """`late` is told of each watcher who has missed something; he hears nothing until he is let in again."""
        self.table_id = table_id
        self.last_seq: int | None = None
        """The last event heard."""
        self.gap_count = 0
        """How often it was not certain that everything was heard."""
        self.pending_watchers = 0
        """How many are about to watch."""
        self.ever_shown = False
        """Whether anybody was let see the table: until then there may be none."""
        self.idle_since: float | None = None
        self._late = on_late
        self._kept: deque[EncodedEvent] = deque()
        self._kept_bytes = 0
        # Those who have heard all, and those who know more than was heard here yet. In the order of coming.
        self._level: dict[Framing, dict[Watcher, None]] = {wire: {} for wire in Framing}
        self._ahead: dict[Watcher, None] = {}

    @property
    def has_watchers(self) -> bool:
        return self.pending_watchers > 0 or bool(self._ahead) or any(self._level.values())

    def covers(self, seq: int) -> bool:
        """Whether everything after a place is known here, if anything came after it."""
        return seq == self.last_seq or (bool(self._kept) and self._kept[0].seq - 1 <= seq <= self._kept[-1].seq)

    def events_after(self, seq: int) -> list[EncodedEvent]:
        """What came after a place that is covered."""
        return [event for event in self._kept if event.seq > seq]

    def prepend(self, earlier: Sequence[EncodedEvent]) -> None:
        """Takes over events that were told before this feed began to hear."""
        row: list[EncodedEvent] = []
        for event in earlier:
            if row and event.seq != row[-1].seq + 1:
                # A new owner's picture, counted otherwise: nobody can take up what was before it.
                row = []
            row.append(event)
        if not self._kept:
            if self.last_seq is None and row:
                for event in row:
                    self._keep(event)
                self.last_seq = row[-1].seq
            return
        first = self._kept[0].seq
        row = [event for event in row if event.seq < first]
        if row and row[-1].seq == first - 1:
            for event in reversed(row):
                self._kept.appendleft(event)
                self._kept_bytes += len(event.websocket_frame)
            self._trim()

    def add_watcher(self, watcher: Watcher) -> None:
        """He hears what comes after his place, and first what has come after it already."""
        seq = self.last_seq
        if watcher.gap_count != self.gap_count:
            self._late(watcher)
        elif seq is None or watcher.last_seq > seq:
            self._ahead[watcher] = None
        elif not watcher.can_catch_up:
            self._late(watcher)
        else:
            missed = self.events_after(watcher.last_seq)
            # Before he is told: that may be one thing too many for his connection, and end it.
            self._level[watcher.framing][watcher] = None
            if missed:
                # As many as come back at once hold one copy of it between them (G11).
                watcher.connection.send(*(event.bytes_for(watcher.framing) for event in missed))

    def remove_watcher(self, watcher: Watcher) -> None:
        self._level[watcher.framing].pop(watcher, None)
        self._ahead.pop(watcher, None)

    def publish(self, events: Iterable[EncodedEvent]) -> None:
        """Tells everybody what has just happened."""
        together: list[EncodedEvent] = []
        for event in events:
            if self.last_seq is not None and not event.is_snapshot:
                if event.seq <= self.last_seq:
                    continue
                if event.seq != self.last_seq + 1:
                    self._tell(together)
                    together = []
                    self.mark_gap()
            elif self.last_seq is not None and event.seq != self.last_seq + 1:
                # A picture that is counted otherwise: no place before it means anything any more.
                self._tell(together)
                together = []
                self.gap_count += 1
                self._forget()
            self.last_seq = event.seq
            self._keep(event)
            together.append(event)
        self._tell(together)

    def mark_gap(self) -> None:
        """Something was missed: nobody knows all any more."""
        self.gap_count += 1
        everybody = list(self._ahead)
        for level in self._level.values():
            for watcher in level:
                watcher.last_seq = self.last_seq or 0
            everybody += level
        self._ahead.clear()
        for level in self._level.values():
            level.clear()
        self._forget()
        self.last_seq = None
        for watcher in everybody:
            self._is_late(watcher)

    def _tell(self, events: list[EncodedEvent]) -> None:
        if not events:
            return
        before = events[0].seq - 1
        for wire, level in self._level.items():
            if level:
                self._tell_level(level, b"".join(event.bytes_for(wire) for event in events), before)
        for watcher in list(self._ahead):
            self._tell_ahead(watcher, events)

    def _tell_level(self, level: dict[Watcher, None], payload: bytes, before: int) -> None:
        slow: list[Watcher] = []
        for watcher in level:
            transport = watcher.transport
            if transport.get_write_buffer_size() > EVENT_BACKLOG_BYTES_LIMIT:
                slow.append(watcher)
            elif not transport.is_closing():
                # On one that is closed uvloop would fail, and nobody after him be told.
                transport.write(payload)
        _DELIVERIES.inc(len(level) - len(slow))
        for watcher in slow:
            del level[watcher]
            watcher.last_seq = before
            self._is_late(watcher)

    def _tell_ahead(self, watcher: Watcher, events: list[EncodedEvent]) -> None:
        news: list[EncodedEvent] = []
        for event in events:
            if event.is_snapshot or event.seq == watcher.last_seq + 1:
                watcher.last_seq = event.seq
                news.append(event)
            elif event.seq > watcher.last_seq:
                del self._ahead[watcher]
                self._is_late(watcher)
                return
        if watcher.last_seq == self.last_seq:
            del self._ahead[watcher]
            self._level[watcher.framing][watcher] = None
        if news:
            watcher.connection.send(*(event.bytes_for(watcher.framing) for event in news))

    def _is_late(self, watcher: Watcher) -> None:
        watcher.gap_count = self.gap_count
        self._late(watcher)

    def _keep(self, event: EncodedEvent) -> None:
        self._kept.append(event)
        self._kept_bytes += len(event.websocket_frame)
        self._trim()

    def _trim(self) -> None:
        while len(self._kept) > KEPT_EVENTS_LIMIT or (self._kept_bytes > KEPT_BYTES_LIMIT and len(self._kept) > 1):
            self._kept_bytes -= len(self._kept.popleft().websocket_frame)

    def _forget(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0

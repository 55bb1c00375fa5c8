"""One table as it is watched: the latest events, and everybody who is to hear the next one.

A watcher has a place: the number of the last event that he knows. He hears the event after it, or a `TableTaken`, which
is a whole picture and to be believed whatever its number. Whoever would miss one is late: the hub mends that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from prometheus_client import Counter

from gateway.visitors import Visitor
from gateway.wires import Event, Wire

# What is kept for those who come back, for each table (G11).
KEPT_EVENTS = 500
KEPT_BYTES = 512 * 1024
# So much may wait to leave for a reader before he is told no more events, until he has read.
WAITING_BYTES = 256 * 1024

_DELIVERIES = Counter("feltro_edge_deliveries", "Messages of tables written to those who watch them")


class Transport(Protocol):
    """What of an asyncio transport is used here."""

    def write(self, data: bytes) -> None: ...

    def get_write_buffer_size(self) -> int: ...

    def is_closing(self) -> bool: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Outlet(Protocol):
    """A connection, as those see it who have something to tell."""

    wire: Wire
    transport: Transport

    @property
    def visitor(self) -> Visitor:
        """Who is behind it now."""
        ...

    def tell(self, *payloads: bytes) -> None:
        """Writes all that is to be told, each payload as it is, or ends what has too much waiting already."""
        ...

    def drop(self, watcher: Watcher, why: str) -> None:
        """The table is not told to him any more."""
        ...

    def end(self, code: int) -> None:
        """Ends the connection for a reason of `close_codes`."""
        ...


class Watcher:
    """Somebody who watches one table over one connection."""

    __slots__ = ("breaks", "feed", "late_since", "outlet", "place", "session_id", "transport", "wire")

    def __init__(self, outlet: Outlet, feed: Feed, place: int) -> None:
        self.outlet = outlet
        self.transport = outlet.transport
        self.wire = outlet.wire
        self.feed = feed
        self.place = place
        """The last event that he knows; while he is among those who have heard all, the feed knows it for him."""
        self.breaks = feed.breaks
        self.late_since = 0.0
        self.session_id = ""
        """His own session at this table, as far as this connection has heard of it."""

    @property
    def can_catch_up(self) -> bool:
        """Whether what he has missed since he is late is kept."""
        return self.breaks == self.feed.breaks and self.feed.covers(self.place)


class Feed:
    """What is told at one table."""

    def __init__(self, table_id: str, late: Callable[[Watcher], None]) -> None:
        """`late` is told of each watcher who has missed something; he hears nothing until he is let in again."""
        self.table_id = table_id
        self.seq: int | None = None
        """The last event heard."""
        self.breaks = 0
        """How often it was not certain that everything was heard."""
        self.opening = 0
        """How many are about to watch."""
        self.shown = False
        """Whether anybody was let see the table: until then there may be none."""
        self.idle_since: float | None = None
        self._late = late
        self._kept: deque[Event] = deque()
        self._kept_bytes = 0
        # Those who have heard all, and those who know more than was heard here yet. In the order of coming.
        self._level: dict[Wire, dict[Watcher, None]] = {wire: {} for wire in Wire}
        self._ahead: dict[Watcher, None] = {}

    @property
    def watched(self) -> bool:
        return self.opening > 0 or bool(self._ahead) or any(self._level.values())

    def covers(self, place: int) -> bool:
        """Whether everything after a place is known here, if anything came after it."""
        return place == self.seq or (bool(self._kept) and self._kept[0].seq - 1 <= place <= self._kept[-1].seq)

    def since(self, place: int) -> list[Event]:
        """What came after a place that is covered."""
        return [event for event in self._kept if event.seq > place]

    def fill(self, earlier: Sequence[Event]) -> None:
        """Takes over events that were told before this feed began to hear."""
        row: list[Event] = []
        for event in earlier:
            if row and event.seq != row[-1].seq + 1:
                # A new owner's picture, counted otherwise: nobody can take up what was before it.
                row = []
            row.append(event)
        if not self._kept:
            if self.seq is None and row:
                for event in row:
                    self._keep(event)
                self.seq = row[-1].seq
            return
        first = self._kept[0].seq
        row = [event for event in row if event.seq < first]
        if row and row[-1].seq == first - 1:
            for event in reversed(row):
                self._kept.appendleft(event)
                self._kept_bytes += len(event.frame)
            self._trim()

    def let_in(self, watcher: Watcher) -> None:
        """He hears what comes after his place, and first what has come after it already."""
        seq = self.seq
        if watcher.breaks != self.breaks:
            self._late(watcher)
        elif seq is None or watcher.place > seq:
            self._ahead[watcher] = None
        elif not watcher.can_catch_up:
            self._late(watcher)
        else:
            missed = self.since(watcher.place)
            # Before he is told: that may be one thing too many for his connection, and end it.
            self._level[watcher.wire][watcher] = None
            if missed:
                # As many as come back at once hold one copy of it between them (G11).
                watcher.outlet.tell(*(event.bytes_on(watcher.wire) for event in missed))

    def let_go(self, watcher: Watcher) -> None:
        self._level[watcher.wire].pop(watcher, None)
        self._ahead.pop(watcher, None)

    def hear(self, events: Iterable[Event]) -> None:
        """Tells everybody what has just happened."""
        together: list[Event] = []
        for event in events:
            if self.seq is not None and not event.taken:
                if event.seq <= self.seq:
                    continue
                if event.seq != self.seq + 1:
                    self._tell(together)
                    together = []
                    self.break_off()
            elif self.seq is not None and event.seq != self.seq + 1:
                # A picture that is counted otherwise: no place before it means anything any more.
                self._tell(together)
                together = []
                self.breaks += 1
                self._forget()
            self.seq = event.seq
            self._keep(event)
            together.append(event)
        self._tell(together)

    def break_off(self) -> None:
        """Something was missed: nobody knows all any more."""
        self.breaks += 1
        everybody = list(self._ahead)
        for level in self._level.values():
            for watcher in level:
                watcher.place = self.seq or 0
            everybody += level
        self._ahead.clear()
        for level in self._level.values():
            level.clear()
        self._forget()
        self.seq = None
        for watcher in everybody:
            self._is_late(watcher)

    def _tell(self, events: list[Event]) -> None:
        if not events:
            return
        before = events[0].seq - 1
        for wire, level in self._level.items():
            if level:
                self._tell_level(level, b"".join(event.bytes_on(wire) for event in events), before)
        for watcher in list(self._ahead):
            self._tell_ahead(watcher, events)

    def _tell_level(self, level: dict[Watcher, None], payload: bytes, before: int) -> None:
        slow: list[Watcher] = []
        for watcher in level:
            transport = watcher.transport
            if transport.get_write_buffer_size() > WAITING_BYTES:
                slow.append(watcher)
            elif not transport.is_closing():
                # On one that is closed uvloop would fail, and nobody after him be told.
                transport.write(payload)
        _DELIVERIES.inc(len(level) - len(slow))
        for watcher in slow:
            del level[watcher]
            watcher.place = before
            self._is_late(watcher)

    def _tell_ahead(self, watcher: Watcher, events: list[Event]) -> None:
        news: list[Event] = []
        for event in events:
            if event.taken or event.seq == watcher.place + 1:
                watcher.place = event.seq
                news.append(event)
            elif event.seq > watcher.place:
                del self._ahead[watcher]
                self._is_late(watcher)
                return
        if watcher.place == self.seq:
            del self._ahead[watcher]
            self._level[watcher.wire][watcher] = None
        if news:
            watcher.outlet.tell(*(event.bytes_on(watcher.wire) for event in news))

    def _is_late(self, watcher: Watcher) -> None:
        watcher.breaks = self.breaks
        self._late(watcher)

    def _keep(self, event: Event) -> None:
        self._kept.append(event)
        self._kept_bytes += len(event.frame)
        self._trim()

    def _trim(self) -> None:
        while len(self._kept) > KEPT_EVENTS or (self._kept_bytes > KEPT_BYTES and len(self._kept) > 1):
            self._kept_bytes -= len(self._kept.popleft().frame)

    def _forget(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0

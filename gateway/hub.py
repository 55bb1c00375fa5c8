"""Shows tables to those who watch them: one feed for each table that is watched, whoever watches and by whatever wire.

A picture comes from the table's owner, through the same desk as every call, so that a table is shown to exactly those
whom it answers. What follows comes from the bus. Between the two nothing is missed: a feed hears before it asks.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass

import grpc
from nats.aio.client import Client as Nats
from prometheus_client import Counter, Gauge

from feltro.table.v1 import events_pb2, table_pb2
from gateway import bounds, feeds, json_codec, refusals
from gateway.archive import Archive
from gateway.asking import Asks
from gateway.close_codes import CloseCode
from gateway.contracts import Contracts
from gateway.feeds import Feed, Outlet, Watcher
from gateway.listener import Listener
from gateway.refusals import GatewayRefused, unavailable
from gateway.visitors import Visitor
from gateway.wires import Event, told
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table.table_bus import STREAM, SUBJECTS

# How often a picture is asked for again because the table moved on too far in the meantime.
ATTEMPTS = 3
# One who is late is looked after so often; he gets on when no more than this waits to leave for him.
MEND_EVERY_S = 0.05
DRAINED_BYTES = 32 * 1024
LATE_FOR_S = 15.0
PICTURES_AT_ONCE = 16
# A feed that nobody watches stays for those who come back.
LINGERS_FOR_S = 15.0
FEEDS_LIMIT = 20_000

# What a table may be called: what cannot be one is not looked for (G11).
_TABLE_ID = re.compile(bounds.of(table_pb2.GetTableRequest.DESCRIPTOR.fields_by_name["table_id"]).form)
_PREFIX = SUBJECTS[0].removesuffix("*")
_log = logging.getLogger(__name__)
_FEEDS = Gauge("feltro_edge_feeds", "Tables that are watched, or were a moment ago")
_WATCHERS = Gauge("feltro_edge_watchers", "Tables watched, summed over all connections")
_LATE = Counter("feltro_edge_late", "Times that a watcher could not be told an event when it happened")
_CAUGHT_UP = Counter("feltro_edge_caught_up", "Times that one who was late was told all he had missed")
_RESYNCS = Counter("feltro_edge_resyncs", "Times that one who was late got a picture instead")


@dataclass(frozen=True, slots=True)
class Opening:
    """A table as it is when one begins to watch it."""

    feed: Feed
    breaks: int
    picture: table_pb2.GetTableResponse
    place: int
    """The event after which he is told what happens."""
    resumed: bool
    why: str
    """Why he could not take up where he wanted to."""

    def result(self) -> dict[str, object]:
        """What he is told first."""
        said: dict[str, object] = {"table_id": self.feed.table_id, "seq": str(self.place), "resumed": self.resumed}
        if self.why:
            said["why"] = self.why
        picture = json_codec.to_json(self.picture)
        if isinstance(picture, dict):
            said["own"] = picture.get("own")
            if not self.resumed:
                said["table"] = picture.get("table")
        return said


class Hub:
    """All tables that are watched here."""

    def __init__(self, bus: Nats, contracts: Contracts, desk: Asks) -> None:
        self._get_table = contracts.by_rpc_name["TableService.GetTable"]
        self._desk = desk
        self._archive = Archive(bus)
        self._feeds: dict[str, Feed] = {}
        # By table: a picture is for those of one table, and nobody looks through all others for them.
        self._late: dict[Feed, dict[Watcher, None]] = {}
        self._someone_late = asyncio.Event()
        self._being_pictured: set[Feed] = set()
        self._filling: dict[Feed, asyncio.Task[None]] = {}
        self._asking = asyncio.Semaphore(PICTURES_AT_ONCE)
        self._picturing: set[asyncio.Task[None]] = set()
        self._listener = Listener(bus, STREAM, SUBJECTS[0], self._heard, self._missed)

    @property
    def listening(self) -> bool:
        """Whether what happens at tables is heard."""
        return self._listener.listening

    def background(self) -> list[Coroutine[object, object, None]]:
        """What has to run for as long as anybody watches."""
        return [self._listener.run(), self._mend(), self._tidy()]

    async def close(self) -> None:
        await background.end([*self._picturing, *self._filling.values()])

    async def open(self, table_id: str, visitor: Visitor, from_seq: int | None = None) -> Opening:
        """Prepares watching; `watch` right after it, without waiting in between. `Refused` if he may not see it."""
        if _TABLE_ID.fullmatch(table_id) is None:
            raise refusals.invalid("table_id", "is no name of a table.")
        feed = self._feed(table_id)
        feed.opening += 1
        try:
            for _ in range(ATTEMPTS):
                breaks = feed.breaks
                picture = await self._picture(table_id, visitor)
                feed.shown = True
                if from_seq is not None:
                    place, why = await self._place(feed, from_seq, picture.table.seq)
                    if not why and breaks == feed.breaks:
                        return Opening(feed, breaks, picture, place, resumed=True, why="")
                else:
                    why = ""
                seq = picture.table.seq
                if breaks == feed.breaks and (feed.seq is None or seq >= feed.seq or feed.covers(seq)):
                    return Opening(feed, breaks, picture, seq, resumed=False, why=why)
        finally:
            feed.opening -= 1
            if not feed.shown and not feed.opening:
                # Names can be made up without end: what nobody was shown is not kept for anybody.
                del self._feeds[table_id]
                _FEEDS.set(len(self._feeds))
        raise unavailable("The table moves too fast to be shown at the moment: try again.")

    def watch(self, opening: Opening, outlet: Outlet) -> Watcher:
        """He hears from now on what comes after the opening."""
        opening.feed.idle_since = None
        # It may have been put away since it was opened: another one has not heard all.
        feed = self._feeds.setdefault(opening.feed.table_id, opening.feed)
        watcher = Watcher(outlet, feed, opening.place)
        watcher.breaks = opening.breaks if feed is opening.feed else -1
        watcher.session_id = opening.picture.own.session_id
        feed.let_in(watcher)
        _WATCHERS.inc()
        return watcher

    def leave(self, watcher: Watcher) -> None:
        watcher.feed.let_go(watcher)
        self._late_no_more(watcher)
        _WATCHERS.dec()

    async def _place(self, feed: Feed, from_seq: int, seq: int) -> tuple[int, str]:
        """Where he can take up, or why he cannot."""
        if from_seq > seq:
            return seq, "The table counts otherwise now."
        known = feed.seq is not None and feed.seq <= from_seq
        if not known and from_seq != seq and not feed.covers(from_seq):
            await self._fill(feed)
            known = feed.covers(from_seq)
            if not known:
                return seq, "What has happened since is not kept any more."
        return from_seq, ""

    async def _fill(self, feed: Feed) -> None:
        """Takes over what was told lately: after an outage many come back to one table, and one reading is for all."""
        filling = self._filling.get(feed)
        if filling is None:
            filling = self._filling[feed] = asyncio.create_task(self._read_back(feed))
            filling.add_done_callback(lambda _: self._filling.pop(feed))
        await asyncio.shield(filling)

    async def _read_back(self, feed: Feed) -> None:
        feed.fill(list(self._events(await self._archive.lately(feed.table_id))))

    async def _picture(self, table_id: str, visitor: Visitor) -> table_pb2.GetTableResponse:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return table_pb2.GetTableResponse.FromString(await self._desk.ask(self._get_table, request, visitor))

    def _feed(self, table_id: str) -> Feed:
        feed = self._feeds.get(table_id)
        if feed is None:
            if len(self._feeds) >= FEEDS_LIMIT:
                sentence = "Too many tables are watched here at the moment: try again later."
                raise GatewayRefused("OVERLOADED", sentence, limit=FEEDS_LIMIT)
            feed = self._feeds[table_id] = Feed(table_id, self._is_late)
            _FEEDS.set(len(self._feeds))
        return feed

    def _heard(self, subject: str, payload: bytes) -> None:
        feed = self._feeds.get(subject.removeprefix(_PREFIX))
        if feed is None:
            return
        try:
            feed.hear(self._events([payload]))
        except Exception:
            # Nobody knows who has heard what of it: all get a picture.
            feed.break_off()
            raise

    def _events(self, payloads: list[bytes]) -> Iterator[Event]:
        for payload in payloads:
            for event in events_pb2.TableEvents.FromString(payload).events:
                yield Event(event.seq, json_codec.encode(event), taken=event.HasField("table_taken"))

    def _missed(self) -> None:
        for feed in self._feeds.values():
            feed.break_off()

    def _is_late(self, watcher: Watcher) -> None:
        watcher.late_since = asyncio.get_running_loop().time()
        self._late.setdefault(watcher.feed, {})[watcher] = None
        self._someone_late.set()
        _LATE.inc()

    def _late_no_more(self, watcher: Watcher) -> None:
        late = self._late.get(watcher.feed)
        if late is not None:
            late.pop(watcher, None)
            if not late:
                del self._late[watcher.feed]

    async def _mend(self) -> None:
        """Brings those who are late up to date as soon as they have read what they were sent."""
        while True:
            await self._someone_late.wait()
            now = asyncio.get_running_loop().time()
            for feed, late in list(self._late.items()):
                wanting = self._mend_those_of(feed, late, now)
                if wanting is not None and feed not in self._being_pictured:
                    self._being_pictured.add(feed)
                    showing = asyncio.create_task(self._show(feed, wanting.outlet.visitor))
                    self._picturing.add(showing)
                    showing.add_done_callback(self._picturing.discard)
            if not self._late:
                self._someone_late.clear()
            await asyncio.sleep(MEND_EVERY_S)

    def _mend_those_of(self, feed: Feed, late: dict[Watcher, None], now: float) -> Watcher | None:
        """One of those who can only get on with a picture, if there are any."""
        wanting = None
        for watcher in list(late):
            if watcher not in late:
                # The end of a connection parts it from all its tables, not only the one that was looked at.
                continue
            drained = watcher.transport.get_write_buffer_size() <= DRAINED_BYTES
            if drained and watcher.can_catch_up:
                self._catch_up(watcher)
            elif now - watcher.late_since > LATE_FOR_S:
                watcher.outlet.end(CloseCode.UNAVAILABLE if drained else CloseCode.TOO_SLOW)
            elif drained and wanting is None:
                wanting = watcher
        return wanting if wanting in self._late.get(feed, {}) else None

    def _catch_up(self, watcher: Watcher) -> None:
        missed = sum(len(event.frame) for event in watcher.feed.since(watcher.place))
        if missed > feeds.WAITING_BYTES:
            watcher.breaks = -1
            return
        self._late_no_more(watcher)
        watcher.feed.let_in(watcher)
        _CAUGHT_UP.inc()

    async def _show(self, feed: Feed, visitor: Visitor) -> None:
        """One picture for all who need one: what every watcher of the table may see."""
        try:
            async with self._asking:
                breaks = feed.breaks
                picture = await self._picture(feed.table_id, visitor)
            if breaks == feed.breaks:
                self._show_all(feed, picture)
        except Refused as refused:
            if refused.code not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}:
                self._turn_away(feed, visitor, refused)
        except Exception:  # noqa: BLE001 - those who wait are told in time that they cannot be shown the table
            _log.exception("a table cannot be shown", extra={"table_id": feed.table_id})
        finally:
            self._being_pictured.discard(feed)

    def _show_all(self, feed: Feed, picture: table_pb2.GetTableResponse) -> None:
        seq = picture.table.seq
        if feed.seq is not None and seq < feed.seq and not feed.covers(seq):
            return
        params = json_codec.dumps(
            {"table_id": feed.table_id, "seq": str(seq), "why": "Events were missed.", "table": _table(picture)}
        )
        built: dict[object, bytes] = {}
        for watcher in list(self._late.get(feed, {})):
            if watcher.transport.get_write_buffer_size() > DRAINED_BYTES:
                continue
            if watcher.wire not in built:
                built[watcher.wire] = told(watcher.wire, "snapshot", params, seq)
            self._late_no_more(watcher)
            watcher.outlet.tell(built[watcher.wire])
            watcher.place, watcher.breaks = seq, feed.breaks
            feed.let_in(watcher)
            _RESYNCS.inc()

    def _turn_away(self, feed: Feed, visitor: Visitor, refused: Refused) -> None:
        for watcher in [late for late in self._late.get(feed, {}) if late.outlet.visitor is visitor]:
            watcher.outlet.drop(watcher, refused.sentence)

    async def _tidy(self) -> None:
        """Puts away feeds that nobody watches any more."""
        while True:
            await asyncio.sleep(LINGERS_FOR_S / 5)
            now = asyncio.get_running_loop().time()
            for feed in list(self._feeds.values()):
                if feed.watched or feed in self._late:
                    feed.idle_since = None
                elif feed.idle_since is None:
                    feed.idle_since = now
                elif now - feed.idle_since > LINGERS_FOR_S:
                    del self._feeds[feed.table_id]
            _FEEDS.set(len(self._feeds))


def _table(picture: table_pb2.GetTableResponse) -> object:
    return json_codec.to_json(picture.table)

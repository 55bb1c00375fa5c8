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
from gateway.access.principals import Principal
from gateway.backends.archive import Archive
from gateway.backends.listener import StreamListener
from gateway.backends.principal_dispatcher import PrincipalDispatcher
from gateway.contracts import bounds, json_codec, refusals
from gateway.contracts.methods import Contracts
from gateway.contracts.refusals import GatewayRefused, code_of, unavailable
from gateway.live import feeds
from gateway.live.close_codes import CloseCode
from gateway.live.encoding import EncodedEvent, notification
from gateway.live.feeds import ClientConnection, Feed, Watcher
from services.kit import background
from services.kit.bus.subjects import EVENTS_STREAM, EVENTS_SUBJECTS
from services.kit.refusal import Refused

# How often a picture is asked for again because the table moved on too far in the meantime.
SNAPSHOT_ATTEMPTS_LIMIT = 3
# One who is late is looked after so often; he gets on when no more than this waits to leave for him.
CATCH_UP_EVERY_S = 0.05
DRAINED_BYTES = 32 * 1024
LATE_TIMEOUT_S = 15.0
CONCURRENT_SNAPSHOTS_LIMIT = 16
# A feed that nobody watches stays for those who come back.
IDLE_FEED_KEPT_S = 15.0
FEEDS_LIMIT = 20_000

# What a table may be called: what cannot be one is not looked for (G11).
_TABLE_ID = re.compile(bounds.bounds_of(table_pb2.GetTableRequest.DESCRIPTOR.fields_by_name["table_id"]).pattern)
_PREFIX = EVENTS_SUBJECTS[0].removesuffix("*")
_log = logging.getLogger(__name__)
_FEEDS = Gauge("feltro_edge_feeds", "Tables that are watched, or were a moment ago")
_WATCHERS = Gauge("feltro_edge_watchers", "Tables watched, summed over all connections")
_LATE = Counter("feltro_edge_late", "Times that a watcher could not be told an event when it happened")
_CAUGHT_UP = Counter("feltro_edge_caught_up", "Times that one who was late was told all he had missed")
_RESYNCS = Counter("feltro_edge_resyncs", "Times that one who was late got a picture instead")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A table as it is when one begins to watch it."""

    feed: Feed
    gap_count: int
    snapshot: table_pb2.GetTableResponse
    start_seq: int
    """The event after which he is told what happens."""
    resumed: bool
    not_resumed_reason: str
    """Why he could not take up where he wanted to."""

    def to_json(self) -> dict[str, object]:
        """What he is told first."""
        said: dict[str, object] = {"table_id": self.feed.table_id, "seq": str(self.start_seq), "resumed": self.resumed}
        if self.not_resumed_reason:
            said["why"] = self.not_resumed_reason
        picture = json_codec.to_json(self.snapshot)
        if isinstance(picture, dict):
            said["own_seat"] = picture.get("own_seat")
            if not self.resumed:
                said["table"] = picture.get("table")
        return said


class Hub:
    """All tables that are watched here."""

    def __init__(self, bus: Nats, contracts: Contracts, dispatcher: PrincipalDispatcher) -> None:
        self._get_table = contracts.by_rpc_name["TableService.GetTable"]
        self._desk = dispatcher
        self._archive = Archive(bus)
        self._feeds: dict[str, Feed] = {}
        # By table: a picture is for those of one table, and nobody looks through all others for them.
        self._late: dict[Feed, dict[Watcher, None]] = {}
        self._someone_late = asyncio.Event()
        self._being_pictured: set[Feed] = set()
        self._filling: dict[Feed, asyncio.Task[None]] = {}
        self._asking = asyncio.Semaphore(CONCURRENT_SNAPSHOTS_LIMIT)
        self._picturing: set[asyncio.Task[None]] = set()
        self._listener = StreamListener(bus, EVENTS_STREAM, EVENTS_SUBJECTS[0], self._heard, self._missed)

    @property
    def is_listening(self) -> bool:
        """Whether what happens at tables is heard."""
        return self._listener.is_listening

    def background_tasks(self) -> list[Coroutine[object, object, None]]:
        """What has to run for as long as anybody watches."""
        return [self._listener.run(), self._mend(), self._tidy()]

    async def close(self) -> None:
        await background.cancel_and_wait([*self._picturing, *self._filling.values()])

    async def open_subscription(self, table_id: str, principal: Principal, from_seq: int | None = None) -> Subscription:
        """Prepares watching; `watch` right after it, without waiting in between. `Refused` if he may not see it."""
        if _TABLE_ID.fullmatch(table_id) is None:
            raise refusals.invalid("table_id", "is no name of a table.")
        feed = self._feed(table_id)
        feed.pending_watchers += 1
        try:
            for _ in range(SNAPSHOT_ATTEMPTS_LIMIT):
                breaks = feed.gap_count
                picture = await self._picture(table_id, principal)
                feed.ever_shown = True
                if from_seq is not None:
                    place, why = await self._place(feed, from_seq, picture.table.seq)
                    if not why and breaks == feed.gap_count:
                        return Subscription(feed, breaks, picture, place, resumed=True, not_resumed_reason="")
                else:
                    why = ""
                seq = picture.table.seq
                if breaks == feed.gap_count and (feed.last_seq is None or seq >= feed.last_seq or feed.covers(seq)):
                    return Subscription(feed, breaks, picture, seq, resumed=False, not_resumed_reason=why)
        finally:
            feed.pending_watchers -= 1
            if not feed.ever_shown and not feed.pending_watchers:
                # Names can be made up without end: what nobody was shown is not kept for anybody.
                del self._feeds[table_id]
                _FEEDS.set(len(self._feeds))
        raise unavailable("The table moves too fast to be shown at the moment: try again.")

    def add_watcher(self, subscription: Subscription, connection: ClientConnection) -> Watcher:
        """He hears from now on what comes after the opening."""
        subscription.feed.idle_since = None
        # It may have been put away since it was opened: another one has not heard all.
        feed = self._feeds.setdefault(subscription.feed.table_id, subscription.feed)
        watcher = Watcher(connection, feed, subscription.start_seq)
        watcher.gap_count = subscription.gap_count if feed is subscription.feed else -1
        watcher.session_id = subscription.snapshot.own_seat.session_id
        feed.add_watcher(watcher)
        _WATCHERS.inc()
        return watcher

    def remove_watcher(self, watcher: Watcher) -> None:
        watcher.feed.remove_watcher(watcher)
        self._late_no_more(watcher)
        _WATCHERS.dec()

    async def _place(self, feed: Feed, from_seq: int, seq: int) -> tuple[int, str]:
        """Where he can take up, or why he cannot."""
        if from_seq > seq:
            return seq, "The table counts otherwise now."
        known = feed.last_seq is not None and feed.last_seq <= from_seq
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
        feed.prepend(list(self._events(await self._archive.recent_messages(feed.table_id))))

    async def _picture(self, table_id: str, visitor: Principal) -> table_pb2.GetTableResponse:
        request = table_pb2.GetTableRequest(table_id=table_id)
        return table_pb2.GetTableResponse.FromString(await self._desk.dispatch(self._get_table, request, visitor))

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
            feed.publish(self._events([payload]))
        except Exception:
            # Nobody knows who has heard what of it: all get a picture.
            feed.mark_gap()
            raise

    def _events(self, payloads: list[bytes]) -> Iterator[EncodedEvent]:
        for payload in payloads:
            for event in events_pb2.TableEvents.FromString(payload).events:
                yield EncodedEvent(
                    event.seq, json_codec.encode(event), is_snapshot=event.HasField("snapshot_published")
                )

    def _missed(self) -> None:
        for feed in self._feeds.values():
            feed.mark_gap()

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
                    showing = asyncio.create_task(self._show(feed, wanting.connection.principal))
                    self._picturing.add(showing)
                    showing.add_done_callback(self._picturing.discard)
            if not self._late:
                self._someone_late.clear()
            await asyncio.sleep(CATCH_UP_EVERY_S)

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
            elif now - watcher.late_since > LATE_TIMEOUT_S:
                watcher.connection.close(CloseCode.TABLE_UNAVAILABLE if drained else CloseCode.TOO_SLOW)
            elif drained and wanting is None:
                wanting = watcher
        return wanting if wanting in self._late.get(feed, {}) else None

    def _catch_up(self, watcher: Watcher) -> None:
        missed = sum(len(event.websocket_frame) for event in watcher.feed.events_after(watcher.last_seq))
        if missed > feeds.EVENT_BACKLOG_BYTES_LIMIT:
            watcher.gap_count = -1
            return
        self._late_no_more(watcher)
        watcher.feed.add_watcher(watcher)
        _CAUGHT_UP.inc()

    async def _show(self, feed: Feed, visitor: Principal) -> None:
        """One picture for all who need one: what every watcher of the table may see."""
        try:
            async with self._asking:
                breaks = feed.gap_count
                picture = await self._picture(feed.table_id, visitor)
            if breaks == feed.gap_count:
                self._show_all(feed, picture)
        except Refused as refused:
            if code_of(refused) not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}:
                self._turn_away(feed, visitor, refused)
        except Exception:  # noqa: BLE001 - those who wait are told in time that they cannot be shown the table
            _log.exception("a table cannot be shown", extra={"table_id": feed.table_id})
        finally:
            self._being_pictured.discard(feed)

    def _show_all(self, feed: Feed, picture: table_pb2.GetTableResponse) -> None:
        seq = picture.table.seq
        if feed.last_seq is not None and seq < feed.last_seq and not feed.covers(seq):
            return
        params = json_codec.dumps(
            {"table_id": feed.table_id, "seq": str(seq), "why": "Events were missed.", "table": _table(picture)}
        )
        built: dict[object, bytes] = {}
        for watcher in list(self._late.get(feed, {})):
            if watcher.transport.get_write_buffer_size() > DRAINED_BYTES:
                continue
            if watcher.framing not in built:
                built[watcher.framing] = notification(watcher.framing, "snapshot", params, seq)
            self._late_no_more(watcher)
            watcher.connection.send(built[watcher.framing])
            watcher.last_seq, watcher.gap_count = seq, feed.gap_count
            feed.add_watcher(watcher)
            _RESYNCS.inc()

    def _turn_away(self, feed: Feed, visitor: Principal, refused: Refused) -> None:
        for watcher in [late for late in self._late.get(feed, {}) if late.connection.principal is visitor]:
            watcher.connection.end_subscription(watcher, refused.sentence)

    async def _tidy(self) -> None:
        """Puts away feeds that nobody watches any more."""
        while True:
            await asyncio.sleep(IDLE_FEED_KEPT_S / 5)
            now = asyncio.get_running_loop().time()
            for feed in list(self._feeds.values()):
                if feed.has_watchers or feed in self._late:
                    feed.idle_since = None
                elif feed.idle_since is None:
                    feed.idle_since = now
                elif now - feed.idle_since > IDLE_FEED_KEPT_S:
                    del self._feeds[feed.table_id]
            _FEEDS.set(len(self._feeds))


def _table(picture: table_pb2.GetTableResponse) -> object:
    return json_codec.to_json(picture.table)

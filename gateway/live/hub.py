"""The fan-out of tables: one feed for each watched table, shared by all its watchers.

A snapshot comes from the table's owner, through the same dispatcher as every call, so that a client sees a table only
if the owner answers its call. Events come from the bus. None is missed between the two, for a feed receives events
before the snapshot is requested.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import grpc
from nats.aio.client import Client as Nats
from prometheus_client import Counter, Gauge

from feltro.table.v1 import events_pb2, table_pb2
from gateway.access.principals import Principal
from gateway.backends.archive import Archive
from gateway.backends.dispatcher import CallContext, CallDispatcher
from gateway.backends.listener import StreamListener
from gateway.contracts import bounds, json_codec, refusals
from gateway.contracts.methods import Contracts
from gateway.contracts.refusals import GatewayRefused, code_of, unavailable
from gateway.live import feeds
from gateway.live.close_codes import CloseCode
from gateway.live.encoding import EncodedEvent, Framing, notification
from gateway.live.event_delay import EventDelay
from gateway.live.feeds import ClientConnection, Feed, Watcher
from services.kit import background
from services.kit.bus.follower import WHOLE_STREAM
from services.kit.bus.subjects import EVENTS_STREAM, game_and_table
from services.kit.refusal import Refused

# How often a snapshot is requested again because events came in between.
SNAPSHOT_ATTEMPTS_LIMIT = 3
# How often late watchers are checked; one catches up when no more than this is unsent to it.
CATCH_UP_EVERY_S = 0.05
DRAINED_BYTES = 32 * 1024
LATE_TIMEOUT_S = 15.0
CONCURRENT_SNAPSHOTS_LIMIT = 16
# A feed without watchers is kept for clients that come back.
IDLE_FEED_KEPT_S = 15.0
FEEDS_LIMIT = 20_000
# Messages that arrive in one turn of the event loop and are written together, over all tables (G11).
MESSAGES_PER_TURN_LIMIT = 256

# No feed is made for what cannot be a table's id (G11).
_TABLE_ID = re.compile(bounds.bounds_of(table_pb2.GetTableRequest.DESCRIPTOR.fields_by_name["table_id"]).pattern)
_log = logging.getLogger(__name__)
_FEEDS = Gauge("feltro_edge_feeds", "Tables that are watched, or were a moment ago")
_WATCHERS = Gauge("feltro_edge_watchers", "Tables watched, summed over all connections")
_LATE = Counter("feltro_edge_watchers_late", "Times that a watcher could not be sent an event when it happened")
_CAUGHT_UP = Counter("feltro_edge_watchers_caught_up", "Times that a late watcher was sent all that it had missed")
_RESYNCED = Counter("feltro_edge_watchers_resynced", "Times that a late watcher was sent a snapshot instead")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A table as it is when a client begins to watch it."""

    feed: Feed
    gap_count: int
    snapshot: table_pb2.GetTableResponse
    start_seq: int
    """The event after which the watcher receives events."""
    resumed: bool
    not_resumed_reason: str
    """Why the client could not resume where it asked to; empty if it did not ask, or could."""

    def to_json(self) -> dict[str, object]:
        """Returns the answer to the client."""
        content: dict[str, object] = {
            "table_id": self.feed.table_id,
            "seq": str(self.start_seq),
            "resumed": self.resumed,
        }
        if self.not_resumed_reason:
            content["message"] = self.not_resumed_reason
        snapshot = json_codec.to_json(self.snapshot)
        if isinstance(snapshot, dict):
            content["own_seat"] = snapshot.get("own_seat")
            if not self.resumed:
                content["table"] = snapshot.get("table")
        return content


class Hub:
    """The feeds of all tables that are watched at this gateway."""

    def __init__(
        self, bus: Nats, contracts: Contracts, dispatcher: CallDispatcher, game_of: Callable[[str], str | None]
    ) -> None:
        """`game_of` returns the game of a table, which alone publishes its events."""
        self._get_table = contracts.by_rpc_name["TableService.GetTable"]
        self._dispatcher = dispatcher
        self._game_of = game_of
        self._archive = Archive(bus)
        self._feeds: dict[str, Feed] = {}
        # By table, for one snapshot serves all late watchers of a table.
        self._late: dict[Feed, dict[Watcher, None]] = {}
        self._has_late = asyncio.Event()
        self._backfills: dict[Feed, asyncio.Task[None]] = {}
        self._resyncs: dict[Feed, asyncio.Task[None]] = {}
        self._snapshot_slots = asyncio.Semaphore(CONCURRENT_SNAPSHOTS_LIMIT)
        # Payloads that have arrived in this turn of the event loop: a watcher gets them in one write.
        self._arrived: dict[Feed, list[bytes]] = {}
        self._arrived_count = 0
        self._delay = EventDelay("table")
        self._listener = StreamListener(bus, EVENTS_STREAM, WHOLE_STREAM, self._on_message, self._on_gap)

    @property
    def is_listening(self) -> bool:
        """Whether events of tables are received."""
        return self._listener.is_listening

    def background_tasks(self) -> list[Coroutine[object, object, None]]:
        """Returns the tasks that have to run as long as the gateway does."""
        return [self._listener.run(), self._catch_up_late(), self._drop_idle_feeds()]

    async def close(self) -> None:
        await background.cancel_and_wait([*self._resyncs.values(), *self._backfills.values()])

    async def open_subscription(self, table_id: str, principal: Principal, from_seq: int | None = None) -> Subscription:
        """Requests a snapshot; a `Refused` if the principal may not see the table.

        Call `add_watcher` right after it, without waiting in between.
        """
        if _TABLE_ID.fullmatch(table_id) is None:
            raise refusals.invalid("table_id", "is no name of a table.")
        feed = self._feed(table_id)
        feed.pending_watchers += 1
        try:
            for _ in range(SNAPSHOT_ATTEMPTS_LIMIT):
                gap_count = feed.gap_count
                snapshot = await self._request_snapshot(table_id, principal)
                feed.ever_shown = True
                seq, reason = snapshot.table.seq, ""
                if from_seq is not None:
                    reason = await self._reason_not_to_resume(feed, from_seq, seq)
                    if not reason and gap_count == feed.gap_count:
                        return Subscription(feed, gap_count, snapshot, from_seq, resumed=True, not_resumed_reason="")
                if gap_count == feed.gap_count and (feed.last_seq is None or seq >= feed.last_seq or feed.covers(seq)):
                    return Subscription(feed, gap_count, snapshot, seq, resumed=False, not_resumed_reason=reason)
        finally:
            feed.pending_watchers -= 1
            if not feed.ever_shown and not feed.pending_watchers:
                # Ids can be made up without end: a feed of a table that was never shown is not kept (G11).
                del self._feeds[table_id]
                _FEEDS.set(len(self._feeds))
        raise unavailable("The table moves too fast to be shown at the moment: try again.")

    def add_watcher(self, subscription: Subscription, connection: ClientConnection) -> Watcher:
        """Adds a watcher, which receives the events after the subscription's snapshot."""
        subscription.feed.idle_since = None
        # The feed may have been dropped meanwhile: a new one has not received all events, so the watcher is late.
        feed = self._feeds.setdefault(subscription.feed.table_id, subscription.feed)
        watcher = Watcher(connection, feed, subscription.start_seq)
        watcher.gap_count = subscription.gap_count if feed is subscription.feed else -1
        watcher.session_id = subscription.snapshot.own_seat.session_id
        feed.add_watcher(watcher)
        _WATCHERS.inc()
        return watcher

    def remove_watcher(self, watcher: Watcher) -> None:
        watcher.feed.remove_watcher(watcher)
        self._unmark_late(watcher)
        _WATCHERS.dec()

    async def _reason_not_to_resume(self, feed: Feed, from_seq: int, seq: int) -> str:
        """Returns why a client cannot resume from an event, or an empty reason if it can."""
        if from_seq > seq:
            return "The table counts otherwise now."
        nothing_missed = from_seq == seq or (feed.last_seq is not None and feed.last_seq <= from_seq)
        if not nothing_missed and not feed.covers(from_seq):
            await self._backfill(feed)
            if not feed.covers(from_seq):
                return "What has happened since is not kept any more."
        return ""

    async def _backfill(self, feed: Feed) -> None:
        """Adds recent events to a feed; many clients come back to a table at once, and share one reading."""
        backfill = self._backfills.get(feed)
        if backfill is None:
            backfill = self._backfills[feed] = asyncio.create_task(self._read_back(feed))
            backfill.add_done_callback(lambda _: self._backfills.pop(feed))
        await asyncio.shield(backfill)

    async def _read_back(self, feed: Feed) -> None:
        game = self._game_of(feed.table_id)
        if game is not None:
            payloads = await self._archive.recent_messages(game, feed.table_id)
            feed.prepend(list(_encoded(events_pb2.TableEvents.FromString(payload) for payload in payloads)))

    async def _request_snapshot(self, table_id: str, principal: Principal) -> table_pb2.GetTableResponse:
        request = table_pb2.GetTableRequest(table_id=table_id)
        answer = await self._dispatcher.dispatch(self._get_table, request, CallContext(principal))
        return table_pb2.GetTableResponse.FromString(answer)

    def _feed(self, table_id: str) -> Feed:
        feed = self._feeds.get(table_id)
        if feed is None:
            if len(self._feeds) >= FEEDS_LIMIT:
                sentence = "Too many tables are watched here at the moment: try again later."
                raise GatewayRefused("OVERLOADED", sentence, limit=FEEDS_LIMIT)
            feed = self._feeds[table_id] = Feed(table_id, self._mark_late)
            _FEEDS.set(len(self._feeds))
        return feed

    def _on_message(self, subject: str, payload: bytes) -> None:
        game, table_id = game_and_table(subject)
        feed = self._feeds.get(table_id)
        if feed is None:
            return
        owner = self._game_of(table_id)
        if owner != game:
            if owner is None:
                # It may be the table's own game: only a snapshot says.
                feed.mark_gap()
            return
        if not self._arrived:
            asyncio.get_running_loop().call_soon(self._publish_arrived)
        self._arrived.setdefault(feed, []).append(payload)
        self._arrived_count += 1
        if self._arrived_count >= MESSAGES_PER_TURN_LIMIT:
            self._publish_arrived()

    def _publish_arrived(self) -> None:
        arrived, self._arrived, self._arrived_count = self._arrived, {}, 0
        for feed, payloads in arrived.items():
            try:
                messages = [events_pb2.TableEvents.FromString(payload) for payload in payloads]
                feed.publish(_encoded(messages))
                for message in messages:
                    if feed.has_watchers and message.events:
                        self._delay.observe(message.events[0].at)
            except Exception:  # noqa: BLE001 - one unreadable message must not stop all others
                _log.exception("a message of the bus cannot be read", extra={"table_id": feed.table_id})
                # Some watchers may have received a part of it: all get a snapshot.
                feed.mark_gap()

    def _on_gap(self) -> None:
        self._publish_arrived()
        for feed in self._feeds.values():
            feed.mark_gap()

    def _mark_late(self, watcher: Watcher) -> None:
        watcher.late_since = asyncio.get_running_loop().time()
        self._late.setdefault(watcher.feed, {})[watcher] = None
        self._has_late.set()
        _LATE.inc()

    def _unmark_late(self, watcher: Watcher) -> None:
        late = self._late.get(watcher.feed)
        if late is not None:
            late.pop(watcher, None)
            if not late:
                del self._late[watcher.feed]

    async def _catch_up_late(self) -> None:
        """Catches late watchers up as soon as their clients have read what they were sent."""
        while True:
            await self._has_late.wait()
            now = asyncio.get_running_loop().time()
            for feed, late in list(self._late.items()):
                needs_snapshot = self._catch_up_late_of(feed, late, now)
                if needs_snapshot is not None and feed not in self._resyncs:
                    resync = asyncio.create_task(self._resync(feed, needs_snapshot.connection.principal))
                    self._resyncs[feed] = resync
                    resync.add_done_callback(partial(self._end_resync, feed))
            if not self._late:
                self._has_late.clear()
            await asyncio.sleep(CATCH_UP_EVERY_S)

    def _end_resync(self, feed: Feed, _: asyncio.Task[None]) -> None:
        del self._resyncs[feed]

    def _catch_up_late_of(self, feed: Feed, late: dict[Watcher, None], now: float) -> Watcher | None:
        """Catches up the late watchers of a feed; returns one that needs a snapshot, if there is any."""
        needs_snapshot = None
        for watcher in list(late):
            if watcher not in late:
                # Closing the connection of one watcher may have removed others of this feed.
                continue
            drained = watcher.transport.get_write_buffer_size() <= DRAINED_BYTES
            if drained and watcher.can_catch_up:
                self._catch_up(watcher)
            elif now - watcher.late_since > LATE_TIMEOUT_S:
                watcher.connection.close(CloseCode.TABLE_UNAVAILABLE if drained else CloseCode.TOO_SLOW)
            elif drained and needs_snapshot is None:
                needs_snapshot = watcher
        return needs_snapshot if needs_snapshot in self._late.get(feed, {}) else None

    def _catch_up(self, watcher: Watcher) -> None:
        missed_bytes = sum(len(event.websocket_frame) for event in watcher.feed.events_after(watcher.last_seq))
        if missed_bytes > feeds.EVENT_BACKLOG_BYTES_LIMIT:
            watcher.gap_count = -1
            return
        self._unmark_late(watcher)
        watcher.feed.add_watcher(watcher)
        _CAUGHT_UP.inc()

    async def _resync(self, feed: Feed, principal: Principal) -> None:
        """Sends one snapshot to all late watchers of a feed: the public part, which all of them may see."""
        try:
            async with self._snapshot_slots:
                gap_count = feed.gap_count
                snapshot = await self._request_snapshot(feed.table_id, principal)
            if gap_count == feed.gap_count:
                self._send_snapshot(feed, snapshot)
        except Refused as refused:
            if code_of(refused) not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}:
                self._end_subscriptions(feed, principal, refused)
        except Exception:  # noqa: BLE001 - the late watchers are closed after LATE_TIMEOUT_S
            _log.exception("a table cannot be shown", extra={"table_id": feed.table_id})

    def _send_snapshot(self, feed: Feed, snapshot: table_pb2.GetTableResponse) -> None:
        seq = snapshot.table.seq
        if feed.last_seq is not None and seq < feed.last_seq and not feed.covers(seq):
            return
        table = json_codec.to_json(snapshot.table)
        content = {"table_id": feed.table_id, "seq": str(seq), "message": "Events were missed.", "table": table}
        params = json_codec.dumps(content)
        encoded: dict[Framing, bytes] = {}
        for watcher in list(self._late.get(feed, {})):
            if watcher.transport.get_write_buffer_size() > DRAINED_BYTES:
                continue
            if watcher.framing not in encoded:
                encoded[watcher.framing] = notification(watcher.framing, "snapshot", params, seq)
            self._unmark_late(watcher)
            watcher.connection.send(encoded[watcher.framing])
            watcher.last_seq, watcher.gap_count = seq, feed.gap_count
            feed.add_watcher(watcher)
            _RESYNCED.inc()

    def _end_subscriptions(self, feed: Feed, principal: Principal, refused: Refused) -> None:
        for watcher in [late for late in self._late.get(feed, {}) if late.connection.principal is principal]:
            watcher.connection.end_subscription(watcher, refused.sentence)

    async def _drop_idle_feeds(self) -> None:
        """Drops feeds that were not watched for IDLE_FEED_KEPT_S."""
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


def _encoded(messages: Iterable[events_pb2.TableEvents]) -> Iterator[EncodedEvent]:
    for message in messages:
        for event in message.events:
            yield EncodedEvent(event.seq, json_codec.encode(event), is_snapshot=event.HasField("snapshot_published"))

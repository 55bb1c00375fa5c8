"""Replicas on a real NATS: each placement is run by one of them, whichever live or die."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from nats.aio.client import Client as Nats

from feltro.table.v1.placement_pb2 import Lease, Replica
from services.kit import background
from services.kit.bus import subjects
from services.kit.bus.buckets import Bucket
from services.kit.table.placement import ownership, sharing
from services.kit.table.placement.ownership import Placement
from tests.processes.bus import connect_bus
from tests.service.table.loop_clock import LoopClock
from tests.service.table.stoppable_nats import StoppableNats

TIMEOUT_S = 240.0
TAKEOVER_TIMEOUT_S = 5.0

_games = itertools.count(1)


class Groups:
    """The table groups of a test's game, which replica runs each, and their epochs, as the journal counts them."""

    def __init__(self, count: int) -> None:
        self.game = f"game{next(_games)}"
        self.clock = LoopClock()
        self.placement_ids = {f"{self.game}-{number}" for number in range(count)}
        self.running: dict[str, str] = {}
        self.run_twice: list[str] = []
        self.opened: Counter[str] = Counter()
        self.epochs = itertools.count(1)
        self.lost: list[str] = []
        self.never_finishing: set[str] = set()
        """Groups whose round does not end."""
        self.failing_replicas: set[str] = set()
        """Replicas that cannot open a group."""
        self.seated: dict[str, int] = {}
        """How many players each replica counts at the groups that it runs."""

    async def list_ids(self) -> Collection[str]:
        return self.placement_ids

    def count_at(self, replica_id: str) -> int:
        return sum(runner == replica_id for runner in self.running.values())

    def all_run(self) -> bool:
        return self.running.keys() == self.placement_ids


class Group:
    """One group, run by a replica."""

    def __init__(self, groups: Groups, placement_id: str, replica_id: str) -> None:
        self.groups = groups
        self.placement_id = placement_id
        self.replica_id = replica_id

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        groups = self.groups
        groups.opened[self.replica_id] += 1
        if self.replica_id in groups.failing_replicas:
            raise ZeroDivisionError
        if self.placement_id in groups.running:
            groups.run_twice.append(self.placement_id)
        groups.running[self.placement_id] = self.replica_id
        try:
            await announce(next(groups.epochs))
            while not lost.is_set() and (not hand_over.is_set() or self.placement_id in groups.never_finishing):
                await asyncio.sleep(0.01)
            if lost.is_set():
                groups.lost.append(self.placement_id)
        finally:
            del groups.running[self.placement_id]


class Member:
    """A replica with its own connection, as its own process would have it."""

    def __init__(self, groups: Groups, replica_id: str, bus: Nats) -> None:
        self.replica_id = replica_id
        self.bus = bus
        self.suspended_s = 0.0
        self.placement = Placement(
            bus,
            groups.game,
            replica_id,
            f"{replica_id}:443",
            groups.list_ids,
            lambda placement_id: Group(groups, placement_id, replica_id),
            lambda: groups.clock() + self.suspended_s,
            seated_here=lambda: groups.seated,
        )
        self._running = asyncio.create_task(self.placement.run())

    @property
    def stopped(self) -> bool:
        """Whether the process would have stopped, because its placement did."""
        return self._running.done()

    async def kill(self) -> None:
        """Ends like `kill -9`: nothing is handed over or released."""
        await background.cancel_and_wait([self._running])


@pytest_asyncio.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


async def join(stack: AsyncExitStack, url: str, groups: Groups, replica_id: str) -> Member:
    stack.push_async_callback(groups.clock.stop)
    bus = await connect_bus(url)
    stack.push_async_callback(bus.close)
    member = Member(groups, replica_id, bus)
    stack.push_async_callback(member.kill)
    return member


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


async def known_owner(member: Member, placement_id: str) -> Lease:
    """Returns the lease of an open group as soon as the member sees it."""
    async with asyncio.timeout(TIMEOUT_S):
        while (lease := member.placement.owner(placement_id)) is None or not lease.epoch:
            await asyncio.sleep(0.01)
    return lease


@pytest.mark.guarantee("G8")
async def test_g8_one_of_two_claimants_wins_each_placement(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both claim all of them at once, and give none away.
    monkeypatch.setattr(sharing, "UNCLAIMED_AFTER_S", 0.0)
    monkeypatch.setattr(sharing, "should_give_one", lambda *_, **__: False)
    groups = Groups(40)
    one, other = [await join(stack, nats_url, groups, name) for name in ("one", "other")]
    await until(groups.all_run)
    assert groups.run_twice == []
    for placement_id in groups.placement_ids:
        assert one.placement.owns(placement_id) != other.placement.owns(placement_id)
        asked, owner = (other, one) if one.placement.owns(placement_id) else (one, other)
        lease = await known_owner(asked, placement_id)
        assert (lease.address, lease.game) == (f"{owner.replica_id}:443", groups.game)
        assert owner.placement.owner(placement_id) == lease


async def test_every_replica_knows_how_many_players_sit_at_a_placement(nats_url: str, stack: AsyncExitStack) -> None:
    groups = Groups(4)
    one, other = [await join(stack, nats_url, groups, name) for name in ("one", "other")]
    await until(groups.all_run)
    busy, empty, *_ = sorted(groups.placement_ids)
    groups.seated = {busy: 3, empty: 0, "of-no-replica": 7}
    for member in (one, other):
        await until(lambda member=member: member.placement.seated(busy) == 3)  # type: ignore[misc]
        assert (member.placement.seated(empty), member.placement.seated("of-no-replica")) == (0, 0)
    groups.seated = {}
    await until(lambda: one.placement.seated(busy) == other.placement.seated(busy) == 0)


@pytest.mark.guarantee("G8")
async def test_g8_placements_of_a_killed_replica_run_elsewhere_within_seconds(
    nats_url: str, stack: AsyncExitStack
) -> None:
    groups = Groups(30)
    members = [await join(stack, nats_url, groups, name) for name in ("one", "two", "three")]
    await until(groups.all_run)
    await until(lambda: all(groups.count_at(member.replica_id) == 10 for member in members))
    before = ownership._TAKEOVERS._value.get()
    await members[0].kill()
    assert not groups.all_run()
    killed_at = groups.clock()
    await until(groups.all_run)
    assert groups.clock() - killed_at <= TAKEOVER_TIMEOUT_S
    assert groups.run_twice == []
    assert groups.lost == []
    assert {groups.count_at("two"), groups.count_at("three")} == {15}
    assert ownership._TAKEOVERS._value.get() - before == 10


async def test_a_draining_replica_hands_over_between_rounds(nats_url: str, stack: AsyncExitStack) -> None:
    groups = Groups(10)
    leaving, _ = [await join(stack, nats_url, groups, name) for name in ("leaving", "staying")]
    await until(lambda: groups.count_at("leaving") == groups.count_at("staying") == 5)
    playing = next(placement_id for placement_id, runner in groups.running.items() if runner == "leaving")
    groups.never_finishing.add(playing)
    # Neither a lease nor a heartbeat expires: placements change hands by a handover only.
    await groups.clock.stop()
    left = asyncio.create_task(leaving.placement.drain())
    await until(lambda: groups.count_at("staying") == 9)
    heartbeat = await Bucket(leaving.bus, subjects.REPLICAS_BUCKET, lambda: None).read(f"{groups.game}.leaving")
    assert Replica.FromString(heartbeat.value).draining
    assert groups.running[playing] == "leaving"
    assert not left.done()
    groups.never_finishing.clear()
    await until(lambda: groups.count_at("staying") == 10)
    async with asyncio.timeout(TIMEOUT_S):
        await left
    assert groups.run_twice == []
    assert groups.opened["leaving"] == 5
    lease = leaving.placement.owner(playing)
    assert lease is None or lease.replica_id == "staying"


async def test_a_second_replica_receives_its_share_one_by_one(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "GIVE_AWAY_EVERY_S", 0.2)
    groups = Groups(7)
    await join(stack, nats_url, groups, "first")
    await until(groups.all_run)
    await join(stack, nats_url, groups, "second")
    await until(lambda: groups.count_at("second") == 3 and groups.count_at("first") == 4)
    await join(stack, nats_url, groups, "third")
    await until(lambda: groups.count_at("third") == 2 and groups.all_run())
    assert groups.run_twice == []
    # No placement moved without need.
    assert groups.opened["second"] <= 4
    assert sum(groups.opened.values()) <= 7 + 3 + 2 + 1


async def test_a_new_placement_opens_within_seconds(nats_url: str, stack: AsyncExitStack) -> None:
    groups = Groups(1)
    await join(stack, nats_url, groups, "one")
    await until(groups.all_run)
    groups.placement_ids = groups.placement_ids | {f"{groups.game}-new"}
    made_at = groups.clock()
    await until(groups.all_run)
    assert groups.clock() - made_at <= 2.0


@pytest.mark.guarantee("G8")
async def test_g8_replicas_without_a_bus_give_up_before_others_may_take_over(
    own_nats: StoppableNats, stack: AsyncExitStack
) -> None:
    groups = Groups(6)
    members = [await join(stack, own_nats.url, groups, name) for name in ("one", "two")]
    # No handover is under way.
    await until(lambda: groups.count_at("one") == groups.count_at("two") == 3)
    own_nats.stop(forget=True)
    stopped_at = groups.clock()
    await until(lambda: not groups.running)
    assert groups.clock() - stopped_at <= subjects.HEARTBEAT_LIFETIME_S
    assert sorted(groups.lost) == sorted(groups.placement_ids)
    assert not any(member.placement.owns(placement_id) for member in members for placement_id in groups.placement_ids)
    # They claim them again when the bus is back, though it has forgotten everything.
    own_nats.start()
    await until(groups.all_run)
    assert groups.run_twice == []


@pytest.mark.guarantee("G8")
async def test_g8_a_suspended_replica_notices_before_it_acts(nats_url: str, stack: AsyncExitStack) -> None:
    groups = Groups(3)
    sleeper = await join(stack, nats_url, groups, "sleeper")
    await until(groups.all_run)
    placement_id = next(iter(groups.placement_ids))
    assert sleeper.placement.owns(placement_id)
    sleeper.suspended_s += subjects.HEARTBEAT_LIFETIME_S
    assert not sleeper.placement.owns(placement_id)
    await until(lambda: len(groups.lost) == 3)
    await until(groups.all_run)
    assert groups.run_twice == []


def sees_all_replicas(placement: Placement, since: float) -> bool:
    """Whether a replica could claim what looks free, and has seen both heartbeats since a moment."""
    seen_at = [entry.seen_at for entry in placement._presence._bucket.entries.values()]
    return placement._may_act() and placement._view_has_settled() and len(seen_at) == 2 and min(seen_at) > since


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("forget", [False, True], ids=["kept", "forgotten"])
async def test_g8_a_bus_that_restarts_in_time_changes_no_owner(
    own_nats: StoppableNats, stack: AsyncExitStack, forget: object
) -> None:
    """With its data or without: owners write their leases again."""
    groups = Groups(6)
    members = [await join(stack, own_nats.url, groups, name) for name in ("one", "two")]
    await until(lambda: groups.count_at("one") == groups.count_at("two") == 3)
    runners = dict(groups.running)
    own_nats.stop(forget=bool(forget))
    own_nats.start()
    restarted = groups.clock()
    for member in members:
        await until(lambda placement=member.placement: sees_all_replicas(placement, restarted))  # type: ignore[misc]
        assert {
            placement_id: (await known_owner(member, placement_id)).replica_id for placement_id in runners
        } == runners
    assert groups.running == runners
    assert (groups.run_twice, groups.lost) == ([], [])


async def test_a_placement_that_fails_at_one_replica_runs_at_another(
    nats_url: str, stack: AsyncExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    groups = Groups(4)
    groups.failing_replicas.add("broken")
    await join(stack, nats_url, groups, "broken")
    await until(lambda: groups.opened["broken"] >= 4)
    assert "a placement has failed" in caplog.text
    await join(stack, nats_url, groups, "whole")
    await until(groups.all_run)
    whole_since = groups.clock()
    assert groups.count_at("whole") == 4
    # It paused between the attempts.
    assert groups.opened["broken"] < 40
    opened = sum(groups.opened.values())
    await until(lambda: groups.clock() - whole_since > ownership.GIVE_AWAY_EVERY_S)
    # It is given none that runs well elsewhere.
    assert (groups.count_at("whole"), sum(groups.opened.values())) == (4, opened)


async def test_a_failing_list_leaves_known_placements_running(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "PLACEMENT_IDS_EVERY_S", 0.01)
    groups = Groups(2)
    asked = 0

    async def fail() -> Collection[str]:
        nonlocal asked
        asked += 1
        raise OSError

    member = await join(stack, nats_url, groups, "one")
    await until(groups.all_run)
    monkeypatch.setattr(member.placement, "_list_placement_ids", fail)
    await until(lambda: asked > 5)
    assert groups.all_run()


async def test_leases_of_an_earlier_process_with_the_same_id_are_claimed_again(
    nats_url: str, stack: AsyncExitStack
) -> None:
    groups = Groups(3)
    former = await join(stack, nats_url, groups, "same")
    await until(groups.all_run)
    await former.kill()
    await join(stack, nats_url, groups, "same")
    await until(groups.all_run)
    assert groups.run_twice == []


@pytest.mark.guarantee("G8")
async def test_g8_a_placement_that_another_replica_has_taken_is_given_up(nats_url: str, stack: AsyncExitStack) -> None:
    """As after a pause in which the others believed this replica dead."""
    groups = Groups(2)
    member = await join(stack, nats_url, groups, "one")
    await until(groups.all_run)
    operator = await connect_bus(nats_url)
    stack.push_async_callback(operator.close)
    leases = Bucket(operator, subjects.LEASES_BUCKET, lambda: None)
    taken, kept = sorted(groups.placement_ids)
    lease = Lease(placement_id=taken, game=groups.game, replica_id="other", address="other:443", epoch=1_000)
    await leases.put(f"{groups.game}.{taken}", lease.SerializeToString())
    await until(lambda: groups.lost == [taken])
    assert member.placement.owns(kept)
    # The other one is not there any more: as soon as that is certain, the placement is opened again.
    await until(groups.all_run)
    assert (groups.opened["one"], groups.run_twice, groups.lost) == (3, [], [taken])
    assert not member.stopped


# What is no lease of a placement: no message, an empty one, one of another placement or game, one of nobody.
UNREADABLE = (
    b"\xff\xfe not a message",
    b"\x00",
    b"{}",
    b"\x08\x01",
    Lease(placement_id="another", game="another", replica_id="r", address="192.0.2.1:1", epoch=9).SerializeToString(),
    Lease(address="192.0.2.1:1", epoch=2**62).SerializeToString(),
)


@pytest.mark.guarantee("G9")
async def test_g9_no_entry_of_a_bucket_ends_a_process_or_stops_its_placements(
    nats_url: str, stack: AsyncExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    groups = Groups(len(UNREADABLE))
    operator = await connect_bus(nats_url)
    stack.push_async_callback(operator.close)
    leases, replicas = (
        Bucket(operator, bucket, lambda: None) for bucket in (subjects.LEASES_BUCKET, subjects.REPLICAS_BUCKET)
    )
    keys = [f"{groups.game}.{placement_id}" for placement_id in sorted(groups.placement_ids)]

    async def spoil() -> None:
        for key, value in zip(keys, UNREADABLE, strict=True):
            await leases.put(key, value)
        for number, value in enumerate(UNREADABLE):
            for bucket in (leases, replicas):
                for key in (f"{groups.game}.strange{number}", f"strange{number}", f"strange.{number}.key"):
                    await bucket.put(key, value)

    await spoil()
    members = [await join(stack, nats_url, groups, name) for name in ("one", "two")]
    await until(groups.all_run)
    await until(lambda: groups.count_at("one") == groups.count_at("two"))
    for key in keys:
        assert key in {record.__dict__.get("key") for record in caplog.records}
    # And while they run: their owners go on, and write their leases again.
    await spoil()
    async with asyncio.timeout(TIMEOUT_S):
        for key in keys:
            while not (value := (await leases.read(key)).value) or value in UNREADABLE:
                await asyncio.sleep(0.02)
    assert groups.all_run()
    assert (groups.run_twice, groups.lost) == ([], [])
    # A new placement is claimed although something stands where its lease belongs.
    await leases.put(f"{groups.game}.{groups.game}-new", UNREADABLE[0])
    groups.placement_ids = groups.placement_ids | {f"{groups.game}-new"}
    await until(groups.all_run)
    assert not [member for member in members if member.stopped]


def test_a_share_is_claimed_at_once_and_the_rest_after_a_while() -> None:
    free = {f"h{number}": 10.0 for number in range(10)}
    at_once = sharing.placements_to_claim("a", free, 10.5, placements=10, replicas=3, owned=1)
    assert len(at_once) == 3
    assert set(sharing.placements_to_claim("a", free, 11.0, placements=10, replicas=3, owned=1)) == set(free)
    assert sharing.placements_to_claim("a", free, 10.5, placements=10, replicas=3, owned=9) == []


def test_only_the_fullest_replica_gives_and_only_what_another_lacks() -> None:
    assert sharing.should_give_one("a", {"a": 4, "b": 0}, placements=4, unassigned=0)
    assert sharing.should_give_one("a", {"a": 3, "b": 0}, placements=4, unassigned=1)
    assert not sharing.should_give_one("a", {"a": 2, "b": 0}, placements=4, unassigned=2)
    assert not sharing.should_give_one("a", {"a": 2, "b": 1}, placements=3, unassigned=0)
    assert not sharing.should_give_one("a", {"a": 2, "b": 2, "c": 0}, placements=4, unassigned=0)
    assert sharing.should_give_one("b", {"a": 2, "b": 2, "c": 0}, placements=4, unassigned=0)

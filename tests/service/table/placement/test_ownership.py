"""Replicas and a real NATS: every house is run by one of them, whichever live or die."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import AsyncExitStack

import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client as Nats

from feltro.table.v1.placement_pb2 import Lease, Replica
from services.kit import background
from services.kit.bus import subjects
from services.kit.table.placement import ownership, sharing
from services.kit.table.placement.ownership import Placement
from tests.service.table.loop_clock import LoopClock
from tests.service.table.stoppable_nats import StoppableNats

TIMEOUT_S = 60.0
TAKEOVER_TIMEOUT_S = 5.0

_games = itertools.count(1)


class Groups:
    """The houses of a test's game, and who runs them: like the journal, it knows whose turn it is."""

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
        """Houses whose round does not end."""
        self.failing_replicas: set[str] = set()
        """Replicas that cannot open a house."""

    async def list_ids(self) -> Collection[str]:
        return self.placement_ids

    def count_at(self, replica_id: str) -> int:
        return sum(runs == replica_id for runs in self.running.values())

    def all_run(self) -> bool:
        return self.running.keys() == self.placement_ids


class Group:
    """One house of the hall, run by a replica."""

    def __init__(self, groups: Groups, placement_id: str, replica_id: str) -> None:
        self.groups = groups
        self.placement_id = placement_id
        self.replica_id = replica_id

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        hall = self.groups
        hall.opened[self.replica_id] += 1
        if self.replica_id in hall.failing_replicas:
            raise ZeroDivisionError
        if self.placement_id in hall.running:
            hall.run_twice.append(self.placement_id)
        hall.running[self.placement_id] = self.replica_id
        try:
            await announce(next(hall.epochs))
            while not lost.is_set() and (not hand_over.is_set() or self.placement_id in hall.never_finishing):
                await asyncio.sleep(0.01)
            if lost.is_set():
                hall.lost.append(self.placement_id)
        finally:
            del hall.running[self.placement_id]


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
        )
        self._running = asyncio.create_task(self.placement.run())

    async def kill(self) -> None:
        """Like `kill -9`: nothing is said to anybody."""
        await background.cancel_and_wait([self._running])


@pytest_asyncio.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


async def join(stack: AsyncExitStack, url: str, groups: Groups, replica_id: str) -> Member:
    async def ignore(error: Exception) -> None:
        """The client would print it."""

    stack.push_async_callback(groups.clock.stop)
    bus = await nats.connect(url, error_cb=ignore, max_reconnect_attempts=-1, reconnect_time_wait=0.05)
    stack.push_async_callback(bus.close)
    member = Member(groups, replica_id, bus)
    stack.push_async_callback(member.kill)
    return member


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


async def known_owner(member: Member, placement_id: str) -> Lease:
    """Who runs an open house, as soon as the member knows."""
    async with asyncio.timeout(TIMEOUT_S):
        while (lease := member.placement.owner(placement_id)) is None or not lease.epoch:
            await asyncio.sleep(0.01)
    return lease


@pytest.mark.guarantee("G8")
async def test_g8_one_of_two_claimants_wins_each_group(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both want all of them at once, and to keep them.
    monkeypatch.setattr(sharing, "UNCLAIMED_AFTER_S", 0.0)
    monkeypatch.setattr(sharing, "should_give_one", lambda *_, **__: False)
    hall = Groups(40)
    one, other = [await join(stack, nats_url, hall, name) for name in ("one", "other")]
    await until(hall.all_run)
    assert hall.run_twice == []
    for placement_id in hall.placement_ids:
        assert one.placement.owns(placement_id) != other.placement.owns(placement_id)
        asked, runs = (other, one) if one.placement.owns(placement_id) else (one, other)
        lease = await known_owner(asked, placement_id)
        assert (lease.address, lease.game) == (f"{runs.replica_id}:443", hall.game)
        assert runs.placement.owner(placement_id) == lease


@pytest.mark.guarantee("G8")
async def test_g8_groups_of_a_killed_replica_run_elsewhere_within_seconds(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Groups(30)
    members = [await join(stack, nats_url, hall, name) for name in ("one", "two", "three")]
    await until(hall.all_run)
    await until(lambda: all(hall.count_at(member.replica_id) == 10 for member in members))
    before = ownership._TAKEOVERS._value.get()
    await members[0].kill()
    assert not hall.all_run()
    killed_at = hall.clock()
    await until(hall.all_run)
    assert hall.clock() - killed_at <= TAKEOVER_TIMEOUT_S
    assert hall.run_twice == []
    assert hall.lost == []
    assert {hall.count_at("two"), hall.count_at("three")} == {15}
    assert ownership._TAKEOVERS._value.get() - before == 10


async def test_a_draining_replica_hands_over_between_rounds(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Groups(10)
    leaving, _ = [await join(stack, nats_url, hall, name) for name in ("leaving", "staying")]
    await until(lambda: hall.count_at("leaving") == hall.count_at("staying") == 5)
    playing = next(placement_id for placement_id, runs in hall.running.items() if runs == "leaving")
    hall.never_finishing.add(playing)
    # Neither a lease nor a heartbeat expires: whatever changes hands was handed over.
    await hall.clock.stop()
    left = asyncio.create_task(leaving.placement.drain())
    await until(lambda: hall.count_at("staying") == 9)
    replicas = await leaving.bus.jetstream(timeout=TIMEOUT_S).key_value(subjects.REPLICAS_BUCKET)
    assert Replica.FromString((await replicas.get(f"{hall.game}.leaving")).value or b"").draining
    assert hall.running[playing] == "leaving"
    assert not left.done()
    hall.never_finishing.clear()
    await until(lambda: hall.count_at("staying") == 10)
    async with asyncio.timeout(TIMEOUT_S):
        await left
    assert hall.run_twice == []
    assert hall.opened["leaving"] == 5
    lease = leaving.placement.owner(playing)
    assert lease is None or lease.replica_id == "staying"


async def test_a_second_replica_receives_its_share_one_by_one(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "GIVE_AWAY_EVERY_S", 0.2)
    hall = Groups(7)
    await join(stack, nats_url, hall, "first")
    await until(hall.all_run)
    await join(stack, nats_url, hall, "second")
    await until(lambda: hall.count_at("second") == 3 and hall.count_at("first") == 4)
    await join(stack, nats_url, hall, "third")
    await until(lambda: hall.count_at("third") == 2 and hall.all_run())
    assert hall.run_twice == []
    # Nothing was moved that did not have to be.
    assert hall.opened["second"] <= 4
    assert sum(hall.opened.values()) <= 7 + 3 + 2 + 1


async def test_a_new_group_opens_within_seconds(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Groups(1)
    await join(stack, nats_url, hall, "one")
    await until(hall.all_run)
    hall.placement_ids = hall.placement_ids | {f"{hall.game}-new"}
    made_at = hall.clock()
    await until(hall.all_run)
    assert hall.clock() - made_at <= 2.0


@pytest.mark.guarantee("G8")
async def test_g8_replicas_without_a_bus_give_up_before_others_may_take_over(
    own_nats: StoppableNats, stack: AsyncExitStack
) -> None:
    hall = Groups(6)
    members = [await join(stack, own_nats.url, hall, name) for name in ("one", "two")]
    # None is just changing hands.
    await until(lambda: hall.count_at("one") == hall.count_at("two") == 3)
    own_nats.stop(forget=True)
    stopped_at = hall.clock()
    await until(lambda: not hall.running)
    assert hall.clock() - stopped_at <= subjects.HEARTBEAT_LIFETIME_S
    assert sorted(hall.lost) == sorted(hall.placement_ids)
    assert not any(member.placement.owns(placement_id) for member in members for placement_id in hall.placement_ids)
    # And take them again when it is back, though it has forgotten everything.
    own_nats.start()
    await until(hall.all_run)
    assert hall.run_twice == []


@pytest.mark.guarantee("G8")
async def test_g8_a_suspended_replica_notices_before_it_acts(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Groups(3)
    sleeper = await join(stack, nats_url, hall, "sleeper")
    await until(hall.all_run)
    placement_id = next(iter(hall.placement_ids))
    assert sleeper.placement.owns(placement_id)
    sleeper.suspended_s += subjects.HEARTBEAT_LIFETIME_S
    assert not sleeper.placement.owns(placement_id)
    await until(lambda: len(hall.lost) == 3)
    await until(hall.all_run)
    assert hall.run_twice == []


def sees_all_replicas(part: Placement, since: float) -> bool:
    """Whether it could take what looks free, and has heard of all who live."""
    heard = [noted.seen_at for noted in part._presence._bucket.entries.values()]
    return part._may_act() and part._settled() and len(heard) == 2 and min(heard) > since


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("forget", [False, True], ids=["kept", "forgotten"])
async def test_g8_a_bus_that_restarts_in_time_changes_no_owner(
    own_nats: StoppableNats, stack: AsyncExitStack, forget: object
) -> None:
    """With what it knew, or without: owners write their leases again."""
    hall = Groups(6)
    members = [await join(stack, own_nats.url, hall, name) for name in ("one", "two")]
    await until(lambda: hall.count_at("one") == hall.count_at("two") == 3)
    runs = dict(hall.running)
    own_nats.stop(forget=bool(forget))
    own_nats.start()
    restarted = hall.clock()
    for member in members:
        await until(lambda part=member.placement: sees_all_replicas(part, restarted))  # type: ignore[misc]
        assert {placement_id: (await known_owner(member, placement_id)).replica_id for placement_id in runs} == runs
    assert hall.running == runs
    assert (hall.run_twice, hall.lost) == ([], [])


async def test_a_group_that_fails_at_one_replica_runs_at_another(
    nats_url: str, stack: AsyncExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Groups(4)
    hall.failing_replicas.add("broken")
    await join(stack, nats_url, hall, "broken")
    await until(lambda: hall.opened["broken"] >= 4)
    assert "a house has failed" in caplog.text
    await join(stack, nats_url, hall, "whole")
    await until(hall.all_run)
    whole_since = hall.clock()
    assert hall.count_at("whole") == 4
    # It rested in between.
    assert hall.opened["broken"] < 40
    opened = sum(hall.opened.values())
    await until(lambda: hall.clock() - whole_since > ownership.GIVE_AWAY_EVERY_S)
    # And is given none that runs well elsewhere.
    assert (hall.count_at("whole"), sum(hall.opened.values())) == (4, opened)


async def test_a_failing_group_list_leaves_known_groups_running(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "GROUPS_EVERY_S", 0.01)
    hall = Groups(2)
    asked = 0

    async def fail() -> Collection[str]:
        nonlocal asked
        asked += 1
        raise OSError

    member = await join(stack, nats_url, hall, "one")
    await until(hall.all_run)
    monkeypatch.setattr(member.placement, "_house_ids", fail)
    await until(lambda: asked > 5)
    assert hall.all_run()


async def test_leases_of_an_earlier_process_of_the_same_name_are_claimed_again(
    nats_url: str, stack: AsyncExitStack
) -> None:
    hall = Groups(3)
    former = await join(stack, nats_url, hall, "same")
    await until(hall.all_run)
    await former.kill()
    await join(stack, nats_url, hall, "same")
    await until(hall.all_run)
    assert hall.run_twice == []


def test_a_share_is_claimed_at_once_and_the_rest_after_a_while() -> None:
    free = {f"h{number}": 10.0 for number in range(10)}
    at_once = sharing.placements_to_claim("a", free, 10.5, groups=10, replicas=3, owned=1)
    assert len(at_once) == 3
    assert set(sharing.placements_to_claim("a", free, 11.0, groups=10, replicas=3, owned=1)) == set(free)
    assert sharing.placements_to_claim("a", free, 10.5, groups=10, replicas=3, owned=9) == []


def test_only_the_fullest_replica_gives_and_only_what_another_lacks() -> None:
    assert sharing.should_give_one("a", {"a": 4, "b": 0}, groups=4, unassigned=0)
    assert sharing.should_give_one("a", {"a": 3, "b": 0}, groups=4, unassigned=1)
    assert not sharing.should_give_one("a", {"a": 2, "b": 0}, groups=4, unassigned=2)
    assert not sharing.should_give_one("a", {"a": 2, "b": 1}, groups=3, unassigned=0)
    assert not sharing.should_give_one("a", {"a": 2, "b": 2, "c": 0}, groups=4, unassigned=0)
    assert sharing.should_give_one("b", {"a": 2, "b": 2, "c": 0}, groups=4, unassigned=0)

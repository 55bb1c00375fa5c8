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
from services.kit.table import placement, presence, sharing
from services.kit.table.placement import Placement
from tests.service.table.loop_time import LoopTime
from tests.service.table.stoppable_nats import StoppableNats

WITHIN_S = 60.0
TAKEN_OVER_WITHIN_S = 5.0

_games = itertools.count(1)


class Hall:
    """The houses of a test's game, and who runs them: like the journal, it knows whose turn it is."""

    def __init__(self, houses: int) -> None:
        self.game = f"game{next(_games)}"
        self.time = LoopTime()
        self.house_ids = {f"{self.game}-{number}" for number in range(houses)}
        self.running: dict[str, str] = {}
        self.doubly: list[str] = []
        self.opened: Counter[str] = Counter()
        self.epochs = itertools.count(1)
        self.lost: list[str] = []
        self.stays: set[str] = set()
        """Houses whose round does not end."""
        self.fails: set[str] = set()
        """Replicas that cannot open a house."""

    async def all(self) -> Collection[str]:
        return self.house_ids

    def share_of(self, replica_id: str) -> int:
        return sum(runs == replica_id for runs in self.running.values())

    def all_run(self) -> bool:
        return self.running.keys() == self.house_ids


class Room:
    """One house of the hall, run by a replica."""

    def __init__(self, hall: Hall, house_id: str, replica_id: str) -> None:
        self.hall = hall
        self.house_id = house_id
        self.replica_id = replica_id

    async def run(self, announce: Callable[[int], Awaitable[None]], leave: asyncio.Event, lost: asyncio.Event) -> None:
        hall = self.hall
        hall.opened[self.replica_id] += 1
        if self.replica_id in hall.fails:
            raise ZeroDivisionError
        if self.house_id in hall.running:
            hall.doubly.append(self.house_id)
        hall.running[self.house_id] = self.replica_id
        try:
            await announce(next(hall.epochs))
            while not lost.is_set() and (not leave.is_set() or self.house_id in hall.stays):
                await asyncio.sleep(0.01)
            if lost.is_set():
                hall.lost.append(self.house_id)
        finally:
            del hall.running[self.house_id]


class Member:
    """A replica with its own connection, as its own process would have it."""

    def __init__(self, hall: Hall, replica_id: str, bus: Nats) -> None:
        self.replica_id = replica_id
        self.bus = bus
        self.asleep_s = 0.0
        self.placement = Placement(
            bus,
            hall.game,
            replica_id,
            f"{replica_id}:443",
            hall.all,
            lambda house_id: Room(hall, house_id, replica_id),
            lambda: hall.time() + self.asleep_s,
        )
        self._running = asyncio.create_task(self.placement.run())

    async def kill(self) -> None:
        """Like `kill -9`: nothing is said to anybody."""
        await background.end([self._running])


@pytest_asyncio.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


async def join(stack: AsyncExitStack, url: str, hall: Hall, replica_id: str) -> Member:
    async def ignore(error: Exception) -> None:
        """The client would print it."""

    stack.push_async_callback(hall.time.stand_still)
    bus = await nats.connect(url, error_cb=ignore, max_reconnect_attempts=-1, reconnect_time_wait=0.05)
    stack.push_async_callback(bus.close)
    member = Member(hall, replica_id, bus)
    stack.push_async_callback(member.kill)
    return member


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not so():
            await asyncio.sleep(0.01)


async def known_owner(member: Member, house_id: str) -> Lease:
    """Who runs an open house, as soon as the member knows."""
    async with asyncio.timeout(WITHIN_S):
        while (lease := member.placement.owner(house_id)) is None or not lease.epoch:
            await asyncio.sleep(0.01)
    return lease


@pytest.mark.guarantee("G8")
async def test_g8_of_two_that_claim_one_wins_each_house(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both want all of them at once, and to keep them.
    monkeypatch.setattr(sharing, "UNCLAIMED_AFTER_S", 0.0)
    monkeypatch.setattr(sharing, "gives_one", lambda *_, **__: False)
    hall = Hall(40)
    one, other = [await join(stack, nats_url, hall, name) for name in ("one", "other")]
    await until(hall.all_run)
    assert hall.doubly == []
    for house_id in hall.house_ids:
        assert one.placement.mine(house_id) != other.placement.mine(house_id)
        asked, runs = (other, one) if one.placement.mine(house_id) else (one, other)
        lease = await known_owner(asked, house_id)
        assert (lease.address, lease.game) == (f"{runs.replica_id}:443", hall.game)
        assert runs.placement.owner(house_id) == lease


@pytest.mark.guarantee("G8")
async def test_g8_houses_of_a_killed_replica_run_elsewhere_within_seconds(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Hall(30)
    members = [await join(stack, nats_url, hall, name) for name in ("one", "two", "three")]
    await until(hall.all_run)
    await until(lambda: all(hall.share_of(member.replica_id) == 10 for member in members))
    before = placement._TAKEOVERS._value.get()
    await members[0].kill()
    assert not hall.all_run()
    killed_at = hall.time()
    await until(hall.all_run)
    assert hall.time() - killed_at <= TAKEN_OVER_WITHIN_S
    assert hall.doubly == []
    assert hall.lost == []
    assert {hall.share_of("two"), hall.share_of("three")} == {15}
    assert placement._TAKEOVERS._value.get() - before == 10


async def test_who_leaves_hands_over_at_once_between_rounds(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Hall(10)
    leaving, _ = [await join(stack, nats_url, hall, name) for name in ("leaving", "staying")]
    await until(lambda: hall.share_of("leaving") == hall.share_of("staying") == 5)
    playing = next(house_id for house_id, runs in hall.running.items() if runs == "leaving")
    hall.stays.add(playing)
    # Neither a lease nor a heartbeat expires: whatever changes hands was handed over.
    await hall.time.stand_still()
    left = asyncio.create_task(leaving.placement.leave())
    await until(lambda: hall.share_of("staying") == 9)
    replicas = await leaving.bus.jetstream(timeout=WITHIN_S).key_value(presence.REPLICAS_BUCKET)
    assert Replica.FromString((await replicas.get(f"{hall.game}.leaving")).value or b"").draining
    assert hall.running[playing] == "leaving"
    assert not left.done()
    hall.stays.clear()
    await until(lambda: hall.share_of("staying") == 10)
    async with asyncio.timeout(WITHIN_S):
        await left
    assert hall.doubly == []
    assert hall.opened["leaving"] == 5
    lease = leaving.placement.owner(playing)
    assert lease is None or lease.replica_id == "staying"


async def test_a_second_replica_is_given_its_share_one_by_one(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "GIVE_EVERY_S", 0.2)
    hall = Hall(7)
    await join(stack, nats_url, hall, "first")
    await until(hall.all_run)
    await join(stack, nats_url, hall, "second")
    await until(lambda: hall.share_of("second") == 3 and hall.share_of("first") == 4)
    await join(stack, nats_url, hall, "third")
    await until(lambda: hall.share_of("third") == 2 and hall.all_run())
    assert hall.doubly == []
    # Nothing was moved that did not have to be.
    assert hall.opened["second"] <= 4
    assert sum(hall.opened.values()) <= 7 + 3 + 2 + 1


async def test_a_new_house_opens_within_a_second_or_two(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Hall(1)
    await join(stack, nats_url, hall, "one")
    await until(hall.all_run)
    hall.house_ids = hall.house_ids | {f"{hall.game}-new"}
    made_at = hall.time()
    await until(hall.all_run)
    assert hall.time() - made_at <= 2.0


@pytest.mark.guarantee("G8")
async def test_g8_replicas_without_their_bus_give_their_houses_up_before_anyone_can_take_them(
    own_nats: StoppableNats, stack: AsyncExitStack
) -> None:
    hall = Hall(6)
    members = [await join(stack, own_nats.url, hall, name) for name in ("one", "two")]
    # None is just changing hands.
    await until(lambda: hall.share_of("one") == hall.share_of("two") == 3)
    own_nats.stop(forget=True)
    stopped_at = hall.time()
    await until(lambda: not hall.running)
    assert hall.time() - stopped_at <= presence.LIVES_FOR_S
    assert sorted(hall.lost) == sorted(hall.house_ids)
    assert not any(member.placement.mine(house_id) for member in members for house_id in hall.house_ids)
    # And take them again when it is back, though it has forgotten everything.
    own_nats.start()
    await until(hall.all_run)
    assert hall.doubly == []


@pytest.mark.guarantee("G8")
async def test_g8_a_replica_that_was_asleep_knows_before_it_does_anything(nats_url: str, stack: AsyncExitStack) -> None:
    hall = Hall(3)
    sleeper = await join(stack, nats_url, hall, "sleeper")
    await until(hall.all_run)
    house_id = next(iter(hall.house_ids))
    assert sleeper.placement.mine(house_id)
    sleeper.asleep_s += presence.LIVES_FOR_S
    assert not sleeper.placement.mine(house_id)
    await until(lambda: len(hall.lost) == 3)
    await until(hall.all_run)
    assert hall.doubly == []


def sees_everybody(part: Placement, since: float) -> bool:
    """Whether it could take what looks free, and has heard of all who live."""
    heard = [noted.seen_at for noted in part._presence._bucket.entries.values()]
    return part._may_act() and part._settled() and len(heard) == 2 and min(heard) > since


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("forget", [False, True], ids=["kept", "forgotten"])
async def test_g8_a_bus_that_restarts_in_time_changes_no_owner(
    own_nats: StoppableNats, stack: AsyncExitStack, forget: object
) -> None:
    """With what it knew, or without: owners write their leases again."""
    hall = Hall(6)
    members = [await join(stack, own_nats.url, hall, name) for name in ("one", "two")]
    await until(lambda: hall.share_of("one") == hall.share_of("two") == 3)
    runs = dict(hall.running)
    own_nats.stop(forget=bool(forget))
    own_nats.start()
    restarted = hall.time()
    for member in members:
        await until(lambda part=member.placement: sees_everybody(part, restarted))  # type: ignore[misc]
        assert {house_id: (await known_owner(member, house_id)).replica_id for house_id in runs} == runs
    assert hall.running == runs
    assert (hall.doubly, hall.lost) == ([], [])


async def test_a_house_that_fails_at_one_replica_runs_at_another(
    nats_url: str, stack: AsyncExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    hall = Hall(4)
    hall.fails.add("broken")
    await join(stack, nats_url, hall, "broken")
    await until(lambda: hall.opened["broken"] >= 4)
    assert "a house has failed" in caplog.text
    await join(stack, nats_url, hall, "whole")
    await until(hall.all_run)
    whole_since = hall.time()
    assert hall.share_of("whole") == 4
    # It rested in between.
    assert hall.opened["broken"] < 40
    opened = sum(hall.opened.values())
    await until(lambda: hall.time() - whole_since > placement.GIVE_EVERY_S)
    # And is given none that runs well elsewhere.
    assert (hall.share_of("whole"), sum(hall.opened.values())) == (4, opened)


async def test_houses_that_cannot_be_asked_for_leave_those_that_are_known_alone(
    nats_url: str, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "HOUSES_EVERY_S", 0.01)
    hall = Hall(2)
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


async def test_what_a_former_process_of_the_same_name_left_is_opened_again(
    nats_url: str, stack: AsyncExitStack
) -> None:
    hall = Hall(3)
    former = await join(stack, nats_url, hall, "same")
    await until(hall.all_run)
    await former.kill()
    await join(stack, nats_url, hall, "same")
    await until(hall.all_run)
    assert hall.doubly == []


def test_shares_are_claimed_at_once_and_the_rest_when_nobody_does() -> None:
    free = {f"h{number}": 10.0 for number in range(10)}
    at_once = sharing.claims("a", free, 10.5, houses=10, replicas=3, mine=1)
    assert len(at_once) == 3
    assert set(sharing.claims("a", free, 11.0, houses=10, replicas=3, mine=1)) == set(free)
    assert sharing.claims("a", free, 10.5, houses=10, replicas=3, mine=9) == []


def test_only_who_has_most_gives_and_only_what_somebody_lacks() -> None:
    assert sharing.gives_one("a", {"a": 4, "b": 0}, houses=4, to_come=0)
    assert sharing.gives_one("a", {"a": 3, "b": 0}, houses=4, to_come=1)
    assert not sharing.gives_one("a", {"a": 2, "b": 0}, houses=4, to_come=2)
    assert not sharing.gives_one("a", {"a": 2, "b": 1}, houses=3, to_come=0)
    assert not sharing.gives_one("a", {"a": 2, "b": 2, "c": 0}, houses=4, to_come=0)
    assert sharing.gives_one("b", {"a": 2, "b": 2, "c": 0}, houses=4, to_come=0)

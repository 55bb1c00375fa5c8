"""A replica that is stopped hands its tables over; those of one that is killed are taken over when it is silent."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import asyncpg
import pytest

from tests.service.roulette_crash import verification
from tests.service.roulette_crash.crash_run import CrashRun, start_crash_run
from tests.service.roulette_crash.heartbeats import HeartbeatLog

TURNS = 2
# A replica is gone when others have heard nothing of it for the time of some four beats of a heart: so many are to be
# claimed within, some being lost.
CLAIMED_WITHIN_BEATS = 16
# What the wait may take on a busy machine before it is called a failure; what was promised is judged by the events.
PATIENCE_S = 60.0
# A round, its window of three seconds and some more.
ROUND_S = 4.0
ATTEMPTS = 20
_VOIDS = "SELECT count(*) FROM endings WHERE ending = 3"
_OPEN = (
    "SELECT rounds.round_id, rounds.placement_id, rounds.epoch, draws.outcome"
    " FROM open_rounds JOIN rounds USING (round_no)"
    " LEFT JOIN draws USING (round_no)"
)
_ENDED = (
    "SELECT rounds.round_id, endings.ending, endings.epoch, draws.outcome FROM rounds JOIN endings USING (round_no)"
    " LEFT JOIN draws USING (round_no) WHERE rounds.round_id = ANY($1)"
)


@dataclass
class Measured:
    """What it took."""

    kills: list[tuple[set[str], tuple[datetime, datetime]]] = field(default_factory=list)
    """Which houses were where the kill struck, and between which two moments it did."""
    beats: list[int] = field(default_factory=list)
    """Of whoever took over, until all had been claimed."""
    taken_over_s: list[float] = field(default_factory=list)
    handed_over_s: list[float] = field(default_factory=list)
    paid: int = 0
    void: int = 0


@pytest.mark.slow
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G8")
@pytest.mark.guarantee("G9")
@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23")
@pytest.mark.rule("903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_tables_go_on_when_their_replica_is_stopped_and_when_it_is_killed() -> None:
    measured = Measured()
    heartbeats = HeartbeatLog()
    async with start_crash_run(Random()) as casino, heartbeats.listening(casino.processes.bus_url):
        # Whoever starts first takes nearly all. From then on each has all tables when it ends.
        machines = casino.processes
        stopped, killed = sorted(
            ("roulette-0", "roulette-1"),
            key=lambda name: -len(casino.leases.placements_at(machines.replicas[int(name[-1])].address)),
        )
        for _ in range(TURNS):
            await _stop(casino, stopped, killed, measured)
            await _kill(casino, killed, stopped, measured, heartbeats)
        await casino.wait_until_all_bet()
        account = await casino.close()
        # Now all that was said is in the stream.
        for houses, killed_at in measured.kills:
            measured.taken_over_s += await _taken_over_after(casino, houses, killed_at)
    assert account.settled_by_another_owner >= measured.paid > 0
    assert measured.void > 0
    print(f"\n{account}\nclaimed after {measured.beats} beats, taken over after {_seconds(measured.taken_over_s)};"
          f" handed over in {_seconds(measured.handed_over_s)}; of the rounds left behind {measured.paid} paid,"
          f" {measured.void} void; {casino.bet_log.unanswered} calls said again,"
          f" {dict(casino.bet_log.refusals)}")  # fmt: skip
    assert max(measured.beats) <= CLAIMED_WITHIN_BEATS
    assert not casino.processes.unexpected_exits


async def _stop(casino: CrashRun, name: str, other: str, measured: Measured) -> None:
    """SIGTERM: tables move between rounds, and no round is void for it."""
    machines = casino.processes
    async with verification.connected(machines.journal_url) as journal:
        voids = await journal.fetchval(_VOIDS)
        began = time.monotonic()
        status = await machines.stop(name)
        assert status == 0, f"ended with {status}"
        measured.handed_over_s.append(time.monotonic() - began)
        casino.report(f"{name} has ended by itself")
        await _all_at(casino, other)
        assert await journal.fetchval(_VOIDS) == voids
    machines.start(name)
    await machines.replicas[int(name[-1])].ready()


async def _kill(casino: CrashRun, name: str, other: str, measured: Measured, heartbeats: HeartbeatLog) -> None:
    """SIGKILL, while some rounds take bets and others are drawn and not paid yet."""
    machines = casino.processes
    async with verification.connected(machines.journal_url) as journal:
        houses, killed_at, left = await _kill_undecided(casino, name, journal)
        assert any(row["outcome"] for row in left.values())
        await _all_at(casino, other)
        ended: dict[str, asyncpg.Record] = {}
        casino.report(f"{name} was killed; all tables are at {other}")
        async with asyncio.timeout(PATIENCE_S):
            while ended.keys() != left.keys():
                ended = {row["round_id"]: row for row in await journal.fetch(_ENDED, list(left))}
    for round_id, row in left.items():
        if row["outcome"] is not None:
            assert (ended[round_id]["ending"], ended[round_id]["outcome"]) == (verification.SETTLED, row["outcome"])
            measured.paid += 1
        elif ended[round_id]["epoch"] > row["epoch"]:
            assert ended[round_id]["ending"] == verification.VOID
            measured.void += 1
    former, now = (machines.replicas[int(one[-1])].address for one in (name, other))
    await casino.wait_until(
        "all claims heard", lambda: heartbeats.beats_until_claimed(houses, former, now) is not None, PATIENCE_S
    )
    measured.beats.append(heartbeats.beats_until_claimed(houses, former, now) or 0)
    measured.kills.append((houses, killed_at))
    machines.start(name)
    await machines.replicas[int(name[-1])].ready()


async def _kill_undecided(
    casino: CrashRun, name: str, journal: verification.Connection
) -> tuple[set[str], tuple[datetime, datetime], dict[str, asyncpg.Record]]:
    """Kills it when rounds are drawn and not paid: by chance alone, nobody can be sure to meet that moment.

    Rounds that are drawn while the wallet is asleep stay unpaid. None is where bets were on their way to the wallet
    when it fell asleep: then it is woken up, and tried again.
    """
    machines = casino.processes
    address = machines.replicas[int(name[-1])].address
    for _ in range(ATTEMPTS):
        async with machines.wallet_suspended():
            try:
                async with asyncio.timeout(ROUND_S):
                    while not any(row["outcome"] for row in await _left_at(casino, address, journal)):
                        await asyncio.sleep(0.02)
                return await _kill_now(casino, name, journal)
            except TimeoutError:
                casino.report("no round is drawn while the wallet is asleep")
        # What was on its way goes on before it falls asleep again.
        await casino.wait_until_all_bet()
    raise AssertionError("no round is drawn while the wallet is asleep")


async def _kill_now(
    casino: CrashRun, name: str, journal: verification.Connection
) -> tuple[set[str], tuple[datetime, datetime], dict[str, asyncpg.Record]]:
    """Which houses were there, between which two moments it was killed, and the rounds that it left."""
    machines = casino.processes
    address = machines.replicas[int(name[-1])].address
    houses = casino.leases.placements_at(address)
    began = datetime.now(UTC)
    machines.kill(name)
    killed_at = began, datetime.now(UTC)
    left = await _left_at(casino, address, journal)
    return houses, killed_at, {row["round_id"]: row for row in left}


async def _left_at(casino: CrashRun, address: str, journal: verification.Connection) -> list[asyncpg.Record]:
    """Rounds without an end at a replica."""
    houses = casino.leases.placements_at(address)
    return [row for row in await journal.fetch(_OPEN) if row["placement_id"] in houses]


async def _all_at(casino: CrashRun, name: str) -> None:
    address = casino.processes.replicas[int(name[-1])].address
    await casino.wait_until(
        f"all tables at {name}", lambda: len(casino.leases.placements_at(address)) == casino.placements, PATIENCE_S
    )


async def _taken_over_after(casino: CrashRun, houses: set[str], killed_at: tuple[datetime, datetime]) -> list[float]:
    """For each house the seconds until the first thing that its new owner said, by the time in the event."""
    seconds: dict[str, float] = {}
    for table_id, events in (await verification.read_stream(casino.processes.bus_url)).items():
        placement_id = next((house for house in houses if table_id == house or table_id.startswith(f"{house}-")), None)
        after = [at for event in events if (at := event.at.ToDatetime(UTC)) > killed_at[1]]
        if placement_id is not None and after:
            passed = (min(after) - killed_at[0]).total_seconds()
            seconds[placement_id] = min(passed, seconds.get(placement_id, passed))
    assert seconds.keys() == houses
    return list(seconds.values())


def _seconds(measured: list[float]) -> str:
    ordered = sorted(measured)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} s (median {ordered[len(ordered) // 2]:.1f})"

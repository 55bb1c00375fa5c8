"""Stops and kills replicas while bots play, and measures how their tables move; every game's tests use it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import asyncpg

from services.kit.table.live.closing import NO_BETS_LEFT
from tests.service.roulette_crash import verification
from tests.service.roulette_crash.crash_run import CrashRun, start_crash_run
from tests.service.roulette_crash.games import CrashGame
from tests.service.roulette_crash.heartbeats import HeartbeatLog

TURNS = 2
# A replica counts as gone after the time of about four missed heartbeats; claims may fail and be repeated.
CLAIMED_WITHIN_BEATS = 16
# How long any wait may take on a busy machine; how quick a takeover was is judged by heartbeats.
PATIENCE_S = 120.0
# A round: its window of three seconds and a little more. Each attempt lasts twice as long as the one before, up to the
# longest, so that a slow machine gets the time that it needs.
FIRST_ATTEMPT_S, LONGEST_ATTEMPT_S = 4.0, 32.0
ATTEMPTS_WITHIN_S = 300.0
# Without those whose players had taken every bet back: nobody is left to draw an outcome for.
_VOIDS = (
    "SELECT rounds.round_id, endings.void_reason FROM endings JOIN rounds USING (round_no)"
    " WHERE ending = 3 AND void_reason <> $1 ORDER BY round_no"
)
_OPEN = (
    "SELECT rounds.round_id, rounds.placement_id, rounds.epoch, draws.outcome"
    " FROM open_rounds JOIN rounds USING (round_no)"
    " LEFT JOIN draws USING (round_no)"
)
_ENDED = (
    "SELECT rounds.round_id, endings.ending, endings.epoch, draws.outcome, draws.epoch AS drawn_epoch"
    " FROM rounds JOIN endings USING (round_no) LEFT JOIN draws USING (round_no) WHERE rounds.round_id = ANY($1)"
)


@dataclass
class Measured:
    """What the handovers took."""

    kills: list[tuple[set[str], tuple[datetime, datetime]]] = field(default_factory=list)
    """The placements of each killed replica, and two moments between which it was killed."""
    beats: list[int] = field(default_factory=list)
    """Heartbeats of the new owner until all placements were claimed."""
    taken_over_s: list[float] = field(default_factory=list)
    handed_over_s: list[float] = field(default_factory=list)
    paid: int = 0
    void: int = 0


async def stop_and_kill(seed_database: Path, game: CrashGame[Any]) -> None:
    """Stops one replica and kills the other, in turn; fails if a table, a round or a cent is lost."""
    measured = Measured()
    heartbeats = HeartbeatLog()
    async with (
        start_crash_run(Random(), seed_database, game) as crash_run,
        heartbeats.recording(crash_run.processes.bus_url),
    ):
        # The replica that starts first claims nearly all. From then on each has all tables when it ends.
        processes = crash_run.processes
        stopped, killed = sorted(
            processes.replica_names,
            key=lambda name: -len(crash_run.leases.placements_at(processes.replicas[int(name[-1])].address)),
        )
        for _ in range(TURNS):
            await _stop(crash_run, stopped, killed, measured)
            await _kill(crash_run, killed, stopped, measured, heartbeats)
        await crash_run.wait_until_all_bet()
        totals = await crash_run.close()
        # Now all events are in the stream.
        for placements, killed_at in measured.kills:
            measured.taken_over_s += await _taken_over_after(crash_run, placements, killed_at)
    assert totals.settled_by_another_owner >= measured.paid > 0
    assert measured.void > 0
    print(f"\n{totals}\nclaimed after {measured.beats} beats, taken over after {_seconds(measured.taken_over_s)};"
          f" handed over in {_seconds(measured.handed_over_s)}; of the unfinished rounds {measured.paid} paid,"
          f" {measured.void} void; {crash_run.bet_log.unanswered} calls repeated,"
          f" {dict(crash_run.bet_log.refusals)}")  # fmt: skip
    assert max(measured.beats) <= CLAIMED_WITHIN_BEATS
    assert not crash_run.processes.unexpected_exits


async def _stop(crash_run: CrashRun, name: str, other: str, measured: Measured) -> None:
    """SIGTERM: tables move between rounds, and no round becomes void."""
    processes = crash_run.processes
    async with verification.connected(processes.journal_url) as journal:
        voids = await journal.fetch(_VOIDS, NO_BETS_LEFT)
        began = time.monotonic()
        status = await processes.stop(name)
        assert status == 0, f"ended with {status}"
        measured.handed_over_s.append(time.monotonic() - began)
        crash_run.report(f"{name} has stopped")
        await _all_at(crash_run, other)
        assert await journal.fetch(_VOIDS, NO_BETS_LEFT) == voids
    processes.start(name)
    await processes.replicas[int(name[-1])].ready()


async def _kill(crash_run: CrashRun, name: str, other: str, measured: Measured, heartbeats: HeartbeatLog) -> None:
    """SIGKILL, while some rounds take bets and others are drawn and not settled yet."""
    processes = crash_run.processes
    async with verification.connected(processes.journal_url) as journal:
        placements, killed_at, unfinished = await _kill_undecided(crash_run, name, journal)
        assert any(row["outcome"] for row in unfinished.values())
        await _all_at(crash_run, other)
        ended: dict[str, asyncpg.Record] = {}
        crash_run.report(f"{name} was killed; all tables are at {other}")
        async with asyncio.timeout(PATIENCE_S):
            while ended.keys() != unfinished.keys():
                ended = {row["round_id"]: row for row in await journal.fetch(_ENDED, list(unfinished))}
    for round_id, row in unfinished.items():
        if row["outcome"] is not None:
            assert (ended[round_id]["ending"], ended[round_id]["outcome"]) == (verification.SETTLED, row["outcome"])
            measured.paid += 1
        elif ended[round_id]["drawn_epoch"] == row["epoch"]:
            # PostgreSQL has committed the draw, the last that it was sent, after the killed replica's rounds were read.
            assert ended[round_id]["ending"] == verification.SETTLED
        elif ended[round_id]["epoch"] > row["epoch"]:
            assert ended[round_id]["ending"] == verification.VOID
            measured.void += 1
    former, owner = (processes.replicas[int(one[-1])].address for one in (name, other))
    await crash_run.wait_until(
        "all claims are recorded",
        lambda: heartbeats.beats_until_claimed(placements, former, owner) is not None,
        PATIENCE_S,
    )
    measured.beats.append(heartbeats.beats_until_claimed(placements, former, owner) or 0)
    measured.kills.append((placements, killed_at))
    processes.start(name)
    await processes.replicas[int(name[-1])].ready()


async def _kill_undecided(
    crash_run: CrashRun, name: str, journal: verification.Connection
) -> tuple[set[str], tuple[datetime, datetime], dict[str, asyncpg.Record]]:
    """Kills a replica while some rounds are drawn and not settled: chance alone may never meet that moment.

    Rounds that are drawn while the wallet is suspended stay unsettled. No round is drawn where bets were on their way
    to the wallet when it was suspended: then it is resumed, and suspended again later.
    """
    processes = crash_run.processes
    address = processes.replicas[int(name[-1])].address
    attempt_s = FIRST_ATTEMPT_S
    async with asyncio.timeout(ATTEMPTS_WITHIN_S):
        while True:
            async with processes.wallet_suspended():
                if await _some_round_drawn(crash_run, address, journal, attempt_s):
                    return await _kill_now(crash_run, name, journal)
            crash_run.report("no round is drawn while the wallet is suspended")
            # The bets on their way are placed before the next attempt.
            await crash_run.wait_until_all_bet()
            attempt_s = min(2 * attempt_s, LONGEST_ATTEMPT_S)


async def _some_round_drawn(
    crash_run: CrashRun, address: str, journal: verification.Connection, within_s: float
) -> bool:
    """Whether a round at a replica is drawn and not settled, at the latest after a while.

    Of a round that was drawn before, the wallet may have answered just before it was suspended.
    """
    deadline = time.monotonic() + within_s
    drawn_before = {row["round_id"] for row in await _unfinished_at(crash_run, address, journal) if row["outcome"]}
    while time.monotonic() < deadline:
        unfinished = await _unfinished_at(crash_run, address, journal)
        if any(row["outcome"] and row["round_id"] not in drawn_before for row in unfinished):
            return True
        await asyncio.sleep(0.02)
    return False


async def _kill_now(
    crash_run: CrashRun, name: str, journal: verification.Connection
) -> tuple[set[str], tuple[datetime, datetime], dict[str, asyncpg.Record]]:
    """The placements of the killed replica, two moments between which it was killed, and its unfinished rounds."""
    processes = crash_run.processes
    address = processes.replicas[int(name[-1])].address
    placements = crash_run.leases.placements_at(address)
    began = datetime.now(UTC)
    processes.kill(name)
    killed_at = began, datetime.now(UTC)
    unfinished = await _unfinished_at(crash_run, address, journal)
    return placements, killed_at, {row["round_id"]: row for row in unfinished}


async def _unfinished_at(crash_run: CrashRun, address: str, journal: verification.Connection) -> list[asyncpg.Record]:
    """The unfinished rounds at a replica."""
    placements = crash_run.leases.placements_at(address)
    return [row for row in await journal.fetch(_OPEN) if row["placement_id"] in placements]


async def _all_at(crash_run: CrashRun, name: str) -> None:
    address = crash_run.processes.replicas[int(name[-1])].address
    await crash_run.wait_until(
        f"all tables at {name}",
        lambda: len(crash_run.leases.placements_at(address)) == crash_run.placements,
        PATIENCE_S,
    )


async def _taken_over_after(
    crash_run: CrashRun, placements: set[str], killed_at: tuple[datetime, datetime]
) -> list[float]:
    """For each placement the seconds until the first event of its new owner, by the time in the event."""
    seconds: dict[str, float] = {}
    for table_id, events in (await verification.read_stream(crash_run.processes.bus_url)).items():
        placement_id = next((each for each in placements if table_id == each or table_id.startswith(f"{each}-")), None)
        after = [at for event in events if (at := event.at.ToDatetime(UTC)) > killed_at[1]]
        if placement_id is not None and after:
            passed = (min(after) - killed_at[0]).total_seconds()
            seconds[placement_id] = min(passed, seconds.get(placement_id, passed))
    assert seconds.keys() == placements
    return list(seconds.values())


def _seconds(measured: list[float]) -> str:
    ordered = sorted(measured)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} s (median {ordered[len(ordered) // 2]:.1f})"

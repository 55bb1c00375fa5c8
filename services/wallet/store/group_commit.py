"""Group commit: commands that arrive while a transaction is under way are written together by the next one.

A lone command is written at once, and the busier it gets the larger the groups: where callers come in numbers a lane
gathers for a moment first. A lane writes one group at a time over its own connection; what belongs to one table is in
one lane at a time, so that lanes rarely meet.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import asyncpg
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import trace
from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.wallet.ledger.commands import Command
from services.wallet.model import refusals
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.ledger_store import LedgerStore

# A group's statements are planned once and never again: planning one takes longer than running it. They find every row
# by an index, however large the tables have become since; a plan that was right for small ones must not stay.
CONNECTION_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
# Commands in one transaction, unless a single submission alone has more (G11).
GROUP_COMMANDS_LIMIT = 1_000
# How long a lane gathers when callers come in numbers; a lone one never waits.
GATHER_S = 0.002
# Commands that make a lane busy enough for the next one to be of use.
BUSY_LANE_COMMANDS = 200
# Commands that may wait in one lane; beyond it the answer is OVERLOADED (G11).
WAITING_COMMANDS_LIMIT = 20_000
# How often a group is tried when the database is away or another process was faster, and the longest pause between
# (G11).
ATTEMPTS_LIMIT = 12
MAX_BACKOFF_S = 1.0
_FIRST_PAUSE_S = 0.01

_log = logging.getLogger(__name__)
_GROUPS = Histogram(
    "feltro_wallet_group_commands", "Commands per transaction", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
)
_WAITING = Gauge("feltro_wallet_waiting_commands", "Commands that wait for their transaction", ["lane"])
_RETRIES = Counter("feltro_wallet_group_retries", "Groups tried again", ["cause"])

# Unique violation, deadlock, serialisation failure: another process was faster.
_CROSSED = frozenset({"23505", "40P01", "40001"})


@dataclass(slots=True)
class _Submission:
    commands: Sequence[Command]
    answers: asyncio.Future[list[StoredAnswer]]
    # The call that it came with: it is written by nobody's task.
    traceparent: str


class Lane:
    """One writer: its queue, its connection."""

    def __init__(self, name: str, engine: AsyncEngine, store: LedgerStore, on_commit: Callable[[], None]) -> None:
        self._engine = engine
        self._committed = on_commit
        self._store = store
        self._queue: deque[_Submission] = deque()
        self._waiting = 0
        self._writing = 0
        # Whether the last group held more than one submission: callers come in numbers, and more are on their way.
        self._in_company = False
        self._arrived = asyncio.Event()
        self._connection: DirectConnection | None = None
        self._gauge = _WAITING.labels(name)

    async def submit(self, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Answers when the commands are durable (G5)."""
        if self._waiting + len(commands) > WAITING_COMMANDS_LIMIT:
            raise refusals.overloaded(f"{WAITING_COMMANDS_LIMIT} waiting commands")
        submission = _Submission(commands, asyncio.get_running_loop().create_future(), trace.traceparent())
        self._queue.append(submission)
        self._waiting += len(commands)
        self._arrived.set()
        return await submission.answers

    async def run(self) -> None:
        """Writes group after group until it is cancelled."""
        try:
            while True:
                await self._arrived.wait()
                if self._in_company and self._waiting < BUSY_LANE_COMMANDS:
                    await asyncio.sleep(GATHER_S)
                group = self._next_group()
                self._in_company = len(group) > 1
                if group:
                    await self._carry_out(group)
                    self._writing = 0
                else:
                    self._arrived.clear()
        finally:
            await self._disconnect()

    @property
    def pending_commands(self) -> int:
        """Commands that wait or are being written."""
        return self._waiting + self._writing

    def _next_group(self) -> list[_Submission]:
        """What is written next. Whoever has gone away meanwhile is left out; nothing of his has been done."""
        group: list[_Submission] = []
        size = 0
        while self._queue and (not group or size + len(self._queue[0].commands) <= GROUP_COMMANDS_LIMIT):
            submission = self._queue.popleft()
            self._waiting -= len(submission.commands)
            if not submission.answers.cancelled():
                size += len(submission.commands)
                group.append(submission)
        self._writing = size
        self._gauge.set(self._waiting)
        return group

    async def _carry_out(self, group: list[_Submission]) -> None:
        commands = [command for submission in group for command in submission.commands]
        _GROUPS.observe(len(commands))
        try:
            answers = await self._write(commands)
        except asyncio.CancelledError:
            _fail(group, refusals.unavailable("The wallet, which is stopping,"))
            raise
        except refusals.WalletRefused as refused:
            _fail(group, refused)
        except Exception as failed:  # noqa: BLE001  # whatever it is, it must not reach the neighbours
            if len(group) == 1:
                with trace.parse(group[0].traceparent) or nullcontext():
                    _log.exception("a command cannot be written", extra={"request_id": commands[0].request_id})
                _fail(group, failed)
                return
            # One of them is more than the ledger can bear: it must not fail its neighbours.
            for submission in group:
                await self._carry_out([submission])
        else:
            position = 0
            for submission in group:
                end = position + len(submission.commands)
                if not submission.answers.done():
                    submission.answers.set_result(answers[position:end])
                position = end

    async def _write(self, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Writes a group. To try again is always safe: what was committed unseen answers for itself (G3)."""
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, ATTEMPTS_LIMIT + 1):
            try:
                answers = await self._store.write(await self._connect(), commands)
            except DATABASE_FAILURES as failed:
                cause = retry_cause(failed)
                await self._disconnect()
                if cause is None:
                    raise
                _RETRIES.labels(cause).inc()
                _log.warning(
                    "a group is tried again", extra={"cause": cause, "attempt": attempt, "error": str(failed)[:300]}
                )
                if attempt < ATTEMPTS_LIMIT:
                    await asyncio.sleep(pause_s)
                    pause_s = min(pause_s * 2, MAX_BACKOFF_S)
            else:
                self._committed()
                return answers
        raise refusals.unavailable("The database")

    async def _connect(self) -> DirectConnection:
        if self._connection is None:
            self._connection = await DirectConnection.open(self._engine)
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.discard()


def retry_cause(failed: Exception) -> str | None:
    """Why it is worth trying again, or None if it is not."""
    if not isinstance(failed, DATABASE_FAILURES):
        return None
    if isinstance(failed, DBAPIError) and failed.orig is not None and not failed.connection_invalidated:
        failed = failed.orig
    if isinstance(failed, asyncpg.InterfaceError) and "closed" not in str(failed):
        # The driver was called wrongly: a fault of ours that no repetition mends.
        return None
    state = str(getattr(failed, "sqlstate", None) or "")
    if state in _CROSSED:
        return "crossed"
    # Class 08 connection, 57 operator intervention, 53 resources; no state at all: the connection broke.
    return "database" if not state or state[:2] in {"08", "57", "53"} else None


def _fail(group: list[_Submission], error: Exception) -> None:
    for submission in group:
        if not submission.answers.done():
            submission.answers.set_exception(error)


class GroupCommit:
    """All lanes of this process."""

    def __init__(self, engine: AsyncEngine, store: LedgerStore, lanes: int, on_commit: Callable[[], None]) -> None:
        self._lanes = [Lane(str(number), engine, store, on_commit) for number in range(lanes)]
        # Where the commands of a table or an account are at the moment, and how many submissions.
        self._busy: dict[str, tuple[Lane, int]] = {}

    async def submit(self, key: str, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Writes commands which all belong to one table or account, `key`.

        They join what is under way for the same key, so that lanes rarely meet; otherwise the first lane that is not
        well filled takes them, because few large groups cost less than many small ones.
        """
        lane, submissions = self._busy.get(key) or (self._next_lane(), 0)
        self._busy[key] = lane, submissions + 1
        try:
            return await lane.submit(commands)
        finally:
            lane, submissions = self._busy.pop(key)
            if submissions > 1:
                self._busy[key] = lane, submissions - 1

    def _next_lane(self) -> Lane:
        for lane in self._lanes:
            if lane.pending_commands < BUSY_LANE_COMMANDS:
                return lane
        return min(self._lanes, key=lambda lane: lane.pending_commands)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as running:
            for lane in self._lanes:
                running.create_task(lane.run())

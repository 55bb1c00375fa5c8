"""Group commit: commands that arrive while a transaction is under way are written together by the next one.

A lone command is written at once, and groups grow with the load: after a group of several submissions a lane waits a
moment for more. A lane writes one group at a time over its own connection. The commands of one table are in one lane at
a time, so that lanes rarely wait for each other's locks.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import asyncpg
from opentelemetry.trace import SpanKind
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.batching import Batcher, BatcherFull, BatchLimits, Gather
from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.kit.telemetry import trace
from services.wallet.ledger.commands import Command
from services.wallet.model import refusals
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.ledger_store import LedgerStore

# Commands in one transaction, unless a single submission has more (G11).
GROUP_COMMANDS_LIMIT = 1_000
# How long a lane waits for more after a group of several submissions; a lone submission never waits.
GATHER_S = 0.002
# From this many commands on, a lane is busy: the next one takes over, and a group does not wait for more.
BUSY_LANE_COMMANDS = 200
# Commands that may wait in one lane; beyond it the answer is OVERLOADED (G11).
WAITING_COMMANDS_LIMIT = 20_000
# How often a group is tried when the database is unreachable or another process was faster, and the longest pause
# between (G11).
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
_CONFLICTS = frozenset({"23505", "40P01", "40001"})


@dataclass(slots=True)
class _Submission:
    commands: Sequence[Command]
    # The trace of its call: the group is written by a task of its own.
    traceparent: str


class Lane:
    """One writer with its queue and its connection."""

    def __init__(self, name: str, engine: AsyncEngine, store: LedgerStore, on_commit: Callable[[], None]) -> None:
        self._engine = engine
        self._on_commit = on_commit
        self._store = store
        self._connection: DirectConnection | None = None
        self._failed = asyncio.Event()
        self._failure: Exception | None = None
        self._batcher: Batcher[_Submission, list[StoredAnswer]] = Batcher(
            self._carry_out,
            BatchLimits(items=GROUP_COMMANDS_LIMIT, weight=GROUP_COMMANDS_LIMIT, waiting_weight=WAITING_COMMANDS_LIMIT),
            weight=lambda submission: len(submission.commands),
            # A command that the ledger cannot write must not fail the others of its group.
            isolates_failures=True,
            gather=Gather(GATHER_S, enough_weight=BUSY_LANE_COMMANDS),
            on_failure=self._fail,
        )
        _WAITING.labels(name).set_function(lambda: self._batcher.waiting_weight)

    async def submit(self, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Returns the answers when the commands are durable (G5)."""
        traceparent = trace.traceparent()
        if trace.is_recording():
            for command in commands:
                command.traceparent = command.traceparent or traceparent
        try:
            answers = self._batcher.submit(_Submission(commands, traceparent))
        except BatcherFull:
            raise refusals.overloaded(f"{WAITING_COMMANDS_LIMIT} waiting commands") from None
        return await answers

    async def run(self) -> None:
        """Keeps the lane until it is cancelled; then it refuses the commands that still wait, and disconnects."""
        try:
            await self._failed.wait()
            if self._failure is not None:
                raise self._failure
        finally:
            try:
                await self._batcher.close(refusals.unavailable("The wallet, which is stopping,"))
            finally:
                await self._disconnect()

    @property
    def pending_commands(self) -> int:
        """The number of commands that wait or are being written."""
        return self._batcher.pending_weight

    async def _carry_out(self, group: Sequence[_Submission]) -> Sequence[list[StoredAnswer] | Exception]:
        commands = [command for submission in group for command in submission.commands]
        _GROUPS.observe(len(commands))
        try:
            answers = await (self._write_in_span(group, commands) if trace.is_recording() else self._write(commands))
        except refusals.WalletRefused as refused:
            # The database is unreachable: trying the submissions one by one would only take longer.
            return [refused] * len(group)
        except Exception:
            if len(group) == 1:
                with trace.continued(group[0].traceparent):
                    _log.exception("a command cannot be written", extra={"request_id": commands[0].request_id})
            raise
        by_submission: list[list[StoredAnswer]] = []
        position = 0
        for submission in group:
            end = position + len(submission.commands)
            by_submission.append(answers[position:end])
            position = end
        return by_submission

    async def _write_in_span(self, group: Sequence[_Submission], commands: Sequence[Command]) -> list[StoredAnswer]:
        """Writes a group in the trace of its only call, or in one of its own that is linked to each call."""
        causes = [submission.traceparent for submission in group if submission.traceparent]
        parent = causes.pop() if len(causes) == 1 else ""
        facts = {"feltro.commands": len(commands)}
        with trace.start_span("write a group", parent, kind=SpanKind.INTERNAL, links=causes, attributes=facts):
            return await self._write(commands)

    async def _write(self, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Writes a group; repeating it is safe, because commands that were committed return their answers (G3)."""
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
                self._on_commit()
                return answers
        raise refusals.unavailable("The database")

    def _fail(self, failure: Exception) -> None:
        self._failure = failure
        self._failed.set()

    async def _connect(self) -> DirectConnection:
        if self._connection is None:
            self._connection = await DirectConnection.open(self._engine)
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.discard()


def retry_cause(failed: Exception) -> str | None:
    """Returns why a failed group is worth another try, or None if it is not."""
    if not isinstance(failed, DATABASE_FAILURES):
        return None
    if isinstance(failed, DBAPIError) and failed.orig is not None and not failed.connection_invalidated:
        failed = failed.orig
    if isinstance(failed, asyncpg.InterfaceError) and "closed" not in str(failed):
        # A wrong use of the driver: a fault of ours, which no repetition mends.
        return None
    state = str(getattr(failed, "sqlstate", None) or "")
    if state in _CONFLICTS:
        return "conflict"
    # Class 08 connection, 57 operator intervention, 53 resources; without a state the connection broke.
    return "database" if not state or state[:2] in {"08", "57", "53"} else None


class GroupCommit:
    """All lanes of this process."""

    def __init__(self, engine: AsyncEngine, store: LedgerStore, lanes: int, on_commit: Callable[[], None]) -> None:
        self._lanes = [Lane(str(number), engine, store, on_commit) for number in range(lanes)]
        # The lane that has commands of a table or an account, and how many submissions.
        self._busy: dict[str, tuple[Lane, int]] = {}

    async def submit(self, key: str, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Writes commands that all belong to one table or account, `key`.

        They join the lane that has commands of the same key, so that lanes rarely wait for each other; otherwise the
        first lane that is not busy takes them, because few large groups cost less than many small ones.
        """
        lane, submissions = self._busy.get(key) or (self._next_lane(), 0)
        self._busy[key] = lane, submissions + 1
        try:
            return await lane.submit(commands)
        finally:
            lane, submissions = self._busy.pop(key)
            if submissions > 1:
                self._busy[key] = lane, submissions - 1

    async def run(self) -> None:
        async with asyncio.TaskGroup() as running:
            for lane in self._lanes:
                running.create_task(lane.run())

    def _next_lane(self) -> Lane:
        for lane in self._lanes:
            if lane.pending_commands < BUSY_LANE_COMMANDS:
                return lane
        return min(self._lanes, key=lambda lane: lane.pending_commands)

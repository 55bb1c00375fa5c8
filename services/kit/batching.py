"""Gathers items while a batch is under way, and sends what has gathered as the next one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.kit import background

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much may travel together, and how much may wait (G11)."""

    items: int
    weight: int = sys.maxsize
    waiting_items: int = sys.maxsize
    waiting_weight: int = sys.maxsize


@dataclass(frozen=True, slots=True)
class Gather:
    """Waits a moment for company where the last batch had some; a lone item never waits."""

    seconds: float
    enough_weight: int
    """So much need not wait for more."""


class BatcherFull(Exception):
    """As much is waiting as may: the item was not taken (G11)."""


def first_batch(items: Iterable[_Item], weight: Callable[[_Item], int], limits: BatchLimits) -> int:
    """Returns how many of the first items fit into one batch: at least one, however heavy."""
    count, total = 0, 0
    for item in items:
        total += weight(item)
        if count and (count == limits.items or total > limits.weight):
            break
        count += 1
    return count


def _one(_: object) -> int:
    return 1


class Outbound(Generic[_Item]):
    """Items that wait to leave over one stream, in order; flow control decides when a batch is taken."""

    def __init__(self, weight: Callable[[_Item], int], limits: BatchLimits) -> None:
        self._weight = weight
        self._limits = limits
        self._waiting: list[_Item] = []
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[_Item]:
        return iter(self._waiting)

    def put(self, item: _Item) -> None:
        """Adds an item. It never blocks: the caller has a limit of its own, or waits in `wait_for_room`."""
        self._waiting.append(item)
        self._changed.set()

    async def wait_for_items(self) -> bool:
        """Waits until there is something to take; false if it is closed and nothing is left."""
        while not self._waiting:
            if self._closed:
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    def take_batch(self) -> list[_Item]:
        """Takes the first batch; nothing if nothing waits."""
        count = first_batch(self._waiting, self._weight, self._limits)
        batch = self._waiting[:count]
        del self._waiting[:count]
        self._room.set()
        return batch

    async def wait_for_room(self) -> None:
        """Waits until no more than the limit is waiting."""
        while len(self._waiting) > self._limits.waiting_items:
            self._room.clear()
            await self._room.wait()

    def keep(self, wanted: Callable[[_Item], bool]) -> None:
        """Drops what need not leave any more."""
        self._waiting = [item for item in self._waiting if wanted(item)]

    def close(self) -> None:
        """Says that nothing more will come, and wakes what waits."""
        self._closed = True
        self._changed.set()


class Batcher(Generic[_Item, _Answer]):
    """Carries out one batch of items at a time, and answers each of them.

    `carry_out` is given the items of a batch and returns one answer for each; an exception among them is the answer
    to its item alone. Repeating what failed for a while is its business; what it raises has failed for good.
    """

    def __init__(
        self,
        carry_out: Callable[[Sequence[_Item]], Awaitable[Sequence[_Answer | Exception]]],
        limits: BatchLimits,
        *,
        weight: Callable[[_Item], int] = _one,
        keeps_abandoned: bool = False,
        isolates_failures: bool = False,
        gather: Gather | None = None,
        on_answered: Callable[[Sequence[_Item], Sequence[_Answer | Exception]], None] | None = None,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        """Says how batches are made, and what becomes of those that fail.

        `keeps_abandoned`: an item is carried out although nobody waits for its answer any more. Otherwise it is left
        out, unless it is under way already.
        `isolates_failures`: the items of a batch that failed are carried out one by one, so that only the culprit
        fails. Otherwise nothing more is carried out: `on_failure` is called, and what waits goes on waiting for `stop`;
        without `on_failure` it fails, too.
        `on_answered` is called after the answers of a batch are set.
        """
        self._carry_out = carry_out
        self._limits = limits
        self._weight = weight
        self._keeps_abandoned = keeps_abandoned
        self._isolates_failures = isolates_failures
        self._gather = gather
        self._on_answered = on_answered
        self._on_failure = on_failure
        self._waiting: list[tuple[_Item, asyncio.Future[_Answer], int]] = []
        self._under_way: list[tuple[_Item, asyncio.Future[_Answer], int]] = []
        self._waiting_weight = 0
        self._under_way_weight = 0
        # Whether the last batch held more than one item: callers come in numbers, and more are on their way.
        self._in_company = False
        self._room = asyncio.Event()
        self._stopped: Exception | None = None
        # A task that failed stays, so that no other one begins.
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting_weight(self) -> int:
        """The weight of what waits for a batch."""
        return self._waiting_weight

    @property
    def pending_weight(self) -> int:
        """The weight of what waits or is under way."""
        return self._waiting_weight + self._under_way_weight

    @property
    def failed(self) -> bool:
        """Whether carrying out has failed for good."""
        return self._task is not None and self._task.done()

    def submit(self, item: _Item) -> asyncio.Future[_Answer]:
        """Takes an item; the future is its answer. Raises `BatcherFull`, or what `stop` was given."""
        if self._stopped is not None:
            raise self._stopped
        weight = self._weight(item)
        if not self._has_room(weight):
            raise BatcherFull
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer, weight))
        self._waiting_weight += weight
        if self._task is None:
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._ended)
        return answer

    async def submit_when_room(self, item: _Item) -> _Answer:
        """Waits for room instead of refusing, and returns the item's answer."""
        weight = self._weight(item)
        while self._stopped is None and not self._has_room(weight):
            self._room.clear()
            await self._room.wait()
        return await self.submit(item)

    async def wait_until_answered(self) -> None:
        """Returns when everything has its answer; raises what carrying out has failed with."""
        while (task := self._task) is not None:
            await background.shared_result(task)

    def stop(self, reason: Exception) -> None:
        """Ends carrying out: what waits and what is under way fails for this reason, and so does what comes later."""
        self._stopped = reason
        if self._task is not None:
            self._task.cancel()
        unanswered = [*self._under_way, *self._waiting]
        self._waiting, self._waiting_weight = [], 0
        for _, answer, _ in unanswered:
            _fail(answer, reason)
        self._room.set()

    async def close(self, reason: Exception) -> None:
        """Stops, and returns after the batch under way has ended."""
        self.stop(reason)
        if self._task is not None:
            await background.cancel_and_wait([self._task])

    def _has_room(self, weight: int) -> bool:
        if not self._waiting:
            return True
        limits = self._limits
        return len(self._waiting) < limits.waiting_items and self._waiting_weight + weight <= limits.waiting_weight

    async def _run(self) -> None:
        while self._waiting or (self._gather is not None and self._in_company):
            if self._gather is not None and self._in_company and self._waiting_weight < self._gather.enough_weight:
                await asyncio.sleep(self._gather.seconds)
            batch = self._take_batch()
            self._in_company = len(batch) > 1
            if batch:
                self._under_way, self._under_way_weight = batch, sum(weight for _, _, weight in batch)
                await self._answer(batch)
                self._under_way, self._under_way_weight = [], 0
        self._task = None

    def _take_batch(self) -> list[tuple[_Item, asyncio.Future[_Answer], int]]:
        count = first_batch(self._waiting, lambda entry: entry[2], self._limits)
        batch = self._waiting[:count]
        del self._waiting[:count]
        self._waiting_weight -= sum(weight for _, _, weight in batch)
        self._room.set()
        return batch if self._keeps_abandoned else [entry for entry in batch if not entry[1].cancelled()]

    async def _answer(self, batch: Sequence[tuple[_Item, asyncio.Future[_Answer], int]]) -> None:
        items = [item for item, _, _ in batch]
        answers: Sequence[_Answer | Exception]
        try:
            answers = await self._carry_out(items)
        except Exception as failed:
            if not self._isolates_failures:
                raise
            if len(batch) > 1:
                for entry in batch:
                    await self._answer([entry])
                return
            answers = [failed]
        for (_, asked, _), answer in zip(batch, answers, strict=True):
            if isinstance(answer, Exception):
                _fail(asked, answer)
            elif not asked.done():
                asked.set_result(answer)
        if self._on_answered is not None:
            self._on_answered(items, answers)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        failure = task.exception()
        if not isinstance(failure, Exception):
            return
        if self._on_failure is None:
            self.stop(failure)
        else:
            self._on_failure(failure)


def _fail(answer: asyncio.Future[_Answer], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
        # The caller may be gone: then nobody retrieves it.
        answer.exception()

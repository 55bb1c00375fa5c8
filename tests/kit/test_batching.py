"""Batches: what gathers, what travels together, and what becomes of items when a batch fails or is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.kit.batching import Batcher, BatcherFull, BatchLimits, Gather, Outbound, first_batch

pytestmark = pytest.mark.guarantee("G11")

TIMEOUT_S = 240.0


class Recorder:
    """Carries out batches of numbers when it may; each answer is the number's text."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.may_finish = asyncio.Event()
        self.bad: set[int] = set()
        self.refused: dict[int, Exception] = {}

    async def carry_out(self, items: Sequence[int]) -> Sequence[str | Exception]:
        self.batches.append(list(items))
        await self.may_finish.wait()
        if self.bad & set(items):
            raise ValueError(f"{sorted(self.bad & set(items))} cannot be carried out")
        return [self.refused.get(item, str(item)) for item in items]


@pytest.fixture
async def recorder() -> Recorder:
    return Recorder()


async def begun(recorder: Recorder, batches: int = 1) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while len(recorder.batches) < batches:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        (BatchLimits(10), 4),
        (BatchLimits(3), 3),
        (BatchLimits(10, 700), 1),
        (BatchLimits(10, 800), 2),
        (BatchLimits(10, 1), 1),
        (BatchLimits(2, 10_000), 2),
    ],
)
def test_g11_a_batch_is_limited_by_number_and_by_weight(limits: BatchLimits, count: int) -> None:
    assert first_batch([b"x" * 400] * 4, len, limits) == count


def test_the_first_batch_of_nothing_is_empty() -> None:
    assert first_batch([], len, BatchLimits(1)) == 0


async def test_a_lone_item_leaves_at_once_and_what_gathers_meanwhile_leaves_together(recorder: Recorder) -> None:
    batcher = Batcher(recorder.carry_out, BatchLimits(10))
    first = batcher.submit(1)
    await begun(recorder)
    others = [batcher.submit(number) for number in (2, 3, 4)]
    assert recorder.batches == [[1]]
    assert batcher.pending_weight == 4
    recorder.may_finish.set()
    assert await asyncio.gather(first, *others) == ["1", "2", "3", "4"]
    assert recorder.batches == [[1], [2, 3, 4]]
    await batcher.wait_until_answered()
    assert batcher.pending_weight == 0


async def test_batches_keep_the_order_and_the_limits(recorder: Recorder) -> None:
    recorder.may_finish.set()
    batcher = Batcher(recorder.carry_out, BatchLimits(3, weight=10), weight=lambda number: number)
    answers = [batcher.submit(number) for number in (1, 1, 1, 1, 4, 6, 30, 5)]
    assert await asyncio.gather(*answers) == ["1", "1", "1", "1", "4", "6", "30", "5"]
    assert recorder.batches == [[1, 1, 1], [1, 4], [6], [30], [5]]


async def test_g11_more_than_may_wait_is_refused(recorder: Recorder) -> None:
    by_number = Batcher(recorder.carry_out, BatchLimits(10, waiting_items=2))
    by_weight = Batcher(recorder.carry_out, BatchLimits(10, waiting_weight=5), weight=lambda number: number)
    for batcher, fitting in ((by_number, [1, 1]), (by_weight, [3, 2])):
        for number in fitting:
            batcher.submit(number)
        with pytest.raises(BatcherFull):
            batcher.submit(1)
        await batcher.close(RuntimeError("the test is over"))


async def test_g11_an_item_heavier_than_the_limit_is_taken_alone(recorder: Recorder) -> None:
    recorder.may_finish.set()
    batcher = Batcher(recorder.carry_out, BatchLimits(10, 5, waiting_weight=5), weight=lambda number: number)
    assert await batcher.submit(7) == "7"


async def test_an_item_may_wait_for_room(recorder: Recorder) -> None:
    batcher = Batcher(recorder.carry_out, BatchLimits(1, waiting_items=1))
    batcher.submit(1)
    await begun(recorder)
    batcher.submit(2)
    waiting = asyncio.create_task(batcher.submit_when_room(3))
    await asyncio.sleep(0)
    assert not waiting.done()
    recorder.may_finish.set()
    assert await asyncio.wait_for(waiting, TIMEOUT_S) == "3"
    assert recorder.batches == [[1], [2], [3]]


@pytest.mark.parametrize(("keeps", "later"), [(True, [[2, 3]]), (False, [[3]])])
async def test_an_abandoned_item_is_left_out_unless_it_has_to_be_carried_out(
    recorder: Recorder, *, keeps: bool, later: list[list[int]]
) -> None:
    batcher = Batcher(recorder.carry_out, BatchLimits(10), keeps_abandoned=keeps)
    under_way = batcher.submit(1)
    await begun(recorder)
    abandoned, wanted = batcher.submit(2), batcher.submit(3)
    abandoned.cancel()
    under_way.cancel()
    recorder.may_finish.set()
    assert await wanted == "3"
    await batcher.wait_until_answered()
    assert recorder.batches == [[1], *later]
    assert batcher.pending_weight == 0


async def test_an_answer_may_be_a_refusal_of_one_item(recorder: Recorder) -> None:
    recorder.may_finish.set()
    recorder.refused[2] = LookupError("two is refused")
    batcher = Batcher(recorder.carry_out, BatchLimits(10))
    one, two = batcher.submit(1), batcher.submit(2)
    assert await one == "1"
    with pytest.raises(LookupError, match="two is refused"):
        await two


async def test_a_batch_that_fails_is_carried_out_one_by_one_where_failures_are_isolated(recorder: Recorder) -> None:
    recorder.may_finish.set()
    recorder.bad = {2}
    batcher = Batcher(recorder.carry_out, BatchLimits(10), isolates_failures=True)
    answers = [batcher.submit(number) for number in (1, 2, 3)]
    assert [str(answer) for answer in await asyncio.gather(*answers, return_exceptions=True)] == [
        "1",
        "[2] cannot be carried out",
        "3",
    ]
    assert recorder.batches == [[1, 2, 3], [1], [2], [3]]
    assert not batcher.failed
    assert await batcher.submit(4) == "4"


async def test_after_a_failure_that_is_not_isolated_answers_stay_open_until_it_is_stopped(recorder: Recorder) -> None:
    recorder.may_finish.set()
    recorder.bad = {2}
    failures: list[Exception] = []
    batcher = Batcher(recorder.carry_out, BatchLimits(10), on_failure=failures.append)
    under_way = batcher.submit(2)
    with pytest.raises(ValueError, match="cannot be carried out"):
        await batcher.wait_until_answered()
    later = batcher.submit(3)
    for _ in range(5):
        await asyncio.sleep(0)
    assert (under_way.done(), later.done(), batcher.failed, recorder.batches) == (False, False, True, [[2]])
    assert [str(failure) for failure in failures] == ["[2] cannot be carried out"]
    batcher.stop(RuntimeError("the table has gone"))
    for answer in (under_way, later):
        with pytest.raises(RuntimeError, match="the table has gone"):
            await answer


async def test_g12_without_anybody_to_handle_a_failure_nothing_waits_for_ever(recorder: Recorder) -> None:
    recorder.may_finish.set()
    recorder.bad = {2}
    batcher = Batcher(recorder.carry_out, BatchLimits(1))
    answers = [batcher.submit(2), batcher.submit(3)]
    for answer in answers:
        with pytest.raises(ValueError, match="cannot be carried out"):
            await asyncio.wait_for(answer, TIMEOUT_S)
    with pytest.raises(ValueError, match="cannot be carried out"):
        batcher.submit(4)


async def test_stopping_fails_what_is_under_way_what_waits_and_what_comes_later(recorder: Recorder) -> None:
    batcher = Batcher(recorder.carry_out, BatchLimits(1, waiting_items=1), isolates_failures=True)
    under_way = batcher.submit(1)
    await begun(recorder)
    waiting = batcher.submit(2)
    for_room = asyncio.create_task(batcher.submit_when_room(3))
    await asyncio.sleep(0)
    await batcher.close(RuntimeError("it stops"))
    for answer in (under_way, waiting, for_room):
        with pytest.raises(RuntimeError, match="it stops"):
            await answer
    with pytest.raises(RuntimeError, match="it stops"):
        batcher.submit(4)
    assert recorder.batches == [[1]]


async def test_what_follows_a_batch_is_told_after_its_answers_are_set(recorder: Recorder) -> None:
    recorder.may_finish.set()
    seen: list[tuple[list[int], list[str | Exception], bool]] = []
    batcher = Batcher(
        recorder.carry_out,
        BatchLimits(10),
        on_answered=lambda items, answers: seen.append((list(items), list(answers), one.done())),
    )
    one = batcher.submit(1)
    await batcher.wait_until_answered()
    assert seen == [([1], ["1"], True)]


async def test_items_in_company_wait_a_moment_for_more_and_a_lone_one_does_not(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.may_finish.set()
    sleeps: list[float] = []
    company: list[int] = []
    sleep = asyncio.sleep

    async def sleep_in_company(seconds: float) -> None:
        if seconds:
            sleeps.append(seconds)
            for number in company:
                batcher.submit(number)
            company.clear()
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep_in_company)
    batcher = Batcher(recorder.carry_out, BatchLimits(10), gather=Gather(0.5, enough_weight=3))
    assert await batcher.submit(1) == "1"
    await batcher.wait_until_answered()
    assert not sleeps
    company.extend([4, 5])
    answers = [batcher.submit(2), batcher.submit(3)]
    await asyncio.gather(*answers)
    await batcher.wait_until_answered()
    # After company it gathers; what came in company gathers again, and finds nothing.
    assert recorder.batches == [[1], [2, 3], [4, 5]]
    assert sleeps == [0.5, 0.5]


async def test_what_leaves_over_a_stream_leaves_in_batches_and_ends_when_it_is_closed() -> None:
    outbound: Outbound[bytes] = Outbound(len, BatchLimits(2, 5))
    for item in (b"a", b"b", b"c", b"too long", b"d"):
        outbound.put(item)
    outbound.close()
    batches = []
    while await outbound.wait_for_items():
        batches.append(outbound.take_batch())
    assert batches == [[b"a", b"b"], [b"c"], [b"too long"], [b"d"]]


async def test_a_stream_with_nothing_to_send_waits_for_an_item_or_the_end() -> None:
    outbound: Outbound[bytes] = Outbound(len, BatchLimits(2))
    waiting = asyncio.create_task(outbound.wait_for_items())
    await asyncio.sleep(0)
    outbound.put(b"a")
    assert await waiting
    assert outbound.take_batch() == [b"a"]
    waiting = asyncio.create_task(outbound.wait_for_items())
    await asyncio.sleep(0)
    outbound.close()
    assert not await waiting


async def test_g11_a_reader_waits_for_room() -> None:
    outbound: Outbound[int] = Outbound(lambda _: 1, BatchLimits(1, waiting_items=1))
    outbound.put(1)
    await outbound.wait_for_room()
    outbound.put(2)
    waiting = asyncio.create_task(outbound.wait_for_room())
    await asyncio.sleep(0)
    assert not waiting.done()
    outbound.take_batch()
    await asyncio.wait_for(waiting, TIMEOUT_S)


async def test_what_need_not_leave_any_more_is_dropped() -> None:
    outbound: Outbound[int] = Outbound(lambda _: 1, BatchLimits(10))
    for number in range(6):
        outbound.put(number)
    outbound.keep(lambda number: number % 2 == 0)
    assert outbound.take_batch() == [0, 2, 4]
    assert len(outbound) == 0

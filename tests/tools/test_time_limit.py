"""A test that hangs fails after a while, and says where it hangs."""

from __future__ import annotations

import asyncio
import signal
import time

import pytest

from tests.time_limit import time_limit

SHORT_S, LONG_S = 0.05, 600.0


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def wait_for_ever_within(name: str) -> None:
    # Its time begins when the loop runs: an end while asyncio makes the loop would leave half of one behind.
    with time_limit(name, SHORT_S):
        await wait_for_ever()


async def wait_for_a_task() -> None:
    waiting = asyncio.create_task(wait_for_ever(), name="the one that hangs")
    await asyncio.sleep(0)
    # As the timer does, but not before the other one waits.
    signal.raise_signal(signal.SIGALRM)
    await waiting


def test_where_a_test_hangs_is_told_with_every_task() -> None:
    with pytest.raises(pytest.fail.Exception) as failed, time_limit("tests/x.py::test_y", LONG_S):
        asyncio.run(wait_for_a_task())
    told = str(failed.value)
    assert told.startswith("tests/x.py::test_y did not end within 600 seconds")
    for expected in ("in wait_for_a_task", "Task the one that hangs:", "in wait_for_ever", "asyncio.Event().wait()"):
        assert expected in told


def test_a_thread_and_a_loop_that_wait_for_ever_are_ended() -> None:
    with pytest.raises(pytest.fail.Exception, match="the thread"), time_limit("the thread", SHORT_S):
        time.sleep(LONG_S)
    with pytest.raises(pytest.fail.Exception, match="the loop"):
        asyncio.run(wait_for_ever_within("the loop"))


def test_a_limit_within_another_one_leaves_it_in_force() -> None:
    with pytest.raises(pytest.fail.Exception, match="the outer"), time_limit("the outer", SHORT_S):
        _end_in_time_and_wait()


def _end_in_time_and_wait() -> None:
    with time_limit("the inner", LONG_S):
        pass
    time.sleep(LONG_S)

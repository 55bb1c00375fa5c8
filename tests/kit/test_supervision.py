"""The tasks of a process: one that ends by itself stops the process, and a second request to stop ends all waiting."""

from __future__ import annotations

import asyncio
import gc
import os
import signal

import pytest

from services.kit.supervision import GC_YOUNG_THRESHOLD, TaskSupervisor, prepare_memory, run_until_stopped
from stack.servers.ephemeral import free_port

TIMEOUT_S = 240.0


async def fails() -> None:
    raise RuntimeError("a bug")


async def returns() -> None:
    return


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(("task", "message"), [(fails, "a bug"), (returns, "the task returns has returned")])
async def test_g12_a_task_that_ends_by_itself_stops_the_process(
    task: object, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(task)
    failures: list[bool] = []
    supervisor = TaskSupervisor("wallet", lambda: failures.append(True))
    supervisor.start([task(), asyncio.sleep(3600)])
    with pytest.raises(RuntimeError, match=message):
        await asyncio.wait_for(supervisor.wait_for_stop(), TIMEOUT_S)
    assert failures == [True]
    assert "a task of the wallet has failed" in caplog.text
    await supervisor.cancel_all()
    assert failures == [True]


async def test_cancelled_tasks_have_not_failed() -> None:
    supervisor = TaskSupervisor("wallet")
    supervisor.start([asyncio.sleep(3600)])
    await supervisor.cancel_all()
    assert supervisor.failure is None
    assert not supervisor.stopping.is_set()


async def test_signals_ask_to_stop_and_then_not_to_wait() -> None:
    supervisor = TaskSupervisor("wallet")

    async def serve() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        await supervisor.wait_for_stop()
        assert not supervisor.stop_now.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        await supervisor.stop_now.wait()
        return "stopped"

    serving = run_until_stopped(supervisor, serve(), None)
    assert await asyncio.wait_for(serving, TIMEOUT_S) == "stopped"


async def _answer(port: int, path: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer


async def test_metrics_are_read_where_the_settings_say() -> None:
    port = free_port()

    answer = await asyncio.wait_for(
        run_until_stopped(TaskSupervisor("wallet"), _answer(port, "/metrics"), f"127.0.0.1:{port}"), TIMEOUT_S
    )
    assert b"python_info" in answer


async def test_a_process_is_ready_while_it_serves_and_no_stop_is_requested() -> None:
    supervisor, port = TaskSupervisor("wallet"), free_port()

    async def serve() -> list[bytes]:
        answers = [await _answer(port, "/readyz")]
        supervisor.is_serving = True
        answers.append(await _answer(port, "/readyz"))
        supervisor.request_stop()
        answers.append(await _answer(port, "/readyz"))
        return [answer.split()[1] for answer in answers]

    serving = run_until_stopped(supervisor, serve(), f"127.0.0.1:{port}")
    assert await asyncio.wait_for(serving, TIMEOUT_S) == [b"503", b"200", b"503"]


def test_what_lives_as_long_as_the_process_is_not_collected_again_and_again() -> None:
    before = gc.get_threshold()
    try:
        prepare_memory()
        assert gc.get_threshold()[0] == GC_YOUNG_THRESHOLD
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)

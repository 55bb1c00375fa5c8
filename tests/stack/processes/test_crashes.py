"""A program that crashes now and then is restarted; one that keeps crashing ends the run."""

from __future__ import annotations

from stack.processes.crashes import CrashMonitor
from stack.processes.supervisor import ProgramState


def states(pid: int, *, given_up: bool = False) -> dict[str, ProgramState]:
    return {"wallet": ProgramState(running=True, stopped=False, given_up=given_up, pid=pid, exit_status=0)}


def test_another_process_id_is_a_crash() -> None:
    monitor = CrashMonitor()
    assert monitor.crashed(states(1), now=0) == []
    assert monitor.crashed(states(1), now=1) == []
    assert monitor.crashed(states(2), now=2) == ["wallet"]
    assert monitor.crash_looping(states(2), now=2) is None


def test_many_crashes_end_the_run_in_a_short_time_only() -> None:
    soon, late = CrashMonitor(crashes_limit=3, window_s=60), CrashMonitor(crashes_limit=3, window_s=60)
    for pid in range(1, 5):
        soon.crashed(states(pid), now=pid)
        late.crashed(states(pid), now=pid * 40)
    assert soon.crash_looping(states(4), now=4) == "wallet"
    assert late.crash_looping(states(4), now=160) is None


def test_a_program_that_the_process_manager_gave_up_ends_the_run() -> None:
    assert CrashMonitor().crash_looping(states(0, given_up=True), now=0) == "wallet"

"""A process that dies now and then is restarted; one that keeps dying ends the run."""

from __future__ import annotations

from pathlib import Path

from stack.processes.supervisor import CrashMonitor, ProgramState, last_lines


def _state(process: int, *, given_up: bool = False) -> dict[str, ProgramState]:
    return {"wallet": ProgramState(running=True, given_up=given_up, pid=process, exit_status=0)}


def test_a_new_process_number_is_a_death() -> None:
    watch = CrashMonitor()
    assert watch.crashed(_state(1), now=0) == []
    assert watch.crashed(_state(1), now=1) == []
    assert watch.crashed(_state(2), now=2) == ["wallet"]
    assert watch.crash_looping(_state(2), now=2) is None


def test_many_deaths_in_a_short_time_are_hopeless_and_in_a_long_time_are_not() -> None:
    soon, late = CrashMonitor(crashes_limit=3, window_s=60), CrashMonitor(crashes_limit=3, window_s=60)
    for process in range(1, 5):
        soon.crashed(_state(process), now=process)
        late.crashed(_state(process), now=process * 40)
    assert soon.crash_looping(_state(4), now=4) == "wallet"
    assert late.crash_looping(_state(4), now=160) is None


def test_a_program_that_the_process_manager_gave_up_is_hopeless() -> None:
    assert CrashMonitor().crash_looping(_state(0, given_up=True), now=0) == "wallet"


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "wallet.log"
    assert "empty" in last_lines(log, 2)
    log.write_text("one\ntwo\nthree\n")
    assert last_lines(log, 2) == "    two\n    three"

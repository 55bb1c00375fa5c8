"""`make run`: started, disturbed, stopped, started again, and nothing left behind."""

from __future__ import annotations

import os
import pty
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.processes import leftovers
from tests.processes.kill import kill
from tests.system.platform import PARTS, TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

# What a start says of what a later one does not have to do.
MADE = "database  made"
MENDED = ("removed the lock", "an earlier run left behind", "started again")


@pytest.fixture
def platform() -> Iterator[Platform]:
    """A platform that is not started yet, in a folder whose name is no friend of configuration files."""
    with tempfile.TemporaryDirectory(prefix="feltro-") as folder:
        Path(folder).chmod(0o711)
        made = Platform(Path(folder) / "the %data; #1, it's")
        yield made
        if made.running:
            made.stop()
        left = made.processes()
        leftovers.stop(left, made.data, made.data / "postgres" / "data")
        assert not left, "processes were left behind"


def _balance(platform: Platform, account: str) -> str:
    return _field(platform.call("GetBalance", {"account_id": account}), "free_cents")


def _rich_account(platform: Platform) -> str:
    opened = platform.call("OpenAccount", {"player_id": "ana", "mode": "MODE_REAL"})
    account = _field(opened, "account_id")
    assert _field(platform.call("Deposit", {"account_id": account, "amount_cents": 5000}), "free_cents") == "5000"
    return account


def _field(answer: dict[str, object] | None, name: str) -> str:
    balance = answer["balance"] if answer is not None else {}
    assert isinstance(balance, dict)
    return str(balance.get(name, "refused"))


@pytest.mark.guarantee("G5")
def test_a_day_of_use(platform: Platform) -> None:
    platform.start()
    assert MADE in platform.output
    account = _rich_account(platform)

    second = platform.run_second()
    assert second.returncode == 1
    assert "running already" in second.stderr
    assert str(platform.launcher.pid) in second.stderr

    for part in PARTS:
        killed = platform.process(part)
        kill(killed)
        platform.wait(lambda: platform.process_is_new(part, killed.pid))  # noqa: B023 - waited for right here
        platform.wait(platform.ready)
        platform.wait(lambda: _balance(platform, account) == "5000")

    assert platform.stop() == 0
    assert platform.processes() == []

    platform.start()
    # Nothing is made or mended anew.
    assert [said for said in (MADE, *MENDED) if said in platform.output] == []
    assert _balance(platform, account) == "5000"
    assert platform.stop(signal.SIGTERM) == 0


def test_a_killed_launcher_takes_everything_with_it(platform: Platform) -> None:
    platform.start()
    platform.launcher.kill()
    platform.launcher.wait()
    platform.wait(lambda: not platform.processes())


def test_a_closed_terminal_stops_everything_without_any_signal(platform: Platform) -> None:
    ours, its = pty.openpty()
    platform.start(terminal=its)
    os.close(its)
    os.close(ours)
    assert platform.launcher.wait(TIMEOUT_S) == 0
    assert platform.processes() == []


def test_what_a_killed_launcher_and_process_manager_left_is_ended_by_the_next_start(platform: Platform) -> None:
    platform.start()
    platform.kill_modules("stack.processes.child", "supervisor.supervisord")
    platform.launcher.kill()
    platform.launcher.wait()
    assert {platform.process(part).name() for part in PARTS}
    platform.start()
    assert "an earlier run left behind" in platform.output
    assert platform.stop() == 0


def test_a_killed_process_manager_ends_the_run(platform: Platform) -> None:
    platform.start()
    platform.kill_modules("supervisor.supervisord", except_module="stack.processes.child")
    assert platform.launcher.wait(TIMEOUT_S) == 1
    assert "process manager was ended" in platform.output


def test_a_taken_port_is_named_before_anything_starts(platform: Platform) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = str(server.getsockname()[1])
        platform.environment["FELTRO_WALLET_PORT"] = taken
        ended = platform.run_second()
    assert ended.returncode == 1
    assert f"Port {taken} is taken by" in ended.stderr
    assert "FELTRO_WALLET_PORT=" in ended.stderr
    assert not (platform.data / "postgres" / "data").exists()


def test_a_process_that_keeps_dying_ends_the_run_with_its_last_words(platform: Platform) -> None:
    platform.environment["FELTRO_LOG_LEVEL"] = "shouting"
    # It does not wait for what cannot come: that would be said in other words.
    ended = platform.run_second()
    assert ended.returncode == 1
    assert "wallet keeps ending" in ended.stderr
    assert "FELTRO_LOG_LEVEL" in ended.stderr

"""`feltro run`: started, disturbed, stopped in every way, started again, and nothing left behind.

All in one data folder: what a start makes it makes once, and each ending is followed by another start.
"""

from __future__ import annotations

import os
import pty
import resource
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.processes.kill import kill
from tests.system.platform import PARTS, TIMEOUT_S, Platform, temporary_platform

pytestmark = pytest.mark.slow

# Printed by a start that makes or mends something; a later start has nothing to make or mend.
MADE = "database      made"
MENDED = ("removed the lock", "an earlier run left behind", "started again")


@pytest.fixture(scope="module")
def data_folder() -> Iterator[Platform]:
    """A platform in a folder whose name would mean something in a configuration file."""
    with temporary_platform("the %data; #1, it's") as made:
        yield made


@pytest.fixture
def platform(data_folder: Platform) -> Iterator[Platform]:
    """The platform of all these tests, stopped before and after each."""
    yield data_folder
    data_folder.end()


def _balance(platform: Platform, account: str) -> str:
    return _cents(platform.rest(f"/v1/accounts/{account}/balance"))


def _balance_over_grpc(platform: Platform, account: str) -> str:
    return _cents(platform.call("GetBalance", {"account_id": account}))


def _cents(answer: dict[str, object] | None) -> str:
    balance = answer["balance"] if answer is not None else {}
    assert isinstance(balance, dict)
    return str(balance.get("free_cents", "refused"))


def _open_practice(platform: Platform) -> list[object]:
    """The practice tournaments that are open to players."""
    answer = platform.rest("/v1/tournaments?mode=MODE_DEMO&phase=TOURNAMENT_PHASE_REGISTERING") or {}
    found = answer.get("tournaments", [])
    assert isinstance(found, list)
    return [each["tournament_id"] for each in found]


def _account_with_money(platform: Platform) -> str:
    opened = platform.call("OpenAccount", {"player_id": "ana", "mode": "MODE_REAL"})
    assert opened is not None
    balance = opened["balance"]
    assert isinstance(balance, dict)
    account = str(balance["account_id"])
    assert _cents(platform.call("Deposit", {"account_id": account, "amount_cents": 5000})) == "5000"
    return account


@pytest.mark.guarantee("G5")
def test_g5_a_platform_whose_processes_are_killed_one_by_one_keeps_the_money(platform: Platform) -> None:
    platform.start()
    assert MADE in platform.output
    account = _account_with_money(platform)

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
    # Found again by its bots, and not made twice.
    platform.wait(lambda: _open_practice(platform) == ["practice-sng-1"])

    assert platform.stop() == 0
    assert platform.processes() == []

    platform.start()
    assert [line for line in (MADE, *MENDED) if line in platform.output] == []
    assert _balance_over_grpc(platform, account) == "5000"
    assert _open_practice(platform) == ["practice-sng-1"]
    assert platform.stop(signal.SIGTERM) == 0


def test_a_killed_launcher_takes_everything_with_it(platform: Platform) -> None:
    platform.start()
    platform.launcher.kill()
    platform.launcher.wait()
    platform.wait(lambda: not platform.processes())


@pytest.mark.guarantee("G5")
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the files of another process")
def test_g5_a_bus_whose_disk_was_full_is_started_again_and_tells_what_it_missed(platform: Platform) -> None:
    platform.start()
    nats = platform.process("nats").pid
    account = platform.rest("/v1/accounts", {"player_id": "disk", "mode": "MODE_REAL"})
    assert account is not None
    account_id = account["balance"]["account_id"]  # type: ignore[index]
    # Every write of the server fails from here on, as on a full disk.
    resource.prlimit(nats, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    assert platform.rest(f"/v1/accounts/{account_id}/deposits", {"amount_cents": 500, "reference": "full"})
    platform.wait(lambda: platform.process_is_new("nats", nats))
    assert "nats could write nothing more" in platform.output
    # On purpose: that is no crash.
    assert "nats ended" not in platform.output
    platform.wait(lambda: platform.ready() and platform.oldest_fact_s() == 0.0)
    assert platform.rest(f"/v1/accounts/{account_id}/deposits", {"amount_cents": 500, "reference": "again"})
    assert platform.stop() == 0


def test_a_closed_terminal_stops_everything_without_any_signal(platform: Platform) -> None:
    terminal, other_end = pty.openpty()
    platform.start(terminal=other_end)
    os.close(other_end)
    os.close(terminal)
    assert platform.launcher.wait(TIMEOUT_S) == 0
    assert platform.processes() == []


def test_a_start_ends_what_a_killed_launcher_and_process_manager_left(platform: Platform) -> None:
    platform.start()
    platform.kill_modules("stack.processes.child", "stack.processes.process_manager")
    platform.launcher.kill()
    platform.launcher.wait()
    assert {platform.process(part).name() for part in PARTS}
    platform.start()
    assert "an earlier run left behind" in platform.output
    assert platform.stop() == 0


def test_a_killed_process_manager_ends_the_run(platform: Platform) -> None:
    platform.start()
    platform.kill_modules("stack.processes.process_manager", except_module="stack.processes.child")
    assert platform.launcher.wait(TIMEOUT_S) == 1
    assert "process manager was ended" in platform.output


def test_a_process_that_keeps_crashing_ends_the_run_with_the_end_of_its_log(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(platform.environment, "FELTRO_LOG_LEVEL", "shouting")
    ended = platform.run_second()
    assert ended.returncode == 1
    # Reported as such, not as a process that was not ready in time.
    assert "wallet keeps ending" in ended.stderr
    assert "FELTRO_LOG_LEVEL" in ended.stderr


def test_a_taken_port_is_named_before_anything_starts() -> None:
    with temporary_platform() as platform, socket.create_server(("127.0.0.1", 0)) as server:
        taken = str(server.getsockname()[1])
        platform.environment["FELTRO_WALLET_PORT"] = taken
        ended = platform.run_second()
        assert not (platform.data / "postgres" / "data").exists()
    assert ended.returncode == 1
    assert f"Port {taken} is taken by" in ended.stderr
    assert "FELTRO_WALLET_PORT=" in ended.stderr

"""How the tests are divided among workers: what many share is made once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tests import schedule

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

SINGLE, GROUPED = "tests/kit/test_x.py", "tests/service/roulette/test_x.py"
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("prefix", [*schedule.GROUPS, *schedule.FIRST, *schedule.MEASURED])
def test_every_path_of_the_schedule_exists(prefix: str) -> None:
    assert (ROOT / prefix).exists()


def test_lines_are_counted_where_a_test_runs_those_that_no_other_does() -> None:
    tests = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    measured = {test for test in tests if schedule.is_measured(test)}

    assert {"tests/service/roulette/play/test_bets.py", "tests/simulation/scenarios/test_takeover.py"} <= measured
    assert "tests/simulation/test_faults_at_every_step.py" not in measured
    assert not any(test.startswith(("tests/gateway/", "tests/system/")) for test in measured)


def test_what_many_tests_share_is_made_by_one_worker(request: pytest.FixtureRequest) -> None:
    """Of all tests of this run: in `make test` that is every one."""
    found = schedule.shared_outside_groups(request.session.items)

    assert not found, f"give these files a group in tests/schedule.py, or name a fixture of each worker: {found}"


def fixture(scope: str, baseid: str = "tests") -> SimpleNamespace:
    """A fixture as pytest describes it."""
    return SimpleNamespace(scope=scope, baseid=baseid)


@pytest.mark.parametrize(
    ("file", "name", "described", "found"),
    [
        (SINGLE, "platform", fixture("module"), True),
        (SINGLE, "platform", fixture("session"), True),
        (SINGLE, "platform", fixture("function"), False),
        (SINGLE, "postgres", fixture("session"), False),
        (SINGLE, "tmp_path_factory", fixture("session", baseid=""), False),
        (GROUPED, "platform", fixture("package"), False),
    ],
)
def test_a_shared_fixture_of_an_ungrouped_test_is_found(
    file: str, name: str, described: SimpleNamespace, *, found: bool
) -> None:
    item = SimpleNamespace(nodeid=f"{file}::test_x", _fixtureinfo=SimpleNamespace(name2fixturedefs={name: [described]}))

    shared = schedule.shared_outside_groups([cast("pytest.Item", item)])

    assert shared == ({f"{file}::{name}"} if found else set())


class FakeWorker:
    """A worker that records what it is given."""

    def __init__(self) -> None:
        self.gateway = SimpleNamespace(id=str(id(self)))
        self.shutting_down = False
        self.given: list[str] = []
        self.dead = False

    def send_runtest_some(self, indices: list[int]) -> None:
        if self.dead:
            raise OSError("cannot send (already closed?)")
        self.given += [COLLECTED[index] for index in indices]

    def shutdown(self) -> None:
        self.shutting_down = True


COLLECTED = [f"{GROUPED}::test_{number}" for number in range(5)] + [f"{SINGLE}::test_{number}" for number in range(3)]


def divided_among(workers: list[FakeWorker]) -> schedule.GroupScheduling:
    config = SimpleNamespace(option=SimpleNamespace(loadscopereorder=False), getvalue=lambda _: [".", "."], hook=None)
    scheduling = schedule.GroupScheduling(cast("pytest.Config", config))
    for worker in workers:
        scheduling.add_node(cast("WorkerController", worker))
        scheduling.add_node_collection(cast("WorkerController", worker), COLLECTED)

    scheduling.schedule()
    return scheduling


def test_a_group_stays_with_one_worker_and_single_tests_go_to_the_others() -> None:
    workers = [FakeWorker(), FakeWorker()]

    divided_among(workers)

    assert workers[0].given == COLLECTED[:5]
    assert workers[1].given
    assert set(workers[1].given) <= set(COLLECTED[5:])


def test_two_workers_that_die_at_once_lose_no_test() -> None:
    """The second one is given the tests of the first before xdist knows of its death."""
    workers = [FakeWorker(), FakeWorker()]
    scheduling = divided_among(workers)
    for worker in workers:
        worker.dead = True

    died_of = {scheduling.remove_node(cast("WorkerController", worker)) for worker in workers}

    assert died_of == {COLLECTED[0], COLLECTED[5]}
    assert {test for tests in scheduling.workqueue.values() for test in tests} == set(COLLECTED) - died_of


SCHEDULED = """
from tests.schedule import GroupScheduling

def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False
    return GroupScheduling(config, log)
"""
TESTS_COUNT = 12
DEADLY = f"""
import os
import pytest

@pytest.mark.parametrize("number", range({TESTS_COUNT}))
def test_single(number):
    if str(number) in os.environ["DEADLY"].split():
        os._exit(1)
"""


@pytest.mark.parametrize("dead", [{5}, {0, 1, 2, 3, 4}, {10, 11}])
def test_a_worker_that_dies_fails_one_test_and_the_run_ends(dead: set[int], tmp_path: Path) -> None:
    """Whether one does in the middle, all do at the start, or at the end when no other test is left."""
    for name, text in (("conftest.py", SCHEDULED), ("test_deadly.py", DEADLY), ("pytest.ini", "[pytest]\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2"],
        env={**inherited, "PYTHONPATH": str(ROOT), "DEADLY": " ".join(map(str, dead))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = re.findall(r"(\d+) (\w+)", run.stdout.splitlines()[-1].partition(" in ")[0])
    expected = {"failed": len(dead), "passed": TESTS_COUNT - len(dead)}
    assert {word: int(count) for count, word in outcomes} == {word: n for word, n in expected.items() if n}, run.stdout

"""How `make test` is divided among its workers: what stays together, and what begins first.

Tests are handed out one by one, but for those of a group, which one worker runs one after the other: they share a
fixture that takes seconds to make, and every worker that meets one of them would make it again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

# Groups by the path that their tests begin with. None may take more than half of the whole.
GROUPS = {
    "tests/service/baccarat/": "baccarat-platform",
    "tests/service/blackjack/": "blackjack-platform",
    # On processes of its own.
    "tests/service/blackjack_crash/test_random_kills.py": "blackjack-random-kills",
    "tests/service/blackjack_crash/": "blackjack-crash",
    "tests/service/every_game/": "every-game-platform",
    "tests/service/poker/": "poker-platform",
    "tests/service/poker_crash/": "poker-crash",
    "tests/service/poker_tournament/": "poker-tournament",
    "tests/service/roulette/": "roulette-platform",
    # Computes every deal.
    "tests/engine/baccarat/test_probabilities.py": "baccarat-probabilities",
    # Computes all hands of five cards.
    "tests/engine/poker/evaluation/test_second_evaluator.py": "second-evaluator",
    "tests/gateway/platform/test_attacks.py": "gateway-attacks",
    "tests/gateway/platform/test_two_gateways.py": "two-gateways",
    "tests/gateway/platform/": "gateway-platform",
    "tests/service/table/journal/test_replay_command.py": "replay",
    "tests/service/table/journal/test_replay_of_decisions.py": "replay-of-decisions",
    "tests/stack/commands/test_database_roles.py": "database-roles",
    "tests/stack/operator_site/test_routes.py": "operator-site",
    "tests/tools/test_web.py": "front-end-build",
    "tests/system/test_run.py": "system-run",
    "tests/system/test_ctrl_c.py": "system-ctrl-c",
    "tests/system/": "system-platform",
}
# The longest first: a worker that meets one last keeps the others waiting. What computes alternates with what waits
# for clocks: two that compute at once take twice as long on two cores.
FIRST = (
    "tests/service/roulette/",
    # On one platform, which the last of them kills.
    "tests/system/test_baccarat.py",
    "tests/system/test_timestamps.py",
    "tests/system/test_documentation.py",
    "tests/system/test_colluding_players.py",
    "tests/system/test_practice.py",
    "tests/system/test_power_cut.py",
    "tests/service/roulette_crash/test_handover.py",
    "tests/service/wallet/ledger/test_against_model.py",
    # Waits for a connection to be given up.
    "tests/kit/rpc/test_relay_connection.py",
    "tests/engine/blackjack/test_expected_return.py",
    "tests/simulation/test_faults_at_every_step.py",
    "tests/gateway/platform/",
    "tests/system/test_run.py",
    "tests/service/roulette_crash/",
    "tests/service/baccarat_crash/",
    "tests/service/blackjack_crash/test_random_kills.py",
    "tests/service/poker_crash/",
    "tests/service/wallet/store/test_kill_at_every_step.py",
    "tests/service/wallet/store/test_random_kills.py",
    "tests/system/test_ctrl_c.py",
    "tests/service/table/placement/",
    "tests/simulation/",
    "tests/service/table/journal/test_replay_command.py",
    "tests/stack/operator_site/",
    "tests/tools/test_nist_vectors.py",
    "tests/service/",
)
# Where lines are counted under `--cov`: tracing takes two and a half times the processor, and other tests run none of
# those lines, or the same ones through more processes.
MEASURED = ("tests/engine/", "tests/kit/cards/", "tests/service/", "tests/simulation/")
# These run a few lines thousands of times, each of which another test runs as well.
UNMEASURED = re.compile(
    r"_crash/|/test_(faults|kill)_at_every_step\.py|/test_random_(kills|runs)\.py|/test_broken_\w+\.py"
    r"|/test_(any_configuration|table_limits|against_model)\.py"
    r"|/test_(counts|differential|expected_return|legal_moves|probabilities|second_\w+)\.py"
)
# Fixtures of a whole run: each worker has its own, once, whichever tests it runs.
PER_WORKER = {"postgres", "nats_url", "wallet_template", "game_template", "database_copier", "seed_database"}


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # its module has no types
    """Hands out groups and single tests in the order of their collection.

    `--dist loadgroup` would do, but pytest-xdist writes the group into the name of the test, where pytest 9.2 does not
    read it any more, and docs/compliance.md would have it.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Takes a worker out, and puts back what it has left, but for the test that it died of, which is returned.

        xdist's own (pytest-dev/pytest-xdist#1362, #1371, #1378) puts back what was finished, too, which no worker ever
        reports, so that the run never ends, and has every worker die of that test.
        """
        self.registered_collections.pop(node, None)
        left: dict[str, dict[str, bool]] = {
            group: unfinished
            for group, tests in self.assigned_work.pop(node).items()
            if (unfinished := {nodeid: False for nodeid, finished in tests.items() if not finished})
        }
        if not left:
            return None
        first = next(iter(left))
        died_of = next(iter(left[first]))
        del left[first][died_of]
        self.workqueue.update({group: tests for group, tests in left.items() if tests})
        for other in self.nodes:
            self._reschedule(other)
        return died_of

    def schedule(self) -> None:
        """Divides the tests; later, gives work to the worker that takes a dead one's place."""
        has_begun = self.collection is not None
        super().schedule()
        if has_begun:
            # A worker begins a test when it knows the next one, or that there is none.
            for node in self.nodes:
                self._reschedule(node)

    @property
    def collection_is_completed(self) -> bool:
        """Whether tests can be divided: once they are, a worker that takes another's place collects for itself."""
        return self.collection is not None or super().collection_is_completed

    def _reschedule(self, node: WorkerController) -> None:
        # One that takes another's place may be collecting still.
        if node in self.registered_collections:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        # One that has died may not be reported dead yet: what does not reach it is put back when it is removed.
        with contextlib.suppress(OSError):
            super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid) or nodeid


def group_of(nodeid: str) -> str | None:
    """The group of a test; None if it may run anywhere."""
    return next((GROUPS[prefix] for prefix in GROUPS if nodeid.startswith(prefix)), None)


def is_measured(nodeid: str) -> bool:
    """Whether `--cov` counts the lines that a test runs."""
    return nodeid.startswith(MEASURED) and UNMEASURED.search(nodeid) is None


def rank_of(nodeid: str) -> int:
    """The place of a test in the order of beginning; those of the same place stay as they are collected."""
    return next((rank for rank, prefix in enumerate(FIRST) if nodeid.startswith(prefix)), len(FIRST))


def shared_outside_groups(items: Iterable[pytest.Item]) -> set[str]:
    """The fixtures that many tests share and each worker would make again: `tests/x.py::name`."""
    return {
        f"{item.nodeid.partition('::')[0]}::{name}"
        for item in items
        if group_of(item.nodeid) is None
        for name in _shared_fixtures(item)
    }


def _shared_fixtures(item: pytest.Item) -> set[str]:
    """The fixtures of ours that a test shares with others, but for those that each worker has anyway."""
    # pytest shows a test's fixtures nowhere else; what is not a function has none.
    info = getattr(item, "_fixtureinfo", None)
    found = info.name2fixturedefs if info is not None else {}
    # The last definition is the one in force: it overrides those of folders above.
    return {
        name
        for name, definitions in found.items()
        if name not in PER_WORKER and definitions[-1].scope != "function" and definitions[-1].baseid
    }

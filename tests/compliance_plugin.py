"""Records which rules each test proves and how it went: `--rule-report=FILE` writes it down for `tools.compliance`.

A rule that the catalogue (docs/rulebook/) does not have is an error of collection, reported or not: a test that proves
what no paragraph asks for would be counted nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

# How a rule travels from an xdist worker to the main process: as a property of the test.
RULE_PROPERTY = "rule"
COMPLETE_EXIT_CODES = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
# From the best to the worst.
OUTCOMES = ("passed", "skipped", "failed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--rule-report`."""
    parser.addoption("--rule-report", metavar="FILE", help="write which rules the tests prove, and their outcomes")


def pytest_configure(config: pytest.Config) -> None:
    """Collects outcomes where a report is wanted, in the main process alone, which receives those of all workers."""
    target = config.getoption("rule_report")
    if target and not hasattr(config, "workerinput"):
        config.pluginmanager.register(RuleReport(Path(target)), "rule-report")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Records the rules of each collected test; a mark that names no rule fails the collection with a sentence."""
    report = yield
    wrong = [sentence for node in report.result or () if isinstance(node, pytest.Item) for sentence in _record(node)]
    if wrong:
        report.outcome = "failed"
        report.longrepr = "\n".join(wrong)
        report.result = []
    return report


def _record(item: pytest.Item) -> list[str]:
    """Puts the rules of a test where its reports carry them; returns what is wrong with its marks."""
    named = [mark.args for mark in item.iter_markers("rule")]
    if not named:
        return []
    wrong = [f"{item.nodeid} has a rule mark without an id" for ids in named if not ids]
    for rule in dict.fromkeys(rule for ids in named for rule in ids):
        if rule in _catalogue():
            item.user_properties.append((RULE_PROPERTY, rule))
        else:
            wrong.append(f"{item.nodeid} names the rule {rule!r}, which docs/rulebook/ does not have")
    return wrong


# Read when the first mark is found: most runs of a single test have none.
@cache
def _catalogue() -> frozenset[str]:
    from tools import compliance  # noqa: PLC0415

    return frozenset(rule.id for book in compliance.read_rulebook() for rule in book.rules)


class RuleReport:
    """Collects the outcomes, and writes them when the run ends."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._rules: dict[str, list[str]] = {}
        self._outcomes: dict[str, str] = {}
        self._all_collected = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """With xdist the exit status alone does not show that a module was left out."""
        self._all_collected &= not report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds one phase of one test: the worst of the three is its outcome."""
        rules = [str(value) for name, value in report.user_properties if name == RULE_PROPERTY]
        if not rules:
            return
        # A test that is expected to fail proves nothing, even if it passes.
        outcome = "skipped" if hasattr(report, "wasxfail") else str(report.outcome)
        worst = max(self._outcomes.get(report.nodeid, "passed"), outcome, key=OUTCOMES.index)
        self._rules[report.nodeid] = rules
        self._outcomes[report.nodeid] = worst

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Writes the report in the order of the names: which worker was first does not matter."""
        tests = [
            {"test": name, "outcome": self._outcomes[name], "rules": self._rules[name]} for name in sorted(self._rules)
        ]
        report = {"complete": self._all_collected and exitstatus in COMPLETE_EXIT_CODES, "tests": tests}
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

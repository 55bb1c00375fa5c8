"""The compliance matrix: a rule counts as proved only if a test proves it."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools import compliance
from tools.compliance import Proof, Regulation, RegulationStatus, Rule, RuleStatus, State, UnusableInput

ROOT = Path(__file__).resolve().parents[2]
UI_LATER = frozenset({"ui"})
SERVER, BROWSER = "tests/engine/test_wheel.py::test_it", "tests/browser/play/test_wheel.py::test_it"


def rule(force: str = "MUST", layers: str = "engine") -> Rule:
    return Rule("804/2015:6", force, tuple(layers.split(";")), "The wheel | turns")


def chapter(*rules: tuple[Rule, State], complete: bool = True) -> RegulationStatus:
    regulation = Regulation("804/2015", "Roulette", complete, UI_LATER, tuple(rule for rule, _ in rules))
    return RegulationStatus(regulation, tuple(RuleStatus(rule, state, ()) for rule, state in rules))


# -- the catalogue --------------------------------------------------------------------------------------------------


def test_every_regulation_is_in_the_catalogue() -> None:
    regulations = {regulation.id: regulation for regulation in compliance.read_rulebook()}

    assert {name: len(regulation.rules) for name, regulation in regulations.items()} == {
        "803/2015": 10,
        "804/2015": 87,
        "805/2015": 87,
        "806/2015": 138,
        "807/2015": 97,
        "810/2015": 63,
        "811/2015": 137,
        "812/2015": 82,
        "903-B/2015": 30,
        "GLI-19": 6,
    }
    declared = {name for name, regulation in regulations.items() if regulation.complete}
    assert declared == {"804/2015", "805/2015", "806/2015", "807/2015", "810/2015", "811/2015", "812/2015"}


def test_every_rule_has_a_summary_of_one_line() -> None:
    layers = {"engine", "table", "wallet", "session", "info", "ui", "config", "demo"}
    layers |= {"integrity", "admin", "gateway", "ops", "all"}

    for regulation in compliance.read_rulebook():
        for each in regulation.rules:
            assert each.kind in compliance.Force, each.id
            assert layers.issuperset(each.layers), each.id
            assert 1 < len(each.summary) <= 140, each.id


def test_every_file_of_the_catalogue_is_read() -> None:
    files = {file.name for file in compliance.RULEBOOK.iterdir()}
    named = {f"{regulation.id.replace('/', '-').lower()}.csv" for regulation in compliance.read_rulebook()}

    assert files == named | {"regulations.csv"}


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (["804/2015:6", "804/2015:6"], "804/2015:6 is in the catalogue 2 times"),
        (["805/2015:6"], "805/2015:6, which is no rule of 804/2015"),
    ],
)
def test_a_catalogue_that_contradicts_itself_is_refused(tmp_path: Path, ids: list[str], problem: str) -> None:
    write(tmp_path / "regulations.csv", ["regulation", "title", "declared", "not_yet_due"], ["804/2015", "R", "", ""])
    write(
        tmp_path / "804-2015.csv",
        ["id", "force", "layers", "summary"],
        *([each, "MUST", "engine", "It"] for each in ids),
    )

    with pytest.raises(UnusableInput, match=problem):
        compliance.read_rulebook(tmp_path)


def write(file: Path, *rows: list[str]) -> None:
    with file.open("w", newline="") as lines:
        csv.writer(lines).writerows(rows)


# -- the state of a rule -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("force", "kind"),
    [
        ("MUST", "MUST"),
        ("MUST NOT", "MUST"),
        ("MUST (amount: MAY-op)", "MUST"),
        ("MUST unless opted out (804/2015:12)", "MUST"),
        ("MUST (once invited)", "MUST"),
        ("MAY-pl", "MUST"),
        ("MAY-op (only then)", "MAY-op"),
        ("DEF", "DEF"),
        ("INFERRED", "INFERRED"),
    ],
)
def test_a_condition_does_not_change_the_force(force: str, kind: str) -> None:
    assert rule(force).kind is compliance.Force(kind)


@pytest.mark.parametrize(
    ("force", "layers", "tests", "state"),
    [
        ("MUST", "engine", [], State.UNPROVED),
        ("MUST", "engine", [SERVER], State.PROVED),
        ("MUST", "engine", [BROWSER], State.UNPROVED),
        ("MUST", "ui;engine", [], State.UNPROVED),
        ("MUST", "ui;engine", [SERVER], State.PROVED_EXCEPT_SCREEN),
        ("MUST", "ui;engine", [BROWSER], State.IN_PART),
        ("MUST", "ui;engine", [SERVER, BROWSER], State.PROVED),
        ("MUST", "ui", [], State.SCREEN_PENDING),
        ("MUST", "ui", [SERVER], State.SCREEN_PENDING),
        ("MUST", "ui", [BROWSER], State.PROVED),
        ("MAY-pl", "engine", [], State.UNPROVED),
        ("MAY-op", "engine", [], State.OPTION),
        ("MAY-op", "engine", [SERVER], State.OPTION_PROVED),
        ("DEF", "engine", [SERVER], State.DEFINITION),
        ("INFERRED", "config", [], State.INFERRED),
    ],
)
def test_the_state_follows_from_the_proofs(force: str, layers: str, tests: list[str], state: State) -> None:
    proofs = [Proof(test, passed=True) for test in tests]

    assert compliance.state_of(rule(force, layers), proofs, UI_LATER) is state


@pytest.mark.parametrize(("layers", "state"), [("ui", State.UNPROVED), ("ui;engine", State.IN_PART)])
def test_a_screen_that_is_due_needs_a_proof_of_its_own(layers: str, state: State) -> None:
    assert compliance.state_of(rule("MUST", layers), [Proof(SERVER, passed=True)], frozenset()) is state


@pytest.mark.parametrize("force", ["MUST", "MAY-op", "DEF"])
def test_one_failing_test_is_enough(force: str) -> None:
    proofs = [Proof(SERVER, passed=True), Proof("tests/service/test_b.py::test_b", passed=False)]

    assert compliance.state_of(rule(force), proofs, UI_LATER) is State.FAILING


def test_proved_and_required_rules_are_counted() -> None:
    counted = chapter(
        (rule(), State.PROVED),
        (rule(layers="ui;engine"), State.PROVED_EXCEPT_SCREEN),
        (rule(), State.UNPROVED),
        (rule(), State.FAILING),
        (rule(layers="ui"), State.SCREEN_PENDING),
        (rule("MAY-op"), State.OPTION_PROVED),
        (rule("DEF"), State.DEFINITION),
    )

    assert (counted.proved_count, counted.required_count) == (2, 4)
    assert [line.state for line in counted.violations()] == [State.UNPROVED, State.FAILING]


def test_in_an_undeclared_regulation_only_a_failure_counts() -> None:
    lines = [(rule(), State.UNPROVED), (rule(), State.IN_PART), (rule("MAY-op"), State.FAILING)]

    assert [line.state for line in chapter(*lines, complete=False).violations()] == [State.FAILING]


# -- the proofs -----------------------------------------------------------------------------------------------------


def test_the_parameters_of_a_test_are_one_proof() -> None:
    tests = [
        {"test": "a.py::test[1]", "outcome": "passed", "rules": ["804/2015:6", "804/2015:8"]},
        {"test": "a.py::test[2]", "outcome": "failed", "rules": ["804/2015:6"]},
        {"test": "a.py::test[3]", "outcome": "passed", "rules": ["804/2015:6"]},
        {"test": "a.py::skipped", "outcome": "skipped", "rules": ["804/2015:6"]},
    ]

    assert compliance.proofs_by_rule(tests) == {
        "804/2015:6": (Proof("a.py::test", passed=False),),
        "804/2015:8": (Proof("a.py::test", passed=True),),
    }


def test_a_failure_in_one_run_is_a_failure() -> None:
    run = {"804/2015:6": (Proof(SERVER, passed=True),)}
    other = {"804/2015:6": (Proof(SERVER, passed=False), Proof(BROWSER, passed=True))}

    assert compliance.merge_runs(run, other) == {
        "804/2015:6": (Proof(BROWSER, passed=True), Proof(SERVER, passed=False))
    }


def test_an_unknown_rule_is_refused_from_any_report() -> None:
    with pytest.raises(UnusableInput, match="804/2015:99"):
        compliance.judge(compliance.read_rulebook(), {"804/2015:99": (Proof(BROWSER, passed=True),)})


# -- the page and the command ---------------------------------------------------------------------------------------


def test_the_page_is_made_of_cells() -> None:
    page = compliance.matrix([chapter((rule(layers="ui;engine"), State.PROVED_EXCEPT_SCREEN))])

    assert "| 804/2015 | Roulette | 1 | 1 | 0 | 0 | 1 | complete |\n" in page
    assert "| `804/2015:6` | MUST | ui, engine | proved, ui to come | The wheel \\| turns |  |\n" in page


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compliance, "MATRIX", tmp_path / "compliance.md")
    return tmp_path / "compliance.md"


def report(file: Path, *, complete: bool = True, outcome: str = "passed", rules: tuple[str, ...] = ()) -> Path:
    tests = [{"test": test, "outcome": outcome, "rules": [each]} for each in rules for test in (SERVER, BROWSER)]
    file.write_text(json.dumps({"complete": complete, "tests": tests}))
    return file


def all_due_rules() -> tuple[str, ...]:
    return tuple(
        each.id for regulation in compliance.read_rulebook() if regulation.complete for each in regulation.rules
    )


def test_the_command_writes_the_page_and_then_finds_it_up_to_date(
    tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = str(report(tmp_path / "rules.json", rules=all_due_rules()))

    assert compliance.main(["--report", outcomes]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "compliance 804/2015 66/66"
    assert [line.split()[0] for line in printed] == ["compliance"] * 10
    assert compliance.main(["--report", outcomes, "--check", "--merge", str(tmp_path / "none.json")]) == 0

    page.write_text(page.read_text().replace("proved", "improved", 1))
    assert compliance.main(["--report", outcomes, "--check"]) == 1
    assert "improved" in page.read_text(), "--check writes nothing"


@pytest.mark.parametrize("outcome", ["skipped", "failed"])
def test_the_command_names_failing_rules(
    tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str], outcome: str
) -> None:
    passed = report(tmp_path / "rules.json", rules=all_due_rules()[1:])
    missing = report(tmp_path / "other.json", rules=("805/2015:9",), outcome=outcome)

    status = compliance.main(["--report", str(passed), "--merge", str(missing)])

    assert status == (outcome == "failed"), "only a declared regulation is asked for proofs, any for no failing one"
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("805")]
    assert len(named) == status
    assert all("is failing" in line and SERVER in line for line in named)


def test_a_missing_proof_of_a_declared_regulation_is_an_error(
    tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tuple(each for each in all_due_rules() if each != "807/2015:15")

    assert compliance.main(["--report", str(report(tmp_path / "rules.json", rules=rules))]) == 1
    printed = capsys.readouterr().out
    assert "compliance 807/2015 66/67\n" in printed
    assert "\n807/2015:15 [engine] is unproved: " in printed


@pytest.mark.parametrize("broken", ["", '{"complete": false, "tests": []}'])
def test_an_incomplete_run_proves_nothing(tmp_path: Path, page: Path, broken: str) -> None:
    (tmp_path / "rules.json").write_text(broken)

    assert compliance.main(["--report", str(tmp_path / "rules.json")]) == 2
    assert not page.exists()


# -- the plugin -----------------------------------------------------------------------------------------------------

SUITE = """
import pytest

pytestmark = pytest.mark.rule("804/2015:1")

@pytest.mark.rule("804/2015:8", "804/2015:9")
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.rule("804/2015:10"))])
def test_parameters(n):
    assert n == 1

@pytest.mark.rule("804/2015:11")
class TestClass:
    def test_method(self):
        pass

    @pytest.mark.skip
    def test_skipped(self):
        pass

@pytest.fixture
def broken():
    yield
    raise RuntimeError

def test_teardown(broken):
    pass

@pytest.mark.xfail(strict=False)
def test_expected_to_fail():
    pass
"""
REPORTED = {
    "TestClass::test_method": ("passed", {"804/2015:1", "804/2015:11"}),
    "TestClass::test_skipped": ("skipped", {"804/2015:1", "804/2015:11"}),
    "test_expected_to_fail": ("skipped", {"804/2015:1"}),
    "test_parameters[1]": ("passed", {"804/2015:1", "804/2015:8", "804/2015:9"}),
    "test_parameters[2]": ("failed", {"804/2015:1", "804/2015:8", "804/2015:9", "804/2015:10"}),
    "test_teardown": ("failed", {"804/2015:1"}),
}


def pytest_of(folder: Path, suite: str, *arguments: str) -> tuple[str, dict[str, object]]:
    """Runs pytest on a suite; its output and its report."""
    (folder / "test_suite.py").write_text(suite)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = rule(id): the rule\n")
    target = folder / "reports" / "rules.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.compliance_plugin", "-p", "no:cacheprovider"),
            *("--rootdir", str(folder), "-c", str(folder / "pytest.ini"), f"--rule-report={target}"),
            *(*arguments, str(folder)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert target.is_file(), run.stdout + run.stderr
    return run.stdout, json.loads(target.read_text())


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_report_has_every_mark_and_outcome(tmp_path: Path, workers: str) -> None:
    _, reported = pytest_of(tmp_path, SUITE, "-n", workers)

    tests = reported["tests"]
    assert reported["complete"] is True
    assert isinstance(tests, list)
    assert {test["test"].removeprefix("test_suite.py::"): (test["outcome"], set(test["rules"])) for test in tests} == (
        REPORTED
    )
    assert [test["test"] for test in tests] == sorted(test["test"] for test in tests)


def test_a_rule_that_does_not_exist_is_named_with_its_test(tmp_path: Path) -> None:
    suite = SUITE.replace("804/2015:10", "804/2015:99.z").replace('rule("804/2015:8", "804/2015:9")', "rule()")

    output, reported = pytest_of(tmp_path, suite, "-n", "2")

    sentence = "test_suite.py::test_parameters[2] names the rule '804/2015:99.z', which docs/rulebook/ does not have"
    assert sentence in output
    assert "test_suite.py::test_parameters[1] has a rule mark without an id" in output
    assert reported == {"complete": False, "tests": []}

"""The compliance matrix: which test proves which rule of the regulations, and which rules no test proves.

    python -m tools.compliance                   runs the tests that name a rule, and writes docs/compliance.md
    python -m tools.compliance --report FILE     takes the outcomes of a run that was made with `--rule-report=FILE`
    python -m tools.compliance --merge FILE      adds those of another run, such as the browser's, if there is one
    python -m tools.compliance --check           writes nothing: is docs/compliance.md up to date?

The rules are docs/rulebook/*.csv. Every rule that has to be kept needs a test that passes, in every layer but those not
yet due, if docs/rulebook/regulations.csv declares its regulation complete. A failing proof is an error anywhere.
"""

from __future__ import annotations

import argparse
import csv
import enum
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULEBOOK = ROOT / "docs" / "rulebook"
MATRIX = ROOT / "docs" / "compliance.md"

# The screen is proved in a browser and nowhere else; a browser proves the screen and nothing else.
SCREEN_LAYER = "ui"
BROWSER_TESTS = "tests/browser/"


class Force(enum.Enum):
    """What a rule demands; the catalogue adds conditions in brackets, such as `MUST (once invited)`."""

    MUST = "MUST"
    """To be kept. A right of the player (`MAY-pl`) counts as one: the software has to offer it."""
    OPTION = "MAY-op"
    """The operator may."""
    DEFINITION = "DEF"
    INFERRED = "INFERRED"
    """Not in the text at hand; deduced from the rest of it."""


class State(enum.Enum):
    """The state of a rule, in the words of the matrix."""

    PROVED = "proved"
    PROVED_EXCEPT_SCREEN = "proved, ui to come"
    SCREEN_PENDING = "ui to come"
    IN_PART = "in part"
    UNPROVED = "**unproved**"
    FAILING = "**failing**"
    OPTION = "for the operator"
    OPTION_PROVED = "for the operator, proved"
    DEFINITION = "definition"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the catalogue."""

    id: str
    force: str
    layers: tuple[str, ...]
    summary: str

    @property
    def kind(self) -> Force:
        """The force without its conditions."""
        if self.force.startswith(("MUST", "MAY-pl")):
            return Force.MUST
        return Force(self.force.split(" ", 1)[0])


@dataclass(frozen=True, slots=True)
class Regulation:
    """A regulation: a file of the catalogue, and whether we declare it complete."""

    id: str
    title: str
    complete: bool
    not_yet_due: frozenset[str]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """A test that names a rule, with all its parameters, and whether it passed."""

    test: str
    passed: bool

    @property
    def is_browser_test(self) -> bool:
        return self.test.startswith(BROWSER_TESTS)


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """A rule in the matrix."""

    rule: Rule
    state: State
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class RegulationStatus:
    """A regulation in the matrix."""

    regulation: Regulation
    rules: tuple[RuleStatus, ...]

    @property
    def required_count(self) -> int:
        """How many rules need a proof now."""
        return sum(line.rule.kind is Force.MUST and line.state is not State.SCREEN_PENDING for line in self.rules)

    @property
    def proved_count(self) -> int:
        """How many of them are proved."""
        return sum(line.state in {State.PROVED, State.PROVED_EXCEPT_SCREEN} for line in self.rules)

    def violations(self) -> list[RuleStatus]:
        """The rules with a failing proof, or without one where the regulation is declared complete."""
        wrong = {State.FAILING, State.UNPROVED, State.IN_PART} if self.regulation.complete else {State.FAILING}
        return [line for line in self.rules if line.state in wrong]


class UnusableInput(Exception):
    """The catalogue or a report cannot be used; the message says why."""


# -- the catalogue --------------------------------------------------------------------------------------------------


def read_rulebook(folder: Path = RULEBOOK) -> list[Regulation]:
    """All regulations with all their rules, in the catalogue's order."""
    regulations = [
        Regulation(
            id=row["regulation"],
            title=row["title"],
            complete=row["declared"] == "complete",
            not_yet_due=frozenset(row["not_yet_due"].split(";")) - {""},
            rules=tuple(_read_rules(folder / f"{row['regulation'].replace('/', '-').lower()}.csv", row["regulation"])),
        )
        for row in _rows(folder / "regulations.csv")
    ]
    for rule, times in Counter(rule.id for regulation in regulations for rule in regulation.rules).items():
        if times > 1:
            raise UnusableInput(f"{rule} is in the catalogue {times} times.")
    return regulations


def _read_rules(file: Path, regulation: str) -> Iterable[Rule]:
    for row in _rows(file):
        rule = Rule(row["id"], row["force"], tuple(row["layers"].split(";")), row["summary"])
        if not rule.id.startswith((f"{regulation}:", f"{regulation} ")):
            raise UnusableInput(f"{file.name} has {rule.id}, which is no rule of {regulation}.")
        yield rule


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


# -- the proofs -------------------------------------------------------------------------------------------------------


def read_report(file: Path) -> dict[str, tuple[Proof, ...]]:
    """The proofs of one run, by rule."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UnusableInput(f"{file} is no report: {problem}") from problem
    if not report["complete"]:
        raise UnusableInput(f"the tests reported in {file} did not all run.")
    return proofs_by_rule(report["tests"])


def proofs_by_rule(tests: Iterable[Mapping[str, object]]) -> dict[str, tuple[Proof, ...]]:
    """One proof for each test function and rule: failed if it failed with any parameters, none if it was skipped."""
    passed: dict[tuple[str, str], bool] = {}
    for test in tests:
        name, outcome, rules = str(test["test"]).partition("[")[0], test["outcome"], test["rules"]
        if outcome == "skipped" or not isinstance(rules, list):
            continue
        for rule in rules:
            passed[str(rule), name] = passed.get((str(rule), name), True) and outcome == "passed"
    return {
        rule: tuple(Proof(name, passed[rule, name]) for name in sorted(n for r, n in passed if r == rule))
        for rule in {rule for rule, _ in passed}
    }


def merge_runs(*runs: Mapping[str, tuple[Proof, ...]]) -> dict[str, tuple[Proof, ...]]:
    """The proofs of several runs; a test that failed in one of them failed."""
    return proofs_by_rule(
        {"test": proof.test, "outcome": "passed" if proof.passed else "failed", "rules": [rule]}
        for run in runs
        for rule, proofs in run.items()
        for proof in proofs
    )


# -- the verdict ----------------------------------------------------------------------------------------------------


def judge(regulations: Iterable[Regulation], proofs: Mapping[str, tuple[Proof, ...]]) -> list[RegulationStatus]:
    """The state of every rule."""
    regulations = list(regulations)
    unknown = proofs.keys() - {rule.id for regulation in regulations for rule in regulation.rules}
    if unknown:
        raise UnusableInput(f"The tests name rules that the catalogue does not have: {', '.join(sorted(unknown))}.")
    return [
        RegulationStatus(
            regulation,
            tuple(
                RuleStatus(
                    rule, state_of(rule, proofs.get(rule.id, ()), regulation.not_yet_due), proofs.get(rule.id, ())
                )
                for rule in regulation.rules
            ),
        )
        for regulation in regulations
    ]


def state_of(rule: Rule, proofs: Sequence[Proof], not_yet_due: frozenset[str]) -> State:
    """The state of one rule."""
    if any(not proof.passed for proof in proofs):
        return State.FAILING
    match rule.kind:
        case Force.DEFINITION:
            return State.DEFINITION
        case Force.INFERRED:
            return State.INFERRED
        case Force.OPTION:
            return State.OPTION_PROVED if proofs else State.OPTION
        case Force.MUST:
            return _state_of_must(rule, proofs, not_yet_due)


def _state_of_must(rule: Rule, proofs: Sequence[Proof], not_yet_due: frozenset[str]) -> State:
    """The state of a rule to be kept: its screen and the rest of it need a proof each."""
    needed = {layer == SCREEN_LAYER for layer in rule.layers}
    missing = needed - {proof.is_browser_test for proof in proofs}
    if not missing:
        return State.PROVED
    if missing == {True} and SCREEN_LAYER in not_yet_due:
        return State.SCREEN_PENDING if needed == {True} else State.PROVED_EXCEPT_SCREEN
    return State.UNPROVED if missing == needed else State.IN_PART


# -- the matrix -----------------------------------------------------------------------------------------------------

_HEAD = """\
# Compliance

Every rule of the regulations, and the tests that prove it. `make compliance` writes this page from `docs/rulebook/` and
from the tests (`@pytest.mark.rule`); nobody edits it.

* `MUST`, `MUST NOT` and `MAY-pl` (a right of the player, which the software has to offer) need a test that passes.
* `MAY-op` leaves it to the operator: a test where we offer it.
* `DEF` defines, and `INFERRED` is deduced where the text of the regulation is not at hand: no test.
* A rule of the layer `ui` and another one needs both proved. The front-end's browser tests prove `ui`;
  *ui to come* says that they do not yet.

| regulation | | must | proved | failing | unproved | ui to come | declared |
|---|---|---|---|---|---|---|---|
"""

_COLUMNS = """\
| rule | force | layers | state | | tests |
|---|---|---|---|---|---|
"""


def matrix(chapters: Sequence[RegulationStatus]) -> str:
    """The page; the same proofs make the same page on any day and any machine."""
    summary = "".join(_summary(chapter) for chapter in chapters)
    return _HEAD + summary + "".join(_section(chapter) for chapter in chapters)


def _summary(chapter: RegulationStatus) -> str:
    states = Counter(line.state for line in chapter.rules)
    cells = [
        chapter.regulation.id,
        chapter.regulation.title,
        chapter.required_count,
        chapter.proved_count,
        states[State.FAILING],
        states[State.UNPROVED] + states[State.IN_PART],
        states[State.SCREEN_PENDING] + states[State.PROVED_EXCEPT_SCREEN],
        "complete" if chapter.regulation.complete else "",
    ]
    return _row(cells)


def _section(chapter: RegulationStatus) -> str:
    regulation = chapter.regulation
    head = f"\n## {regulation.id}: {regulation.title}\n\n"
    return (
        head
        + _COLUMNS
        + "".join(
            _row(
                [
                    f"`{line.rule.id}`",
                    line.rule.force,
                    ", ".join(line.rule.layers),
                    line.state.value,
                    line.rule.summary,
                    "<br>".join(f"`{proof.test}`" + ("" if proof.passed else " failed") for proof in line.proofs),
                ]
            )
            for line in chapter.rules
        )
    )


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"


# -- the command ----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page; 0 when it is up to date and no required proof is missing."""
    options = _options(arguments)
    try:
        runs = [read_report(options.report) if options.report else _run_tests()]
        runs += [read_report(file) for file in options.merge if _present(file)]
        chapters = judge(read_rulebook(), merge_runs(*runs))
    except UnusableInput as problem:
        print(f"compliance: {problem}", file=sys.stderr)
        return 2
    for chapter in chapters:
        print(f"compliance {chapter.regulation.id} {chapter.proved_count}/{chapter.required_count}")
    violations = [line for chapter in chapters for line in chapter.violations()]
    print("".join(_sentence(line) + "\n" for line in violations), end="")
    current = _up_to_date(matrix(chapters)) if options.check else _written(matrix(chapters))
    return int(bool(violations) or not current)


def _sentence(line: RuleStatus) -> str:
    failed = "".join(f" ({proof.test})" for proof in line.proofs if not proof.passed)
    layers = ", ".join(line.rule.layers)
    return f"{line.rule.id} [{layers}] is {line.state.value.strip('*')}{failed}: {line.rule.summary}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.compliance", description="the compliance matrix")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="outcomes of a run with --rule-report; runs no test"
    )
    parser.add_argument("--merge", type=Path, metavar="FILE", action="append", default=[], help="outcomes to add")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    return parser.parse_args(arguments)


def _present(file: Path) -> bool:
    if not file.is_file():
        print(f"compliance: nothing from {file}, which does not exist")
    return file.is_file()


def _run_tests() -> dict[str, tuple[Proof, ...]]:
    """Runs every test under tests/ that names a rule."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "rules.json"
        plugin = ["-p", "tests.compliance_plugin", f"--rule-report={report}"]
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "rule", *plugin]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if not report.is_file():
            raise UnusableInput(f"the tests left no report (status {status}).")
        return read_report(report)


def _written(page: str) -> bool:
    MATRIX.write_text(page, encoding="utf-8")
    return True


def _up_to_date(page: str) -> bool:
    current = MATRIX.read_text(encoding="utf-8") if MATRIX.is_file() else ""
    difference = list(unified_diff(current.splitlines(), page.splitlines(), "docs/compliance.md", "the tests", n=0))
    if difference:
        print(
            "\n".join(
                ["docs/compliance.md is not up to date with the tests; `make compliance` writes it:", *difference[:20]]
            )
        )
    return not difference


if __name__ == "__main__":
    sys.exit(main())

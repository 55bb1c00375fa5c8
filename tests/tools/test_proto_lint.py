"""The contracts are compared with the newest of two commits: what clients may know, and the baseline."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hatch_build
from tools import proto_lint

PROTO = """syntax = "proto3";

package feltro.probe.v1;

message Probe {{
  string {field} = 1;
}}
"""


class Repository:
    """A clone with one contract, whose only field is renamed again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.proto = root / "protos" / "feltro" / "probe" / "v1" / "probe.proto"
        self.proto.parent.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, field: str) -> str:
        """Commits the contract with this field; the commit's id."""
        self.proto.write_text(PROTO.format(field=field))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", field)
        return self.git("rev-parse", "HEAD")

    def set_baseline(self, commit: str) -> None:
        (self.root / "protos" / "BASELINE").write_text(f"{commit}\n")

    def publish(self, commit: str) -> None:
        """Makes a commit the main branch of the remote."""
        self.git("update-ref", "refs/remotes/origin/main", commit)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "clone")
    monkeypatch.setattr(proto_lint, "ROOT", made.root)
    return made


@pytest.fixture
def lint(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Checks the contract as it is in the working copy."""
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(hatch_build, "PACKAGE", package)

    def run() -> int:
        hatch_build.write_descriptors(repository.root / "protos", package / hatch_build.DESCRIPTORS)
        return proto_lint.main()

    return run


def test_a_rename_before_the_baseline_does_not_count_and_a_later_one_does(
    repository: Repository, lint: Callable[[], int]
) -> None:
    repository.publish(repository.commit("first"))
    second = repository.commit("second")
    assert lint() != 0
    repository.set_baseline(second)
    assert lint() == 0
    repository.commit("second")
    assert lint() == 0
    repository.commit("third")
    assert lint() != 0


def test_a_branch_that_left_main_after_the_baseline_is_compared_with_main(repository: Repository) -> None:
    baseline = repository.commit("first")
    repository.set_baseline(baseline)
    published = repository.commit("second")
    repository.publish(published)
    repository.commit("third")
    assert proto_lint.earlier_revision() == published


def test_main_is_compared_with_what_was_there_before_the_last_change(repository: Repository) -> None:
    repository.set_baseline(repository.commit("first"))
    second = repository.commit("second")
    repository.commit("third")
    assert proto_lint.earlier_revision() == second


def test_without_a_baseline_and_without_a_history_nothing_is_compared(repository: Repository) -> None:
    repository.commit("first")
    assert proto_lint.earlier_revision() is None


@pytest.mark.parametrize("named", ["0" * 40, "no commit", ""])
def test_a_baseline_that_is_no_earlier_commit_is_an_error(
    repository: Repository, lint: Callable[[], int], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit("first")
    repository.set_baseline(named)
    assert lint() == 1
    assert f"protos/BASELINE names {named!r}" in capsys.readouterr().out

"""Following a log misses no line, also through the process manager's rotation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.commands.logs import FollowedLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[FollowedLog]:
    """A log that does not exist yet."""
    followed = FollowedLog(tmp_path / "wallet.log")
    yield followed
    followed.close()


def test_each_complete_line_comes_once(log: FollowedLog) -> None:
    path = log.path
    assert log.new_lines() == []
    path.write_text("one\ntw")
    assert log.new_lines() == ["one"]
    with path.open("a") as more:
        more.write("o\nthree\n")
    assert log.new_lines() == ["two", "three"]
    assert log.new_lines() == []


def test_a_rotated_log_is_followed(log: FollowedLog) -> None:
    path = log.path
    path.write_text("one\n")
    assert log.new_lines() == ["one"]
    with path.open("a") as more:
        more.write("two\n")
    path.rename(path.with_name("wallet.log.1"))
    path.write_text("three\n")
    assert log.new_lines() == ["two", "three"]

"""Servers that nobody needs after their run have their files in memory, where there is plenty of it."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from stack.servers import scratch
from stack.servers.scratch import NEEDED_BYTES, scratch_folder

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as `shutil.disk_usage` returns it


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(scratch, "MEMORY", tmp_path)
    return tmp_path


def has_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2 * NEEDED_BYTES, 0, free))


def test_memory_is_used_where_there_is_plenty(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_free(monkeypatch, NEEDED_BYTES)
    assert scratch_folder() == str(memory)


def test_memory_that_is_short_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    has_free(monkeypatch, NEEDED_BYTES - 1)
    assert scratch_folder() is None


def test_a_system_without_that_folder_uses_its_usual_place(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "MEMORY", memory / "none")
    assert scratch_folder() is None


def test_a_folder_that_the_caller_chose_is_used(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_free(monkeypatch, NEEDED_BYTES)
    monkeypatch.setenv("TMPDIR", str(memory / "chosen"))
    assert scratch_folder() is None

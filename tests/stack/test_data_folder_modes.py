"""A folder that the user chose keeps its mode: it is used as it is, or refused with a reason."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stack.data_folder import DataFolder, FolderUnusable


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_folder_is_passable_and_nothing_more(tmp_path: Path, umask: int) -> None:
    folder, before = DataFolder(tmp_path / "in" / "data"), os.umask(umask)
    try:
        folder.prepare()
        folder.prepare()
    finally:
        os.umask(before)
    assert mode(folder.root) == 0o711
    assert {mode(path) for path in (folder.logs, folder.nats, folder.issuer, folder.keys)} == {0o700}


# The last one is what earlier versions made of every folder.
@pytest.mark.parametrize("chosen", [0o700, 0o755, 0o750, 0o711])
def test_a_safe_folder_keeps_its_mode(tmp_path: Path, chosen: int) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(chosen)
    folder = DataFolder(tmp_path / "home")
    folder.prepare()
    assert mode(folder.root) == chosen
    assert {mode(path) for path in (folder.logs, folder.nats, folder.issuer, folder.keys)} == {0o700}


@pytest.mark.parametrize(("chosen", "advised"), [(0o1777, False), (0o777, True), (0o775, True)])
def test_a_folder_that_others_may_write_to_is_refused_untouched(tmp_path: Path, chosen: int, *, advised: bool) -> None:
    tmp_path.chmod(chosen)
    with pytest.raises(FolderUnusable, match=f"FELTRO_DATA.*: {tmp_path}/feltro would be made") as refused:
        DataFolder(tmp_path).prepare()
    # No advice to close /tmp.
    assert (f"chmod go-w {tmp_path}" in str(refused.value)) == advised
    assert mode(tmp_path) == chosen
    assert list(tmp_path.iterdir()) == []
    DataFolder(tmp_path / "feltro").prepare()
    assert mode(tmp_path) == chosen


def test_a_users_own_folder_is_neither_used_nor_removed(tmp_path: Path) -> None:
    theirs = tmp_path / "logs"
    theirs.mkdir()
    theirs.chmod(0o755)
    (theirs / "diary").write_text("mine")
    for act in (DataFolder(tmp_path).prepare, DataFolder(tmp_path).empty):
        with pytest.raises(FolderUnusable, match=r"logs is open to others(.|\n)*FELTRO_DATA"):
            act()
    assert (theirs / "diary").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_data_that_postgres_cannot_reach_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be relocated, and an empty database made there."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    (folder.postgres / "data").mkdir(parents=True)
    folder.root.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FolderUnusable, match=rf"chmod o\+x {folder.root}"):
        folder.prepare()
    assert mode(folder.root) == 0o700
    # PostgreSQL runs as any other user itself.
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    folder.prepare()

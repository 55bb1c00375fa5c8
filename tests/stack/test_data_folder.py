"""One run at a time uses the data folder, and emptying it removes nothing that runs did not make."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stack.data_folder import DataFolder, FolderInUse, FolderUnusable
from stack.settings import StackSettings


def test_a_second_run_is_refused_with_the_first_ones_address(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path), DataFolder(tmp_path)
    first.prepare()
    first.lock("http://127.0.0.1:8700/")
    with pytest.raises(FolderInUse, match=rf"running already .*process {os.getpid()}, http://127.0.0.1:8700/"):
        second.lock("http://127.0.0.1:9999/")
    first.unlock()
    second.lock("http://127.0.0.1:9999/")
    second.unlock()


def test_emptying_leaves_files_that_no_run_made(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    (folder.logs / "wallet.log").write_text("hello")
    theirs = folder.root / "holiday.jpg"
    theirs.write_text("mine")
    folder.empty()
    assert [path.name for path in folder.root.iterdir()] == ["holiday.jpg"]
    theirs.unlink()
    folder.empty()
    assert not folder.root.exists()


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(FolderUnusable, match="FELTRO_DATA"):
        DataFolder(tmp_path / "data").prepare()


def test_a_relative_folder_is_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FELTRO_DATA", "here")
    assert StackSettings().data == tmp_path / "here"


def test_a_link_is_resolved_to_the_real_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    # The second is yet to be made.
    for given, meant in (("link", "disk"), ("link/data", "disk/data")):
        monkeypatch.setenv("FELTRO_DATA", str(tmp_path / given))
        assert StackSettings().data == tmp_path / meant

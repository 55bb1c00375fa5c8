"""A platform for the tests of one page: fresh, running, and gone without a trace when they are done."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.processes import leftovers
from tests.system.platform import Platform


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    """A fresh platform that runs."""
    with tempfile.TemporaryDirectory(prefix="feltro-") as folder:
        Path(folder).chmod(0o711)
        made = Platform(Path(folder) / "data")
        made.start()
        yield made
        made.stop()
        left = made.processes()
        leftovers.stop(left, made.data, made.data / "postgres" / "data")
        assert not left, "processes were left behind"

"""One running platform for the tests that disturb nobody, and for the one that kills all of it in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.system.platform import Platform, temporary_platform


@pytest.fixture(scope="package")
def platform() -> Iterator[Platform]:
    """A fresh platform that runs."""
    with temporary_platform() as made:
        # Bots that take as long as people would have a tournament last for minutes.
        made.environment["FELTRO_PRACTICE_SPEED"] = "50"
        made.start()
        yield made

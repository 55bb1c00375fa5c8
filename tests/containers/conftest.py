"""The platform that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.containers.platform import Platform, running_platform


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """One platform: a test that breaks a part of it mends it again."""
    with running_platform(tmp_path_factory.mktemp("platform")) as platform:
        yield platform

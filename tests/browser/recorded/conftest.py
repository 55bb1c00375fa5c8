"""The fixtures of tests on recorded answers: the same contexts and pages, and no platform beside Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import build_front_end
from tests.browser.recorded.platform import RecordedPlatform, recorded_platform


@pytest.fixture(scope="session")
def platform() -> Iterator[RecordedPlatform]:
    """Recorded answers in the place of a platform."""
    build_front_end()
    with recorded_platform() as platform:
        yield platform


@pytest.fixture(autouse=True)
def every_answer_is_recorded(platform: RecordedPlatform) -> Iterator[None]:
    """Fails a test whose pages asked for an answer that is not recorded, or got one that no proto describes."""
    platform.problems.clear()
    yield
    assert not platform.problems, "\n".join(platform.problems)

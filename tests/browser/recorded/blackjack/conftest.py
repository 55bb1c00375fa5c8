"""A blackjack table that the test directs, in the place of a platform."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import build_front_end
from tests.browser.recorded.blackjack.platform import BlackjackPlatform, blackjack_platform


@pytest.fixture(scope="session")
def platform() -> Iterator[BlackjackPlatform]:
    """Serves the front-end and tables that tests direct."""
    build_front_end()
    with blackjack_platform() as platform:
        yield platform

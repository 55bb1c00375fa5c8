"""A poker table that the test directs, in the place of a platform."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewContext, build_front_end
from tests.browser.recorded.poker.platform import PokerPlatform, poker_platform


@pytest.fixture(scope="session")
def platform() -> Iterator[PokerPlatform]:
    """Serves the front-end and tables that tests direct."""
    build_front_end()
    with poker_platform() as platform:
        yield platform


@pytest.fixture
def desktop_open(new_context: NewContext) -> Page:
    """A desktop page to which a test may add a script, and on which nothing moves."""
    return new_context("desktop", reduced_motion="reduce", bypass_csp=True).new_page()

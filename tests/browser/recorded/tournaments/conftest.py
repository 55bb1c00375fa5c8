"""Tournaments that the test directs, in the place of a platform."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import build_front_end
from tests.browser.recorded.tournaments.platform import TournamentPlatform, tournament_platform


@pytest.fixture(scope="session")
def platform() -> Iterator[TournamentPlatform]:
    """Serves the front-end and tournaments that tests direct."""
    build_front_end()
    with tournament_platform() as platform:
        yield platform


@pytest.fixture(autouse=True)
def only_its_own(platform: TournamentPlatform) -> None:
    """Each test makes its own tournaments, and a table: that of the balance."""
    platform.tournaments.clear()
    platform.asked.clear()
    if not platform.tables:
        platform.table()

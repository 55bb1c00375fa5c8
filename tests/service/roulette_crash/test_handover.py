"""A replica that is stopped hands its tables over; the tables of a killed replica are taken over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.roulette_crash.games import ROULETTE
from tests.service.roulette_crash.handover import stop_and_kill


@pytest.mark.slow
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G8")
@pytest.mark.guarantee("G9")
@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23")
@pytest.mark.rule("903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_tables_go_on_when_their_replica_is_stopped_and_when_it_is_killed(seed_database: Path) -> None:
    await stop_and_kill(seed_database, ROULETTE)

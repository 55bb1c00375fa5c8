"""A replica that is stopped hands its tables over; the tables of a killed replica are taken over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.baccarat_crash.games import BACCARAT
from tests.service.roulette_crash.handover import stop_and_kill


@pytest.mark.slow
@pytest.mark.guarantee("G3", "G4", "G5", "G6", "G8", "G9")
@pytest.mark.rule("812/2015:29", "903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_tables_go_on_when_their_replica_is_stopped_and_when_it_is_killed(seed_database: Path) -> None:
    await stop_and_kill(seed_database, BACCARAT)

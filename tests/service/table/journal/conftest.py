"""Tests of the journal run twice: with rounds that the writer has cached, and with rounds that it has to read."""

from __future__ import annotations

import pytest

from services.kit.table.journal.rows import write_cache


@pytest.fixture(params=["cached", "read"])
def cached_or_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds of rounds in the writer's cache holds of those that it has no room for."""
    if request.param == "read":
        monkeypatch.setattr(write_cache, "CACHED_ROUNDS_LIMIT", 0)

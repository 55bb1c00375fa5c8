"""The journal whose writer knows what is recorded of rounds, and the one that has to read it."""

from __future__ import annotations

import pytest

from services.kit.table.journal.rows import known_rounds


@pytest.fixture(params=["known", "read"])
def known_or_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds of rounds that the writer knows holds of those that it has no room for."""
    if request.param == "read":
        monkeypatch.setattr(known_rounds, "ROUNDS_LIMIT", 0)

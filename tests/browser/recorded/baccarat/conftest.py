"""How long cards take to be dealt where a test looks at each of them."""

from __future__ import annotations

import pytest

from tests.browser.recorded import platform

# A page that is kept from drawing for a card's time shows the next ones at once, as it should.
CARD_MS = 1500


@pytest.fixture
def slow_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deals so slowly that a busy machine shows every card by itself."""
    monkeypatch.setattr(platform, "DEALING_MS", CARD_MS)

"""The front-end's tests step through hands that the engine still plays in the same way."""

import json

from tests.engine.poker import browser_hands


def test_the_hands_of_the_front_ends_tests_are_the_engines() -> None:
    """Otherwise: `python -m tests.engine.poker.browser_hands`."""
    assert json.loads(browser_hands.FILE.read_text(encoding="utf-8")) == browser_hands.hands()

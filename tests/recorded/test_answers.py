"""The recorded answers are what the protos describe: a field that is renamed or removed makes them fail."""

from __future__ import annotations

import pytest

from tests.browser.recorded import answers
from tests.browser.recorded.contracts import is_method, verify_answer


@pytest.mark.parametrize("name", [answers.LOBBY, *answers.TABLES])
def test_recorded_answers_are_read_back_into_their_messages(name: str) -> None:
    recorded = answers.read(name)
    assert recorded
    for key, answer in recorded.items():
        method, _, _ = key.partition(" ")
        assert is_method(method), key
        verify_answer(method, answer)

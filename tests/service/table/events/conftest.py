"""Fixtures of the tests of events."""

from __future__ import annotations

import itertools

import pytest

_numbers = itertools.count(1)


@pytest.fixture
def table_id() -> str:
    """The id of a table that no other test uses."""
    return f"table-{next(_numbers)}"

"""Fixtures of the kit's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from stack.issuer import DevelopmentIssuer


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    """An issuer of tokens for this test alone."""
    made = DevelopmentIssuer(tmp_path / "issuer")
    made.prepare()
    return made

"""Marks of tests that prove the same paragraphs of both regulations: Hold'em and Omaha have one table."""

from __future__ import annotations

import pytest


def both(*paragraphs: str) -> pytest.MarkDecorator:
    """Marks a test that proves paragraphs of both regulations."""
    return pytest.mark.rule(*(f"{book}:{each}" for book in ("806/2015", "811/2015") for each in paragraphs))

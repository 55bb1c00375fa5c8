"""The limit of open files, for tests that open many connections."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def file_limit() -> Iterator[int]:
    """The most files that this process may have open, while it may: an ordinary user begins with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield sys.maxsize if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

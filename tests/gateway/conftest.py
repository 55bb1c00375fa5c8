"""What a crowd of connections asks of the machine."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def many_files() -> Iterator[int]:
    """As many open files as this process may have: an ordinary user begins with 1,024, and each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield sys.maxsize if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

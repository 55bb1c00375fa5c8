"""A free port is given to no other process while its server starts."""

from __future__ import annotations

import subprocess
import sys

from stack.servers.ephemeral import PORTS, PORTS_PER_PROCESS, free_port

GIVEN = 100
_OTHER = f"""
from stack.servers.ephemeral import free_port
print(*(free_port() for _ in range({GIVEN})), flush=True)
input()
"""


def test_no_two_processes_get_the_same_port() -> None:
    command = [sys.executable, "-c", _OTHER]
    others = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    try:
        given = [free_port() for _ in range(GIVEN)]
        for other in others:
            assert other.stdout is not None
            given += map(int, other.stdout.readline().split())
    finally:
        for other in others:
            other.communicate("\n")
    assert len(set(given)) == 4 * GIVEN
    assert set(given) <= set(PORTS)


def test_a_port_comes_again_after_all_others_of_its_block() -> None:
    first = free_port()
    between = [free_port() for _ in range(PORTS_PER_PROCESS // 2)]
    assert first not in between
    assert first in [free_port() for _ in range(PORTS_PER_PROCESS)]

"""A port that is given out is given to nobody else while its server is being started."""

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


def test_no_two_are_given_the_same() -> None:
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


def test_a_port_has_its_turn_again_when_all_of_the_block_had_theirs() -> None:
    first = free_port()
    between = [free_port() for _ in range(PORTS_PER_PROCESS // 2)]
    assert first not in between
    assert first in [free_port() for _ in range(PORTS_PER_PROCESS)]

"""Runs dieharder, Debian's edition of Marsaglia's DIEHARD, over a stream of bytes."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

# Bytes from standard input, never rewound: a stream that ends too soon fails loudly instead of repeating itself.
FROM_STDIN = "200"
TIMEOUT_S = 3600
CHUNK_BYTES = 64 * 1024
INSTALL = "apt-get install -y --no-install-recommends dieharder"

# Tests that dieharder's author calls good, for a stream without end. The first group is what a report runs: tests of
# DIEHARD and STS that take less than some hundred megabytes. A second number is dieharder's -n. Without -d 102: the
# NIST suite has that serial test too, and dieharder's says WEAK of good sources three times as often as it should.
DEFAULT_TESTS = ((0,), (3,), (8,), (10,), (11,), (12,), (15,), (100,), (101,))
GOOD_TESTS = (
    *((test,) for test in (0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 17, 100, 101)),
    *((200, length) for length in range(1, 13)),
    *((201, dimensions) for dimensions in range(2, 6)),
    *((202, length) for length in range(2, 6)),
    *((203, lag) for lag in range(0, 33, 4)),
    *((test,) for test in range(204, 210)),
)
# For outcomes, which are drawn one by one: the tests that need only a few megabytes, and the bytes that the largest
# takes, including those that dieharder spends on measuring the stream's speed. Other tests cannot be made smaller with
# -t or -p: on good sources their p-values stood out too often.
SMALL_SAMPLE_TESTS = ((11, ("-t", "8000")), (12, ("-t", "4000")), (100, ("-t", "8000")))
SMALL_SAMPLE_BYTES = 7_000_000


class Unavailable(Exception):
    """dieharder is not installed, or gave no result."""


@dataclass(frozen=True, slots=True)
class Row:
    """One result."""

    name: str
    parameter: int
    p_value: float
    assessment: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.parameter}" if self.parameter else self.name

    @property
    def sound(self) -> bool:
        return self.assessment == "PASSED"


def version() -> str:
    """The installed version."""
    if shutil.which("dieharder") is None:
        raise Unavailable(f"dieharder is not installed: {INSTALL}")
    lines = subprocess.run(["dieharder", "-l"], capture_output=True, text=True, check=False, timeout=TIMEOUT_S).stdout
    return next((line.strip("#= \n") for line in lines.splitlines() if "version" in line), "dieharder")


def run(test: tuple[int, ...], read: Callable[[int], bytes], options: tuple[str, ...] = ()) -> list[Row]:
    """Runs one test over the bytes that `read` returns, until it returns none or the test has enough.

    -k 2 computes Kolmogorov-Smirnov probabilities that are exact at the ends. Without further options the stream is
    taken to be endless, and -Y 1 goes on while a result is weak, until it has passed or failed.
    """
    number, *parameter = test
    command = ["dieharder", "-g", FROM_STDIN, "-d", str(number), "-k", "2", "-c", ","]
    command += ["-n", str(parameter[0])] if parameter else []
    command += options or ("-Y", "1")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        feeder = threading.Thread(target=_feed, args=(process.stdin, read), daemon=True)
        feeder.start()
        try:
            output, errors = _outputs(process)
        finally:
            process.kill()
        feeder.join(TIMEOUT_S)
    rows = [row for line in output.splitlines() if (row := _row(line))]
    if not rows or process.returncode:
        raise Unavailable(f"{' '.join(command)} gave no result: {(errors or output).strip()[-300:]}")
    return rows


def _outputs(process: subprocess.Popen[bytes]) -> tuple[str, str]:
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    output, errors = process.stdout.read(), process.stderr.read()
    process.wait(TIMEOUT_S)
    return output.decode(), errors.decode()


def _feed(pipe: IO[bytes], more: Callable[[int], bytes]) -> None:
    # A broken pipe means that the test has enough; closing raises it again when bytes were still to be written.
    with suppress(BrokenPipeError):
        while piece := more(CHUNK_BYTES):
            pipe.write(piece)
    with suppress(BrokenPipeError):
        pipe.close()


def _row(line: str) -> Row | None:
    """A line is name, parameter, samples, repetitions, p-value, assessment."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != 6 or cells[5] not in {"PASSED", "WEAK", "FAILED"}:
        return None
    return Row(cells[0], int(cells[1]), float(cells[4]), cells[5])

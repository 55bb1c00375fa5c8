"""Fetches the Autobahn testsuite once, runs its cases against the gateway's WebSocket, and prints those that fail."""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import uvloop

from tests.websocket.cases import cases
from tests.websocket.echo import PATH, echo_server
from tests.websocket.fuzzer import Fuzzer, run

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / "build" / "autobahn"
LOCK = HERE / "autobahn.txt"
# Fewer would mean that the package was read wrongly.
EXPECTED_CASES = 245
# A case mostly waits.
CONCURRENT_CASES = 24
_PASSED = {"OK", "NON-STRICT", "INFORMATIONAL"}
_PASSED_CLOSE = {"OK", "INFORMATIONAL"}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make test-websocket", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="*", help="which cases, such as `7.9.*`")
    options = parser.parse_args(arguments)
    found = cases(_package())
    if len(found) < EXPECTED_CASES:
        print(f"The testsuite has {len(found)} cases where {EXPECTED_CASES} were expected: tests/websocket/cases.py.")
        return 1
    wanted = {number: case for number, case in found.items() if fnmatch.fnmatch(number, options.pattern)}
    results = uvloop.run(_run(wanted))
    counted = Counter(fuzzer.case.behavior for fuzzer in results.values())
    failed = {number: fuzzer for number, fuzzer in results.items() if not _passed(fuzzer)}
    for number, fuzzer in failed.items():
        case = fuzzer.case
        outcome = f"{case.behavior}: {case.result} / {case.behaviorClose}: {case.resultClose}"
        print(f"  {number:8} {outcome} {fuzzer.violation}")
    counts = ", ".join(f"{count} {behaviour.lower()}" for behaviour, count in sorted(counted.items()))
    print(f"{len(results)} cases of the Autobahn testsuite: {counts}; {len(failed)} do not pass.")
    return 1 if failed or not results else 0


def _passed(fuzzer: Fuzzer) -> bool:
    case = fuzzer.case
    return case.behavior in _PASSED and case.behaviorClose in _PASSED_CLOSE and not fuzzer.violation


async def _run(wanted: dict[str, type[Any]]) -> dict[str, Fuzzer]:
    slots = asyncio.Semaphore(CONCURRENT_CASES)

    async def run_case(case: type[Any], port: int) -> Fuzzer:
        async with slots:
            return await run(case, port, PATH)

    async with echo_server() as port:
        fuzzers = await asyncio.gather(*(run_case(case, port) for case in wanted.values()))
    return dict(zip(wanted, fuzzers, strict=True))


def _package() -> Path:
    """Returns the package, downloaded on first use; its cases are read from it, and nothing is installed."""
    if not list(FOLDER.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--python-version=2.7", "--implementation=py"]
        command += ["--abi=none", "--platform=any", "--dest", str(FOLDER), "--requirement", str(LOCK)]
        if subprocess.run(command, check=False).returncode:
            sys.exit("The Autobahn testsuite cannot be fetched: pip says above why. It is one file, from PyPI.")
    (package,) = FOLDER.glob("*.whl")
    return package


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

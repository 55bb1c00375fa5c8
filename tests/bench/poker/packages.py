"""The evaluators of PyPI that are measured and not used (locks/bench.txt), installed in a folder of their own."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "locks" / "bench.txt"


def installed() -> Path:
    """Returns the folder with the packages of the lock, which the first run installs."""
    digest = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = ROOT / "build" / f"bench-packages-{digest}"
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--upgrade"]
        subprocess.run([*command, "--target", str(unfinished), "--requirement", str(LOCK)], check=True)
        unfinished.rename(folder)
    return folder


def package(name: str) -> Any:  # noqa: ANN401 (published without types)
    """Imports a package of the lock."""
    folder = str(installed())
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)

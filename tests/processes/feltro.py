"""`feltro …` as operators run it, of this working copy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from stack.settings import ROOT

# Thousands of hands are replayed, perhaps on a machine that does other work.
TIMEOUT_S = 1_800.0


def feltro(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command; returns its exit status and all that it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "services.kit.command", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        # The folder that a command is run in comes before all others.
        cwd="/",
        timeout=TIMEOUT_S,
    )
    return done.returncode, done.stdout + done.stderr

"""Checks the protos: written as buf's STANDARD rules want, and breaking nothing that an earlier revision promised.

buf reads descriptor sets that protoc made, since it could find google/api only over the network; `--path` then keeps
its judgement to our own files.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import hatch_build

ROOT = Path(__file__).resolve().parent.parent
BUF = Path(sysconfig.get_path("scripts")) / "buf"
OURS = "feltro"


def main() -> int:
    """Both checks; 0 when both pass."""
    current = hatch_build.PACKAGE / hatch_build.DESCRIPTORS
    if not current.is_file():
        print("protos: there are none yet")
        return 0
    style = _buf("lint", str(current))
    print("protos: buf lint found nothing" if style == 0 else "protos: buf lint found the above")
    return style or _breaking(current)


def _breaking(current: Path) -> int:
    base = _earlier_revision()
    if base is None:
        print("protos: buf breaking skipped, for no earlier revision of protos/ is known here")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", base, "protos"], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        earlier = Path(folder) / "earlier.binpb"
        hatch_build.descriptors(Path(folder) / "protos", earlier)
        status = _buf("breaking", str(current), "--against", str(earlier))
    print(f"protos: compared with {base[:10]}, " + ("nothing is broken" if status == 0 else "the above would break"))
    return status


def _earlier_revision() -> str | None:
    """The last commit whose protos differ from those here: uncommitted changes are compared with the last commit."""
    known = _git("rev-list", "--max-count=2", "HEAD", "--", "protos").split()
    changed_here = bool(_git("status", "--porcelain", "--", "protos"))
    candidates = known if changed_here else known[1:]
    return candidates[0] if candidates else None


def _git(*arguments: str) -> str:
    answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _buf(check: str, *arguments: str) -> int:
    cache = ROOT / "build" / "buf"
    cache.mkdir(parents=True, exist_ok=True)
    # Its cache beside ours: the home folder may be missing or closed.
    environment = {**os.environ, "BUF_CACHE_DIR": str(cache)}
    command = [str(BUF), check, *arguments, "--path", OURS, "--config", str(ROOT / "buf.yaml")]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

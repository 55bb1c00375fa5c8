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
OWN_PACKAGE = "feltro"
# Whoever owns the clone: it is only read, and its code runs already.
GIT = ("git", "-c", f"safe.directory={ROOT}")


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
        return _nothing_compared()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run([*GIT, "archive", base, "protos"], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        earlier = Path(folder) / "earlier.binpb"
        hatch_build.write_descriptors(Path(folder) / "protos", earlier)
        status = _buf("breaking", str(current), "--against", str(earlier))
    print(f"protos: compared with {base[:10]}, " + ("nothing is broken" if status == 0 else "the above would break"))
    return status


def _earlier_revision() -> str | None:
    """The commit whose protos clients may know: on a branch, where it left origin's main, however many commits ago.

    On main itself it is the last one before the protos were changed.
    """
    head, left_at = _git("rev-parse", "HEAD"), _git("merge-base", "HEAD", "refs/remotes/origin/main")
    if left_at not in {"", head}:
        base = left_at
    elif _git("status", "--porcelain", "--", "protos"):
        base = head
    else:
        base = _git("rev-parse", "--quiet", "--verify", _git("rev-list", "--max-count=1", "HEAD", "--", "protos") + "^")
    return base if _git("rev-parse", "--quiet", "--verify", f"{base}:protos") else None


def _nothing_compared() -> int:
    """Says so, and fails where nobody reads it."""
    if _git("rev-parse", "--is-shallow-repository") == "false":
        print("protos: nothing to compare with, for these are the first")
        return 0
    print("protos: NOTHING WAS COMPARED: git knows no earlier revision here (`git fetch --unshallow` brings them)")
    return 1 if os.environ.get("CI") == "true" else 0


def _git(*arguments: str) -> str:
    answer = subprocess.run([*GIT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _buf(check: str, *arguments: str) -> int:
    cache = ROOT / "build" / "buf"
    cache.mkdir(parents=True, exist_ok=True)
    # Its cache beside ours: the home folder may be missing or closed.
    environment = {**os.environ, "BUF_CACHE_DIR": str(cache)}
    command = [str(BUF), check, *arguments, "--path", OWN_PACKAGE, "--config", str(ROOT / "buf.yaml")]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

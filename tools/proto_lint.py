"""Checks the protos: buf's STANDARD style, and that nothing is broken which an earlier revision promised to clients.

buf reads descriptor sets that protoc made, since it could find google/api only over the network; `--path` then limits
it to our own files.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import hatch_build

ROOT = Path(__file__).resolve().parent.parent
BUF = Path(sysconfig.get_path("scripts")) / "buf"
OWN_PACKAGE = "feltro"
PROTOS = f"protos/{OWN_PACKAGE}"
# The commit whose contracts are the first that count: earlier names were changed on purpose, before any release.
BASELINE = "protos/BASELINE"


class NoBaseline(Exception):
    """protos/BASELINE names no commit of this history; the message says what to do."""


def main() -> int:
    """Checks style and compatibility; 0 when both pass."""
    current = hatch_build.PACKAGE / hatch_build.DESCRIPTORS
    if not current.is_file():
        print("protos: there are none yet")
        return 0
    style = _buf("lint", str(current))
    print("protos: buf lint found nothing" if style == 0 else "protos: buf lint found the above")
    return style or _breaking(current)


def _breaking(current: Path) -> int:
    try:
        base = earlier_revision()
    except NoBaseline as wrong:
        print(f"protos: {wrong}")
        return 1
    if base is None:
        return _nothing_compared()
    with tempfile.TemporaryDirectory() as folder:
        archive = _run_git("archive", "--format=zip", base, "protos").stdout
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            files.extractall(folder)
        earlier = Path(folder) / "earlier.binpb"
        hatch_build.write_descriptors(Path(folder) / "protos", earlier)
        status = _buf("breaking", str(current), "--against", str(earlier))
    print(f"protos: compared with {base[:10]}, " + ("nothing is broken" if status == 0 else "the above would break"))
    return status


def earlier_revision() -> str | None:
    """The commit to compare with: the last one whose protos clients may know, but none before the baseline."""
    known, baseline = _known_revision(), _baseline()
    found = baseline if baseline and (not known or _is_ancestor(known, baseline)) else known
    return found if _git("rev-parse", "--quiet", "--verify", f"{found}:protos") else None


def _known_revision() -> str:
    """The commit whose protos clients may know: on a branch the one where it left origin's main.

    On main itself it is the last one before the protos were changed.
    """
    head, left_at = _git("rev-parse", "HEAD"), _git("merge-base", "HEAD", "refs/remotes/origin/main")
    if left_at not in {"", head}:
        return left_at
    if _git("status", "--porcelain", "--", PROTOS):
        return head
    return _git("rev-parse", "--quiet", "--verify", _git("rev-list", "--max-count=1", "HEAD", "--", PROTOS) + "^")


def _baseline() -> str | None:
    """The commit that protos/BASELINE names; None where git has no history to find it in."""
    file = ROOT / BASELINE
    if not file.is_file() or _git("rev-parse", "--is-shallow-repository") != "false":
        return None
    named = file.read_text(encoding="utf-8").strip()
    if not _is_ancestor(named, "HEAD"):
        raise NoBaseline(f"{BASELINE} names {named!r}, which is no commit before this one. Name one that is.")
    return named


def _is_ancestor(earlier: str, later: str) -> bool:
    return _run_git("merge-base", "--is-ancestor", earlier, later, check=False).returncode == 0


def _nothing_compared() -> int:
    """Reports that nothing was compared; in CI, where the report is not read, that is a failure."""
    if _git("rev-parse", "--is-shallow-repository") == "false":
        print("protos: nothing to compare with, for these are the first")
        return 0
    print("protos: NOTHING WAS COMPARED: git knows no earlier revision here (`git fetch --unshallow` brings them)")
    return 1 if os.environ.get("CI") == "true" else 0


def _git(*arguments: str) -> str:
    """The output of git; empty when it fails."""
    answer = _run_git(*arguments, check=False)
    return answer.stdout.decode().strip() if answer.returncode == 0 else ""


def _run_git(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    # The owner of the clone does not matter: git only reads it here, and its code runs already.
    command = ["git", "-c", f"safe.directory={ROOT}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=check)


def _buf(check: str, *arguments: str) -> int:
    cache = ROOT / "build" / "buf"
    cache.mkdir(parents=True, exist_ok=True)
    # A cache beside ours: the home folder may be missing or closed.
    environment = {**os.environ, "BUF_CACHE_DIR": str(cache)}
    config = Path(hatch_build.ROOT) / "buf.yaml"
    command = [str(BUF), check, *arguments, "--path", OWN_PACKAGE, "--config", str(config)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

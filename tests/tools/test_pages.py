"""The pages of this repository: their links lead to a file and to a heading of it, and their lists are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pages() -> list[str]:
    """Every page, by its path; docs/compliance.md is made from tests and links to nothing."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "web").glob("*.md")]
    return sorted(page.relative_to(ROOT).as_posix() for page in found if page.name != "compliance.md")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as repositories' sites name them."""
    titles = (re.sub(r"[`*]", "", found[1]).lower() for found in _HEADING.finditer(_CODE.sub("", text)))
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


def dead_links(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for link in _LINK.finditer(_CODE.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / link[1]).resolve() if link[1] else page
        if not target.exists() or (link[2] and link[2] not in anchors(target.read_text(encoding="utf-8"))):
            found.append(link[0])
    return found


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    assert not dead_links(ROOT / page)


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `word`, two\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#one-word-two) [c](#here) [d](https://x.example)\n"
        "[e](absent.md) [f](other.md#absent) [g](#absent)\n",
        encoding="utf-8",
    )

    assert dead_links(page) == ["](absent.md)", "](other.md#absent)", "](#absent)"]


def test_the_index_of_the_documentation_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    beside = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert {page for page in beside if f"({page})" not in index} == set()


@pytest.mark.parametrize("above", ["services", "services/kit", "services/kit/table", "services/wallet", "gateway"])
def test_the_page_on_architecture_lists_every_room(above: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {room.parent for room in (ROOT / above).glob("*/__init__.py")}
    names = {room.relative_to(ROOT).as_posix().replace("services/kit/table/", "…/table/") for room in rooms}

    assert {name for name in names if f"`{name}/`" not in page} == set()

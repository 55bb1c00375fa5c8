"""What the rules that players read have to be at every game: the same in both languages, and complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence


def structure(page: str) -> list[list[str]]:
    """Returns the marks of headings, list items and table rows of each paragraph."""
    return [re.findall(r"^(?:#+ |[|] |[*] |\d[.] )", block, re.MULTILINE) for block in page.split("\n\n")]


def numbers(page: str) -> Counter[str]:
    """Counts every number, without the marks in which the languages differ."""
    found: list[str] = re.findall(r"½|\d+(?:[.,\u00a0]\d+)*", page)
    return Counter(re.sub(r"[.,\u00a0]", "", number) for number in found)


def section_names(page: str) -> list[str]:
    return re.findall(r"^## (.+)$", page, re.MULTILINE)


def assert_same_content(pages: Mapping[str, str], sections: Mapping[str, Sequence[str]]) -> None:
    """Fails unless pages in both languages have the same sections of these, paragraphs and numbers."""
    expected = [sections["en"][sections["pt"].index(name)] for name in section_names(pages["pt"])]

    assert section_names(pages["en"]) == expected, (section_names(pages["en"]), expected)
    structures = [structure(pages[language]) for language in ("pt", "en")]
    assert structures[0] == structures[1], structures
    counts = [numbers(pages[language]) for language in ("pt", "en")]
    assert counts[0] == counts[1], (counts[0] - counts[1], counts[1] - counts[0])


def assert_same_conditions_and_values(template: Callable[[str], str]) -> None:
    """Fails unless the templates of both languages use the same conditions and values, as often."""
    texts = [template(language) for language in ("pt", "en")]

    for pattern in (r"<!-- .+ -->", r"\$(\w+)"):
        one, other = (re.findall(pattern, each) for each in texts)
        assert sorted(one) == sorted(other), (sorted(one), sorted(other))


def assert_no_placeholder(page: str, language: str) -> None:
    """Fails if a page has anything of its template left, or is not headed by the name of the table, Sala Azul."""
    left = re.findall(r"[${}]|<!--|-->|\n\n\n|None|True|False", page)
    assert not left, left
    assert page.startswith("# Sala Azul" if language == "pt" else "# Blue Room")

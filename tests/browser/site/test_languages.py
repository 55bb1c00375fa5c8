"""Portuguese first, English by choice: no word is missing, and none of the other language is left over."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import BackOffice
from tests.browser.driver.navigation import choose_language
from tests.browser.driver.views import views
from tests.system.platform import Platform

_TEXTS = """
() => {
  const found = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("noscript")) continue;
    if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
    else for (const name of ["aria-label", "aria-description", "title", "placeholder", "alt"]) {
      found.push(node.getAttribute(name) ?? "");
    }
  }
  return found.map((text) => text.replace(/\\s+/g, " ").trim()).filter(Boolean);
}
"""
# The same in both languages: names, the switch between them, what people and machines wrote, the game's French terms,
# and three words that are the same (one of them where nought was drawn).
_SAME = re.compile(
    r"Feltro|PT, Português|EN, English|Português|English|Língua · Language|(Ambiente|Environment): development"
    r"|en prison|la partage|orphelins|tiers du cylindre|voisins du zéro|\bMenu\b|\bTotal\b|\bZero\b"
    r"|development|clara-[0-9a-f]+|(brief|prompt)-solo[-0-9a-f.]*|R-[0-9-]+|X+I+|(\(|\b)n\.º.*"
)
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_MISSING = re.compile(r"undefined|\bnull\b|NaN|\[object|Invalid Date|[a-z]+_[a-z]+_[a-z]+|[A-Z]+_[A-Z_]+")


@pytest.mark.rule("903-B/2015:6.1.6")
def test_every_view_is_whole_in_both_languages(new_context: NewContext, log_in: LogIn, platform: Platform) -> None:
    still = {"reduced_motion": "reduce"}
    portuguese = views(new_context(**still), log_in, platform)
    english = views(new_context(**still), log_in, platform, "EN")
    left_over: list[str] = []
    for (name, page), (same_name, other) in zip(portuguese, english, strict=True):
        assert name == same_name
        assert page.locator("html").get_attribute("lang") == "pt"
        assert other.locator("html").get_attribute("lang") == "en"
        here, there = _texts(page), _texts(other)
        missing = [text for text in (*here, *there) if _MISSING.search(text)]
        assert not missing, (name, missing)
        left_over += [f"{name}: {text}" for text in sorted(_words(here) & _words(there))]
    assert not left_over, "\n".join(left_over)


def test_the_language_is_chosen_anywhere_and_kept(each_device_page: Page, screenshot: Screenshot) -> None:
    each_device_page.goto("/")
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("A mesa está posta.")
    assert each_device_page.locator("html").get_attribute("lang") == "pt"
    choose_language(each_device_page, "EN")
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("The table is laid.")
    each_device_page.reload()
    expect(each_device_page.get_by_role("heading", level=1)).to_have_text("The table is laid.")
    assert each_device_page.locator("html").get_attribute("lang") == "en"
    size = each_device_page.viewport_size
    assert size is not None
    screenshot(each_device_page, f"english-lobby-{size['width']}x{size['height']}")


@pytest.mark.rule("903-B/2015:6.1.6")
def test_the_rules_are_read_without_playing_in_portuguese_first_and_in_english(
    desktop: Page, platform: Platform
) -> None:
    """Every table's: all that the platform gives is there to read, prizes and limits included."""
    office = BackOffice(platform)
    desktop.goto("/")
    for table_id in ("french-demo", "american-00-solo-demo"):
        card = desktop.locator(f'[data-table="{table_id}"]')
        card.get_by_test_id("card-rules").click()
        rules = desktop.get_by_test_id("rules")
        for language in ("pt", "en"):
            if language == "en":
                rules.get_by_role("button", name="EN").click()
                expect(rules).to_contain_text("O texto português prevalece.")
            shown = rules.locator(f'.markdown[lang="{language}"]')
            expect(shown).to_be_visible()
            said = " ".join(shown.inner_text().split())
            for line in office.rules(table_id, language).splitlines():
                for part in _read(line):
                    assert part in said, (table_id, language, part)
        desktop.keyboard.press("Escape")
        expect(rules).to_have_count(0)


def _read(line: str) -> list[str]:
    """What is read of a line of Markdown."""
    if re.fullmatch(r"[|\s:-]*", line):
        return []
    plain = re.sub(r"\*|`|^#+ |^[-*] |^\d+\. ", "", line.strip())
    return [" ".join(part.split()) for part in plain.split("|") if part.strip()]


def _texts(page: Page) -> list[str]:
    texts: list[str] = page.evaluate(_TEXTS)
    return texts


def _words(texts: list[str]) -> set[str]:
    """Those that are words of a language; whatever figures are in them."""
    found = {re.sub(r"\d+", "#", _SAME.sub("", text)) for text in texts}
    return {text for text in found if _LETTERS.search(text)}

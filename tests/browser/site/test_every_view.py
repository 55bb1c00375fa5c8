"""Every view and dialog: WCAG 2.2 AA as far as a program can tell, no word missing, none of the other language left."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.views import views
from tests.system.platform import Platform
from tools import web

AXE = web.PACKAGES / "axe-core" / "axe.min.js"
_VIOLATIONS = """
async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`));
}
"""
_TEXTS = """
() => {
  const found = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // The English rules name each bet in Portuguese too, in italics.
    if (node.parentElement.closest("noscript, .markdown td em")) continue;
    if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
    else for (const name of ["aria-label", "aria-description", "title", "placeholder", "alt"]) {
      found.push(node.getAttribute(name) ?? "");
    }
  }
  return found.map((text) => text.replace(/\\s+/g, " ").trim()).filter(Boolean);
}
"""
# The same in both languages: names, the switch between them, texts of people and machines, the game's French terms,
# and three words that are the same (one of them where zero was drawn).
_SAME = re.compile(
    r"Feltro|PT, Português|EN, English|Português|English|Língua · Language|(Ambiente|Environment): development"
    r"|en prison|la partage|orphelins|tiers du cylindre|voisins du zéro|\bMenu\b|\bTotal\b|\bZero\b"
    r"|development|clara-[0-9a-f]+|(brief|prompt)-solo[-0-9a-f.]*|R-[0-9-]+|X+I+|(\(|\b)n\.º.*"
)
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_MISSING = re.compile(r"undefined|\bnull\b|NaN|\[object|Invalid Date|[a-z]+_[a-z]+_[a-z]+|[A-Z]+_[A-Z_]+")

# How many views there are on every device, or more.
VIEWS_AT_LEAST = 28
# A large screen, and a tablet held upright.
SIZES: dict[str, ViewportSize] = {"large": {"width": 1920, "height": 1080}, "tablet": {"width": 820, "height": 1180}}


@dataclass(slots=True)
class Tour:
    """What was found on the way through all views on one device, in one language."""

    language: str
    texts: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def visit(self, name: str, page: Page) -> None:
        """Looks at one view."""
        self.texts[name] = page.evaluate(_TEXTS)
        self.problems += [f"{name}: {violation}" for violation in _violations(page)]
        self.problems += [f"{name}: «{text}» is no text" for text in self.texts[name] if _MISSING.search(text)]
        if (language := page.locator("html").get_attribute("lang")) != self.language.lower():
            self.problems.append(f"{name}: its language is {language}")


TakeTour = Callable[[str, str], Tour]


@pytest.fixture
def take_tour(new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot) -> TakeTour:
    """Goes through all views on a device, in a language."""

    def take(device: str, language: str) -> Tour:
        size = {"viewport": SIZES[device]} if device in SIZES else {}
        context = new_context("desktop" if size else device, reduced_motion="reduce", bypass_csp=True, **size)
        tour = Tour(language)
        for name, page in views(context, log_in, platform, language):
            screenshot(page, f"tour-{device}-{name}")
            tour.visit(name, page)
        context.close()
        return tour

    return take


@pytest.mark.rule("903-B/2015:6.1.6")
@pytest.mark.parametrize(("portuguese", "english"), [("desktop", "large"), ("portrait", "landscape")])
def test_every_view_is_accessible_and_whole_in_both_languages(
    take_tour: TakeTour, portuguese: str, english: str
) -> None:
    tours = [take_tour(portuguese, "PT"), take_tour(english, "EN")]
    here, there = (tour.texts for tour in tours)
    # A phone on its side has room for more, and a few menus less.
    common = here.keys() & there.keys()
    assert len(common) >= VIEWS_AT_LEAST, sorted(common)
    if portuguese == "desktop":
        assert here.keys() == there.keys()
    problems = [problem for tour in tours for problem in tour.problems]
    for name in sorted(common):
        left_over = _words(here[name]) & _words(there[name])
        problems += [f"{name}: «{text}» is in both languages" for text in sorted(left_over)]
    assert not problems, "\n".join(problems)


def test_every_view_is_accessible_on_a_tablet(take_tour: TakeTour) -> None:
    tour = take_tour("tablet", "PT")
    assert not tour.problems, "\n".join(tour.problems)


def _violations(page: Page) -> list[str]:
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=AXE)
    violations: list[str] = page.evaluate(_VIOLATIONS)
    return violations


def _words(texts: list[str]) -> set[str]:
    """The texts that hold words of a language, whatever figures are in them."""
    found = {re.sub(r"\d+", "#", _SAME.sub("", text)) for text in texts}
    return {text for text in found if _LETTERS.search(text)}

"""What every view is checked for: accessibility, texts that are none, and words of the other language left over."""

from __future__ import annotations

import re

from playwright.sync_api import Page

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
# The same in both languages: names, the switch between them, texts of people and machines, the games' own terms,
# and three words that are the same (one of them where zero was drawn).
_SAME = re.compile(
    r"Feltro|PT, Português|EN, English|Português|English|Língua · Language|(Ambiente|Environment): development"
    r"|[Pp]onto|[Bb]anca|Macau|Blackjack|en prison|la partage|orphelins|tiers du cylindre|voisins du zéro"
    r"|\bMenu\b|\bTotal\b|\bZero\b"
    r"|development|clara-[0-9a-f]+|(brief|prompt|baccarat)-solo(-demo)?[-0-9a-f.]*|R-[0-9-]+|X+I+|(\(|\b)n\.º.*"
)
_LETTERS = re.compile(r"[^\W\d_]{4,}")
MISSING = re.compile(r"undefined|\bnull\b|NaN|\[object|Invalid Date|[a-z]+_[a-z]+_[a-z]+|[A-Z]+_[A-Z_]+")


def violations(page: Page) -> list[str]:
    """Returns what axe-core finds serious or critical; the context has to bypass the page's content policy."""
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=AXE)
    found: list[str] = page.evaluate(_VIOLATIONS)
    return found


def texts(page: Page) -> list[str]:
    """Returns every text of the page, those for screen readers included."""
    found: list[str] = page.evaluate(_TEXTS)
    return found


def words(found_texts: list[str]) -> set[str]:
    """The texts that hold words of a language, whatever figures are in them."""
    found = {re.sub(r"\d+", "#", _SAME.sub("", text)) for text in found_texts}
    return {text for text in found if _LETTERS.search(text)}

"""The table for everybody: keyboard, screen readers, both languages, contrast, and phones on which nothing is cut."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language, open_panel
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform
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
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("noscript")) continue;
    if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
    else for (const name of ["aria-label", "aria-description", "title", "alt"]) {
      found.push(node.getAttribute(name) ?? "");
    }
  }
  return found.map((text) => text.replace(/\\s+/g, " ").trim()).filter(Boolean);
}
"""
# What can be pressed and does not lie wholly on the screen, and in the bar or the felt; or that another part covers.
_CUT = """
() => {
  const cut = [];
  const within = (box, frame) => box.left >= frame.left - 1 && box.top >= frame.top - 1
    && box.right <= frame.right + 1 && box.bottom <= frame.bottom + 1;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const parts = ".seat-picker button, .blackjack button, .blackjack input, .blackjack-clock strong, .decision p";
  for (const part of document.querySelectorAll(parts)) {
    const box = (part.classList.contains("unseen") ? part.parentElement : part).getBoundingClientRect();
    const name = `${part.dataset.testid ?? part.className} ${part.textContent.slice(0, 20)}`;
    const frame = part.closest(".blackjack-bar")?.getBoundingClientRect() ?? screen;
    if (!within(box, screen) || !within(box, frame)) cut.push(name);
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const top = document.elementFromPoint(x, y);
    if (part.matches("button") && !part.contains(top) && !top?.contains(part)) cut.push(`covered: ${name}`);
    if (part.matches("button") && (box.width < 24 || box.height < 24)) cut.push(`small: ${name}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) cut.push("the page is too wide");
  return cut;
}
"""
_SAME = re.compile(
    r"Feltro|PT, Português|EN, English|Português|English|Língua · Language|Blackjack|blackjack|Menu|Total"
)
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_MISSING = re.compile(r"undefined|\bnull\b|NaN|\[object|Invalid Date|[A-Z]+_[A-Z_]+")
PHONES = [(320, 568), (390, 844), (844, 390)]


def _violations(page: Page) -> list[str]:
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=AXE)
    found: list[str] = page.evaluate(_VIOLATIONS)
    return found


def _tour(felt: FeltPage, look: Callable[[str], None]) -> None:
    """Sits down, and goes through the views of a round with insurance, a soft double, a split and a result."""
    look("seats")
    felt.part("seat-3").click()
    felt.expect_seated()
    look("betting")
    felt.bet(3, 2).bet(5, 2)
    look("bets")
    felt.table.do(lambda at: at.close())
    expect(felt.part("insurance")).to_be_visible()
    look("insurance")
    felt.decide("INSURE")
    expect(felt.part("even-money")).to_be_visible()
    look("even-money")
    felt.decide("DECLINE")
    felt.expect_choices(["DRAW", "STAND", "SPLIT"])
    look("decisions")
    felt.decide("SPLIT")
    felt.expect_cards("8s As", place=3)
    look("split")
    felt.decide("DOUBLE")
    expect(felt.part("soft-double")).to_be_visible()
    look("soft-double")
    felt.part("soft-double-do").click()
    felt.expect_cards("8s As 2c", place=3)
    felt.decide("STAND")
    felt.expect_stage("result")
    look("result")
    open_panel(felt.page, "last")
    expect(felt.part("round-told")).to_be_visible()
    look("last-round")


def _many(page: Page, platform: BlackjackPlatform) -> FeltPage:
    """A table for many, where the player has to choose a seat, and bets on two places."""
    shoe = "8s Ac Ah 8d Kd 7c As 2c Th"
    table = platform.table(shoe, individual=False, places=7, places_per_player=2, seat=0, others=(1, 6))
    return FeltPage(page, table).open_to_choose()


@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_every_view_is_accessible_and_whole_in_both_languages(
    new_context: NewContext, platform: BlackjackPlatform, screenshot: Screenshot, device: str
) -> None:
    texts: dict[str, dict[str, set[str]]] = {}
    problems: list[str] = []
    for language in ("PT", "EN"):
        page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
        felt = _many(page, platform)
        choose_language(page, language)

        def look(name: str, page: Page = page, language: str = language) -> None:
            screenshot(page, f"blackjack-{device}-{language}-{name}")
            found: list[str] = page.evaluate(_TEXTS)
            texts.setdefault(name, {})[language] = {text for text in found if _LETTERS.search(_SAME.sub("", text))}
            problems.extend(f"{name} {language}: {violation}" for violation in _violations(page))
            problems.extend(f"{name} {language}: «{text}» is no text" for text in found if _MISSING.search(text))

        _tour(felt, look)
    assert len(texts) == 10
    for name, both in texts.items():
        problems.extend(f"{name}: «{text}» is in both languages" for text in sorted(both["PT"] & both["EN"]))
    assert not problems, "\n".join(problems)


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("size", PHONES)
def test_nothing_is_cut_or_covered_on_phones(
    new_context: NewContext, platform: BlackjackPlatform, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    felt = _many(page, platform)
    problems: list[str] = []

    def look(name: str) -> None:
        if name != "last-round":
            problems.extend(f"{name}: {cut}" for cut in page.evaluate(_CUT))

    _tour(felt, look)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("size", PHONES)
def test_an_individual_hand_with_every_decision_fits_phones(
    new_context: NewContext, platform: BlackjackPlatform, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    felt = FeltPage(page, platform.table("5s 7c 5d 9d")).open()
    problems: list[str] = page.evaluate(_CUT)
    felt.play()
    felt.expect_choices(["DRAW", "DOUBLE", "SPLIT", "GIVE_UP"])
    problems += page.evaluate(_CUT)
    assert not problems, "\n".join(problems)


def test_a_whole_round_with_the_keyboard(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("As 7c 8d 9d 9h 3h")).open()
    felt.part("circle-1").focus()
    desktop.keyboard.press("Enter")
    felt.expect_bet(1, 500)
    desktop.keyboard.press("c")
    expect(felt.part("asked")).to_be_focused()
    # The keys are written on the buttons.
    expect(felt.part("DECISION_DRAW").locator(".choice-key")).to_have_text("P")
    desktop.keyboard.press("d")
    expect(felt.part("soft-double")).to_be_visible()
    felt.part("soft-double-back").press("Enter")
    desktop.keyboard.press("p")
    felt.expect_cards("As 8d 9h")
    expect(felt.part("asked")).to_be_focused()
    desktop.keyboard.press("f")
    felt.expect_stage("result")


def test_letters_decide_nothing_where_they_are_switched_off(desktop: Page, platform: BlackjackPlatform) -> None:
    desktop.add_init_script("localStorage.setItem('feltro.letter-keys', 'no')")
    felt = FeltPage(desktop, platform.table("Ts 7c 5h 9d 4s")).open()
    felt.play()
    expect(felt.part("DECISION_DRAW").locator(".choice-key")).to_have_count(0)
    felt.part("DECISION_DRAW").focus()
    desktop.keyboard.press("p")
    desktop.keyboard.press("f")
    assert felt.sent("TableService.Act") == []


# Records every message about the round that a screen reader announces.
_HEAR = """
() => {
  window.heard = [];
  const said = document.querySelector("[data-testid=round-said]");
  new MutationObserver(() => window.heard.push(said.textContent))
    .observe(said, { subtree: true, childList: true, characterData: true });
}
"""


def test_screen_readers_hear_the_cards_the_turn_and_the_result(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 2h 9d 4s 5c")).open().bet(times=2)
    expect(felt.part("said")).to_have_role("status")
    expect(felt.part("said")).to_have_text(re.compile("Lugar 1: .*na mesa 10 créditos"))
    desktop.evaluate(_HEAR)
    felt.deal()
    said = felt.part("round-said")
    expect(said).to_have_role("status")
    expect(said).to_have_text(re.compile(r"É a sua vez\. Pode: pedir carta; ficar; desistir\.$"))
    felt.decide("DRAW")
    expect(said).to_have_text(re.compile(r"É a sua vez\. Pode: pedir carta; ficar\.$"))
    # The question may come with the cards, or right after them.
    heard = " ".join(desktop.evaluate("() => window.heard"))
    assert "Banca: 7 de paus e carta virada para baixo; 7. A sua mão: 10 de espadas e 2 de copas; 12." in heard
    assert "A sua mão: 10 de espadas, 2 de copas e 4 de espadas; 16." in heard
    felt.decide("STAND")
    felt.expect_stage("result")
    expect(said).to_have_text("Banca: 7 de paus, 9 de ouros e 5 de paus; 21.")
    expect(felt.part("result")).to_have_role("status")
    expect(felt.part("result")).to_contain_text("Perdeu 10 créditos")
    expect(felt.hand()).to_have_attribute(
        "aria-label",
        "Lugar 1, mão 1: 10 de espadas, 2 de copas e 4 de espadas; 16, apostado 10 créditos, Perdeu",
    )


def test_english_from_the_first_bet_to_the_result(new_context: NewContext, platform: BlackjackPlatform) -> None:
    page = new_context("desktop").new_page()
    felt = FeltPage(page, platform.table("Ts 7c 2h 9d 4s 5c")).open()
    choose_language(page, "EN")
    felt.bet().deal()
    expect(felt.part("round-said")).to_have_text(re.compile(r"It is your turn\. You can: hit; stand; give up\.$"))
    expect(felt.part("DECISION_DRAW")).to_contain_text("Hit")
    page.keyboard.press("h")
    felt.expect_cards("Ts 2h 4s")
    expect(felt.part("asked")).to_be_focused()
    page.keyboard.press("s")
    expect(felt.part("result-headline")).to_have_text("You lost 5 credits")

"""The table for everybody: contrast and words in both languages, keyboard, screen readers, phones."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.navigation import choose_language, open_panel
from tests.browser.driver.view_checks import MISSING, texts, violations, words
from tests.browser.recorded.poker.felt_page import FeltPage
from tests.browser.recorded.poker.hands import BOARD, SIX, to_flop
from tests.browser.recorded.poker.platform import PokerPlatform

# Words of the game that are the same in both languages (806/2015: «flop», «turn», «river», «all in»).
_SAME = re.compile(r"^(Flop|Turn|River|All in|all in|Omaha.*|rehearsal-.*)$")
_CUT = """
() => {
  const cut = [];
  for (const part of document.querySelectorAll(".poker-bar button, .poker-bar input, .poker-status strong")) {
    if (part.offsetParent === null) continue;
    const box = part.getBoundingClientRect();
    const name = `${part.dataset.testid ?? part.className} ${part.textContent.slice(0, 20)}`;
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) cut.push(name);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (part.matches("button") && !part.contains(top) && !top?.contains(part)) cut.push(`covered: ${name}`);
    if (part.matches("button") && (box.width < 24 || box.height < 24)) cut.push(`small: ${name}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) cut.push("the page is too wide");
  return cut;
}
"""


def _to_own_turn(felt: FeltPage) -> FeltPage:
    """The player has the big blind, 3 and 4 are in for 3."""
    felt.deal(SIX, BOARD, button=5).play("f r300 c f f")
    expect(felt.part("asked")).to_be_visible()
    return felt


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_every_view_is_accessible_and_in_words_of_one_language(
    new_context: NewContext, platform: PokerPlatform, screenshot: Screenshot, device: str
) -> None:
    seen: dict[str, dict[str, set[str]]] = {}
    problems: list[str] = []
    for language in ("PT", "EN"):
        page = new_context(device, reduced_motion="reduce", bypass_csp=True).new_page()
        felt = FeltPage(page, platform.table(caves=dict.fromkeys((1, 3, 4, 5, 6), 10_000))).open()
        choose_language(page, language)

        def look(name: str, page: Page = page, language: str = language) -> None:
            screenshot(page, f"poker-{device}-{language}-{name}")
            found = texts(page)
            seen.setdefault(name, {})[language] = {text for text in words(found) if not _SAME.match(text)}
            problems.extend(f"{name} {language}: {violation}" for violation in violations(page))
            problems.extend(f"{name} {language}: «{text}» is no text" for text in found if MISSING.search(text))

        look("waiting")
        felt.deal("AsKs 7c7d 9h8h JcTc 2s2d", BOARD, button=5).play("r300 c f f")
        expect(felt.part("asked")).to_be_visible()
        look("own-turn")
        felt.play("c")
        felt.expect_board("Js Qc Kd")
        felt.play("x")
        expect(felt.part("pre-actions")).to_be_visible()
        look("others-turn")
        felt.play("x x x x x x x x")
        felt.expect_stage("result")
        look("result")
        open_panel(page, "last")
        expect(felt.part("round-told")).to_be_visible()
        look("last-hand")
    assert len(seen) == 5
    for name, both in seen.items():
        problems.extend(f"{name}: «{text}» is in both languages" for text in sorted(both["PT"] & both["EN"]))
    assert not problems, "\n".join(problems)


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("size", [(360, 640), (390, 844), (844, 390)])
def test_nothing_is_cut_or_covered_on_phones(
    new_context: NewContext, platform: PokerPlatform, size: tuple[int, int]
) -> None:
    width, height = size
    page = new_context("portrait", viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    felt = _to_own_turn(FeltPage(page, platform.table()).open())
    problems: list[str] = page.evaluate(_CUT)
    felt.play("c")
    felt.expect_board("Js Qc Kd")
    problems += page.evaluate(_CUT)
    assert not problems, "\n".join(problems)


def test_the_oval_does_not_move_when_the_players_turn_comes(portrait: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(portrait, platform.table()).open().deal(SIX, BOARD, button=5)
    before = portrait.locator(".poker-room").bounding_box()
    felt.play("f r300 c f f")
    expect(felt.part("asked")).to_be_visible()
    assert portrait.locator(".poker-room").bounding_box() == before


def test_a_hand_with_the_keyboard(desktop: Page, platform: PokerPlatform) -> None:
    felt = _to_own_turn(FeltPage(desktop, platform.table()).open())
    expect(felt.part("asked")).to_be_focused()
    desktop.keyboard.press("c")
    felt.expect_cave(1, 9_700)
    felt.expect_board("Js Qc Kd")
    expect(felt.part("asked")).to_be_focused()
    desktop.keyboard.press("r")
    expect(felt.part("bet-1")).to_be_visible()
    felt.play("f")
    felt.play("f")
    felt.expect_stage("result")


def test_screen_readers_hear_the_hand(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open()
    said = felt.part("hand-said")
    expect(said).to_have_role("status")
    felt.deal(SIX, BOARD, button=5)
    expect(said).to_have_text("As suas cartas: ás de espadas e rei de espadas. O botão está no lugar 5.")
    felt.play("f")
    expect(said).to_have_text("O lugar 2 desistiu.")
    felt.play("r300")
    expect(said).to_have_text(re.compile("^O lugar 3 subiu para 3,00\\s€\\.$"))
    felt.play("c f f")
    expect(said).to_have_text(re.compile("É a sua vez\\. Acompanhar custa 2,00\\s€\\. Pode subir para 5,00"))
    felt.play("c")
    expect(said).to_have_text(re.compile("É a sua vez\\. Pode passar"))
    expect(felt.seat(1)).to_contain_text("as suas cartas: ás de espadas e rei de espadas")
    expect(felt.seat(3)).to_contain_text("2 cartas fechadas")


def test_english(desktop: Page, platform: PokerPlatform) -> None:
    felt = FeltPage(desktop, platform.table()).open()
    choose_language(desktop, "EN")
    to_flop(felt)
    expect(felt.part("own-hand")).to_contain_text("Pair of kings")
    expect(felt.part("status")).to_contain_text("Your turn")
    expect(felt.part("pot-0")).to_contain_text("Pot €9.50")

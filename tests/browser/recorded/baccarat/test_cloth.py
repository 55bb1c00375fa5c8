"""The cloth: spaces for every chance with prize and limits, chips on them, and refusals in words."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.baccarat_page import CHANCES, BaccaratPage
from tests.browser.recorded.baccarat import TABLE, speaking
from tests.browser.recorded.platform import RecordedPlatform

# What a button says that is too wide or too high for it, and spaces that are not wholly on the screen.
_CUT = """
() => {
  const cut = [];
  const name = (part) => `${part.dataset.testid ?? part.className} ${part.textContent.trim().slice(0, 40)}`;
  for (const part of document.querySelectorAll(
    ".chance, .tray .button, .outcome-plaque, .last-round, .baccarat-clock, .deal-name, .baccarat-terms"
  )) {
    const box = part.getBoundingClientRect();
    if (!box.width) continue;
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) {
      cut.push(`outside: ${name(part)}`);
    }
    if (part.scrollWidth > part.clientWidth + 2) cut.push(`too wide: ${name(part)}`);
    if (part.scrollHeight > part.clientHeight + 2) cut.push(`too high: ${name(part)}`);
  }
  return cut;
}
"""
_LETTERS = """
() => [...document.querySelectorAll(".chance span")].filter((part) => part.children.length === 0 && part.offsetWidth)
  .map((part) => [part.textContent, Number.parseFloat(getComputedStyle(part).fontSize)])
"""
LEAST_LETTER_PX = 10


@pytest.mark.rule("812/2015:6", "812/2015:6.a", "812/2015:9", "812/2015:10", "812/2015:32", "903-B/2015:6.2.2")
def test_every_chance_has_a_space_with_its_prize_and_its_limits(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    for chance, prize, most in [
        ("ponto", "1 : 1", 70),
        ("banca", "1 : 1", 70),
        ("tie", "8 : 1", 15),
        ("ponto-pair", "11 : 1", 8),
        ("banca-pair", "11 : 1", 8),
    ]:
        space = table.chance(chance)
        expect(space).to_contain_text(prize)
        expect(space).to_contain_text(f"1–{most}")
        expect(space).to_have_accessible_name(_label(chance, prize, most))
    expect(table.chance("banca")).to_contain_text("comissão de 5 %")


@pytest.mark.rule("812/2015:13")
def test_bets_on_both_sides_that_are_too_close_are_refused_in_words(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.bet({"ponto": 100})
    table.chance("banca").click()
    expect(table.part("message")).to_contain_text(
        "Quem aposta no ponto e na banca tem de apostar num deles mais 1 crédito, pelo menos, do que no outro."
    )
    table.expect_chips({"ponto": 100})
    table.choose_chip(200)
    table.chance("banca").click()
    table.expect_chips({"ponto": 100, "banca": 200})
    expect(table.part("message")).to_be_empty()


@pytest.mark.rule("812/2015:15.b", "812/2015:15.c")
def test_more_than_a_maximum_is_refused_in_words(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.choose_chip(1000)
    table.chance("ponto-pair").click()
    expect(table.part("message")).to_contain_text("O máximo nesta posição é de 8 créditos")
    table.chance("tie").click()
    table.expect_chips({"tie": 1000})
    table.chance("tie").click()
    expect(table.part("message")).to_contain_text("O máximo nesta posição é de 15 créditos")


def test_chips_are_taken_back_doubled_cleared_and_repeated(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.bet({"banca": 200, "tie": 100})
    table.part("undo").click()
    table.expect_chips({"banca": 200})
    table.part("double").click()
    table.expect_chips({"banca": 400})
    table.part("clear").click()
    table.expect_chips({})
    table.bet({"ponto": 100, "banca-pair": 100})
    table.deal()
    table.expect_stage("paid")
    expect(table.part("repeat")).to_have_attribute("aria-disabled", "false")
    table.part("repeat").click()
    table.expect_stage("quiet")
    table.expect_chips({"ponto": 100, "banca-pair": 100})


@pytest.mark.rule("903-B/2015:6.2.2")
@pytest.mark.parametrize("language", ["pt", "en"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844), (360, 640), (320, 568), (844, 390), (667, 375)])
def test_nothing_is_cut(
    new_context: NewContext, screenshot: Screenshot, size: tuple[int, int], language: str, platform: RecordedPlatform
) -> None:
    width, height = size
    spoken = speaking(language, platform.url)
    page = new_context("desktop", viewport={"width": width, "height": height}, storage_state=spoken).new_page()
    table = BaccaratPage(page, TABLE).open()
    table.bet({"banca": 200, "tie": 100, "ponto-pair": 100})
    screenshot(page, f"baccarat-{language}-{width}x{height}")
    assert page.evaluate(_CUT) == []
    letters = page.evaluate(_LETTERS)
    assert len(letters) >= 2 * len(CHANCES)
    assert [(text, px) for text, px in letters if px < LEAST_LETTER_PX] == []
    table.deal()
    table.expect_stage("paid")
    expect(table.part("outcome-called")).not_to_be_empty()
    screenshot(page, f"baccarat-result-{language}-{width}x{height}")
    assert page.evaluate(_CUT) == []


def _label(chance: str, prize: str, most: int) -> str:
    name = {
        "ponto": "Ponto",
        "banca": "Banca",
        "tie": "Empate",
        "ponto-pair": "Par do ponto",
        "banca-pair": "Par da banca",
    }[chance]
    commission = ", comissão de 5 %" if chance == "banca" else ""
    return f"{name} paga {prize.removesuffix(' : 1')} para 1{commission}, 1 a {most} créditos"

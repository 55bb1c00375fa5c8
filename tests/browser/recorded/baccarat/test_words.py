"""What happens at the table is said: by the clock, to screen readers, on the plaque, and of the last round."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Screenshot
from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.driver.navigation import open_panel
from tests.browser.driver.page_clock import pause
from tests.browser.recorded.baccarat import TABLE


@pytest.mark.rule("812/2015:27", "812/2015:28")
@pytest.mark.usefixtures("slow_deal")
def test_the_clock_says_what_the_croupier_says_and_the_player_has_the_cards_dealt(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    phase = table.part("phase")
    expect(phase).to_contain_text("Façam as vossas apostas")
    expect(phase).to_contain_text("Cartas quando quiser")
    expect(table.part("deal")).to_have_text("Dar as cartas")
    table.part("deal").dispatch_event("click")
    expect(table.part("message")).to_contain_text("Ainda não tem fichas na mesa.")
    table.bet({"tie": 100})
    table.deal()
    expect(phase).to_contain_text("Jogo feito, nada mais")
    expect(phase).to_contain_text("Cartas em distribuição")
    table.expect_stage("paid")
    expect(phase).to_contain_text("Façam as vossas apostas")


@pytest.mark.rule("812/2015:25.a", "812/2015:26.a")
def test_the_plaque_says_the_prize_and_the_commission_that_was_deducted(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    table.choose_chip(1000)
    table.chance("banca").click()
    table.expect_chips({"banca": 1000})
    table.deal()
    table.expect_stage("paid")
    plaque = table.part("outcome-called")
    expect(plaque).to_have_role("status")
    expect(plaque).to_contain_text("Ganha a banca, 7 a 6, par da banca")
    expect(plaque).to_contain_text("Ganhou 9,5 créditos")
    expect(plaque).to_contain_text("Recebe 19,5 créditos, dos quais 9,5 créditos de prémio")
    expect(plaque).to_contain_text("comissão de 0,5 créditos")


@pytest.mark.usefixtures("slow_deal")
def test_a_screen_reader_hears_bets_cards_and_result(desktop: Page) -> None:
    table = BaccaratPage(desktop, TABLE).open()
    said, cards = table.part("said"), table.part("said-cards")
    expect(said).to_have_role("status")
    expect(cards).to_have_role("status")
    table.chance("tie").focus()
    desktop.keyboard.press("Enter")
    expect(said).to_have_text("Empate: 1 crédito; na mesa 1 crédito")
    desktop.evaluate(
        """
        () => {
          const heard = (window.heard = []);
          const said = document.querySelector("[data-testid=said-cards]");
          new MutationObserver(() => said.textContent && heard.push(said.textContent))
            .observe(said, { childList: true, characterData: true, subtree: true });
        }
        """
    )
    table.deal()
    table.expect_stage("paid")
    assert desktop.evaluate("() => window.heard") == [
        "Ponto: 2 de copas e rei de ouros; 2 pontos",
        "Banca: ás de espadas e ás de ouros; 2 pontos",
        "Ponto: 2 de copas, rei de ouros e 4 de paus; 6 pontos",
        "Banca: ás de espadas, ás de ouros e 5 de espadas; 7 pontos",
    ]
    expect(table.part("outcome-called")).to_contain_text("Perdeu 1 crédito")


@pytest.mark.rule("812/2015:31", "812/2015:32")
def test_the_last_round_is_shown_in_pictures_and_words(desktop: Page, screenshot: Screenshot) -> None:
    desktop.clock.install()
    table = BaccaratPage(desktop, TABLE).open()
    table.bet({"banca": 200, "tie": 100})
    # What was won is read for six seconds once the player bets again: the page's time goes on when the test says so.
    pause(desktop)
    table.deal()
    while table.table.get_attribute("data-stage") != "paid":
        desktop.clock.run_for(200)
    table.wait_for_betting()
    # The next bet begins the next round: one line sums up the last one, and opens all of it.
    table.chance("ponto").click()
    line = table.part("last-round-line")
    expect(line).to_contain_text("Ganha a banca, 7 a 6, par da banca")
    expect(line).to_contain_text("Ganhou 0,9 créditos")
    expect(line.locator("[data-card]")).to_have_count(6)
    screenshot(desktop, "baccarat-last-line")
    line.click()
    told = desktop.get_by_test_id("last-round-told")
    expect(told).to_contain_text("Ganha a banca, 7 a 6")
    desktop.clock.resume()
    desktop.keyboard.press("Escape")
    open_panel(desktop, "last")
    last = desktop.get_by_test_id("last-round")
    expect(last.locator("[data-card]")).to_have_count(6)
    expect(last).to_contain_text("Ponto: 2 de copas, rei de ouros e 4 de paus; 6 pontos")
    rows = last.get_by_test_id("told-bets").locator("tbody tr")
    expect(rows).to_have_text(["Banca23,91,90,1", "Empate1000"])
    screenshot(desktop, "baccarat-last-round")


def test_the_roads_grow_with_each_round(portrait: Page, screenshot: Screenshot) -> None:
    table = BaccaratPage(portrait, TABLE).open()
    for rounds in (1, 2):
        table.bet({"ponto": 100})
        table.deal()
        table.expect_stage("paid")
        table.part("open-roads").click()
        sheet = portrait.get_by_test_id("roads-sheet")
        expect(sheet.get_by_test_id("bead-road").locator("[data-round]")).to_have_count(rounds)
        expect(sheet.get_by_test_id("big-road").locator(".ring")).to_have_count(rounds)
        expect(sheet).to_contain_text(f"Ponto 0, banca {rounds}, empate 0")
        screenshot(portrait, f"baccarat-roads-{rounds}")
        portrait.keyboard.press("Escape")
        portrait.wait_for_timeout(1)
        expect(table.part("phase")).to_contain_text("Façam as vossas apostas")

"""Refusals are explained in words that a player understands, with the amounts needed to go on."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import RESULT_S, WINDOW_S, BackOffice, quick_demo_table, quick_real_table
from tests.browser.driver.navigation import new_name, new_player_page, open_panel
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage, cents_in
from tests.system.platform import Platform


def test_too_little_money_says_how_much_is_missing_and_leads_to_the_cashier(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, _ = new_player_page(new_context(), log_in, "luis")
    table = TablePage(page, quick_real_table(BackOffice(platform))).open()
    table.choose_chip(50000)
    table.place_chips("red")
    message = table.part("message")
    expect(message).to_contain_text("O saldo não chega")
    # What has the focus does not close by itself while the test looks.
    cashier = message.get_by_role("button", name="Ir para a caixa")
    cashier.focus()
    assert cents_in(message.inner_text()) == [50000, 10000]
    assert table.chips() == {}
    expect(table.balance).to_have_attribute("data-cents", "10000")
    screenshot(page, "refused-too-little-money")
    cashier.click()
    expect(page.get_by_role("heading", name="Caixa")).to_be_visible()
    page.get_by_role("link", name=re.compile("Voltar")).click()
    table.wait_until_playable()


def test_credits_that_do_not_suffice_lead_to_no_cashier(desktop: Page, platform: Platform) -> None:
    table = TablePage(desktop, quick_demo_table(BackOffice(platform))).open()
    table.choose_chip(50000)
    table.place_chips("red")
    table.place_chips("black")
    table.expect_confirmed_chips({"red": 50000, "black": 50000})
    table.place_chips("even")
    message = table.part("message")
    expect(message).to_contain_text("O saldo não chega: precisa de 500 créditos e tem 0 créditos livres")
    expect(message.get_by_role("button", name="Ir para a caixa")).to_have_count(0)


def test_more_than_the_maximum_of_a_place_and_less_than_its_minimum(desktop: Page, platform: Platform) -> None:
    """No chip is below the minimum: the second is the platform's answer to a page that sends one all the same."""

    def halve(ours: WebSocketRoute) -> None:
        theirs = ours.connect_to_server()

        def pass_on(text: str | bytes) -> None:
            said = json.loads(text)
            for bet in said["params"].get("bets", []):
                if bet["place"] == "36":
                    bet["amount_cents"] = "50"
            theirs.send(json.dumps(said))

        ours.on_message(pass_on)

    desktop.route_web_socket(re.compile("/v1/ws$"), halve)
    table = TablePage(desktop, quick_demo_table(BackOffice(platform))).open()
    table.choose_chip(2500)
    table.place_chips("17", 2)
    message = table.part("message")
    expect(message).to_have_text("O máximo nesta posição é de 30 créditos, tudo somado. A aposta não foi feita.")
    table.expect_confirmed_chips({"17": 2500})
    table.choose_chip(100)
    table.place_chips("36")
    expect(message).to_have_text("O mínimo nesta posição é de 1 crédito.")
    table.expect_confirmed_chips({"17": 2500})
    expect(table.balance).to_have_attribute("data-cents", "97500")


def test_a_table_that_is_switched_off_during_play_says_so_and_why(
    desktop: Page, platform: Platform, screenshot: Screenshot
) -> None:
    office = BackOffice(platform)
    name = ("Roleta da manutenção (demonstração)", "Maintenance roulette (demonstration)")
    listed = office.configure_table(
        new_name("off"), "french-demo", name, betting_window_ms=WINDOW_S * 1000, result_shown_ms=0
    )
    table = TablePage(desktop, listed).open()
    office.switch(listed, "manutenção semanal", on=False)
    office.advance_tables(WINDOW_S)
    expect(table.phase).to_contain_text("Mesa encerrada")
    expect(table.phase).to_contain_text("manutenção semanal")
    screenshot(desktop, "table-switched-off")
    table.place_chips("red")
    assert table.chips() == {}
    desktop.reload()
    refused = desktop.get_by_test_id("refused").or_(table.phase)
    expect(refused).to_contain_text("encerrada")
    expect(refused).to_contain_text("manutenção semanal")
    screenshot(desktop, "table-switched-off-reloaded")
    office.switch(listed, "feita", on=True)
    desktop.goto("/#/")
    desktop.goto(f"/#/table/{listed}")
    table.wait_until_playable()


@pytest.mark.rule("903-B/2015:6.3.3")
def test_a_void_round_is_announced_and_every_bet_goes_back(
    desktop: Page, platform: Platform, screenshot: Screenshot
) -> None:
    office = BackOffice(platform)
    name = ("Roleta francesa anulada (demonstração)", "Void French roulette (demonstration)")
    listed = office.configure_table("void-solo-demo", "french-solo-demo", name, result_shown_ms=RESULT_S * 1000)
    table = TablePage(desktop, listed).open()
    table.place_chips("red")
    table.place_chips("17")
    table.expect_confirmed_chips({"red": 100, "17": 100})
    expect(table.balance).to_have_attribute("data-cents", "99800")
    player = Player.demo_player_of(platform, desktop)
    own = player.own_table(table.listed_id)
    office.void(own, player.table(own)["table"]["round"]["round_id"], "falha do servidor de sorteio")
    said = "Ocorreu um erro; a jogada é nula e todas as apostas são devolvidas."
    expect(table.part("void")).to_have_text(said)
    expect(table.balance).to_have_attribute("data-cents", "100000")
    assert table.chips() == {}
    screenshot(desktop, "void-round")

    open_panel(desktop, "last")
    story = desktop.get_by_test_id("round-story")
    expect(story.locator(".round-net")).to_have_text("Nula")
    expect(story).to_contain_text("A jogada foi nula: todas as apostas foram devolvidas.")
    expect(story).to_contain_text("falha do servidor de sorteio")
    expect(story.locator('[data-place="red"]').get_by_role("cell")).to_have_text(["1", "1"])
    screenshot(desktop, "void-round-story")
    desktop.keyboard.press("Escape")
    office.advance_tables(RESULT_S)
    table.wait_for_betting()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})

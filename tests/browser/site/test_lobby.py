"""The lobby: the tables, their limits and seats, and the player's own session."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import WINDOW_S, BackOffice
from tests.browser.driver.navigation import new_name, new_player_page
from tests.browser.driver.player import Player
from tests.system.platform import Platform


def test_every_table_is_there_with_its_name_limits_and_seats(desktop: Page, platform: Platform) -> None:
    tables = BackOffice(platform).tables()
    desktop.goto("/")
    for mode, unit in (("MODE_DEMO", "1 – 720 créditos"), ("MODE_REAL", "1 € – 720 €")):
        of_mode = [table for table in tables if table["configuration"]["mode"] == mode]
        desktop.get_by_test_id(f"mode-{mode}").click()
        desktop.get_by_test_id("game-roulette").click()
        cards = desktop.get_by_test_id("table-card")
        expect(cards).to_have_count(len(of_mode))
        for table in of_mode:
            card = desktop.locator(f'[data-table="{table["table_id"]}"]')
            expect(card.get_by_role("heading")).to_have_text(table["configuration"]["name"]["pt"])
            expect(card).to_contain_text(unit)
            if not table["enabled"]:
                continue
            if table["configuration"]["play"] == "PLAY_INDIVIDUAL":
                expect(card).to_contain_text("Só para si")
            else:
                seats = table["configuration"]["seats"]
                expect(card).to_contain_text(re.compile(rf"\d+ de {seats} lugares ocupados"))


def test_one_game_or_all_of_them_are_shown(desktop: Page) -> None:
    desktop.goto("/")
    cards = desktop.get_by_test_id("table-card")
    expect(cards.first).to_be_visible()
    every, of_one = desktop.get_by_test_id("game-all"), desktop.get_by_test_id("game-baccarat")
    expect(every).to_have_attribute("aria-pressed", "true")
    assert {"Roleta", "Bacará"} <= {*desktop.get_by_role("heading", level=2).all_inner_texts()}
    many = cards.count()
    of_one.click()
    expect(desktop.locator('[data-table="baccarat-demo"]')).to_contain_text("1 – 70 créditos")
    expect(desktop.locator('[data-table="baccarat-macau-demo"]')).to_contain_text("desde 1 crédito")
    expect(desktop.locator('[data-table="french-demo"]')).to_have_count(0)
    assert cards.count() < many
    # The main button leads to a table of the game.
    assert "baccarat-solo-demo" in (desktop.get_by_test_id("play-now").get_attribute("href") or "")
    every.click()
    expect(cards).to_have_count(many)


def test_a_table_fills_plays_and_is_switched_off_while_watched(
    desktop: Page, platform: Platform, screenshot: Screenshot
) -> None:
    office = BackOffice(platform)
    name = ("Roleta da manhã (demonstração)", "Morning roulette (demonstration)")
    times = {"betting_window_ms": WINDOW_S * 1000, "result_shown_ms": 0}
    listed = office.configure_table(new_name("seen"), "american-demo", name, **times)
    desktop.goto("/")
    card = desktop.locator(f'[data-table="{listed}"]')
    expect(card).to_contain_text("Abre quando se sentar")
    expect(card).to_contain_text("0 de 200 lugares ocupados")
    player = Player.with_account(platform, new_name("xavier"))
    player.enter(listed)
    expect(card).to_contain_text("1 de 200 lugares ocupados")
    expect(card).to_contain_text(re.compile(r"Apostas abertas · \d+ s"))
    office.advance_tables(WINDOW_S)
    drawn = card.get_by_test_id("last-numbers").locator("li").first
    expect(drawn).to_have_text(re.compile(r"^\d+(\d+, (encarnado|preto), (par|ímpar), (menor|maior)|Zero|Duplo zero)$"))
    office.switch(listed, "limpeza do pano", on=False)
    office.advance_tables(WINDOW_S)
    expect(card).to_contain_text("Mesa encerrada limpeza do pano")
    expect(card.get_by_test_id("sit")).to_have_count(0)
    expect(card.get_by_test_id("card-rules")).to_be_visible()
    card.scroll_into_view_if_needed()
    screenshot(desktop, "lobby-table-switched-off")
    office.switch(listed, "feita", on=True)
    expect(card.get_by_test_id("sit")).to_be_visible()


def test_the_player_s_own_session_is_shown(new_context: NewContext, log_in: LogIn, platform: Platform) -> None:
    page, name = new_player_page(new_context("portrait"), log_in, "wanda")
    Player.with_account(platform, name).enter("american-solo")
    page.goto("/")
    own = page.get_by_test_id("player-line")
    expect(own.get_by_test_id("balance").first).to_have_text(re.compile("Saldo.*100,00"))
    expect(own.get_by_test_id("running")).to_contain_text(
        re.compile(r"Roleta americana individual\s*a jogar há (\d+ h )?(\d+ min)?( ?\d+ s)?")
    )
    expect(page.locator('[data-table="american-solo"]')).to_contain_text("Está sentado aqui")
    expect(page.get_by_test_id("last-session")).to_have_count(0)
    own.get_by_test_id("go-on").click()
    expect(page.get_by_test_id("played")).to_be_visible()


_SHIFTS = """
() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.shifts.push([value, sources.map(({ node }) => node?.className ?? "")]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}
"""


@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_nothing_jumps_when_the_pictures_come(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, log_in: LogIn, device: str
) -> None:
    """The player's own facts are read meanwhile, too, over a slow connection."""
    page, name = new_player_page(new_context(device), log_in, "vera")
    Player.with_account(platform, name).enter("american-solo")
    held: list[Route] = []
    held_back = True

    def hold(route: Route) -> None:
        if held_back:
            held.append(route)
        else:
            route.continue_()

    page.route("**/assets/game-*.js", hold)
    page.add_init_script(f"({_SHIFTS})()")
    page.goto("/")
    expect(page.get_by_test_id("play-now")).to_be_visible()
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    expect(page.locator(".lobby-wheel")).to_have_count(0)
    screenshot(page, f"lobby-without-pictures-{device}")
    # One that is asked for from now on passes, too.
    held_back = False
    for route in held:
        route.continue_()
    expect(page.locator(".lobby-wheel").first).to_be_visible()
    shifts = page.evaluate("() => window.shifts")
    assert sum(value for value, _ in shifts) < 0.01, shifts

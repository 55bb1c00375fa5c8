"""A whole round of baccarat at a table for many: one window for all, everybody's chips, one result that binds all."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.baccarat_page import BaccaratPage
from tests.browser.driver.back_office import UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.player import Player
from tests.browser.driver.rest import Json, call
from tests.system.platform import Platform

PLACES, MACAU_PLACES = 7, 9
# How many different seconds the clock of a window has to have shown.
WATCHED_S = 4
_NOTE_CLOCK = """
() => {
  const seen = (window.seen = { seconds: [], phrases: [] });
  const look = () => {
    const left = document.querySelector("[data-testid=seconds-left]")?.dataset.seconds;
    const phrase = document.querySelector("[data-testid=phase] strong")?.textContent;
    if (left !== undefined && seen.seconds.at(-1) !== Number(left)) seen.seconds.push(Number(left));
    if (phrase && seen.phrases.at(-1) !== phrase) seen.phrases.push(phrase);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}
"""
_CLOCK_RUNS = "(least) => new Set(window.seen.seconds).size >= least"


@pytest.mark.rule("812/2015:4", "812/2015:5", "812/2015:6.a", "812/2015:25", "812/2015:27", "812/2015:31")
def test_a_round_of_two_players(new_context: NewContext, screenshot: Screenshot, platform: Platform) -> None:
    office, name = BackOffice(platform), ("Bacará para dois (demonstração)", "Baccarat for two (demonstration)")
    listed = office.configure_table("two-baccarat-demo", "baccarat-demo", name, **UNHURRIED)
    wide, phone = (BaccaratPage(new_context(device).new_page(), listed).open() for device in ("desktop", "portrait"))
    pages = {"desktop": wide, "portrait": phone}
    expect(wide.part("places")).to_have_attribute("data-count", str(PLACES))
    for table in pages.values():
        table.page.evaluate(_NOTE_CLOCK)
        table.wait_for_betting()
    wide.bet({"banca": 200, "tie": 100})
    phone.bet({"ponto": 100})
    round_id = _player(wide, platform).table(listed)["table"]["round"]["round_id"]
    # Each sees the other's chips: on the other's place, and on the chance.
    expect(wide.chance("ponto")).to_contain_text("1 outro jogador: 1 crédito")
    for device, table in pages.items():
        expect(table.part("places").locator(".edge-place .chip")).to_have_count(3)
        screenshot(table.page, f"baccarat-many-{device}-1-bets")
    wide.page.wait_for_function(_CLOCK_RUNS, arg=WATCHED_S)
    office.advance_tables(WINDOW_S)
    for table in pages.values():
        table.page.bring_to_front()
        table.expect_stage("dealing", "called", "collected", "paid")
    for device, table in pages.items():
        table.page.bring_to_front()
        table.expect_stage("paid")
        screenshot(table.page, f"baccarat-many-{device}-2-result")
    for table in pages.values():
        _verify_round(table, platform, round_id)
    seen = wide.page.evaluate("() => window.seen")
    assert seen["seconds"] == sorted(seen["seconds"], reverse=True)
    assert "Façam as vossas apostas" in seen["phrases"]
    assert "Jogo feito, nada mais" in seen["phrases"]
    for table in pages.values():
        _player(table, platform).leave()


@pytest.mark.rule("812/2015:40", "812/2015:43.c")
def test_in_macau_the_limit_of_the_whole_table_is_said_in_words(
    new_context: NewContext, screenshot: Screenshot, platform: Platform
) -> None:
    name = ("Macau sem pressa (demonstração)", "Unhurried Macau (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("unhurried-macau-demo", "baccarat-macau-demo", name, **UNHURRIED)
    table = BaccaratPage(new_context("desktop").new_page(), listed).open()
    expect(table.part("places")).to_have_attribute("data-count", str(MACAU_PLACES))
    expect(table.table).to_contain_text("Prémios da mesa até 10 000 créditos por jogada".replace(" 000", "\u00a0000"))
    table.wait_for_betting()
    # No chance has a maximum of its own.
    table.choose_chip(50_000)
    table.chance("ponto-pair").click()
    table.expect_chips({"ponto-pair": 50_000})
    table.chance("ponto-pair").click()
    expect(table.part("message")).to_contain_text("As apostas de todos os jogadores juntas passariam o limite da mesa")
    screenshot(table.page, "baccarat-macau-refused")
    table.expect_chips({"ponto-pair": 50_000})
    _player(table, platform).leave()


def _player(table: BaccaratPage, platform: Platform) -> Player:
    return Player.demo_player_of(platform, table.page)


def _played(page: Page, platform: Platform, round_id: str) -> Json:
    player = Player.demo_player_of(platform, page)
    rounds = call(f"{platform.url}/v1/games/baccarat/players/{player.name}/rounds", player.token)["rounds"]
    found: Json = next(one for one in rounds if one["round"]["round_id"] == round_id)
    return found


def _verify_round(table: BaccaratPage, platform: Platform, round_id: str) -> None:
    """What the page showed is what the platform has on record."""
    played = _played(table.page, platform, round_id)
    outcome = played["round"]["outcome"]
    for side in ("ponto", "banca"):
        expect(table.hand(side)).to_have_attribute("data-score", str(outcome[f"{side}_score"]))
        shown = table.cards(side).locator("[data-card]").all()
        assert [card.get_attribute("data-card") for card in shown] == outcome[side]
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    verdict = "lost" if payout == 0 else "less" if payout < staked else "even" if payout == staked else "won"
    expect(table.part("outcome-called")).to_have_attribute("data-verdict", verdict)

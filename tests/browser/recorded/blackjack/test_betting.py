"""Betting: places with circles and the insurance area, chips on free places, and what the table refuses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform


@pytest.mark.rule("805/2015:3", "805/2015:4", "805/2015:4.a")
@pytest.mark.parametrize("places", [1, 3, 7])
def test_a_table_has_places_with_a_circle_each_and_an_insurance_area(
    desktop: Page, platform: BlackjackPlatform, places: int
) -> None:
    felt = FeltPage(desktop, platform.table(places=places)).open()
    for place in range(1, places + 1):
        expect(felt.part(f"circle-{place}")).to_be_visible()
    expect(felt.part(f"place-{places + 1}")).to_have_count(0)
    expect(desktop.locator(".felt-insurance")).to_contain_text("SEGURO")
    expect(desktop.locator(".felt-shoe")).to_be_visible()
    expect(felt.part("bank")).to_be_visible()


def test_chips_are_placed_on_a_free_place_and_taken_back(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table(individual=False, places=7)).open()
    felt.bet(3, times=2)
    expect(felt.part("place-3")).to_have_attribute("data-own", "true")
    felt.part("circle-3").press("Delete")
    felt.expect_bet(3, 500)
    felt.part("undo").click()
    felt.expect_bet(3, 0)
    felt.part("chip-2500").check(force=True)
    felt.part("circle-5").click()
    felt.expect_bet(5, 2500)
    felt.part("clear").click()
    felt.expect_bet(5, 0)


def test_other_players_places_are_theirs(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table(individual=False, places=7, seat=2)).open()
    felt.table.do(lambda table: table.stake(5, {"5": 2500}))
    felt.expect_bet(5, 2500)
    circle = felt.part("circle-5")
    expect(circle).to_have_attribute("aria-label", "Lugar 5, de outro jogador: 25 créditos")
    assert circle.evaluate("(circle) => circle.tagName") == "DIV"
    expect(felt.part("circle-4")).to_have_attribute("aria-label", "Lugar 4, livre")


@pytest.mark.parametrize(("per_player", "words"), [(0, "num só lugar"), (2, "em 2 lugares, no máximo")])
def test_a_player_is_told_on_how_many_places_they_may_bet(
    desktop: Page, platform: BlackjackPlatform, per_player: int, words: str
) -> None:
    felt = FeltPage(desktop, platform.table(individual=False, places=7, places_per_player=per_player)).open()
    felt.bet(1)
    if per_player == 2:
        felt.bet(2)
    felt.part("circle-7").click()
    expect(felt.part("message")).to_contain_text(words)
    felt.expect_bet(7, 0)


@pytest.mark.rule("805/2015:12")
def test_the_betting_time_and_its_end_are_clearly_shown(desktop: Page, platform: BlackjackPlatform) -> None:
    # The cards are on their way for longer than the test looks.
    felt = FeltPage(desktop, platform.table("Ts 7c 5h 9d", individual=False, places=7, dealing_ms=30_000)).open()
    felt.bet(2)
    phase = felt.part("phase")
    expect(phase).to_contain_text("Façam as vossas apostas")
    expect(felt.part("seconds-left")).to_be_visible()
    felt.table.do(lambda table: table.close())
    expect(phase).to_contain_text("Jogo feito, nada mais")
    expect(phase).to_contain_text("Cartas em distribuição")
    expect(felt.part("decision")).to_contain_text("Cartas em distribuição")
    expect(felt.part("tray")).to_have_count(0)


@pytest.mark.rule("805/2015:13")
def test_at_an_individual_table_the_player_starts_the_deal(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 5h 9d")).open()
    deal = felt.part("deal")
    expect(deal).to_have_attribute("aria-disabled", "true")
    deal.click(force=True)
    expect(felt.part("message")).to_contain_text("Ainda não tem fichas na mesa")
    felt.bet()
    expect(deal).to_have_text("Dar as cartas")
    deal.click()
    felt.expect_stage("playing")


def test_bets_of_the_last_round_are_repeated(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 9h 9d Td 8c", places=3, places_per_player=3)).open()
    expect(felt.part("repeat")).to_have_attribute("aria-disabled", "true")
    felt.bet(1).bet(3, times=2).deal()
    felt.decide_all("STAND")
    felt.expect_stage("result")
    felt.part("repeat").click()
    felt.expect_bet(1, 500)
    felt.expect_bet(3, 1000)


def test_a_round_that_is_void_gives_the_bets_back(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 5h 9d", individual=False, places=1)).open()
    felt.bet()
    felt.table.do(lambda table: table.close())
    felt.expect_stage("playing")
    felt.table.do(lambda table: table.void())
    expect(felt.part("result")).to_contain_text("Jogada nula")
    expect(felt.hand()).to_have_count(0)
    expect(felt.part("balance").first).to_contain_text("1000")


def test_a_player_who_comes_back_finds_the_round_as_it_is(new_context: NewContext, platform: BlackjackPlatform) -> None:
    page = new_context("desktop").new_page()
    felt = FeltPage(page, platform.table("Ts 7c 5h 9d 4s")).open().play()
    felt.decide("DRAW")
    felt.expect_cards("Ts 5h 4s")
    page.reload()
    felt.expect_stage("playing")
    felt.expect_cards("Ts 5h 4s")
    felt.expect_bank("7c ")
    felt.expect_choices(["DRAW", "STAND"])
    felt.decide("STAND")
    felt.expect_stage("result")

"""Results: the bank's latest, the player's own for as long as it takes to read, and the last round."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driver.navigation import open_panel
from tests.browser.recorded.blackjack.felt_page import FeltPage
from tests.browser.recorded.blackjack.platform import BlackjackPlatform


@pytest.mark.rule("805/2015:4", "805/2015:4.c")
def test_the_banks_latest_results_are_shown_newest_first(desktop: Page, platform: BlackjackPlatform) -> None:
    table = platform.table("Ts 7c 9h Jd")
    felt = FeltPage(desktop, table).open()
    played = {"Ts 7c 9h Jd": "STAND", "Ts Th 9h Ad": "STAND", "Ts 6h 9h Td Kc": "STAND", "Ts 6h 6d Td": "GIVE_UP"}
    for shoe, decision in played.items():
        table.table.shoe = shoe
        felt.play()
        felt.decide(decision)
        felt.expect_stage("result")
    results = felt.part("bank-results").locator("li")
    expect(results).to_have_count(4)
    assert [one.get_attribute("data-result") for one in results.all()] == ["–", "26", "BJ", "17"]
    expect(results.nth(2)).to_contain_text("blackjack")
    expect(results.nth(1)).to_contain_text("26, passou")
    expect(results.nth(0)).to_contain_text("não jogou")


def test_the_result_is_not_among_the_latest_before_its_cards_lie(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 9h 3d 2c", dealing_ms=600)).open().play()
    desktop.evaluate(
        """() => {
          window.early = [];
          new MutationObserver(() => {
            const stage = document.querySelector("[data-testid=blackjack]").dataset.stage;
            const results = document.querySelectorAll("[data-testid=bank-results] li").length;
            const balance = document.querySelector("[data-testid=balance]")?.dataset.cents;
            if (stage === "dealing") window.early.push(`${results} ${balance}`);
          }).observe(document, { subtree: true, childList: true, attributes: true });
        }"""
    )
    felt.decide("STAND")
    felt.expect_stage("result")
    assert set(desktop.evaluate("() => window.early")) == {"0 99000"}
    expect(felt.part("bank-results").locator("li")).to_have_count(1)


def test_at_an_individual_table_cards_and_result_stay_until_the_next_bet(
    desktop: Page, platform: BlackjackPlatform
) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 9h Jd")).open().play()
    felt.decide("STAND")
    felt.expect_stage("result")
    desktop.wait_for_timeout(1500)
    felt.expect_cards("Ts 9h")
    expect(felt.part("result-headline")).to_have_text("Ganhou 10 créditos")
    felt.bet()
    expect(felt.hand()).to_have_count(0)
    # What was won can still be read.
    expect(felt.part("result-headline")).to_have_text("Ganhou 10 créditos")


def test_at_a_table_for_many_the_result_stays_readable_in_the_next_round(
    desktop: Page, platform: BlackjackPlatform
) -> None:
    table = platform.table("Ts 7c 9h Jd", individual=False, places=7, seat=2)
    felt = FeltPage(desktop, table).open().bet(2, 2)
    table.do(lambda at: at.close())
    felt.decide("STAND")
    felt.expect_stage("result")
    table.do(lambda at: at.open())
    felt.expect_stage("betting")
    expect(felt.hand(2)).to_have_count(0)
    expect(felt.part("result-headline")).to_have_text("Ganhou 10 créditos")
    # Somebody else plays on: a round without any bets would show its result at once.
    table.do(lambda at: at.stake(3, {"3": 500}))
    table.do(lambda at: at.close())
    expect(felt.part("result-headline")).to_have_count(0)


@pytest.mark.rule("805/2015:31")
def test_the_last_round_is_told_in_pictures_and_words(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("8s Ah 8d Tc 3h Kd 9c")).open().play()
    felt.decide("INSURE")
    felt.decide("SPLIT")
    felt.decide("DOUBLE")
    felt.decide("STAND")
    felt.expect_stage("result")
    open_panel(desktop, "last")
    told = felt.part("round-told")
    hands = told.locator(".past-cards")
    expect(hands).to_have_count(3)
    assert [hand.get_attribute("data-cards") for hand in hands.all()] == ["Ah Tc", "8s 3h Kd", "8d 9c"]
    expect(hands.nth(0)).to_have_attribute("aria-label", "ás de copas e 10 de paus; blackjack")
    expect(told).to_contain_text("Lugar 1, mão 2")
    decisions = felt.part("told-decisions").locator("li")
    assert [one.get_attribute("data-decision") for one in decisions.all()] == [
        "DECISION_INSURE",
        "DECISION_SPLIT",
        "DECISION_DOUBLE",
        "DECISION_STAND",
    ]
    expect(decisions.nth(0)).to_contain_text("fez seguro (seguro de 5 créditos)")
    expect(decisions.nth(0)).to_contain_text("por si")
    bets = felt.part("told-bets").locator("tbody tr")
    assert [[cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in bets.all()] == [
        ["Aposta", "10", "0"],
        ["Dobro da mão 1", "10", "0"],
        ["Mão 2, desdobrada", "10", "0"],
        ["Seguro", "5", "15"],
    ]
    expect(felt.part("round-story")).to_contain_text("805/2015")


def test_the_history_lists_rounds_by_the_banks_result(desktop: Page, platform: BlackjackPlatform) -> None:
    felt = FeltPage(desktop, platform.table("Ts 7c 9h Jd")).open().play()
    felt.decide("STAND")
    felt.expect_stage("result")
    open_panel(desktop, "history")
    line = felt.part("round")
    expect(line).to_contain_text("Banca: 17")
    expect(line).to_contain_text("Ganhou 10 créditos")
    line.click()
    expect(felt.part("round-told")).to_be_visible()

"""Whole rounds of blackjack on a running platform, in a browser: alone, and two players at one table."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.back_office import UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.blackjack_page import BlackjackPage
from tests.browser.driver.player import Player
from tests.browser.driver.rest import Json, call
from tests.system.platform import Platform

ALONE = "blackjack-solo-demo"
ROUNDS = 3
ROUND_MS = 180_000
# The longest that the rules allow: no machine is too slow for them.
DECISION_MS = 120_000
# Notes what the page shows of each result: a slow machine looks when the next round has begun.
_NOTE_RESULTS = """
() => {
  window.results = [];
  let before = "";
  const look = () => {
    const { stage } = document.querySelector("[data-testid=blackjack]")?.dataset ?? {};
    const verdict = document.querySelector("[data-testid=result]")?.dataset.verdict;
    if (stage === "result" && before !== "result") window.results.push({});
    before = stage;
    if (stage !== "result" || !verdict) return;
    const shown = [...document.querySelectorAll("[data-testid^=hand-]")];
    const hands = shown.map(({ dataset }) => [dataset.testid, dataset.cards]);
    // A bank that need not play keeps its second card face down: it has no name.
    const bank = document.querySelector("[data-testid=bank]").dataset.cards.trim();
    if (hands.length) window.results[window.results.length - 1] = { verdict, bank, hands: Object.fromEntries(hands) };
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
}
"""
# Either something is asked, or the round has its result.
_ASKED_OR_OVER = """
(rounds) => document.querySelector("[data-testid=asked] [data-testid^=DECISION_]")
  || window.results.length >= rounds
"""


@pytest.mark.rule("805/2015:3", "805/2015:13", "805/2015:24", "805/2015:31")
@pytest.mark.parametrize("device", ["desktop", "portrait"])
def test_rounds_of_a_player_alone(
    new_context: NewContext, screenshot: Screenshot, platform: Platform, device: str
) -> None:
    table = BlackjackPage(new_context(device).new_page())
    table.page.goto(f"/#/table/{ALONE}")
    expect(table.part("blackjack")).to_be_visible()
    table.page.evaluate(_NOTE_RESULTS)
    for number in range(1, ROUNDS + 1):
        # The result stays until the next bet; the chips of the round are gone before.
        table.expect_bet(1, 0)
        table.bet(times=2).deal()
        screenshot(table.page, f"blackjack-live-{device}-{number}-dealt")
        _play_out(table, number, screenshot, f"blackjack-live-{device}-{number}")
        _wait_for_result(table, number)
        screenshot(table.page, f"blackjack-live-{device}-{number}-result")
        _verify_round(table, platform, number)
    assert len(_rounds(table.page, platform)) == ROUNDS


@pytest.mark.rule("805/2015:4.a", "805/2015:6", "805/2015:12", "805/2015:31")
def test_a_round_of_two_players(new_context: NewContext, screenshot: Screenshot, platform: Platform) -> None:
    office, name = BackOffice(platform), ("Blackjack para dois (demonstração)", "Blackjack for two (demonstration)")
    listed = office.configure_table("two-blackjack-demo", "blackjack-demo", name, decision_ms=DECISION_MS, **UNHURRIED)
    seats = {"desktop": 2, "portrait": 5}
    tables = {device: BlackjackPage(new_context(device).new_page()) for device in seats}
    for device, table in tables.items():
        table.page.goto(f"/#/table/{listed}")
        table.part(f"seat-{seats[device]}").click()
        expect(table.part("blackjack")).to_be_visible()
        table.page.evaluate(_NOTE_RESULTS)
    for device, table in tables.items():
        table.expect_stage("betting")
        table.bet(seats[device], times=2)
    for device, table in tables.items():
        # Each sees the other's bet.
        expect(table.part(f"place-{7 - seats[device]}").locator(".chip-pile")).to_have_count(1)
        screenshot(table.page, f"blackjack-many-{device}-1-bets")
    office.advance_tables(WINDOW_S)
    for device, table in tables.items():
        table.page.bring_to_front()
        _play_out(table, 1, screenshot, f"blackjack-many-{device}-2")
    for device, table in tables.items():
        table.page.bring_to_front()
        _wait_for_result(table, 1)
        screenshot(table.page, f"blackjack-many-{device}-3-result")
        _verify_round(table, platform, 1)
    one, other = (_rounds(table.page, platform)[0]["round"] for table in tables.values())
    assert one["outcome"] == other["outcome"]
    for table in tables.values():
        Player.demo_player_of(platform, table.page).leave()


def _play_out(table: BlackjackPage, rounds: int, screenshot: Screenshot, name: str) -> None:
    """Decides until nothing is asked any more: no to every offer, stands where that is possible, and else draws."""
    asked = 0
    while True:
        table.page.wait_for_function(_ASKED_OR_OVER, arg=rounds, timeout=ROUND_MS)
        question = table.part("asked")
        if question.count() == 0:
            return
        key = question.get_attribute("data-key")
        choices = [each.get_attribute("data-testid") for each in question.locator("[data-testid^=DECISION_]").all()]
        wanted = next(each for each in ("DECISION_DECLINE", "DECISION_STAND", "DECISION_DRAW") if each in choices)
        asked += 1
        screenshot(table.page, f"{name}-asked-{asked}")
        table.part(wanted).click()
        expect(table.page.locator(f'[data-key="{key}"]')).to_have_count(0)
        if wanted == "DECISION_STAND":
            return


def _wait_for_result(table: BlackjackPage, rounds: int) -> None:
    shown = "(rounds) => window.results.length >= rounds && window.results[rounds - 1].verdict"
    table.page.wait_for_function(shown, arg=rounds, timeout=ROUND_MS)


def _rounds(page: Page, platform: Platform) -> list[Json]:
    """The player's rounds by the platform's record, newest first."""
    player = Player.demo_player_of(platform, page)
    rounds: list[Json] = call(f"{platform.url}/v1/games/blackjack/players/{player.name}/rounds", player.token)["rounds"]
    return rounds


def _verify_round(table: BlackjackPage, platform: Platform, number: int) -> None:
    """What the page has shown of a round is what the platform has on record of the player's last one."""
    shown = table.page.evaluate("(number) => window.results[number - 1]", number)
    played = _rounds(table.page, platform)[0]
    outcome = played["round"]["outcome"]
    hands = {f"hand-{hand['place']}-{hand['number']}": " ".join(hand["cards"]) for hand in outcome["hands"]}
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    verdict = "lost" if payout == 0 else "less" if payout < staked else "even" if payout == staked else "won"
    assert shown == {"hands": hands, "bank": " ".join(filter(None, outcome["bank"]["cards"])), "verdict": verdict}

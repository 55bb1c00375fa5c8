"""Compares what a page has shown of a round with the platform's record."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.driver import wheel_image
from tests.browser.driver.navigation import open_panel
from tests.browser.driver.player import Bets, results_by_place
from tests.browser.driver.recording import Recording
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import TablePage, cents_in

COLOUR_WORDS = {"red": "encarnado", "black": "preto", "green": "Zero"}


def mixed_bets(variant: str) -> Bets:
    """Bets of which some win and some lose, whatever is drawn."""
    zeros = ["0", "00"] if variant.startswith("american-00") else ["0"]
    return {"red": 200, "black": 100, "dozen-2": 100, "16-17-19-20": 100, **dict.fromkeys(zeros, 100)}


def drawn_number(played: Json) -> str:
    number: str = played["round"]["outcome"]["number"]
    return number


def verify_nothing_revealed_early(story: Recording, played: Json) -> None:
    """From «nada mais» until the ball rests the page knows the number, and shows or announces nothing of it."""
    number, round_id = drawn_number(played), played["round"]["round_id"]
    before = story.until_event("betting_closed", round_id).page_states[-1]
    rest = story.since_event("betting_closed", round_id)
    assert rest.table_events("outcome_drawn")[0]["outcome"]["number"] == number
    rolling = rest.until_stage("marked").page_states
    assert "rolling" in {look["stage"] for look in rolling}
    named = re.compile(rf"(?<!\d){number}(?!\d)")
    for look in rolling:
        for part in ("lastNumbers", "balance", "title"):
            assert look[part] == before[part], part
        # A table for many may still show the result of the round before.
        assert look["marked"] is None
        assert look["wheelNumber"] is None
        assert look["verdict"] is None
        assert look["outcomeText"] == ""
        assert look["collectedChips"] == []
        assert look["prizes"] == {}
        assert look["otherChipsLost"] == []
        for part in ("announcements", "otherTexts"):
            told = [words for words in look[part] if words not in before[part] and named.search(words)]
            assert not told, f"{told} while the ball rolls to {number}"
        if look["stage"] == "rolling":
            assert look["headline"] == "Jogo feito, nada mais"
            assert look["closed"]


def verify_order(story: Recording, played: Json) -> None:
    """The ball rests, the number is marked, losing chips go, winners are paid: in this order, and all of it."""
    bets = results_by_place(played)
    lost = {place for place, (_, payout, _) in bets.items() if payout == 0}
    prizes = {place: prize for place, (_, payout, prize) in bets.items() if payout}
    assert lost, "the bets were to lose in part"
    assert prizes, "the bets were to win in part"
    round_id = played["round"]["round_id"]
    rest = story.since_event("betting_closed", round_id)
    # All of it was shown before the next window of a table for many opened.
    stages = [stage for stage in rest.stages() if stage != "quiet"]
    assert stages[:4] == ["rolling", "marked", "collected", "paid"]
    before = rest.page_states[0]["balance"]
    for look in rest.since_stage("marked").until_stage("collected").page_states:
        assert look["marked"] == drawn_number(played)
        assert (look["collectedChips"], look["prizes"], look["balance"], look["closed"]) == ([], {}, before, True)
        assert set(look["chips"]) == set(bets)
    for look in rest.since_stage("collected").until_stage("paid").page_states:
        assert set(look["collectedChips"]) == lost
        assert (look["prizes"], look["balance"], look["closed"]) == ({}, before, True)
    paid = [look for look in rest.since_stage("paid").page_states if look["stage"] == "paid"]
    assert paid[0]["marked"] == drawn_number(played)
    assert (set(paid[0]["collectedChips"]), paid[0]["prizes"]) == (lost, prizes)
    assert paid[-1]["balance"] == str(_free_after(rest, played))
    for look in rest.since_stage("marked").until_stage("paid").page_states:
        assert look["lastNumbers"][0] == look["wheelNumber"] == drawn_number(played)


def _free_after(rest: Recording, played: Json) -> int:
    """The player's balance after the round; nothing else was in play."""
    after: str = played["balance_after_cents"]
    assert rest.page_states, "the page showed nothing"
    return int(after)


def verify_announced_result(story: Recording, played: Json) -> None:
    """The prize shown is the prize paid, and a payout below the stake is not called a win."""
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    prize = sum(prize for _, _, prize in results_by_place(played).values())
    rest = story.since_event("betting_closed", played["round"]["round_id"])
    look = next(look for look in rest.since_stage("paid").page_states if look["stage"] == "paid")
    number, amounts = drawn_number(played), cents_in(look["outcomeText"].removeprefix(drawn_number(played)))
    assert look["outcomeText"].startswith(number)
    assert COLOUR_WORDS[wheel_image.colour_of(number)].lower() in look["outcomeText"].lower()
    back = [payout, prize, staked]
    if payout > staked:
        assert (look["verdict"], amounts) == ("won", [payout - staked, *back])
    elif payout == staked:
        assert (look["verdict"], amounts) == ("even", back)
    else:
        assert (look["verdict"], amounts) == ("less", [staked - payout, *back])
        assert "Ganhou" not in look["outcomeText"]


def verify_ball_position(table: TablePage, number: str) -> None:
    """The ball lies in the pocket of the number, and the display shows the number in its colour."""
    assert wheel_image.number_under_ball(table.wheel) == number
    newest = table.part("last-numbers").locator("li").first
    expect(newest).to_have_attribute("data-number", number)
    colour = wheel_image.colour_of(number)
    ground = newest.evaluate("(number) => getComputedStyle(number).backgroundColor")
    assert wheel_image.colour_name(ground) == colour
    assert COLOUR_WORDS[colour].lower() in (newest.text_content() or "").lower()


def verify_last_round_dialog(table: TablePage, played: Json) -> None:
    """«Última jogada» shows the result, and for every bet what it paid."""
    open_panel(table.page, "last")
    sheet = table.part("last-round")
    expect(sheet.get_by_test_id("round-told")).to_have_attribute("data-number", drawn_number(played))
    told = {}
    for row in sheet.get_by_test_id("told-bets").locator("tbody tr").all():
        amounts = [cents_in(f"{text} €")[0] for text in row.locator("td").all_inner_texts()]
        told[row.get_attribute("data-place")] = tuple(amounts)
    assert told == results_by_place(played)
    table.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

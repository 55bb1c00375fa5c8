"""What a page has shown of a round, held against what the platform says of it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser import wheel_drawn
from tests.browser.player import Felt, results
from tests.browser.rest import Said
from tests.browser.table_page import TablePage, cents_in
from tests.browser.visitor import look_up
from tests.browser.witness import Story

COLOUR_WORDS = {"red": "encarnado", "black": "preto", "green": "Zero"}


def hedged(variant: str) -> Felt:
    """Bets of which some win and some lose, whatever is drawn."""
    zeros = ["0", "00"] if variant.startswith("american-00") else ["0"]
    return {"red": 200, "black": 100, "dozen-2": 100, "16-17-19-20": 100, **dict.fromkeys(zeros, 100)}


def number_of(played: Said) -> str:
    number: str = played["round"]["outcome"]["number"]
    return number


def nothing_was_told_early(story: Story, played: Said) -> None:
    """From «nada mais» until the ball lies the page knows the number, and nobody who looks at it or hears it does."""
    number, round_id = number_of(played), played["round"]["round_id"]
    before = story.until("betting_closed", round_id).seen[-1]
    rest = story.since("betting_closed", round_id)
    assert rest.heard("outcome_drawn")[0]["outcome"]["number"] == number
    rolling = rest.until_seen("marked").seen
    assert "rolling" in {look["stage"] for look in rolling}
    named = re.compile(rf"(?<!\d){number}(?!\d)")
    for look in rolling:
        for part in ("last", "balance", "title"):
            assert look[part] == before[part], part
        # A table for many may still have said of the round before what it came to.
        assert look["marked"] is None
        assert look["onWheel"] is None
        assert look["verdict"] is None
        assert look["called"] == ""
        assert look["gone"] == []
        assert look["prizes"] == {}
        assert look["othersLost"] == []
        for part in ("live", "beside"):
            told = [words for words in look[part] if words not in before[part] and named.search(words)]
            assert not told, f"{told} while the ball rolls to {number}"
        if look["stage"] == "rolling":
            assert look["headline"] == "Jogo feito, nada mais"
            assert look["shut"]


def told_in_order(story: Story, played: Said) -> None:
    """The ball lies, the number is marked, losing chips go, winners are paid: one after the other, and all of it."""
    bets = results(played)
    lost = {place for place, (_, payout, _) in bets.items() if payout == 0}
    prizes = {place: prize for place, (_, payout, prize) in bets.items() if payout}
    assert lost, "the bets were to lose in part"
    assert prizes, "the bets were to win in part"
    round_id = played["round"]["round_id"]
    rest = story.since("betting_closed", round_id)
    # Whatever has to be seen was seen before the next window of a table for many opened.
    stages = [stage for stage in rest.stages() if stage != "quiet"]
    assert stages[:4] == ["rolling", "marked", "collected", "paid"]
    before = rest.seen[0]["balance"]
    for look in rest.since_seen("marked").until_seen("collected").seen:
        assert look["marked"] == number_of(played)
        assert (look["gone"], look["prizes"], look["balance"], look["shut"]) == ([], {}, before, True)
        assert set(look["own"]) == set(bets)
    for look in rest.since_seen("collected").until_seen("paid").seen:
        assert set(look["gone"]) == lost
        assert (look["prizes"], look["balance"], look["shut"]) == ({}, before, True)
    paid = [look for look in rest.since_seen("paid").seen if look["stage"] == "paid"]
    assert paid[0]["marked"] == number_of(played)
    assert (set(paid[0]["gone"]), paid[0]["prizes"]) == (lost, prizes)
    assert paid[-1]["balance"] == str(_free_after(rest, played))
    for look in rest.since_seen("marked").until_seen("paid").seen:
        assert look["last"][0] == look["onWheel"] == number_of(played)


def _free_after(rest: Story, played: Said) -> int:
    """What the round left him with; nothing else was in play."""
    after: str = played["balance_after_cents"]
    assert rest.seen, "nothing was seen"
    return int(after)


def called_truly(story: Story, played: Said) -> None:
    """The prize that is shown is the prize that was paid, and a payout below the stake is called no win."""
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    prize = sum(prize for _, _, prize in results(played).values())
    rest = story.since("betting_closed", played["round"]["round_id"])
    look = next(look for look in rest.since_seen("paid").seen if look["stage"] == "paid")
    number, amounts = number_of(played), cents_in(look["called"].removeprefix(number_of(played)))
    assert look["called"].startswith(number)
    assert COLOUR_WORDS[wheel_drawn.colour_of(number)].lower() in look["called"].lower()
    back = [payout, prize, staked]
    if payout > staked:
        assert (look["verdict"], amounts) == ("won", [payout - staked, *back])
    elif payout == staked:
        assert (look["verdict"], amounts) == ("even", back)
    else:
        assert (look["verdict"], amounts) == ("less", [staked - payout, *back])
        assert "Ganhou" not in look["called"]


def ball_lies_in(table: TablePage, number: str) -> None:
    """Where one sees it, and where the display says that it fell, with the colour of the number."""
    assert wheel_drawn.number_under_ball(table.wheel) == number
    newest = table.part("last-numbers").locator("li").first
    expect(newest).to_have_attribute("data-number", number)
    colour = wheel_drawn.colour_of(number)
    ground = newest.evaluate("(number) => getComputedStyle(number).backgroundColor")
    assert wheel_drawn.painted(ground) == colour
    assert COLOUR_WORDS[colour].lower() in (newest.text_content() or "").lower()


def last_round_tells(table: TablePage, played: Said) -> None:
    """«Última jogada» tells the result and every bet with what it came to."""
    look_up(table.page, "last")
    sheet = table.part("last-round")
    expect(sheet.get_by_test_id("round-told")).to_have_attribute("data-number", number_of(played))
    told = {}
    for row in sheet.get_by_test_id("told-bets").locator("tbody tr").all():
        amounts = [cents_in(f"{text} €")[0] for text in row.locator("td").all_inner_texts()]
        told[row.get_attribute("data-place")] = tuple(amounts)
    assert told == results(played)
    table.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

"""Whoever comes while a result is being shown gets it: the ball where it is, the number once it lies, and his prize."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import round_shown, witness
from tests.browser.back_office import BackOffice
from tests.browser.conftest import NewContext, Screenshot
from tests.browser.player import Player
from tests.browser.rest import Said
from tests.browser.table_page import TablePage, cents_in
from tests.browser.witness import Story
from tests.system.platform import Platform

SHOWN = ("804/2015:16", "807/2015:18", "903-B/2015:6.2.3")
# On a slow machine, too, a page is loaded while the ball rolls, and while the number is marked.
SHOWN_MS = 18_000
TOLD = ["rolling", "marked", "collected", "paid"]


@pytest.mark.rule(*SHOWN)
@pytest.mark.parametrize("device", ["desktop", "portrait"])
@pytest.mark.parametrize("when", ["rolling", "marked", "paid"])
def test_a_reload_goes_on_where_the_round_is(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, when: str, device: str
) -> None:
    """Alone, with bets of which some win and some lose."""
    name = ("Roleta francesa sem pressa (demonstração)", "Unhurried French roulette (demonstration)")
    listed = BackOffice(platform).table("unhurried-solo-demo", "french-solo-demo", name, result_shown_ms=SHOWN_MS)
    context = new_context(device)
    witness.call_witness(context)
    page = context.new_page()
    table = TablePage(page, listed).open()
    player = Player.guest_of(platform, page)
    own_table = player.own_table(listed)
    bets = round_shown.hedged(listed)
    for place, cents in bets.items():
        table.put(place, cents // 100)
    table.chips_count(bets)
    table.spin()
    table.stage_is(when)
    page.reload()
    table.stage_is("paid")
    screenshot(page, f"during-result-{when}-{device}")
    (played,) = player.rounds(own_table)
    story = witness.story(page)
    _nothing_before_the_ball_lies(story, played)
    _all_is_told(table, story, played)
    # What has passed is not told again.
    stages = [stage for stage in story.stages() if stage != "quiet"]
    assert stages == [stage for stage in TOLD if stage in stages]
    expect(table.balance).to_have_attribute("data-cents", str(player.balance("MODE_DEMO")[0]))
    # And he goes on from there.
    table.bets_are_taken()
    table.put("red")
    table.chips_count({"red": 100})


@pytest.mark.rule(*SHOWN)
def test_the_lobby_and_back_and_one_who_arrives(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    """At a table for many: he who has bet is told what he got, who comes for the first time what was drawn."""
    times = {"betting_window_ms": 15_000, "result_shown_ms": SHOWN_MS}
    name = ("Roleta francesa com visitas (demonstração)", "French roulette with visitors (demonstration)")
    listed = BackOffice(platform).table("visited-demo", "french-demo", name, **times)
    contexts = [new_context("portrait"), new_context()]
    for context in contexts:
        witness.call_witness(context)
    page, later = (context.new_page() for context in contexts)
    table = TablePage(page, listed).open()
    player = Player.guest_of(platform, page)
    bets = round_shown.hedged(listed)
    table.window_of(10)
    for place, cents in bets.items():
        table.put(place, cents // 100)
    table.chips_count(bets)
    round_id = player.table(listed)["table"]["round"]["round_id"]
    table.stage_is("rolling")
    page.goto("/#/")
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    page.go_back()
    newcomer = TablePage(later, listed).open()
    for seat in (table, newcomer):
        seat.stage_is("paid")
    screenshot(page, "during-result-back")
    screenshot(later, "during-result-arrived")
    (played,) = [one for one in player.rounds() if one["round"]["round_id"] == round_id]
    _all_is_told(table, witness.story(page), played)
    expect(newcomer.part("outcome-called")).to_have_attribute("data-verdict", "unstaked")
    expect(newcomer.part("outcome-called")).to_contain_text(round_shown.number_of(played))
    expect(newcomer.part("marker")).to_have_attribute("data-number", round_shown.number_of(played))
    _nothing_before_the_ball_lies(witness.story(later), played)
    for seat in (table, newcomer):
        expect(seat.phase).to_contain_text("Próxima jogada dentro de")
        Player.guest_of(platform, seat.page).leave()


def _nothing_before_the_ball_lies(story: Story, played: Said) -> None:
    """Neither by a number, nor by a chip, nor by the balance."""
    number = round_shown.number_of(played)
    for look in story.until_seen(next(stage for stage in TOLD[1:] if stage in story.stages())).seen:
        assert (look["marked"], look["onWheel"], look["verdict"], look["called"]) == (None, None, None, "")
        assert (look["gone"], look["prizes"], look["othersLost"]) == ([], {}, [])
        assert look["balance"] is None
        assert look["shut"]
        assert look["headline"] == "Jogo feito, nada mais"
        assert not look["last"] or look["last"][0] != number or len(look["last"]) < _past(story)


def _past(story: Story) -> int:
    """How many numbers are shown once the ball lies."""
    return max(len(look["last"]) for look in story.seen)


def _all_is_told(table: TablePage, story: Story, played: Said) -> None:
    number = round_shown.number_of(played)
    expect(table.part("marker")).to_have_attribute("data-number", number)
    round_shown.ball_lies_in(table, number)
    look = next(look for look in story.since_seen("paid").seen if look["stage"] == "paid")
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    assert look["called"].startswith(number)
    assert cents_in(look["called"].removeprefix(number))[-1] == staked
    assert payout in cents_in(look["called"].removeprefix(number))
    assert set(look["own"]) == set(round_shown.hedged("french"))
    assert look["prizes"], "some of the bets were to win"

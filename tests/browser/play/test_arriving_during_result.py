"""A page that is opened during a result shows it: the ball where it is, the number once it rests, and the prize."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import recording, round_checks
from tests.browser.driver.back_office import RESULT_S, UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.player import Player
from tests.browser.driver.recording import Recording
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import TablePage, cents_in
from tests.system.platform import Platform

SHOWN = ("804/2015:16", "807/2015:18", "903-B/2015:6.2.3")
TOLD = ["rolling", "marked", "collected", "paid"]


@pytest.mark.rule(*SHOWN)
@pytest.mark.parametrize("device", ["desktop", "portrait"])
@pytest.mark.parametrize("when", ["rolling", "marked", "paid"])
def test_a_reload_continues_the_result(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, when: str, device: str
) -> None:
    """Alone, with bets of which some win and some lose."""
    name = ("Roleta francesa sem pressa (demonstração)", "Unhurried French roulette (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("unhurried-solo-demo", "french-solo-demo", name, result_shown_ms=RESULT_S * 1000)
    context = new_context(device)
    recording.record_pages(context)
    page = context.new_page()
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(listed)
    bets = round_checks.mixed_bets(listed)
    table.place_bets(bets)
    table.record_stages()
    table.spin()
    table.expect_recorded_stage(when)
    page.reload()
    table.expect_stage("paid")
    screenshot(page, f"during-result-{when}-{device}")
    (played,) = player.rounds(own_table)
    story = recording.recording_of(page)
    _verify_nothing_before_the_ball_rests(story, played)
    _verify_result(table, story, played)
    # Stages that have passed are not shown again.
    stages = [stage for stage in story.stages() if stage != "quiet"]
    assert stages == [stage for stage in TOLD if stage in stages]
    expect(table.balance).to_have_attribute("data-cents", str(player.balance("MODE_DEMO")[0]))
    # And the player goes on from there.
    office.advance_tables(RESULT_S)
    table.wait_for_betting()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})


@pytest.mark.rule(*SHOWN)
def test_a_player_back_from_the_lobby_and_a_newcomer_see_the_result(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    """At a table for many a player who has bet sees the prize, and a newcomer the number."""
    name = ("Roleta francesa com visitas (demonstração)", "French roulette with visitors (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("visited-demo", "french-demo", name, **UNHURRIED)
    contexts = [new_context("portrait"), new_context()]
    for context in contexts:
        recording.record_pages(context)
    page, later = (context.new_page() for context in contexts)
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    bets = round_checks.mixed_bets(listed)
    table.wait_for_betting()
    table.place_bets(bets)
    round_id = player.table(listed)["table"]["round"]["round_id"]
    office.advance_tables(WINDOW_S)
    table.expect_stage("rolling")
    page.goto("/#/")
    expect(page.get_by_test_id("table-card").first).to_be_visible()
    page.go_back()
    newcomer = TablePage(later, listed).open()
    for seat in (table, newcomer):
        seat.expect_stage("paid")
    screenshot(page, "during-result-back")
    screenshot(later, "during-result-arrived")
    (played,) = [one for one in player.rounds() if one["round"]["round_id"] == round_id]
    _verify_result(table, recording.recording_of(page), played)
    expect(newcomer.part("outcome-called")).to_have_attribute("data-verdict", "unstaked")
    expect(newcomer.part("outcome-called")).to_contain_text(round_checks.drawn_number(played))
    expect(newcomer.part("marker")).to_have_attribute("data-number", round_checks.drawn_number(played))
    _verify_nothing_before_the_ball_rests(recording.recording_of(later), played)
    for seat in (table, newcomer):
        expect(seat.phase).to_contain_text("Próxima jogada dentro de")
        Player.demo_player_of(platform, seat.page).leave()


def _verify_nothing_before_the_ball_rests(story: Recording, played: Json) -> None:
    """Checks that neither a number nor a chip nor the balance gives it away."""
    number = round_checks.drawn_number(played)
    for look in story.until_stage(next(stage for stage in TOLD[1:] if stage in story.stages())).page_states:
        assert (look["marked"], look["wheelNumber"], look["verdict"], look["outcomeText"]) == (None, None, None, "")
        assert (look["collectedChips"], look["prizes"], look["otherChipsLost"]) == ([], {}, [])
        assert look["balance"] is None
        assert look["closed"]
        assert look["headline"] == "Jogo feito, nada mais"
        assert not look["lastNumbers"] or look["lastNumbers"][0] != number or len(look["lastNumbers"]) < _past(story)


def _past(story: Recording) -> int:
    """How many numbers are shown once the ball rests."""
    return max(len(look["lastNumbers"]) for look in story.page_states)


def _verify_result(table: TablePage, story: Recording, played: Json) -> None:
    number = round_checks.drawn_number(played)
    expect(table.part("marker")).to_have_attribute("data-number", number)
    round_checks.verify_ball_position(table, number)
    look = next(look for look in story.since_stage("paid").page_states if look["stage"] == "paid")
    staked, payout = int(played["staked_cents"]), int(played["payout_cents"])
    assert look["outcomeText"].startswith(number)
    assert cents_in(look["outcomeText"].removeprefix(number))[-1] == staked
    assert payout in cents_in(look["outcomeText"].removeprefix(number))
    assert set(look["chips"]) == set(round_checks.mixed_bets("french"))
    assert look["prizes"], "some of the bets were to win"

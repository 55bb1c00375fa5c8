"""No player loses the seat: not by a broken connection, a reload or the death of the gateway."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import BrowserErrors, NewContext, Screenshot
from tests.browser.driver import recording, round_checks
from tests.browser.driver.back_office import RESULT_S, UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage
from tests.processes.kill import kill
from tests.system.platform import Platform

ALONE = "french-solo-demo"
LOST = "A ligar de novo"


def _expect_broken_lines(browser_errors: BrowserErrors) -> None:
    browser_errors.expect(r"WebSocket connection to '.*/v1/ws' failed")
    browser_errors.expect(r"Failed to load resource: net::ERR_")


class CutConnection:
    """The connection of a page, which the test cuts at a moment of its choice; the next one is whole again."""

    def __init__(self, page: Page) -> None:
        # When the page sends this method, the platform still gets it, and the page gets nothing any more.
        self.cut_at = ""
        self.cuts = 0
        page.route_web_socket("**/v1/ws", self._line)

    def _line(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        cut = False

        def from_page(text: str | bytes) -> None:
            nonlocal cut
            if self.cut_at and json.loads(text)["method"] == self.cut_at:
                self.cut_at, cut = "", True
                self.cuts += 1
                server.send(text)
                return
            server.send(text)

        def from_server(text: str | bytes) -> None:
            if not cut:
                socket.send(text)
            elif "id" in json.loads(text):
                # The platform has answered, and the answer is lost.
                socket.close(code=4000)

        socket.on_message(from_page)
        server.on_message(from_server)


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("method", ["PlaceBets", "CancelBets"])
def test_a_command_whose_answer_is_lost_is_repeated(new_context: NewContext, platform: Platform, method: str) -> None:
    """The platform has done it; the page repeats it with the same id, and it is done once (G3)."""
    page = new_context().new_page()
    line = CutConnection(page)
    table = TablePage(page, ALONE).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(ALONE)
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    line.cut_at = f"RouletteService.{method}"
    if method == "PlaceBets":
        table.place_chips("black")
        table.expect_confirmed_chips({"red": 100, "black": 100})
    else:
        table.press("undo")
        table.expect_confirmed_chips({})
    assert line.cuts == 1
    assert player.on_felt(own_table) == ({"red": 100, "black": 100} if method == "PlaceBets" else {})
    assert player.balance("MODE_DEMO")[1] == (200 if method == "PlaceBets" else 0)


def test_a_connection_that_breaks_at_the_launch_still_shows_the_round(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    """Once the connection is back the page catches up, and the ball rolls."""
    context = new_context()
    page = context.new_page()
    line = CutConnection(page)
    name = ("Roleta francesa sem pressa (demonstração)", "Unhurried French roulette (demonstration)")
    times = {"result_shown_ms": RESULT_S * 1000}
    # The ball rolls for longer than a connection takes to be made again.
    listed = BackOffice(platform).configure_table("unhurried-solo-demo", "french-solo-demo", name, **times)
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(listed)
    bets = round_checks.mixed_bets(listed)
    table.place_bets(bets)
    line.cut_at = "RouletteService.Spin"
    table.record_stages()
    table.spin()
    table.expect_stage("paid")
    assert "rolling" in table.recorded_stages()
    screenshot(page, "reconnect-at-launch-paid")
    assert line.cuts == 1
    (played,) = player.rounds(own_table)
    round_checks.verify_ball_position(table, round_checks.drawn_number(played))
    expect(table.balance).to_have_attribute("data-cents", str(player.balance("MODE_DEMO")[0]))


def test_chips_placed_without_a_connection_count_once_it_is_back(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, browser_errors: BrowserErrors
) -> None:
    _expect_broken_lines(browser_errors)
    context = new_context("portrait")
    page = context.new_page()
    table = TablePage(page, ALONE).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(ALONE)
    table.place_chips("red", 2)
    table.expect_confirmed_chips({"red": 200})
    # The browser says that it is offline, and leaves the dead connection open.
    context.set_offline(offline=True)
    expect(table.part("line-notice")).to_contain_text(LOST)
    table.place_chips("17")
    assert table.confirmed_and_pending_chips() == ({"red": 200}, {"17": 100})
    expect(table.part("staked")).to_have_attribute("data-cents", "200")
    screenshot(page, "reconnect-offline")
    assert player.on_felt(own_table) == {"red": 200}
    context.set_offline(offline=False)
    table.expect_confirmed_chips({"red": 200, "17": 100})
    expect(table.part("line-notice")).to_be_empty()
    assert player.on_felt(own_table) == {"red": 200, "17": 100}
    table.press("undo")
    table.expect_confirmed_chips({"red": 200})


def test_a_reload_finds_chips_and_steps_as_they_were(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    """The lobby says that a round is not finished."""
    page = new_context().new_page()
    table = TablePage(page, ALONE).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(ALONE)
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.place_chips("17-20")
    table.expect_confirmed_chips({"red": 100, "17-20": 100})
    page.reload()
    table.wait_until_playable()
    table.expect_confirmed_chips({"red": 100, "17-20": 100})
    table.press("undo")
    table.expect_confirmed_chips({"red": 100})
    assert player.on_felt(own_table) == {"red": 100}

    page.goto("/#/")
    incomplete = page.get_by_test_id("incomplete")
    expect(incomplete).to_contain_text("Tem uma jogada por concluir")
    screenshot(page, "reconnect-incomplete-in-lobby")
    incomplete.get_by_role("link").click()
    table.wait_until_playable()
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    table.expect_stage("paid")
    (played,) = player.rounds(own_table)
    round_checks.verify_ball_position(table, round_checks.drawn_number(played))


def test_the_gateway_dies_while_bets_are_taken_and_while_the_ball_rolls(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, browser_errors: BrowserErrors
) -> None:
    _expect_broken_lines(browser_errors)
    name = ("Roleta francesa sem rede (demonstração)", "French roulette without a net (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("fallen-demo", "french-demo", name, **UNHURRIED)
    context = new_context()
    recording.record_pages(context)
    page = context.new_page()
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    bets = round_checks.mixed_bets(listed)
    table.wait_for_betting()
    table.place_bets(bets)
    round_id = player.table(listed)["table"]["round"]["round_id"]

    _kill_gateway(platform)
    table.expect_confirmed_chips(bets)
    _back_again(page, platform)
    table.expect_confirmed_chips(bets)
    office.advance_tables(WINDOW_S)
    table.expect_stage("rolling")
    _kill_gateway(platform)
    screenshot(page, "reconnect-gateway-died-rolling")
    table.expect_stage("paid")
    _back_again(page, platform)
    (played,) = [one for one in player.rounds() if one["round"]["round_id"] == round_id]
    story = recording.recording_of(page)
    round_checks.verify_nothing_revealed_early(story, played)
    stages = [stage for stage in story.since_event("betting_closed", round_id).stages() if stage != "quiet"]
    assert stages[:4] == ["rolling", "marked", "collected", "paid"]
    assert round_checks.drawn_number(played) in table.last_numbers()
    expect(table.balance).to_have_attribute("data-cents", str(player.balance("MODE_DEMO")[0]))
    # And the table goes on.
    office.advance_tables(RESULT_S)
    expect(page.locator("[data-own]")).to_have_count(0)
    table.wait_for_betting()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    player.leave()


def _kill_gateway(platform: Platform) -> None:
    process = platform.process("gateway")
    kill(process)
    platform.wait(lambda: platform.process_is_new("gateway", process.pid))


def _back_again(page: Page, platform: Platform) -> None:
    platform.wait(platform.ready)
    expect(page.get_by_test_id("line-notice")).to_be_empty()

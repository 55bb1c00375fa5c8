"""Placing chips and taking them back: after every step the page shows what the platform holds."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import recording
from tests.browser.driver.back_office import UNHURRIED, WINDOW_S, BackOffice, quick_demo_table
from tests.browser.driver.player import Bets, Player
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

LISTED = "french-solo-demo"


@pytest.mark.rule("807/2015:9", "903-B/2015:6.2.2")
def test_chips_go_down_and_come_back(new_context: NewContext, platform: Platform) -> None:
    page = new_context(reduced_motion="reduce").new_page()
    listed = quick_demo_table(BackOffice(platform))
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(listed)

    def verify(expected: Bets) -> None:
        table.expect_confirmed_chips(expected)
        assert player.on_felt(own_table) == expected
        expect(table.part("staked")).to_have_attribute("data-cents", str(sum(expected.values())))

    verify({})
    # Two quick clicks are two chips.
    page.mouse.dblclick(*table.chip_positions()["red"])
    verify({"red": 200})
    table.choose_chip(500)
    table.place_chips("17")
    verify({"red": 200, "17": 500})
    table.press("double")
    verify({"red": 400, "17": 1000})
    table.press("undo")
    verify({"red": 200, "17": 500})
    table.press("undo")
    verify({"red": 200})
    # The other button takes the last chip of a place back.
    page.mouse.click(*table.chip_positions()["red"], button="right")
    verify({"red": 100})
    table.place_chips("even")
    table.press("clear")
    verify({})
    table.press("undo")
    expect(table.part("message")).to_contain_text("Ainda não tem fichas na mesa")

    table.place_chips("odd")
    table.choose_chip(100)
    table.place_chips("low")
    verify({"odd": 500, "low": 100})
    table.spin()
    table.expect_stage("paid")
    table.wait_for_betting()
    table.press("repeat")
    verify({"odd": 500, "low": 100})


@pytest.mark.guarantee("G3")
@pytest.mark.rule("807/2015:9")
def test_a_command_that_is_sent_twice_acts_once(new_context: NewContext, platform: Platform) -> None:
    context = new_context()
    recording.record_pages(context)
    page = context.new_page()
    table = TablePage(page, LISTED).open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(LISTED)
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    (sent,) = [
        one["text"]
        for one in recording.recording_of(page).sent_messages
        if one["method"] == "RouletteService.PlaceBets"
    ]
    page.evaluate("(text) => window.recording.sockets.at(-1).send(text)", sent)
    # The next bet is answered after the repeated message: had that acted, it would show by now.
    table.place_chips("black")
    table.expect_confirmed_chips({"red": 100, "black": 100})
    assert player.on_felt(own_table) == {"red": 100, "black": 100}
    assert player.balance("MODE_DEMO")[1] == 200


@pytest.mark.rule("804/2015:14", "807/2015:16")
def test_a_bet_that_comes_too_late_is_refused_in_words(
    new_context: NewContext, platform: Platform, screenshot: Screenshot
) -> None:
    """The bet is held up on its way until betting is closed; then one more is tried."""
    name = ("Roleta francesa rápida (demonstração)", "Quick French roulette (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("quick-demo", "french-demo", name, **UNHURRIED)
    page = new_context().new_page()
    held: list[str] = []
    late: list[str] = []

    def line(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def from_page(text: str | bytes) -> None:
            if json.loads(text)["method"] == "RouletteService.PlaceBets":
                held.append(str(text))
            else:
                server.send(text)

        def from_server(text: str | bytes) -> None:
            socket.send(text)
            if held and "betting_closed" in json.loads(text).get("params", {}):
                late.extend(held)
                for bet in held:
                    server.send(bet)
                held.clear()

        socket.on_message(from_page)
        server.on_message(from_server)

    page.route_web_socket("**/v1/ws", line)
    table = TablePage(page, listed).open()
    player = Player.demo_player_of(platform, page)
    had = player.balance("MODE_DEMO")
    table.wait_for_betting()
    table.place_chips("17")
    assert table.chips() == {"17": 100}
    office.advance_tables(WINDOW_S)
    message = table.part("message")
    expect(message).to_contain_text("Jogo feito: a aposta chegou tarde. Nada lhe foi cobrado.")
    # While the ball rolls: a picture takes its time.
    expect(table.phase).to_contain_text("Jogo feito, nada mais")
    screenshot(page, "bet-too-late")
    assert len(late) == 1
    table.expect_confirmed_chips({})
    table.place_chips("18")
    expect(message).to_contain_text("De momento não se aceitam apostas")
    assert table.chips() == {}
    table.expect_stage("paid")
    assert player.balance("MODE_DEMO") == had
    expect(table.balance).to_have_attribute("data-cents", str(had[0]))
    assert player.rounds(listed) == []
    player.leave()

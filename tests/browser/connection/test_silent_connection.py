"""A silently dead connection: the page says so, chips count as no bets, and it recovers by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.back_office import UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.player import Player
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

LOST = "A ligar de novo"


class DeadConnection:
    """The connection of a page on which nothing passes any more either way, and which nobody closes."""

    def __init__(self, page: Page) -> None:
        self._opened = 0
        # How many were open when it died.
        self._dead = 0
        self._reachable = True
        page.route_web_socket("**/v1/ws", self._line)

    def silence(self) -> None:
        """Silences the open connection; a new one cannot be made meanwhile."""
        self._dead, self._reachable = self._opened, False

    def restore(self) -> None:
        """Lets the next connection pass."""
        self._reachable = True

    def _line(self, socket: WebSocketRoute) -> None:
        if not self._reachable:
            socket.close(code=4000)
            return
        self._opened += 1
        number, server = self._opened, socket.connect_to_server()

        def from_page(text: str | bytes) -> None:
            if number > self._dead:
                server.send(text)

        def from_server(text: str | bytes) -> None:
            if number > self._dead:
                socket.send(text)

        socket.on_message(from_page)
        server.on_message(from_server)


@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("device", ["desktop", "portrait", "landscape"])
def test_bets_that_nobody_answers(
    new_context: NewContext, platform: Platform, screenshot: Screenshot, device: str
) -> None:
    page = new_context(device).new_page()
    line = DeadConnection(page)
    table = TablePage(page, "french-solo-demo").open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table("french-solo-demo")
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    places = table.chip_positions()
    line.silence()
    table.place_chips("17", 2)
    # They are shown, and are no stake; nothing has moved under the finger.
    assert table.confirmed_and_pending_chips() == ({"red": 100}, {"17": 200})
    expect(table.part("staked")).to_have_attribute("data-cents", "100")
    expect(table.part("waiting")).to_contain_text("2 créditos a caminho")
    assert table.chip_positions() == places
    expect(table.part("line-notice")).to_contain_text(LOST)
    # The notice of it covers neither the clock nor the game's name nor the balance.
    told = page.locator(".line-notice p")
    for part in (page.locator(".phase-ring"), page.locator(".phase-words"), page.locator(".table-bar"), table.balance):
        assert not _overlap(told, part), part
    # Unconfirmed chips are named only where there is room beside stake and unit.
    waiting = table.part("waiting")
    if device == "desktop":
        expect(waiting).to_be_visible()
        assert not _overlap(waiting, table.part("unit"))
    else:
        expect(waiting).to_be_hidden()
    expect(table.part("unit")).to_be_visible()
    expect(table.part("staked")).to_be_visible()
    screenshot(page, f"silent-line-{device}")
    line.restore()
    # It comes back by itself, and every bet counts once.
    table.expect_confirmed_chips({"red": 100, "17": 200})
    expect(table.part("line-notice")).to_be_empty()
    expect(table.part("staked")).to_have_attribute("data-cents", "300")
    expect(table.part("waiting")).to_have_count(0)
    assert player.on_felt(own_table) == {"red": 100, "17": 200}


def _overlap(one: Locator, other: Locator) -> bool:
    first, second = one.bounding_box(), other.bounding_box()
    assert first is not None
    assert second is not None
    beside = first["x"] + first["width"] <= second["x"] or second["x"] + second["width"] <= first["x"]
    above = first["y"] + first["height"] <= second["y"] or second["y"] + second["height"] <= first["y"]
    return not (beside or above)


def test_a_window_that_nobody_closes(new_context: NewContext, platform: Platform) -> None:
    """The player only waits: the clock is at 0, and the end does not come."""
    name = ("Roleta francesa breve (demonstração)", "Brief French roulette (demonstration)")
    office = BackOffice(platform)
    listed = office.configure_table("silent-demo", "french-demo", name, **UNHURRIED)
    page = new_context().new_page()
    page.clock.install()
    line = DeadConnection(page)
    table = TablePage(page, listed).open()
    table.wait_for_betting()
    line.silence()
    page.clock.fast_forward(WINDOW_S * 1000)
    expect(table.part("line-notice")).to_contain_text(LOST)
    office.advance_tables(WINDOW_S)
    line.restore()
    # The page catches up with the round.
    table.expect_stage("rolling", "marked", "collected", "paid")
    table.expect_stage("paid")
    expect(table.part("line-notice")).to_be_empty()
    Player.demo_player_of(platform, page).leave()

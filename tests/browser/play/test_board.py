"""The board: every place that may be bet on, by mouse and by finger."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.player import Bets, Player
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

# How many places of each kind there are with one zero, and with two (the sum is what can be bet on).
ONE_ZERO = Counter(STRAIGHT=37, SPLIT=60, STREET=14, CORNER=23, SIX_LINE=11, DOZEN=3, COLUMN=3, DOUBLE_DOZEN=2)
TWO_ZEROS = Counter(STRAIGHT=38, SPLIT=62, STREET=15, CORNER=22, SIX_LINE=11, DOZEN=3, COLUMN=3, DOUBLE_DOZEN=2)
ALWAYS = Counter(DOUBLE_COLUMN=2, EVEN=1, ODD=1, LOW=1, HIGH=1, RED=1, BLACK=1)
UNIT = 100

AMERICAN = pytest.mark.rule("804/2015:6", "804/2015:6.d", "804/2015:8", "903-B/2015:6.2.2")
FRENCH = pytest.mark.rule("807/2015:6", "807/2015:6.d", "807/2015:9", "903-B/2015:6.2.2")


@pytest.mark.parametrize(
    ("variant", "device"),
    [
        pytest.param("french", "landscape", marks=FRENCH),
        pytest.param("american", "portrait", marks=AMERICAN),
        pytest.param("american-00", "desktop", marks=AMERICAN),
    ],
)
def test_every_place_takes_a_chip_where_it_is(
    new_context: NewContext, screenshot: Screenshot, platform: Platform, variant: str, device: str
) -> None:
    """A place under the pointer shows what it covers and pays; clicked it holds a chip, and no other place does."""
    page = new_context(device, reduced_motion="reduce").new_page()
    table = TablePage(page, f"{variant}-solo-demo").open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(table.listed_id)
    layout = player.layout(own_table)
    kinds = Counter(place["kind"].removeprefix("KIND_") for place in layout["places"])
    assert kinds == (TWO_ZEROS if variant == "american-00" else ONE_ZERO) + ALWAYS

    # Looked up once: no message and no chip on the way may move the board.
    where = table.chip_positions()
    expected: Bets = {}
    for place in layout["places"]:
        name = place["place"]
        if device == "desktop":
            page.mouse.move(*where[name])
            _tells(table, place)
            page.mouse.down()
            page.mouse.up()
        else:
            page.touchscreen.tap(*where[name])
        expected[name] = UNIT
        # A tap becomes a click a moment after the finger has gone.
        table.expect_chips(expected)
    table.expect_confirmed_chips(expected)
    screenshot(page, f"board-full-{variant}-{device}")
    assert player.on_felt(own_table) == expected
    expect(table.part("staked")).to_have_attribute("data-cents", str(UNIT * len(expected)))

    table.press("clear")
    table.expect_confirmed_chips({})
    assert player.on_felt(own_table) == {}
    assert player.balance("MODE_DEMO")[1] == 0


def _tells(table: TablePage, place: Json) -> None:
    """Checks the description: the numbers, the prize, the least and the most."""
    lit, told = table.highlight()
    assert sorted(cell for cell in lit if cell.isdecimal()) == sorted(place["numbers"]), place["place"]
    halves = place["prize_halves"]
    assert ("metade da aposta" if halves == 1 else f"paga {halves // 2} para 1") in told, told
    assert f"de 1 crédito a {int(place['maximum_cents']) // 100} créditos" in told.replace("\u00a0", " "), told
    shown = place["numbers"] if len(place["numbers"]) <= 12 else [f"{len(place['numbers'])} números"]
    assert ", ".join(shown) in told, told

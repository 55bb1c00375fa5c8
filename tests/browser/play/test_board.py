"""The board: every space that the regulations name, and every place that may be bet on, by mouse and by finger."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import wheel_image
from tests.browser.driver.player import Bets, Player
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

BOXES = {
    "dozen-1",
    "dozen-2",
    "dozen-3",
    "column-1",
    "column-2",
    "column-3",
    "even",
    "odd",
    "low",
    "high",
    "red",
    "black",
}
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
        pytest.param("french", "desktop", marks=FRENCH),
        pytest.param("american", "portrait", marks=AMERICAN),
        pytest.param("american-00", "landscape", marks=AMERICAN),
    ],
)
def test_the_board_has_every_space(new_context: NewContext, screenshot: Screenshot, variant: str, device: str) -> None:
    table = TablePage(new_context(device).new_page(), f"{variant}-solo-demo").open()
    screenshot(table.page, f"board-{variant}-{device}")
    zeros = ["0", "00"] if variant == "american-00" else ["0"]
    for number in [*zeros, *map(str, range(1, 37))]:
        cell = table.cell(number)
        expect(cell).to_have_text(number)
        ground = cell.locator(".cell-ground" if number in zeros else ".cell-number-ground")
        fill = ground.evaluate("(ground) => getComputedStyle(ground).fill")
        assert wheel_image.colour_name(fill) == wheel_image.colour_of(number), number
    for box in BOXES:
        expect(table.cell(box)).to_be_visible()
    said = " ".join(table.part("board").locator(".cell-words").all_text_contents())
    for words in (
        "1.ª dúzia",
        "2.ª dúzia",
        "3.ª dúzia",
        "Menor",
        "Par",
        "Encarnado",
        "Preto",
        "Ímpar",
        "Maior",
        "2 para 1",
    ):
        assert words in said, said
    assert table.page.locator(".board [data-cell]").count() == len(zeros) + 36 + len(BOXES)
    _lies_in_three_columns_of_twelve(table)


def _lies_in_three_columns_of_twelve(table: TablePage) -> None:
    """One column of numbers runs towards its box, and each street of three across; zeros are at the other end."""
    at = {}
    for name in [*map(str, range(37)), *BOXES]:
        box = table.cell(name).bounding_box()
        assert box is not None
        at[name] = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wide = abs(at["34"][0] - at["1"][0]) > abs(at["34"][1] - at["1"][1])
    along, across = (0, 1) if wide else (1, 0)
    for number in range(1, 37):
        street, column = (number - 1) // 3, (number - 1) % 3 + 1
        here = at[str(number)]
        assert here[along] == pytest.approx(at[str(street * 3 + 1)][along], abs=1), number
        assert here[across] == pytest.approx(at[f"column-{column}"][across], abs=1), number
    order = [at[name][along] for name in ("0", *(str(n) for n in range(1, 37, 3)), "column-1")]
    assert order == sorted(order)


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
    """Pointed at it shows what it covers and pays; clicked it holds a chip, and no other place does."""
    page = new_context(device, reduced_motion="reduce").new_page()
    table = TablePage(page, f"{variant}-solo-demo").open()
    player = Player.demo_player_of(platform, page)
    own_table = player.own_table(table.listed_id)
    layout = player.layout(own_table)
    kinds = Counter(place["kind"].removeprefix("KIND_") for place in layout["places"])
    assert kinds == (TWO_ZEROS if variant == "american-00" else ONE_ZERO) + ALWAYS

    # Looked up once: nothing that is said or put down on the way may move the board.
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
        assert table.chips() == expected, f"{name} was clicked"
    table.expect_confirmed_chips(expected)
    screenshot(page, f"board-full-{variant}-{device}")
    assert player.on_felt(own_table) == expected
    expect(table.part("staked")).to_have_attribute("data-cents", str(UNIT * len(expected)))

    table.press("clear")
    table.expect_confirmed_chips({})
    assert player.on_felt(own_table) == {}
    assert player.balance("MODE_DEMO")[1] == 0


def _tells(table: TablePage, place: Json) -> None:
    """Before anything is bet: the numbers, the prize, the least and the most."""
    lit, told = table.highlight()
    assert sorted(cell for cell in lit if cell.isdecimal()) == sorted(place["numbers"]), place["place"]
    halves = place["prize_halves"]
    assert ("metade da aposta" if halves == 1 else f"paga {halves // 2} para 1") in told, told
    assert f"de 1 crédito a {int(place['maximum_cents']) // 100} créditos" in told.replace("\u00a0", " "), told
    shown = place["numbers"] if len(place["numbers"]) <= 12 else [f"{len(place['numbers'])} números"]
    assert ", ".join(shown) in told, told

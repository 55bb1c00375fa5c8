"""The board: every space that the regulations name, in the order in which they lie."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import wheel_image
from tests.browser.driver.table_page import TablePage

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

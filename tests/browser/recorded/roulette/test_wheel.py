"""The wheel, its numbers and colours, and the display of the last ones: drawn as the regulations demand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver import wheel_image
from tests.browser.driver.table_page import TablePage

WHEELS = [
    pytest.param("french", marks=pytest.mark.rule("807/2015:6", "807/2015:6.a", "807/2015:6.b", "807/2015:6.c")),
    pytest.param("american", marks=pytest.mark.rule("804/2015:6", "804/2015:6.a", "804/2015:6.b", "804/2015:6.c")),
    pytest.param("american-00", marks=pytest.mark.rule("804/2015:6", "804/2015:6.a", "804/2015:6.b", "804/2015:6.c")),
]


@pytest.mark.parametrize("variant", WHEELS)
def test_the_wheel_is_drawn_in_the_regulation_s_order(
    new_context: NewContext, screenshot: Screenshot, variant: str
) -> None:
    context = new_context(reduced_motion="reduce")
    table = TablePage(context.new_page(), f"{variant}-solo-demo").open()
    drawn = wheel_image.pockets(table.wheel)
    screenshot(table.page, f"wheel-{variant}")

    assert [pocket.number for pocket in drawn] == wheel_image.CLOCKWISE[variant].split()
    # Evenly spaced: none is wider than another.
    assert wheel_image.pocket_widths(drawn) == pytest.approx([360 / len(drawn)] * len(drawn), abs=0.01)
    assert {pocket.number: pocket.colour for pocket in drawn} == {
        pocket.number: wheel_image.colour_of(pocket.number) for pocket in drawn
    }
    alike = [
        (one.number, other.number)
        for one, other in pairwise([*drawn, drawn[0]])
        if one.colour == other.colour and one.colour != "green"
    ]
    # The order that 804/2015 gives the wheel with one zero has two red neighbours, and no other wheel has any.
    assert alike == ([("1", "27")] if variant == "american" else [])
    # Where it is large enough to be seen it is also high enough: a circle, whole.
    box = table.wheel.bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(box["height"], rel=0.02)


@pytest.mark.rule("804/2015:6.e", "807/2015:6.e")
def test_a_table_where_nothing_was_drawn_says_so(new_context: NewContext) -> None:
    table = TablePage(new_context().new_page(), "american-solo-demo").open()
    expect(table.page.get_by_text("Ainda não saíram números.")).to_be_visible()

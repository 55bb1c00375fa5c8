"""The racetrack: a button for every call bet, where the table offers them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext, Screenshot
from tests.browser.driver.table_page import TablePage
from tests.browser.recorded import answers
from tests.browser.recorded.platform import TABLE


@pytest.mark.rule("807/2015:9")
def test_every_call_bet_has_its_button(new_context: NewContext, screenshot: Screenshot) -> None:
    page = new_context("portrait").new_page()
    table = TablePage(page, TABLE).open()
    layout = answers.read(TABLE)["RouletteService.GetLayout"]
    expect(table.part("racetrack")).to_be_hidden()
    table.part("turn-track").click()
    expect(table.part("racetrack")).to_be_visible()
    screenshot(page, "racetrack-portrait")
    found = set()
    for neighbours in (2, 4, 6):
        table.part(f"neighbours-{neighbours}").click()
        found |= set(
            table.part("racetrack").evaluate(
                "(track) => [...track.querySelectorAll('[data-call]')].map((button) => button.dataset.call)"
            )
        )
    assert found == {bet["place"] for bet in layout["call_bets"]}
    table.part("call-final-7").tap()
    # The racetrack shows the chips too.
    expect(table.page.locator("[data-covered]")).to_have_count(3)
    rings = table.part("racetrack").locator("[data-covered]").all()
    assert {ring.get_attribute("data-covered") for ring in rings} == {"7", "17", "27"}
    screenshot(page, "racetrack-covered-portrait")
    table.part("turn-track").click()
    table.expect_confirmed_chips({"7": 100, "17": 100, "27": 100})


def test_american_tables_have_no_racetrack(new_context: NewContext) -> None:
    table = TablePage(new_context().new_page(), "american-00-solo-demo").open()
    expect(table.part("racetrack")).to_have_count(0)
    expect(table.part("turn-track")).to_have_count(0)

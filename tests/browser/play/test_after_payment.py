"""After the payment: a session that has ended stakes nothing, and chips above the balance stay grey."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import LogIn, NewContext
from tests.browser.driver.back_office import BackOffice, quick_demo_table, quick_real_table
from tests.browser.driver.navigation import end_session, new_player_page
from tests.browser.driver.page_clock import install_stoppable_clock, stopped_clock
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform


def test_nothing_is_staked_once_the_session_is_over(desktop: Page, platform: Platform) -> None:
    table = TablePage(desktop, quick_demo_table(BackOffice(platform))).open()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    table.spin()
    table.expect_stage("paid")
    table.wait_for_betting()
    end_session(desktop)
    expect(table.part("staked")).to_have_attribute("data-cents", "0")


# Which chips are grey: each time that one of them, or the round's story, changes.
_NOTE_GREY = """
() => {
  const [tray, roulette] = ["tray", "roulette"].map((id) => document.querySelector(`[data-testid=${id}]`));
  window.grey = [];
  const look = () => {
    const chips = [...tray.querySelectorAll(".tray-chip")].map((chip) => chip.classList.contains("beyond"));
    window.grey.push([roulette.dataset.stage, chips]);
  };
  look();
  new MutationObserver(look).observe(tray, { subtree: true, attributes: true, attributeFilter: ["class"] });
  new MutationObserver(look).observe(roulette, { attributeFilter: ["data-stage"] });
}
"""


def test_chips_above_the_balance_stay_grey_while_the_ball_rolls(
    new_context: NewContext, log_in: LogIn, platform: Platform
) -> None:
    context = new_context()
    install_stoppable_clock(context)
    page, _ = new_player_page(context, log_in, "vera")
    table = TablePage(page, quick_real_table(BackOffice(platform))).open()
    table.place_chips("red")
    table.expect_confirmed_chips({"red": 100})
    expect(page.locator(".tray-chip.beyond")).not_to_have_count(0)
    page.evaluate(_NOTE_GREY)
    table.record_stages()
    # The ball rolls for half a second at this table: an outcome that has been on its way for longer rests already.
    with stopped_clock(page):
        table.spin()
        table.expect_recorded_stage("rolling")
    table.expect_stage("paid")
    looks = page.evaluate("() => window.grey")
    assert "rolling" in {stage for stage, _ in looks}
    _, before = looks[0]
    assert all(chips == before for stage, chips in looks if stage != "paid")

"""What the law wants on every page with a game: its name, the balance, the unit, the total stake, the time played."""

from __future__ import annotations

import math
import re
import time

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import DEVICES, LogIn, NewContext
from tests.browser.driver.back_office import BackOffice
from tests.browser.driver.navigation import new_player_page
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

_WHOLE = "(text) => text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight + 1"
# At the one for many bets are taken for as long as anybody looks.
FOR_MANY = "american-patient"
TABLES_AHEAD_S = 3 * 3600
TABLES = {"american-00-solo": "Roleta americana individual, 0 e 00", FOR_MANY: "Roleta americana, um zero"}


@pytest.mark.rule("903-B/2015:6.2.1")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("listed_id", TABLES)
def test_name_balance_unit_stake_and_time_are_always_there(
    new_context: NewContext, log_in: LogIn, platform: Platform, device: str, listed_id: str
) -> None:
    called = (TABLES[FOR_MANY], "American roulette, one zero")
    office = BackOffice(platform)
    office.configure_table(FOR_MANY, "american", called, betting_window_ms=600_000)
    # The time played is the session clock's, wherever the tables' clock is.
    office.advance_tables(TABLES_AHEAD_S)
    context = new_context(device, reduced_motion="reduce")
    page, name = new_player_page(context, log_in, "zita")
    page.clock.install()
    table = TablePage(page, listed_id).open()
    table.wait_for_betting()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(TABLES[listed_id])
    assert heading.evaluate(_WHOLE), "the name is cut off"
    table.choose_chip(500)
    table.place_chips("red")
    table.place_chips("odd")
    table.expect_confirmed_chips({"red": 500, "odd": 500})
    shown = {"balance": "90,00 €", "unit": "5,00 €", "staked": "10,00 €"}
    for part, words in shown.items():
        expect(table.part(part)).to_be_in_viewport(ratio=1)
        expect(table.part(part)).to_contain_text(words)
    expect(table.balance).to_have_attribute("data-cents", "9000")
    played = table.part("played")
    expect(played).to_be_in_viewport(ratio=1)
    _rises_by_an_hour_in_an_hour(played, office, name)
    expect(table.balance).to_be_in_viewport(ratio=1)
    more = table.part("table-more")
    if more.is_visible():
        # What a narrow bar has no room for.
        more.click()
        expect(table.part("menu-in-play")).to_have_text("+ 10,00 € em jogo", use_inner_text=True)
        expect(table.part("menu-company")).to_have_count(1 if listed_id == FOR_MANY else 0)
    # A page that is opened while the session runs.
    page.reload()
    table.wait_until_playable()
    _rises_by_an_hour_in_an_hour(played, office, name)


def _rises_by_an_hour_in_an_hour(played: Locator, office: BackOffice, name: str) -> None:
    # Less than an hour, as soon as the page has heard from the session clock.
    expect(played).to_have_text(re.compile(r"^\D*\d{1,2}:\d\d$"), use_inner_text=True)
    began = time.monotonic()
    before = _seconds(played.inner_text())
    age_s = int(office.last_session(name)["summary"]["duration_ms"]) / 1000
    assert before <= age_s
    played.page.clock.fast_forward("01:00:00")
    expect(played).to_have_text(re.compile(r"^\D*1:\d\d:\d\d$"), use_inner_text=True)
    rose = _seconds(played.inner_text()) - before
    # The page's clock goes on meanwhile; what is shown is whole seconds.
    assert 3600 <= rose <= 3601 + math.ceil(time.monotonic() - began)


def _seconds(shown: str) -> int:
    *hours, minutes, seconds = (int(part) for part in re.findall(r"\d+", shown))
    return 3600 * sum(hours) + 60 * minutes + seconds

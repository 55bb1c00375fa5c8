"""A session ends with its summary, and the next one begins with the date of the last."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import WINDOW_S, BackOffice, quick_real_table
from tests.browser.driver.navigation import end_session, new_player_page, open_leave_dialog
from tests.browser.driver.page_clock import pause
from tests.browser.driver.rest import Json
from tests.browser.driver.table_page import ROUND_MS, TablePage, cents_in
from tests.system.platform import Platform

# The notice of the last session is read for so long at least, and for twelve seconds by a player who only looks.
READ_MS = 3000


@pytest.mark.rule("804/2015:26", "807/2015:28")
def test_the_summary_is_what_the_ledger_says_and_the_next_session_tells_of_it(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "sara")
    page.clock.install()
    office = BackOffice(platform)
    table = TablePage(page, quick_real_table(office)).open()
    for _ in range(2):
        table.place_chips("red")
        table.place_chips("8")
        expect(table.part("staked")).to_have_text("2,00 €")
        table.spin()
        table.expect_stage("paid")
        table.wait_for_betting()

    open_leave_dialog(page)
    screenshot(page, "leave-desktop")
    page.get_by_test_id("end-session").click()
    summary = page.get_by_test_id("session-over")
    expect(summary).to_be_visible()
    _agrees(summary, office.last_session(name))
    screenshot(page, "session-over-desktop")

    summary.get_by_test_id("to-tables").click()
    last = page.get_by_test_id("last-session")
    net = int(office.last_session(name)["summary"]["net_cents"])
    expect(last).to_contain_text("Roleta francesa breve")
    expect(last).to_contain_text({-1: "Perdeu", 0: "Ficou como começou", 1: "Ganhou"}[(net > 0) - (net < 0)])
    started = _legal(office.sessions(name)[0]["started_at"])
    expect(last).to_contain_text(started)
    screenshot(page, "lobby-after-a-session")

    page.locator(f'[data-table="{table.listed_id}"]').get_by_test_id("sit").click()
    previous = page.get_by_test_id("previous-session")
    expect(previous).to_contain_text("A sua última sessão")
    expect(previous).to_contain_text(started)
    # It goes when the player bets, and not by its own time: the page's clock stands still.
    table.wait_until_playable()
    pause(page)
    table.place_chips("red")
    page.clock.run_for(READ_MS)
    expect(previous).to_have_count(0)
    page.clock.resume()
    table.expect_confirmed_chips({"red": 100})
    table.press("clear")
    table.expect_confirmed_chips({})
    end_session(page)
    page.goto("/#/account/sessions")
    expect(page.get_by_test_id("session")).to_have_count(2)
    page.get_by_test_id("summary-button").nth(1).click()
    _agrees(page.get_by_test_id("session-sheet"), _older(office, name))
    screenshot(page, "account-session-summary")


@pytest.mark.rule("804/2015:27", "807/2015:29")
def test_a_player_may_leave_and_come_back_or_end_the_session_with_a_bet_in_play(
    new_context: NewContext, log_in: LogIn, platform: Platform
) -> None:
    page, name = new_player_page(new_context(), log_in, "tome")
    office = BackOffice(platform)
    table = TablePage(page, quick_real_table(office)).open()
    open_leave_dialog(page)
    page.get_by_test_id("to-tables-open").click()
    running = page.get_by_test_id("running")
    expect(running).to_contain_text(re.compile(r"Roleta francesa breve a jogar há (\d+ h )?(\d+ min)?( ?\d+ s)?"))
    running.get_by_test_id("go-on").click()
    table.wait_until_playable()
    assert len(office.sessions(name)) == 1

    many = office.configure_table(
        "brief",
        "french",
        ("Roleta francesa de dez minutos", "French roulette of ten minutes"),
        betting_window_ms=WINDOW_S * 1000,
        result_shown_ms=0,
    )
    page.goto("/#/")
    table = TablePage(page, many).open()
    table.wait_for_betting()
    table.place_chips("odd")
    table.expect_confirmed_chips({"odd": 100})
    open_leave_dialog(page)
    expect(page.get_by_test_id("leave-sheet")).to_contain_text("As apostas que tem nesta jogada valem")
    page.get_by_test_id("end-session").click()
    expect(page.get_by_test_id("ending")).to_contain_text("A sessão termina com esta jogada.")
    office.advance_tables(WINDOW_S)
    expect(page.get_by_test_id("session-over")).to_be_visible(timeout=ROUND_MS)
    ended = office.last_session(name)
    assert ended["summary"]["rounds"] == 1
    _agrees(page.get_by_test_id("session-over"), ended)


def _agrees(shown: Locator, found: Json) -> None:
    """Checks every line of a summary against the platform."""
    expect(shown.get_by_test_id("summary")).to_be_visible()
    session, summary = found["session"], found["summary"]
    net = int(summary["net_cents"])
    expect(shown.get_by_test_id("summary-net")).to_have_attribute("data-cents", summary["net_cents"])
    assert cents_in(shown.get_by_test_id("summary-net").inner_text()) == [abs(net)]
    terms = [term.split("\n")[0] for term in shown.get_by_role("term").all_inner_texts()]
    facts = dict(zip(terms, shown.get_by_role("definition").all_inner_texts(), strict=True))
    assert cents_in(facts["Total apostado"]) == [int(summary["staked_cents"])]
    assert cents_in(facts["Total recebido"]) == [int(summary["payout_cents"])]
    assert facts["Jogadas"] == str(summary["rounds"])
    assert facts["Início"] == _legal(session["started_at"])
    assert facts["Fim"] == _legal(session["ended_at"])
    assert facts["Porque terminou"] == "Terminou-a por sua decisão."
    minutes, seconds = divmod(int(summary["duration_ms"]) // 1000, 60)
    assert facts["Tempo de jogo"] == f"{minutes}:{seconds:02}"


def _older(office: BackOffice, name: str) -> Json:
    return office.session_by_id(office.sessions(name)[1]["session_id"])


def _legal(at: str) -> str:
    """In the legal time of the mainland (903-B/2015:2.1.3)."""
    return f"{datetime.fromisoformat(at).astimezone(ZoneInfo('Europe/Lisbon')):%d/%m/%Y, %H:%M}"

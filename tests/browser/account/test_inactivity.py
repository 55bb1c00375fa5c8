"""A player who does not bet is invited to leave, then warned; both can be answered, and survive a reload."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import LogIn, NewContext, Screenshot
from tests.browser.driver.back_office import RESULT_S, UNHURRIED, WINDOW_S, BackOffice
from tests.browser.driver.navigation import new_player_page
from tests.browser.driver.recording import record_pages, recording_of
from tests.browser.driver.table_page import TablePage
from tests.system.platform import Platform

# More than three minutes without a bet; then, to the warning and to the end, more than the law wants.
PATIENT = {"invite": True, "warn_after_seconds": 600, "end_after_seconds": 300}
IDLE_S, UNTIL_WARNED_S, LAST_S = 181, 601, 301
# Six without a bet, and the one that the warning is about.
ENDS_AFTER_ROUNDS = 7

# Whether so many rounds were settled.
_SETTLED = """
(settled) => window.recording.log.filter((entry) => entry.round_settled || entry.round_voided).length >= settled
"""
# Whether so many rounds were closed, and the one after them takes bets.
_NEXT_ROUND_OPENED = """
(closed) => {
  const events = window.recording.log.filter((entry) => entry.round_opened || entry.betting_closed);
  return events.filter((entry) => entry.betting_closed).length >= closed && !events.at(-1)?.betting_closed;
}
"""


@pytest.mark.rule("804/2015:28.a", "804/2015:29")
def test_alone_the_player_is_invited_warned_with_a_countdown_and_shown_the_end(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    page, name = new_player_page(new_context(), log_in, "gil")
    office = BackOffice(platform)
    words = ("Roleta americana sem pressa", "American roulette without haste")
    TablePage(page, office.configure_table("american-calm", "american-solo", words, inactivity=PATIENT)).open()
    office.advance_sessions(IDLE_S)
    invitation = page.get_by_test_id("invitation")
    expect(invitation).to_contain_text("Não aposta há mais de 3 minutos.")
    expect(invitation).to_contain_text("Deseja terminar a sessão? Pode ficar. Só uma aposta retira este convite.")
    expect(invitation).to_contain_text("804/2015, regra 28.a")
    screenshot(page, "inactivity-invitation")

    office.advance_sessions(UNTIL_WARNED_S)
    warning = page.get_by_test_id("warning")
    expect(warning).to_contain_text("A sessão vai terminar se não apostar")
    expect(warning).to_contain_text("804/2015, regra 29")
    ends_at = office.last_session(name)["session"]["next_step_at"]
    expect(warning).to_contain_text(f"A sessão termina às {_legal(ends_at)}")
    seconds = warning.get_by_text(re.compile("Faltam? ([0-9]+) segundos?"))
    expect(seconds).to_have_text(re.compile(r"Faltam (300|[12]\d\d) segundos para apostar\."))
    screenshot(page, "inactivity-warning")
    warning.get_by_role("button", name="Vou apostar").click()
    expect(warning).to_have_count(0)
    expect(page.get_by_test_id("warning-small")).to_contain_text(re.compile(r"\b[12]\d\d s"))
    screenshot(page, "inactivity-warning-small")

    office.advance_sessions(LAST_S)
    over = page.get_by_test_id("session-over")
    expect(over).to_contain_text("Não apostou depois do convite e do aviso.")
    expect(over.get_by_test_id("summary-net")).to_have_attribute("data-cents", "0")
    assert office.last_session(name)["session"]["end_cause"] == "END_CAUSE_INACTIVITY"
    screenshot(page, "inactivity-over")
    over.get_by_test_id("sit-again").click()
    expect(page.get_by_test_id("played")).to_be_visible()
    assert len(office.sessions(name)) == 2


@pytest.mark.rule("807/2015:29", "807/2015:30.a", "807/2015:31")
def test_alone_the_player_may_stay_and_a_bet_withdraws_invitation_and_warning(
    new_context: NewContext, log_in: LogIn, platform: Platform
) -> None:
    page, name = new_player_page(new_context(), log_in, "hugo")
    office = BackOffice(platform)
    words = ("Roleta francesa sem pressa", "French roulette without haste")
    table = TablePage(page, office.configure_table("french-calm", "french-solo", words, inactivity=PATIENT)).open()
    invitation, warning = page.get_by_test_id("invitation"), page.get_by_test_id("warning")
    office.advance_sessions(IDLE_S)
    expect(invitation).to_contain_text("807/2015, regra 30.a")
    invitation.get_by_role("button", name="Continuar a jogar").click()
    expect(invitation).to_have_count(0)
    # That is no bet: the warning comes all the same, and a reload shows it again.
    office.advance_sessions(UNTIL_WARNED_S)
    expect(warning).to_contain_text("807/2015, regra 31")
    page.reload()
    expect(warning).to_contain_text("A sessão vai terminar se não apostar")
    expect(warning).to_contain_text(re.compile(r"Faltam \d+ segundos"))
    table.wait_until_playable()
    table.place_chips("red")
    expect(warning).to_have_count(0)
    assert office.last_session(name)["session"]["state"] == "SESSION_STATE_ACTIVE"
    table.spin()
    table.expect_stage("paid")

    office.advance_sessions(IDLE_S)
    invitation.get_by_role("button", name="Terminar a sessão").click()
    expect(page.get_by_test_id("session-over")).to_contain_text("Terminou-a por sua decisão.")


@pytest.mark.rule("804/2015:28.b", "804/2015:29")
def test_among_others_rounds_without_a_bet_count(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot
) -> None:
    context = new_context(reduced_motion="reduce")
    record_pages(context)
    page, name = new_player_page(context, log_in, "nuno")
    office = BackOffice(platform)
    words = ("Roleta americana de dez minutos", "American roulette of ten minutes")
    listed = office.configure_table("american-counted", "american", words, **UNHURRIED)
    TablePage(page, listed).open().wait_for_betting()
    for missed in range(ENDS_AFTER_ROUNDS):
        page.wait_for_function(_NEXT_ROUND_OPENED, arg=missed)
        if missed == ENDS_AFTER_ROUNDS - 1:
            expect(page.get_by_test_id("warning")).to_be_visible()
        office.advance_tables(WINDOW_S)
        page.wait_for_function(_SETTLED, arg=missed + 1)
        if missed == ENDS_AFTER_ROUNDS - 2:
            expect(page.get_by_test_id("invitation")).to_be_visible()
        office.advance_tables(RESULT_S)
    over = page.get_by_test_id("session-over")
    expect(over).to_contain_text("Não apostou")
    screenshot(page, "inactivity-over-rounds")
    session = office.last_session(name)["session"]
    assert (session["end_cause"], session["missed_rounds"]) == ("END_CAUSE_INACTIVITY", ENDS_AFTER_ROUNDS)
    # The invitation stood between two rounds only, the warning for one round.
    texts = [" ".join(moment["otherTexts"]) for moment in recording_of(page).page_states]
    invited = _first(texts, "Não aposta há mais de 5 jogadas seguidas.", "804/2015, regra 28.b")
    warned = _first(texts, "Tem de apostar nesta jogada.", "segundos para apostar.", "804/2015, regra 29")
    assert invited < warned < _first(texts, "Não apostou")


@pytest.mark.parametrize("device", ["portrait", "landscape"])
def test_on_a_phone_neither_card_nor_pill_lies_on_the_clock(
    new_context: NewContext, log_in: LogIn, platform: Platform, screenshot: Screenshot, device: str
) -> None:
    page, _ = new_player_page(new_context(device), log_in, "ema")
    office = BackOffice(platform)
    words = ("Roleta americana sem pressa", "American roulette without haste")
    table = TablePage(page, office.configure_table("american-calm", "american-solo", words, inactivity=PATIENT)).open()
    for step, waited_s in (("invitation", IDLE_S), ("warning", UNTIL_WARNED_S)):
        office.advance_sessions(waited_s)
        notice = page.get_by_test_id(step)
        expect(notice).to_be_visible()
        screenshot(page, f"inactivity-{step}-{device}")
        assert _apart(notice, table.phase), step
    page.get_by_test_id("warning").get_by_role("button", name="Vou apostar").click()
    small = page.get_by_test_id("warning-small")
    expect(small).to_be_visible()
    screenshot(page, f"inactivity-warning-small-{device}")
    assert _apart(small, table.phase)


def _apart(one: Locator, other: Locator) -> bool:
    """Neither lies on any part of the other."""
    first, second = one.bounding_box(), other.bounding_box()
    assert first is not None
    assert second is not None
    beside = first["x"] + first["width"] <= second["x"] or second["x"] + second["width"] <= first["x"]
    above = first["y"] + first["height"] <= second["y"] or second["y"] + second["height"] <= first["y"]
    return beside or above


def _first(texts: list[str], *words: str) -> int:
    """The index of the first state of the page with all of these words."""
    return next(at for at, text in enumerate(texts) if all(one in text for one in words))


def _legal(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone(ZoneInfo('Europe/Lisbon')):%H:%M:%S}"

"""A guest alone at the front-end: a whole sit & go and hands at a table, against the bots of `make run`."""

from __future__ import annotations

import re
import time
from contextlib import suppress

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotThere

from stack.practice.cash_table import TABLE_ID
from stack.practice.sit_and_go import LEVEL_S, PREFIX, SEATS
from tests.browser.conftest import TIMEOUT_MS, Screenshot
from tests.browser.driver.back_office import BackOffice
from tests.browser.driver.navigation import end_session
from tests.system.platform import Platform

TOURNAMENT_S = 300.0
LOOK_MS = 150
# How long a button of a turn is waited for that may be over.
GONE_MS = 5_000


def test_a_guest_plays_a_sit_and_go_to_its_end(desktop: Page, platform: Platform, screenshot: Screenshot) -> None:
    desktop.goto("/")
    desktop.get_by_test_id("game-poker").click()
    card = desktop.locator(f'[data-tournament^="{PREFIX}"][data-phase="TOURNAMENT_PHASE_REGISTERING"]')
    expect(card.get_by_role("heading")).to_have_text("Sit & go de treino")
    expect(card).to_contain_text(f"0 de {SEATS} inscritos")
    screenshot(desktop, "practice-lobby")
    tournament = card.get_attribute("data-tournament") or ""
    card.get_by_test_id("open-tournament").click()
    desktop.get_by_test_id("register-tournament").click()
    # Bots take the other places, and the page leads to the table when it begins.
    expect(desktop).to_have_url(re.compile(rf"#/table/{tournament}-t1$"))
    expect(desktop.get_by_test_id("asked")).to_be_visible()
    screenshot(desktop, "practice-sit-and-go-turn")
    _play_to_the_end(desktop, platform, tournament)
    desktop.goto(f"/#/game/poker/{tournament}")
    page = desktop.locator('[data-testid="tournament-page"][data-phase="TOURNAMENT_PHASE_FINISHED"]')
    expect(page.get_by_test_id("own-standing")).to_have_text(re.compile(r"[1-6]\.º"))
    screenshot(desktop, "practice-sit-and-go-over")
    # The next one is open.
    desktop.goto("/")
    desktop.get_by_test_id("game-poker").click()
    expect(card).to_have_count(1)
    expect(card).not_to_have_attribute("data-tournament", tournament)


def _play_to_the_end(page: Page, platform: Platform, tournament: str) -> None:
    """Bets everything in each turn; the time in which nobody decides is skipped, and blinds rise."""
    office = BackOffice(platform)
    deadline = time.monotonic() + TOURNAMENT_S
    while office.tournament(tournament)["phase"] != "TOURNAMENT_PHASE_FINISHED":
        assert time.monotonic() < deadline, "the tournament does not end"
        asked, back = page.get_by_test_id("asked"), page.get_by_test_id("come-back")
        # The clock that is moved below may run out in a turn that begins meanwhile: then its buttons go.
        with suppress(NotThere):
            if asked.is_visible():
                key = asked.get_attribute("data-key", timeout=GONE_MS)
                everything = page.get_by_test_id("part-max")
                if everything.is_visible():
                    everything.click(timeout=GONE_MS)
                    page.get_by_test_id("act-raise").click(timeout=GONE_MS)
                else:
                    page.get_by_test_id("act-call").or_(page.get_by_test_id("act-check")).click(timeout=GONE_MS)
                expect(page.locator(f'[data-key="{key}"]')).to_have_count(0)
            elif back.is_visible():
                back.click(timeout=GONE_MS)
            elif _shows_result(office, f"{tournament}-t1"):
                office.advance_tables(LEVEL_S)
        page.wait_for_timeout(LOOK_MS)


def test_bots_keep_a_guest_company_on_a_phone(portrait: Page, platform: Platform, screenshot: Screenshot) -> None:
    portrait.goto("/")
    portrait.get_by_test_id("game-poker").click()
    card = portrait.locator(f'[data-table="{TABLE_ID}"]')
    expect(card.get_by_role("heading")).to_have_text("Mesa de treino")
    expect(card).to_contain_text("0 de 6 lugares ocupados")
    # No text is wider than its card.
    for facts in portrait.locator(".table-card-facts dd").all():
        assert facts.evaluate("part => part.scrollWidth <= part.parentElement.clientWidth")
    screenshot(portrait, "practice-lobby-phone")
    # The welcome leads there, too.
    expect(portrait.get_by_test_id("play-now")).to_have_attribute("href", re.compile(f"{TABLE_ID}$"))
    card.get_by_test_id("sit").click()
    portrait.get_by_test_id("seat-2").click()
    portrait.get_by_test_id("buy-in-confirm").click()
    expect(portrait.locator("li.poker-seat .plate-amount")).to_have_count(4)
    expect(portrait.get_by_test_id("asked")).to_be_visible(timeout=2 * TIMEOUT_MS)
    screenshot(portrait, "practice-table-phone")
    portrait.get_by_test_id("act-call").or_(portrait.get_by_test_id("act-check")).click()
    expect(portrait.locator('[data-testid="poker"][data-stage="result"]')).to_be_visible(timeout=2 * TIMEOUT_MS)
    end_session(portrait)
    office = BackOffice(platform)
    deadline = time.monotonic() + TOURNAMENT_S
    while (table := office.table(TABLE_ID))["seated"]:
        assert time.monotonic() < deadline, "the bots do not leave"
        if table["phase"] == "PHASE_RESULT_SHOWN":
            office.advance_tables(10)
        portrait.wait_for_timeout(LOOK_MS)


def _shows_result(office: BackOffice, table_id: str) -> bool:
    """Whether a table of a tournament shows the result of a hand; it may be gone with its tournament."""
    try:
        return bool(office.table(table_id)["phase"] == "PHASE_RESULT_SHOWN")
    except AssertionError as refused:
        if "TOURNAMENT_OVER" not in str(refused):
            raise
        return False
